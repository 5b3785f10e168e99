#include "sinks/iceberg/rest_auth.h"

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "schema/base/bytes_text.h"

namespace driftless::iceberg {
namespace {

constexpr int kTries = 4;
constexpr int64_t kFirstWaitMs = 200;
// How long an exchange that failed is not tried again while the old token still holds.
constexpr int64_t kPauseMs = 60'000;

std::string PropertyOf(const Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  return found == properties.end() ? std::string() : found->second;
}

// When a JSON Web Token expires ("exp", RFC 7519), in seconds since the epoch; 0 where it is none.
int64_t ExpiryOf(std::string_view token) {
  const size_t begin = token.find('.');
  const size_t end = begin == std::string_view::npos ? begin : token.find('.', begin + 1);
  if (end == std::string_view::npos) return 0;
  std::string base64(token.substr(begin + 1, end - begin - 1));
  std::ranges::replace(base64, '-', '+');
  std::ranges::replace(base64, '_', '/');
  std::string claims;
  if (!DecodeBase64(base64, &claims)) return 0;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  int64_t expiry = 0;
  if (parser.parse(claims).get(root) != simdjson::SUCCESS ||
      root["exp"].get(expiry) != simdjson::SUCCESS) {
    return 0;
  }
  return expiry;
}

struct TokenAnswer {
  std::string token;
  int64_t lifetime_s = 0;
};

Result<TokenAnswer> ReadAnswer(const HttpResponse& response, const std::string& url) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const bool parsed = parser.parse(response.body).get(root) == simdjson::SUCCESS;
  std::string_view text;
  if (response.status != 200) {
    std::string message = "the token server " + url + " answers " + std::to_string(response.status);
    for (const char* key : {"error", "error_description"}) {
      if (parsed && root[key].get(text) == simdjson::SUCCESS) message += ", " + std::string(text);
    }
    return MakeError(ErrorKind::kPermission, std::move(message))
        .Hint("Check catalog.properties.credential, scope and oauth2-server-uri.");
  }
  TokenAnswer answer;
  if (!parsed || root["access_token"].get(text) != simdjson::SUCCESS) {
    return MakeError(ErrorKind::kPermission, "the token server " + url + " gives no access_token");
  }
  answer.token = text;
  if (root["expires_in"].get(answer.lifetime_s) != simdjson::SUCCESS) answer.lifetime_s = 0;
  return answer;
}

Result<TokenAnswer> AskForToken(HttpClient* http, const std::string& url, const std::string& body,
                                const std::string& authorization) {
  HttpRequest request{"POST", url, {}, body};
  request.headers["Content-Type"] = "application/x-www-form-urlencoded";
  request.headers["Accept"] = "application/json";
  if (!authorization.empty()) request.headers["Authorization"] = authorization;
  int64_t wait_ms = kFirstWaitMs;
  for (int tries = 1;; ++tries) {
    Result<HttpResponse> response = http->Send(request);
    if (response && response->status < 500 && response->status != 429) {
      return ReadAnswer(*response, url);
    }
    const bool again = response || response.error().IsRetryable() ||
                       response.error().kind() == ErrorKind::kCommitUnknown;
    if (!again) return response.error();
    if (tries == kTries) {
      return MakeError(ErrorKind::kUnavailable, response ? "the token server " + url + " answers " +
                                                               std::to_string(response->status)
                                                         : response.error().message());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    wait_ms *= 2;
  }
}

}  // namespace

Result<std::unique_ptr<RestAuth>> RestAuth::Make(const Properties& properties, HttpClient* http,
                                                 const Clock* clock) {
  std::unique_ptr<RestAuth> auth(new RestAuth(http, clock));
  const std::string credential = PropertyOf(properties, "credential");
  const std::string token = PropertyOf(properties, "token");
  std::string type = PropertyOf(properties, "rest.auth.type");
  if (PropertyOf(properties, "rest.sigv4-enabled") == "true") type = "sigv4";
  if (type.empty()) type = credential.empty() && token.empty() ? "none" : "oauth2";
  if (type == "none") return auth;
  if (type == "basic") {
    auth->fixed_ = "Basic ";
    AppendBase64(PropertyOf(properties, "rest.auth.basic.username") + ":" +
                     PropertyOf(properties, "rest.auth.basic.password"),
                 &auth->fixed_);
    return auth;
  }
  if (type != "oauth2") {
    return MakeError(ErrorKind::kUnsupported,
                     "REST catalogs with the authorization " + type + " are not supported")
        .Hint("Driftless knows none, basic and oauth2.");
  }
  if (credential.empty() && token.empty()) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "neither catalog.properties.credential nor catalog.properties.token is set")
        .Hint("Write credential: ${ENV:CLIENT_ID}:${ENV:CLIENT_SECRET}");
  }
  const size_t colon = credential.find(':');
  if (colon != std::string::npos) auth->client_id_ = credential.substr(0, colon);
  auth->client_secret_ = credential.substr(colon == std::string::npos ? 0 : colon + 1);
  auth->token_url_ = PropertyOf(properties, "oauth2-server-uri");
  if (auth->token_url_.empty()) auth->token_url_ = "v1/oauth/tokens";
  if (auth->token_url_.find("://") == std::string::npos) {
    std::string base = PropertyOf(properties, "uri");
    while (base.ends_with('/')) base.pop_back();
    while (auth->token_url_.starts_with('/')) auth->token_url_.erase(0, 1);
    auth->token_url_ = base + "/" + auth->token_url_;
  }
  auth->form_["scope"] = "catalog";
  for (const char* key : {"scope", "audience", "resource"}) {
    if (const std::string value = PropertyOf(properties, key); !value.empty()) {
      auth->form_[key] = value;
    }
  }
  auth->refreshes_ = PropertyOf(properties, "token-refresh-enabled") != "false";
  if (!token.empty()) auth->Take(token, 0);
  return auth;
}

