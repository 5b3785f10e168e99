#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "schema/base/clock.h"
#include "sinks/clients/http/http_client.h"

namespace driftless::iceberg {

using Properties = std::map<std::string, std::string>;

// What stands in the Authorization header of requests to a REST catalog: nothing, user and
// password, or an OAuth2 bearer token, which is fetched with client credentials (RFC 6749,
// section 4.4) or exchanged for a newer one (RFC 8693) before it expires and when it is refused.
// Properties as the reference implementation has them: credential, token, scope, audience,
// resource, oauth2-server-uri, token-refresh-enabled, rest.auth.type. Thread-safe.
class RestAuth {
 public:
  // Errors: kUnsupported for kinds of authorization that are not known; kInvalidConfig.
  static Result<std::unique_ptr<RestAuth>> Make(const Properties& properties, HttpClient* http,
                                                const Clock* clock);

  // The header's value; empty: none. Errors: kPermission, kUnavailable.
  Result<std::string> Header();
  // After a 401 or 419 for a request with this header: false where nothing newer can be had.
  Result<bool> Renew(const std::string& refused);

 private:
  RestAuth(HttpClient* http, const Clock* clock) : http_(http), clock_(clock) {}
  Result<void> Fetch();  // mutex_ held
  void Take(std::string token, int64_t lifetime_s);

  HttpClient* http_;
  const Clock* clock_;
  std::string fixed_;  // of kinds that never change
  std::string token_url_;
  std::string client_id_;
  std::string client_secret_;
  Properties form_;  // scope, audience, resource
  bool refreshes_ = true;
  std::mutex mutex_;
  std::string token_;
  int64_t renew_at_ms_ = 0;  // 0: never of its own accord
};

}  // namespace driftless::iceberg
