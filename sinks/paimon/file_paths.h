#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sinks/paimon/table.h"

namespace driftless::paimon {

// Where the files that manifests name lie. Reads a schema once only.
class FilePaths {
 public:
  explicit FilePaths(const PaimonTable& table) : table_(table) {}

  // The folder of a data or changelog file; empty for a file with an external path. Errors: the
  // store's, kCorrupt.
  Result<std::string> Directory(const ManifestEntry& entry);
  // The path of the file itself; empty as above.
  Result<std::string> File(const ManifestEntry& entry);
  std::string Index(const IndexManifestEntry& entry) const {
    return table_.Path("index/" + entry.file_name);
  }

 private:
  const PaimonTable& table_;
  std::map<int64_t, PaimonSchema> schemas_;
};

}  // namespace driftless::paimon
