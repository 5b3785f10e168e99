#include "sinks/clients/objectstore/s3_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "schema/base/letter_case.h"
#include "sinks/clients/objectstore/xml_text.h"

namespace driftless {
namespace {

constexpr int64_t kFirstWaitMs = 100;
constexpr int64_t kLongestWaitMs = 10'000;

size_t TakeBody(char* data, size_t size, size_t count, void* to) {
  static_cast<S3Response*>(to)->body.append(data, size * count);
  return size * count;
}

size_t TakeHeader(char* data, size_t size, size_t count, void* to) {
  const std::string_view line(data, size * count);
  auto* response = static_cast<S3Response*>(to);
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    if (line.starts_with("HTTP/")) response->headers.clear();  // after a 100 Continue
    return line.size();
  }
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == '\r' || value.back() == '\n' || value.back() == ' ')) {
    value.remove_suffix(1);
  }
  response->headers[LowerCase(line.substr(0, colon))] = value;
  return line.size();
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

// Whether the request cannot have reached the store.
bool WasNotSent(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
         code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_SSL_CONNECT_ERROR ||
         code == CURLE_PEER_FAILED_VERIFICATION;
}

// Expired keys are 403 at some stores and 400 at others.
bool AreKeysRefused(const S3Response& response) {
  if (response.status == 401 || response.status == 403) return true;
  if (response.status != 400) return false;
  const std::string code = XmlText(response.body, "Code").value_or("");
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken";
}

}  // namespace

S3Client::S3Client(std::string bucket, S3Options options)
    : bucket_(std::move(bucket)), options_(std::move(options)) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(global);
  std::string endpoint = options_.endpoint.empty()
                             ? "https://s3." + options_.region + ".amazonaws.com"
                             : options_.endpoint;
  const size_t scheme_end = endpoint.find("://") + 3;
  host_ = endpoint.substr(scheme_end);
  if (options_.path_style) {
    path_prefix_ = "/" + bucket_;
  } else {
    host_ = bucket_ + "." + host_;
  }
  base_url_ = endpoint.substr(0, scheme_end) + host_;
}

S3Client::~S3Client() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

void* S3Client::TakeHandle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return curl_easy_init();
  void* handle = idle_.back();
  idle_.pop_back();
  return handle;
}

void S3Client::GiveBack(void* handle) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(handle);
}

S3Client::Attempt S3Client::SendOnce(const S3Request& request, S3Response* response) {
  CURL* curl = TakeHandle();
  if (curl == nullptr) return {Attempt::Outcome::kNotSent, "no memory for a connection", false};
  curl_easy_reset(curl);
  std::string url = base_url_ + UriEncode(request.path, true);
  if (!request.query.empty()) url += "?" + CanonicalQuery(request.query);
  std::unique_ptr<curl_slist, FreeList> headers;
  const auto add = [&](const std::string& line) {
    curl_slist* grown = curl_slist_append(headers.get(), line.c_str());
    static_cast<void>(headers.release());
    headers.reset(grown);
  };
  for (const auto& [name, value] : request.headers) {
    if (name != "host") add(name + ": " + value);
  }
  add("Expect:");
  Upload upload{request.body};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(std::min<int64_t>(options_.timeout_ms, 10'000)));
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, response);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, TakeHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, response);
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, GiveBody);
    curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response->status = static_cast<int>(status);
  if (code == CURLE_OK) {
    GiveBack(curl);
    return {};
  }
  curl_easy_cleanup(curl);  // its connection may be in an odd state
  return {WasNotSent(code) ? Attempt::Outcome::kNotSent : Attempt::Outcome::kLost,
          curl_easy_strerror(code), code == CURLE_OPERATION_TIMEDOUT};
}

Result<S3Response> S3Client::Send(std::string_view method, std::string_view key,
                                  std::map<std::string, std::string> query,
                                  std::map<std::string, std::string> headers, std::string_view body,
                                  Repeat repeat) {
  S3Request request;
  request.method = method;
  request.path = path_prefix_ + "/" + std::string(key);
  request.query = std::move(query);
  request.body = body;
  headers["host"] = host_;
  S3Credentials credentials{options_.access_key, options_.secret_key, options_.session_token};
  if (options_.keys != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(credentials, options_.keys->Keys(nullptr));
  }
  bool renewed = options_.keys == nullptr;
  int64_t wait_ms = kFirstWaitMs;
  for (int tries = 0;; ++tries) {
    request.headers = headers;
    SignS3Request(credentials, options_.region, S3Date(), &request);
    S3Response response;
    const Attempt attempt = SendOnce(request, &response);
    const bool answered = attempt.outcome == Attempt::Outcome::kAnswered;
    if (answered && !renewed && AreKeysRefused(response)) {
      renewed = true;
      DRIFTLESS_ASSIGN_OR_RETURN(credentials, options_.keys->Keys(&credentials));
      continue;
    }
    // 503 and 429 say "slow down": nothing was done. 500 and a cut connection leave it open.
    const bool refused = answered && (response.status == 503 || response.status == 429);
    const bool open = attempt.outcome == Attempt::Outcome::kLost ||
                      (answered && response.status >= 500 && !refused);
    if (answered && !refused && !open) return response;
    const std::string what =
        request.method + " " + request.path + ": " +
        (answered ? "status " + std::to_string(response.status) : attempt.message);
    if (open && repeat == Repeat::kOnce) return MakeError(ErrorKind::kCommitUnknown, what);
    if (tries >= options_.max_retries) {
      return MakeError(attempt.timed_out ? ErrorKind::kTimedOut : ErrorKind::kUnavailable, what);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    wait_ms = std::min(wait_ms * 2, kLongestWaitMs);
  }
}

Error S3Client::ToError(const S3Response& response, std::string_view what) const {
  const std::string code = XmlText(response.body, "Code").value_or("");
  std::string message = std::string(what) + " in bucket " + bucket_ + ": ";
  message += code.empty() ? "status " + std::to_string(response.status) : code;
  if (const auto detail = XmlText(response.body, "Message")) message += " (" + *detail + ")";
  switch (response.status) {
    case 404: return MakeError(ErrorKind::kNotFound, std::move(message));
    case 409:
    case 412: return MakeError(ErrorKind::kAlreadyExists, std::move(message));
    case 416: return MakeError(ErrorKind::kInvalidInput, std::move(message));
    case 301:
    case 307:
      return MakeError(ErrorKind::kInvalidConfig, std::move(message))
          .Hint("The bucket lies in another region; set s3.endpoint.region or s3.endpoint.");
    case 400:
    case 401:
    case 403:
      return MakeError(ErrorKind::kPermission, std::move(message))
          .Hint("Check s3.access-key, s3.secret-key, the region and the rights on the bucket.");
    default: return MakeError(ErrorKind::kUnavailable, std::move(message));
  }
}

}  // namespace driftless
