#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

struct HttpRequest {
  std::string method;  // "GET"
  std::string url;     // whole, encoded
  std::map<std::string, std::string> headers;
  std::string_view body;
  // How long the body waits for "100 Continue" (RFC 9110, 10.1.1); 0: it goes at once.
  int64_t continue_timeout_ms = 0;
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;
};

struct HttpSettings {
  int64_t timeout_ms = 60'000;  // of one request; 0: for ever
  int64_t connect_timeout_ms = 10'000;
  std::string ca_file;  // PEM; empty: the system's certificates
  bool unpacks = true;  // bodies that the server packed for the way
};

// Sends requests over kept-alive connections. Redirects are not followed. Thread-safe.
class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any status is an answer. Errors: kUnavailable: the request has not reached the server;
  // kPermission: its certificate is not trusted; kCommitUnknown: the request was sent, or part of
  // it, and no answer came.
  Result<HttpResponse> Send(const HttpRequest& request);

 private:
  void* TakeHandle();
  void GiveBack(void* handle);

  const HttpSettings settings_;
  std::mutex mutex_;
  std::vector<void*> idle_;  // CURL handles
};

// "a b&c" to "a%20b%26c": what stands between the slashes of a path, or in a query.
std::string UrlEncode(std::string_view text);
// "a=1&b=2" of names and values, encoded: a query, or a form.
std::string UrlForm(const std::map<std::string, std::string>& fields);

}  // namespace driftless
