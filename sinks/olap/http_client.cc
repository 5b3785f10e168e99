#include "sinks/olap/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "schema/base/bytes_text.h"

namespace driftless::olap {
namespace {

constexpr int kMostRedirects = 4;
constexpr size_t kMostFetchedBytes = 64 << 10;

size_t TakeBody(char* from, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(from, size * count);
  return size * count;
}

struct Upload {
  std::string_view rest;
};
size_t GiveBody(char* to, size_t size, size_t count, void* from) {
  auto* upload = static_cast<Upload*>(from);
  const size_t length = std::min(size * count, upload->rest.size());
  std::copy_n(upload->rest.data(), length, to);
  upload->rest.remove_prefix(length);
  return length;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

bool WasNotSent(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
         code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR ||
         code == CURLE_PEER_FAILED_VERIFICATION;
}

bool IsRedirect(int status) { return status == 307 || status == 302 || status == 308; }

// "http://user@be:8040/x" without what stands before the @: credentials travel in a header.
std::string WithoutUser(const std::string& url) {
  const size_t begin = url.find("://");
  if (begin == std::string::npos) return url;
  const size_t slash = url.find('/', begin + 3);
  const size_t at = url.rfind('@', slash);
  if (at == std::string::npos || at < begin + 3) return url;
  return url.substr(0, begin + 3) + url.substr(at + 1);
}

}  // namespace

std::string EscapePath(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      escaped += c;
      continue;
    }
    escaped += '%';
    escaped += kHex[static_cast<uint8_t>(c) >> 4];
    escaped += kHex[static_cast<uint8_t>(c) & 15];
  }
  return escaped;
}

HttpClient::HttpClient(HttpOptions options) : options_(std::move(options)) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(global);
  authorization_ = "Authorization: Basic ";
  AppendBase64(options_.user + ":" + options_.password, &authorization_);
}

HttpClient::~HttpClient() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

void* HttpClient::TakeHandle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty()) return curl_easy_init();
  void* handle = idle_.back();
  idle_.pop_back();
  return handle;
}

Result<HttpAnswer> HttpClient::Exchange(const std::string& url, const HttpRequest& request) {
  CURL* curl = TakeHandle();
  if (curl == nullptr) return MakeError(ErrorKind::kResourceExhausted, "no memory for a request");
  curl_easy_reset(curl);
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add = [&](const std::string& line) {
    curl_slist* grown = curl_slist_append(headers.get(), line.c_str());
    static_cast<void>(headers.release());
    headers.reset(grown);
  };
  add(authorization_);
  for (const auto& [name, value] : request.headers) add(name + ": " + value);
  const bool has_body = !request.body.empty();
  add(has_body ? "Expect: 100-continue" : "Expect:");
  HttpAnswer answer;
  Upload upload{request.body};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
  curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS,
                   static_cast<long>(options_.continue_timeout_ms));
  if (options_.answer_timeout_ms > 0) {
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.answer_timeout_ms));
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
  if (has_body || request.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, GiveBody);
    curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  char* location = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &location);
  if (location != nullptr) answer.location = location;
  if (code == CURLE_OK) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(curl);
  } else {
    curl_easy_cleanup(curl);  // its connection may be in an odd state
    const std::string what = request.method + " " + url + ": " + curl_easy_strerror(code);
    return MakeError(WasNotSent(code) ? ErrorKind::kUnavailable : ErrorKind::kCommitUnknown, what);
  }
  if (status == 401 || status == 403) {
    return MakeError(ErrorKind::kPermission, request.method + " " + url + ": status " +
                                                 std::to_string(status) + " " + answer.body)
        .Hint("Check username and password, and the user's right to load into the table.");
  }
  return answer;
}

Result<HttpAnswer> HttpClient::Follow(const std::string& url, const HttpRequest& request) {
  std::string at = url;
  for (int hops = 0;; ++hops) {
    DRIFTLESS_ASSIGN_OR_RETURN(HttpAnswer answer, Exchange(at, request));
    if (!IsRedirect(answer.status) || answer.location.empty()) return answer;
    if (hops == kMostRedirects) {
      return MakeError(ErrorKind::kUnavailable, url + ": redirected without end");
    }
    at = WithoutUser(answer.location);
  }
}

Result<HttpAnswer> HttpClient::SendTo(const std::string& address, const HttpRequest& request) {
  return Follow(address + request.path, request);
}

Result<HttpAnswer> HttpClient::Send(const HttpRequest& request) {
  size_t first = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = address_;
  }
  for (size_t tries = 0;; ++tries) {
    const size_t at = (first + tries) % options_.addresses.size();
    Result<HttpAnswer> answer = SendTo(options_.addresses[at], request);
    // 5xx of a front end: it is starting, or has lost its leader. Nothing was done.
    const bool is_down = answer && (answer->status == 502 || answer->status == 503);
    const bool may_go_on = is_down || (!answer && answer.error().kind() == ErrorKind::kUnavailable);
    if (!may_go_on) {
      const std::lock_guard<std::mutex> lock(mutex_);
      address_ = at;
      return answer;
    }
    if (tries + 1 < options_.addresses.size()) continue;
    if (!answer) return answer;
    return MakeError(ErrorKind::kUnavailable, options_.addresses[at] + request.path + ": status " +
                                                  std::to_string(answer->status));
  }
}

std::string HttpClient::Fetch(const std::string& url) {
  HttpRequest request;
  request.method = "GET";
  Result<HttpAnswer> answer = Follow(WithoutUser(url), request);
  if (!answer || answer->status != 200) return "";
  return answer->body.substr(0, kMostFetchedBytes);
}

}  // namespace driftless::olap
