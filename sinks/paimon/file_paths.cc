#include "sinks/paimon/file_paths.h"

#include <utility>

#include "sinks/paimon/partition.h"

namespace driftless::paimon {

Result<std::string> FilePaths::Directory(const ManifestEntry& entry) {
  if (entry.file.external_path) return std::string();
  auto found = schemas_.find(entry.file.schema_id);
  if (found == schemas_.end()) {
    DRIFTLESS_ASSIGN_OR_RETURN(PaimonSchema schema, table_.Schema(entry.file.schema_id));
    found = schemas_.emplace(entry.file.schema_id, std::move(schema)).first;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string partition,
                             PartitionPath(found->second, entry.partition));
  return BucketDirectory(table_.directory(), partition, entry.bucket);
}

Result<std::string> FilePaths::File(const ManifestEntry& entry) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, Directory(entry));
  return directory.empty() ? directory : directory + "/" + entry.file.file_name;
}

}  // namespace driftless::paimon
