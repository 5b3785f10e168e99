#include "sinks/iceberg/rest_session.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;

constexpr int kTries = 6;
constexpr int64_t kFirstWaitMs = 100;
constexpr int64_t kLongestWaitMs = 5'000;

std::string PropertyOf(const Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

int64_t MillisOf(const Properties& properties, const std::string& key, int64_t fallback) {
  const std::string text = PropertyOf(properties, key);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : fallback;
}

HttpSettings SettingsOf(const Properties& properties) {
  HttpSettings settings;
  settings.connect_timeout_ms = MillisOf(properties, "rest.client.connection-timeout-ms", 10'000);
  settings.timeout_ms = MillisOf(properties, "rest.client.socket-timeout-ms", 60'000);
  settings.ca_file = PropertyOf(properties, "rest.client.tls.ca-file");
  return settings;
}

std::string BaseOf(const Properties& properties) {
  std::string base = PropertyOf(properties, "uri");
  while (base.ends_with('/')) base.pop_back();
  return base + "/v1/";
}

Result<void> MergeTexts(const dom::element& root, const char* key, Properties* into) {
  dom::element value;
  if (root[key].get(value) != simdjson::SUCCESS || value.is_null()) return {};
  dom::object object;
  if (value.get(object) != simdjson::SUCCESS) {
    return MakeError(ErrorKind::kInvalidInput,
                     "the catalog's configuration has \"" + std::string(key) + "\" that is no map");
  }
  for (const auto& [name, element] : object) {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) (*into)[std::string(name)] = text;
  }
  return {};
}

// How long a server that is short of time asks us to wait; 0 where it does not say.
int64_t RetryAfterMs(const HttpResponse& response) {
  const auto found = response.headers.find("retry-after");
  int64_t seconds = 0;
  if (found != response.headers.end()) {
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), seconds);
  }
  return std::clamp<int64_t>(seconds * 1000, 0, 60'000);
}

}  // namespace

Error RestError(const HttpResponse& response, std::string_view what) {
  std::string message(what);
  message += ": status " + std::to_string(response.status);
  dom::parser parser;
  dom::element root;
  std::string_view text;
  const bool is_ours = parser.parse(response.body).get(root) == simdjson::SUCCESS &&
                       root["error"]["message"].get(text) == simdjson::SUCCESS;
  if (is_ours) message += ", " + std::string(text.substr(0, text.find('\n')));
  switch (response.status) {
    case 404:
      if (is_ours) return MakeError(ErrorKind::kNotFound, std::move(message));
      return MakeError(ErrorKind::kInvalidConfig, std::move(message))
          .Hint("There seems to be no Iceberg REST catalog at catalog.properties.uri.");
    case 409: return MakeError(ErrorKind::kAlreadyExists, std::move(message));
    case 401:
    case 403:
    case 419:
      return MakeError(ErrorKind::kPermission, std::move(message))
          .Hint("Check catalog.properties.credential or token, and the rights of its owner.");
    default:
      if (response.status >= 500) return MakeError(ErrorKind::kUnavailable, std::move(message));
      return MakeError(ErrorKind::kRefused, std::move(message));
  }
}

RestSession::RestSession(Properties properties, const Clock* clock)
    : own_(std::move(properties)),
      clock_(clock),
      http_(std::make_unique<HttpClient>(SettingsOf(own_))) {}
RestSession::~RestSession() = default;

