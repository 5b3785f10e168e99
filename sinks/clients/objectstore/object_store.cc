#include "sinks/clients/objectstore/object_store.h"

#include <utility>

namespace driftless {

Result<void> ObjectStore::CreateExclusive(const std::string& path, std::string_view bytes) {
  const NewObject object{path, std::string(bytes)};
  return std::move(CreateExclusive(std::span(&object, 1)).front());
}

Result<bool> ObjectStore::Exists(const std::string& path) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<ObjectInfo> info, Stat(path));
  return info.has_value();
}

}  // namespace driftless
