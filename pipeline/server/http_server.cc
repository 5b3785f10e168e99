#include "pipeline/server/http_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <thread>
#include <utility>

namespace driftless {

struct HttpServer::Impl {
  httplib::Server server;
  Handlers handlers;
  std::thread thread;
  std::atomic<bool> ended{false};  // the thread has left its loop
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                      Handlers handlers) {
  const size_t colon = address.rfind(':');
  int port = -1;
  if (colon != std::string::npos) {
    const char* end = address.data() + address.size();
    const auto parsed = std::from_chars(address.data() + colon + 1, end, port);
    if (parsed.ptr != end) port = -1;
  }
  if (port < 0 || port > 65535) {
    return MakeError(ErrorKind::kInvalidConfig, fmt::format("\"{}\" is no address", address))
        .Hint("Write host:port, such as 127.0.0.1:9464.");
  }
  const std::string host = address.substr(0, colon);
  auto impl = std::make_unique<Impl>();
  impl->handlers = std::move(handlers);
  httplib::Server& server = impl->server;
  // Scrapes and probes are rare: two threads are plenty, and cost no memory that anybody sees.
  server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  // Not SO_REUSEPORT, httplib's default: two pipelines on one port would answer in turns.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  const Handlers& h = impl->handlers;
  server.Get("/metrics", [&h](const httplib::Request&, httplib::Response& response) {
    response.set_content(h.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  });
  server.Get("/healthz", [&h](const httplib::Request&, httplib::Response& response) {
    response.status = h.is_healthy() ? 200 : 503;
    response.set_content(h.status() + "\n", "text/plain; charset=utf-8");
  });
  const int bound = port == 0 ? server.bind_to_any_port(host.c_str())
                              : (server.bind_to_port(host.c_str(), port) ? port : -1);
  if (bound < 0) {
    return MakeError(ErrorKind::kUnavailable, fmt::format("cannot listen at {}", address))
        .Hint("Another process may use the port: set pipeline http.address to a free one, or off.");
  }
  impl->thread = std::thread([raw = impl.get()] {
    raw->server.listen_after_bind();
    raw->ended = true;
  });
  // A stop that comes before the loop runs would be lost, and the destructor would wait for ever.
  while (!server.is_running() && !impl->ended) std::this_thread::yield();
  std::unique_ptr<HttpServer> result(new HttpServer(std::move(impl)));
  result->port_ = bound;
  return result;
}

}  // namespace driftless
