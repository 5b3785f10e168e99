#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sinks/formats/avro/avro.h"
#include "sinks/paimon/table.h"
#include "sinks/paimon/table_options.h"

namespace driftless::paimon {

// What writing metadata needs to know, and the files that it wrote: an attempt that loses the race
// removes them again.
struct MetadataWriter {
  const PaimonTable* table = nullptr;
  const PaimonSchema* schema = nullptr;
  const TableOptions* options = nullptr;
  FileNames* names = nullptr;
  std::vector<std::string> written;  // paths

  // Writes one file into manifest/ and returns its name.
  Result<std::string> Put(std::string_view prefix, const std::string& bytes);
};

// Writes manifest entries into manifests of about the target size, in bounded memory, with the
// statistics that a manifest list keeps of each.
class ManifestRoller {
 public:
  explicit ManifestRoller(MetadataWriter* writer) : writer_(writer) {}

  Result<void> Add(const ManifestEntry& entry);
  Result<std::vector<ManifestFileMeta>> Finish();

 private:
  Result<void> Roll();

  MetadataWriter* writer_;
  std::unique_ptr<avro::FileWriter> file_;
  ManifestFileMeta meta_;
  std::unordered_map<std::string, int64_t> partitions_;  // serialized row -> entries
  std::vector<ManifestFileMeta> metas_;
};

// The base manifests of the next snapshot: those of the latest one, its delta included, with small
// ones merged as manifest.merge-min-count and manifest.full-compaction-threshold-size say.
Result<std::vector<ManifestFileMeta>> MergeManifests(MetadataWriter* writer,
                                                     std::vector<ManifestFileMeta> metas);

}  // namespace driftless::paimon
