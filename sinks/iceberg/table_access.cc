#include "sinks/iceberg/table_access.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace driftless::iceberg {
namespace {

constexpr std::array<std::string_view, 4> kKeyProperties = {
    "s3.access-key-id", "s3.secret-access-key", "s3.session-token",
    "s3.session-token-expires-at-ms"};

std::string PropertyOf(const FileProperties& properties, std::string_view key) {
  const auto found = properties.find(std::string(key));
  return found == properties.end() ? std::string() : found->second;
}

}  // namespace

bool VendedKeys::Take(const FileProperties& config) {
  S3Credentials keys{PropertyOf(config, kKeyProperties[0]), PropertyOf(config, kKeyProperties[1]),
                     PropertyOf(config, kKeyProperties[2])};
  if (keys.access_key.empty() || keys.secret_key.empty()) return false;
  int64_t expires_ms = 0;
  const std::string text = PropertyOf(config, kKeyProperties[3]);
  std::from_chars(text.data(), text.data() + text.size(), expires_ms);
  const int64_t now_ms = clock_->NowMillis();
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
  // A tenth of their life before the end, so that no request meets the end on its way.
  renew_at_ms_ = expires_ms == 0
                     ? 0
                     : expires_ms - std::clamp<int64_t>((expires_ms - now_ms) / 10, 0, 300'000);
  return true;
}

Result<S3Credentials> VendedKeys::Keys(const S3Credentials* refused) {
  {
    const std::lock_guard lock(mutex_);
    const bool due = renew_at_ms_ > 0 && clock_->NowMillis() >= renew_at_ms_;
    if (!due && (refused == nullptr || *refused != keys_)) return keys_;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const FileProperties config, ask_());
  if (!Take(config)) {
    return MakeError(ErrorKind::kPermission, "the catalog gives no keys for the table's files");
  }
  const std::lock_guard lock(mutex_);
  return keys_;
}

std::string StoreRootOf(const std::string& location) {
  const std::string normal = NormalUri(location);
  const size_t scheme = normal.find("://");
  if (scheme == std::string::npos || normal.starts_with("file:")) {
    return normal.substr(0, normal.rfind('/'));
  }
  return normal.substr(0, normal.find('/', scheme + 3));
}

Result<TableFiles> TableAccess::Open(const std::string& location, const FileProperties& own,
                                     const FileProperties& config, VendedKeys::Ask ask) {
  FileProperties properties = own;
  for (const auto& [key, value] : config) properties[key] = value;
  const std::lock_guard lock(mutex_);
  Place& place = places_[location];
  const auto keys = std::make_shared<VendedKeys>(std::move(ask), clock_);
  const bool vended = keys->Take(config);
  if (vended) {
    for (const std::string_view key : kKeyProperties) properties.erase(std::string(key));
  }
  const bool same = place.files.store() != nullptr && place.properties == properties &&
                    (place.keys != nullptr) == vended;
  if (same) {
    if (vended) place.keys->Take(config);
    return place.files;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      std::shared_ptr<ObjectStore> store,
      OpenObjectStore(StoreRootOf(location), properties, vended ? keys : nullptr));
  place = {std::move(properties), vended ? keys : nullptr, TableFiles(std::move(store))};
  return place.files;
}

}  // namespace driftless::iceberg
