#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/lake/file_names.h"

namespace driftless::iceberg {

// Writes manifests and manifest lists of one attempt at a commit.
class ManifestWriter {
 public:
  // `written`: takes the URIs of what is written, for an attempt that loses. May be null.
  ManifestWriter(const LoadedTable* table, std::string directory, lake::FileNames* names,
                 std::vector<std::string>* written)
      : table_(table), directory_(std::move(directory)), names_(names), written_(written) {}

  const LoadedTable& table() const { return *table_; }
  // Adopt gives the result its sequence numbers. Errors: kUnsupported where no schema has all
  // columns of the partition spec any more.
  Result<ManifestFile> Write(const std::vector<ManifestEntry>& entries, int32_t schema_id,
                             int32_t spec_id, bool deletes) const;
  // Entries of any kind and spec: data and deletes, and each spec, have manifests of their own.
  Result<std::vector<ManifestFile>> WriteAll(const std::vector<ManifestEntry>& entries,
                                             int32_t schema_id) const;
  // Gives the URI.
  Result<std::string> WriteList(const std::vector<ManifestFile>& manifests,
                                const Snapshot& snapshot) const;

 private:
  Result<std::string> Put(const std::string& prefix, std::string_view bytes) const;

  const LoadedTable* table_;
  std::string directory_;  // of the table
  lake::FileNames* names_;
  std::vector<std::string>* written_;
};

// The manifests of a snapshot that hold live files.
Result<std::vector<ManifestFile>> LiveManifests(const LoadedTable& table, const Snapshot* snapshot);

// Small manifests become larger ones, oldest first, as the table's commit.manifest-merge.enabled,
// commit.manifest.min-count-to-merge and commit.manifest.target-size-bytes say; data and delete
// manifests and those of each partition spec apart. Manifests of specs whose columns are gone stay
// as they are.
Result<std::vector<ManifestFile>> MergeManifests(const ManifestWriter& writer,
                                                 std::vector<ManifestFile> manifests);

// The manifests without the entries that `is_removed` names: those are marked as deleted by the
// snapshot. `may_hold` says which manifests are worth reading. Adds the removed to `removed`.
Result<std::vector<ManifestFile>> RemoveEntries(
    const ManifestWriter& writer, std::vector<ManifestFile> manifests, const Snapshot& snapshot,
    const std::function<bool(const ManifestFile&)>& may_hold,
    const std::function<bool(const ManifestEntry&)>& is_removed,
    std::vector<ManifestEntry>* removed);

// Gives a manifest that was just written the numbers of its snapshot; others stay as they are.
// `rows` is how many row ids the snapshot has given out so far (format version 3).
void Adopt(const Snapshot& snapshot, int format_version, ManifestFile* manifest, int64_t* rows);

}  // namespace driftless::iceberg
