#include "sinks/clients/objectstore/s3_client.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "sinks/clients/objectstore/xml_text.h"

namespace driftless {
namespace {

constexpr int64_t kFirstWaitMs = 100;
constexpr int64_t kLongestWaitMs = 10'000;

// Objects come as they are stored, whatever their Content-Encoding says.
HttpSettings SettingsOf(const S3Options& options) {
  return {options.timeout_ms, std::min<int64_t>(options.timeout_ms, 10'000), "", false};
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
    : bucket_(std::move(bucket)), options_(std::move(options)), http_(SettingsOf(options_)) {
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

S3Client::Attempt S3Client::SendOnce(const S3Request& request, S3Response* response) {
  HttpRequest sent;
  sent.method = request.method;
  sent.url = base_url_ + UriEncode(request.path, true);
  if (!request.query.empty()) sent.url += "?" + CanonicalQuery(request.query);
  sent.headers = request.headers;
  sent.headers.erase("host");
  sent.body = request.body;
  auto answer = http_.Send(sent);
  if (answer) {
    *response = *std::move(answer);
    return {};
  }
  const bool lost = answer.error().kind() == ErrorKind::kCommitUnknown;
  return {lost ? Attempt::Outcome::kLost : Attempt::Outcome::kNotSent, answer.error().message()};
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
      return MakeError(ErrorKind::kUnavailable, what);
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
