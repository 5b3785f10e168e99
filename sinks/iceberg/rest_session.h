#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/iceberg/rest_auth.h"

namespace driftless::iceberg {

// A client's side of the Iceberg REST catalog protocol without its contents: the configuration
// handshake, addresses, authorization, and what may be repeated (Iceberg REST Catalog API
// specification, "Configuration API" and its error models). Thread-safe.
class RestSession {
 public:
  // `properties` are the catalog's: uri, warehouse, prefix, header.*, and those of RestAuth.
  RestSession(Properties properties, const Clock* clock);
  ~RestSession();

  // The handshake, once; calls do it by themselves.
  Result<void> Configure();
  // The catalog's properties after the handshake: the server's defaults, ours, its overrides.
  Result<Properties> EffectiveProperties();
  // Whether the server says that it has this, for instance "POST /v1/{prefix}/transactions/commit".
  bool Offers(const std::string& endpoint);
  // "namespaces/a%1Fb", "namespaces/a/tables/t", below the prefix.
  Result<std::string> NamespacePath(const std::vector<std::string>& levels);

  enum class Repeat : uint8_t { kRepeatable, kOnce };
  // `path` is below "v1/<prefix>/", with its query. Gives every answer that is about the request
  // itself: 2xx, and 4xx but 401, 419 (both mean a renewed token and another try) and 429 (wait and
  // try again). A repeatable request is also repeated after 5xx and lost answers. Errors:
  // kUnavailable; kPermission; kCommitUnknown: kOnce only, it may have been carried out.
  Result<HttpResponse> Call(std::string_view method, std::string_view path, std::string_view body,
                            Repeat repeat);

 private:
  Result<HttpResponse> Send(const std::string& method, const std::string& url,
                            std::string_view body, Repeat repeat);

  const Properties own_;
  const Clock* clock_;
  std::unique_ptr<HttpClient> http_;
  std::mutex mutex_;  // for what follows; configured once, then constant
  bool configured_ = false;
  Properties effective_;
  std::string base_;  // "https://host/v1/"
  std::string prefix_;
  std::string separator_ = "%1F";
  std::set<std::string, std::less<>> endpoints_;
  std::shared_ptr<RestAuth> auth_;
};

// The error that an answer stands for: kNotFound, kAlreadyExists (409), kPermission (403),
// kRefused.
Error RestError(const HttpResponse& response, std::string_view what);

}  // namespace driftless::iceberg