void RestAuth::Take(std::string token, int64_t lifetime_s) {
  token_ = std::move(token);
  const int64_t now_ms = clock_->NowMillis();
  if (lifetime_s <= 0) {
    const int64_t expiry_s = ExpiryOf(token_);
    lifetime_s = expiry_s == 0 ? 0 : std::max<int64_t>(1, expiry_s - now_ms / 1000);
  }
  // A tenth of its life before the end, so that no request meets the end on its way.
  renew_at_ms_ = lifetime_s == 0
                     ? 0
                     : now_ms + lifetime_s * 1000 - std::min<int64_t>(lifetime_s * 100, 300'000);
}

Result<void> RestAuth::Fetch() {
  Properties form = form_;
  std::string authorization;
  if (!client_secret_.empty()) {
    form["grant_type"] = "client_credentials";
    form["client_secret"] = client_secret_;
    if (!client_id_.empty()) form["client_id"] = client_id_;
  } else {
    form["grant_type"] = "urn:ietf:params:oauth:grant-type:token-exchange";
    form["subject_token"] = token_;
    form["subject_token_type"] = "urn:ietf:params:oauth:token-type:access_token";
    authorization = "Bearer " + token_;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(TokenAnswer answer,
                             AskForToken(http_, token_url_, UrlForm(form), authorization));
  Take(std::move(answer.token), answer.lifetime_s);
  return {};
}

Result<std::string> RestAuth::Header() {
  if (token_url_.empty()) return fixed_;
  const std::lock_guard lock(mutex_);
  const bool due = refreshes_ && renew_at_ms_ > 0 && clock_->NowMillis() >= renew_at_ms_;
  if (token_.empty()) {
    DRIFTLESS_TRY(Fetch());
  } else if (due && !Fetch()) {
    renew_at_ms_ = clock_->NowMillis() + kPauseMs;  // until it is refused, the old one serves
  }
  return "Bearer " + token_;
}

Result<bool> RestAuth::Renew(const std::string& refused) {
  if (token_url_.empty()) return false;
  const std::lock_guard lock(mutex_);
  if (refused != "Bearer " + token_) return true;  // another thread was faster
  if (!refreshes_ && client_secret_.empty()) return false;
  DRIFTLESS_TRY(Fetch());
  return true;
}

}  // namespace driftless::iceberg