Result<void> RestSession::Configure() {
  const std::lock_guard lock(mutex_);
  if (configured_) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(auth_, RestAuth::Make(own_, http_.get(), clock_));
  effective_ = own_;
  std::string url = BaseOf(own_) + "config";
  if (const std::string warehouse = PropertyOf(own_, "warehouse"); !warehouse.empty()) {
    url += "?" + UrlForm({{"warehouse", warehouse}});
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const HttpResponse response,
                             Send("GET", url, "", Repeat::kRepeatable));
  if (response.status != 200)
    return RestError(response, "asking the catalog for its configuration");
  dom::parser parser;
  dom::element root;
  if (parser.parse(response.body).get(root) != simdjson::SUCCESS) {
    return MakeError(ErrorKind::kInvalidConfig, url + " answers no JSON")
        .Hint("There seems to be no Iceberg REST catalog at catalog.properties.uri.");
  }
  Properties merged;
  DRIFTLESS_TRY(MergeTexts(root, "defaults", &merged));
  for (const auto& [key, value] : own_) merged[key] = value;
  DRIFTLESS_TRY(MergeTexts(root, "overrides", &merged));
  dom::array endpoints;
  if (root["endpoints"].get(endpoints) == simdjson::SUCCESS) {
    for (const dom::element endpoint : endpoints) {
      std::string_view text;
      if (endpoint.get(text) == simdjson::SUCCESS) endpoints_.emplace(text);
    }
  }
  for (const char* key : {"credential", "token", "oauth2-server-uri", "rest.auth.type", "scope"}) {
    if (PropertyOf(merged, key) == PropertyOf(own_, key)) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(auth_, RestAuth::Make(merged, http_.get(), clock_));
    break;
  }
  base_ = BaseOf(merged);
  prefix_ = PropertyOf(merged, "prefix");
  while (prefix_.starts_with('/')) prefix_.erase(0, 1);
  while (prefix_.ends_with('/')) prefix_.pop_back();
  if (!prefix_.empty()) prefix_ += '/';
  if (const std::string own = PropertyOf(merged, "namespace-separator"); !own.empty()) {
    separator_ = own;
  }
  effective_ = std::move(merged);
  configured_ = true;
  return {};
}

Result<Properties> RestSession::EffectiveProperties() {
  DRIFTLESS_TRY(Configure());
  return effective_;
}

bool RestSession::Offers(const std::string& endpoint) {
  return Configure() && endpoints_.contains(endpoint);
}

Result<std::string> RestSession::NamespacePath(const std::vector<std::string>& levels) {
  DRIFTLESS_TRY(Configure());
  std::string path = "namespaces/";
  for (size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) path += separator_;
    path += UrlEncode(levels[i]);
  }
  return path;
}

Result<HttpResponse> RestSession::Call(std::string_view method, std::string_view path,
                                       std::string_view body, Repeat repeat) {
  DRIFTLESS_TRY(Configure());
  return Send(std::string(method), base_ + prefix_ + std::string(path), body, repeat);
}

Result<HttpResponse> RestSession::Send(const std::string& method, const std::string& url,
                                       std::string_view body, Repeat repeat) {
  HttpRequest request{method, url, {}, body};
  request.headers["Accept"] = "application/json";
  request.headers["X-Iceberg-Access-Delegation"] = "vended-credentials";
  if (!body.empty()) request.headers["Content-Type"] = "application/json";
  for (const auto& [key, value] : effective_) {
    if (key.starts_with("header.")) request.headers[key.substr(7)] = value;
  }
  bool renewed = false;
  int64_t wait_ms = kFirstWaitMs;
  for (int tries = 1;; ++tries) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string header, auth_->Header());
    if (!header.empty()) request.headers["Authorization"] = header;
    Result<HttpResponse> response = http_->Send(request);
    const int status = response ? response->status : 0;
    if ((status == 401 || status == 419) && !renewed) {
      renewed = true;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool again, auth_->Renew(header));
      if (again) continue;
    }
    if (status == 401 || status == 419) return RestError(*response, method + " " + url);
    if (response && status < 500 && status != 429) return response;
    const std::string what =
        response ? RestError(*response, method + " " + url).message() : response.error().message();
    if (!response && response.error().kind() != ErrorKind::kUnavailable &&
        response.error().kind() != ErrorKind::kCommitUnknown) {
      return response.error();
    }
    const bool not_done =
        status == 429 || (!response && response.error().kind() == ErrorKind::kUnavailable);
    if (repeat == Repeat::kOnce && !not_done) return MakeError(ErrorKind::kCommitUnknown, what);
    if (tries == kTries) return MakeError(ErrorKind::kUnavailable, what);
    const int64_t asked_ms = response ? RetryAfterMs(*response) : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::max(wait_ms, asked_ms)));
    wait_ms = std::min(wait_ms * 2, kLongestWaitMs);
  }
}

}  // namespace driftless::iceberg
