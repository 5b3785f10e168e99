#pragma once

#include <functional>
#include <memory>
#include <string>

#include "schema/base/result.h"

namespace driftless {

// The pipeline's HTTP end: GET /metrics (Prometheus' text format) and GET /healthz (200 while the
// pipeline is well, 503 with the reason otherwise). A few threads of its own; the handlers are
// called on them.
class HttpServer {
 public:
  struct Handlers {
    std::function<std::string()> metrics;
    std::function<bool()> is_healthy;
    std::function<std::string()> status;  // one line
  };

  // Listens at "host:port"; port 0: any free one. Errors: kInvalidConfig (no address), kUnavailable
  // (the port is taken).
  static Result<std::unique_ptr<HttpServer>> Start(const std::string& address, Handlers handlers);
  ~HttpServer();  // stops listening and waits for the threads

  int port() const { return port_; }

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  int port_ = 0;
};

}  // namespace driftless
