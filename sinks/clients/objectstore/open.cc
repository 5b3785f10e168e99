#include <utility>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/clients/objectstore/s3_store.h"

namespace driftless {
namespace {

std::string Property(const std::map<std::string, std::string>& properties,
                     std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = properties.find(key);
    if (found != properties.end()) return found->second;
  }
  return "";
}

// The spellings of Paimon's S3 and OSS file systems, of Hadoop's and of Flink's.
Result<S3Options> ReadS3Options(std::string_view scheme,
                                const std::map<std::string, std::string>& properties) {
  S3Options options;
  options.endpoint = Property(properties, {"s3.endpoint", "fs.s3a.endpoint", "fs.oss.endpoint"});
  options.access_key = Property(properties, {"s3.access-key", "s3.access.key", "s3.access-key-id",
                                             "fs.s3a.access.key", "fs.oss.accessKeyId"});
  options.secret_key =
      Property(properties, {"s3.secret-key", "s3.secret.key", "s3.secret-access-key",
                            "fs.s3a.secret.key", "fs.oss.accessKeySecret"});
  options.session_token = Property(properties, {"s3.session-token", "s3.session.token",
                                                "fs.s3a.session.token", "fs.oss.securityToken"});
  const std::string region = Property(
      properties, {"s3.endpoint.region", "s3.region", "client.region", "fs.s3a.endpoint.region"});
  if (!region.empty()) options.region = region;
  const std::string path_style = Property(
      properties, {"s3.path.style.access", "s3.path-style-access", "fs.s3a.path.style.access"});
  options.path_style = path_style.empty() ? !options.endpoint.empty() : path_style == "true";
  if (options.endpoint.empty() && scheme == "oss") {
    return MakeError(ErrorKind::kInvalidConfig, "an oss:// location needs an endpoint")
        .Hint("Set catalog.properties.fs.oss.endpoint.");
  }
  if (!options.endpoint.empty() && options.endpoint.find("://") == std::string::npos) {
    options.endpoint = "https://" + options.endpoint;
  }
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  return options;
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> OpenObjectStore(
    std::string_view location, const std::map<std::string, std::string>& properties,
    std::shared_ptr<S3KeySource> keys) {
  const size_t colon = location.find(':');
  const bool is_plain = colon == std::string_view::npos || location.starts_with('/') ||
                        location.starts_with("./") || location.starts_with("../");
  if (is_plain) {
    if (location.empty()) return MakeError(ErrorKind::kInvalidConfig, "the warehouse is empty");
    return OpenLocalStore(std::string(location));
  }
  const std::string_view scheme = location.substr(0, colon);
  std::string_view rest = location.substr(colon + 1);
  if (scheme == "file") {
    if (rest.starts_with("//")) rest.remove_prefix(2);
    if (!rest.starts_with('/')) {
      return MakeError(ErrorKind::kInvalidConfig,
                       "\"" + std::string(location) + "\" names no absolute path")
          .Hint("Write file:///path, or a path alone.");
    }
    return OpenLocalStore(std::string(rest));
  }
  if (scheme == "s3" || scheme == "s3a" || scheme == "oss") {
    if (rest.starts_with("//")) rest.remove_prefix(2);
    const size_t slash = rest.find('/');
    const std::string bucket(rest.substr(0, slash));
    std::string prefix(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
    while (prefix.ends_with('/')) prefix.pop_back();
    if (bucket.empty()) {
      return MakeError(ErrorKind::kInvalidConfig,
                       "\"" + std::string(location) + "\" names no bucket");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(S3Options options, ReadS3Options(scheme, properties));
    options.keys = std::move(keys);
    return OpenS3Store(bucket, std::move(prefix), std::move(options));
  }
  return MakeError(ErrorKind::kInvalidConfig,
                   "warehouse \"" + std::string(location) + "\": unknown kind of storage")
      .Hint("Driftless knows paths, file://, s3://, s3a:// and oss://.");
}

}  // namespace driftless
