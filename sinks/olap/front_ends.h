#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "sinks/clients/http/http_client.h"

namespace driftless::olap {

struct FrontEndRequest {
  std::string method;
  std::string path;  // with its query, encoded
  std::map<std::string, std::string> headers;
  std::string_view body;
  bool is_load = true;  // the body is for a back end, and waits until one asks for it
};

struct FrontEndOptions {
  std::vector<std::string> addresses;  // "http://host:8030"
  std::string user;
  std::string password;
  int64_t connect_timeout_ms = 30'000;
  int64_t continue_timeout_ms = 30'000;
  int64_t answer_timeout_ms = 0;  // 0: for ever
  std::string tls_ca;             // the file with the trusted certificates; empty: the system's
  bool plain_back_ends = false;   // https front ends may send credentials and rows on without TLS
};
struct OlapOptions;
FrontEndOptions FrontEndOptionsOf(const OlapOptions& options);

// Requests to front ends, which send loads on to back ends. Redirects are followed by hand, because
// the credentials and the body must go along, and because a front end must never get the body of a
// load: it waits for "100 Continue". Thread-safe.
class FrontEnds {
 public:
  explicit FrontEnds(FrontEndOptions options);

  // To the first front end that answers. Errors: kUnavailable (nothing reached a server that could
  // have acted), kCommitUnknown (the answer was lost), kPermission (401, 403, a certificate),
  // kInvalidConfig (the way leads out of TLS).
  Result<HttpResponse> Send(const FrontEndRequest& request);
  // To one address, without another try.
  Result<HttpResponse> SendTo(const std::string& address, const FrontEndRequest& request);
  // A page of its own, such as the rows that a load refused; empty where it cannot be had.
  std::string Fetch(const std::string& url);

 private:
  Result<HttpResponse> Follow(std::string url, const FrontEndRequest& request,
                              bool with_credentials = true);

  const FrontEndOptions options_;
  std::string authorization_;
  HttpClient http_;
  std::mutex mutex_;
  size_t address_ = 0;  // the last one that answered
};

}  // namespace driftless::olap
