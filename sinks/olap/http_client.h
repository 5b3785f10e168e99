#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/base/result.h"

namespace driftless::olap {

struct HttpRequest {
  std::string method;
  std::string path;  // with its query, escaped
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;
};

struct HttpAnswer {
  int status = 0;
  std::string location;  // of a redirect
  std::string body;
};

struct HttpOptions {
  std::vector<std::string> addresses;  // of front ends: "http://host:8030"
  std::string user;
  std::string password;
  int64_t connect_timeout_ms = 30'000;
  int64_t continue_timeout_ms = 30'000;
  int64_t answer_timeout_ms = 0;  // 0: for ever
};

// Requests to front ends, which send loads on to back ends. Redirects are followed by hand, because
// the credentials and the body must go along, and because a front end must never get the body:
// every request that has one waits for "100 Continue". Thread-safe.
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // To the first front end that answers. Errors: kUnavailable (nothing reached a server that could
  // have acted), kCommitUnknown (the answer was lost), kPermission (401, 403).
  Result<HttpAnswer> Send(const HttpRequest& request);
  // To one address, without another try.
  Result<HttpAnswer> SendTo(const std::string& address, const HttpRequest& request);
  // A page of its own, such as the rows that a load refused; empty where it cannot be had.
  std::string Fetch(const std::string& url);

 private:
  Result<HttpAnswer> Follow(const std::string& url, const HttpRequest& request);
  Result<HttpAnswer> Exchange(const std::string& url, const HttpRequest& request);
  void* TakeHandle();

  const HttpOptions options_;
  std::string authorization_;
  std::mutex mutex_;
  std::vector<void*> idle_;
  size_t address_ = 0;  // the last one that answered
};

// What may stand in a path: everything but unreserved characters as %XX (RFC 3986, 2.3).
std::string EscapePath(std::string_view text);

}  // namespace driftless::olap
