#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinks/clients/objectstore/object_store.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// What makes two manifest entries speak of the same file: partition, bucket, level and name.
std::string EntryIdentity(const ManifestEntry& entry);

// Reads one table's metadata. Cheap to copy; keeps no cache, so that it always shows what is there.
class PaimonTable {
 public:
  // `directory` is the table's, relative to the store's root.
  PaimonTable(std::shared_ptr<ObjectStore> store, std::string directory)
      : store_(std::move(store)), directory_(std::move(directory)) {}

  // nullopt: there is no such table. Errors: the store's; kCorrupt.
  Result<std::optional<PaimonSchema>> LatestSchema() const;
  // Errors: kNotFound.
  Result<PaimonSchema> Schema(int64_t id) const;
  Result<std::vector<int64_t>> SchemaIds() const;  // ascending

  Result<std::optional<Snapshot>> LatestSnapshot() const;  // nullopt: none yet
  // Errors: kNotFound (never written, or expired).
  Result<Snapshot> SnapshotAt(int64_t id) const;
  // Any file that holds a snapshot: tags and branches too.
  Result<Snapshot> ReadSnapshot(const std::string& path) const;
  std::string SnapshotPath(int64_t id) const;
  Result<std::vector<int64_t>> SnapshotIds() const;  // ascending

  Result<std::vector<ManifestFileMeta>> ReadManifestList(const std::string& name) const;
  Result<std::vector<ManifestEntry>> ReadManifest(const std::string& name) const;

  // The files that make up the table at a snapshot: ADD entries without a later DELETE.
  using EntryFilter = std::function<bool(const ManifestEntry&)>;
  Result<std::vector<ManifestEntry>> LiveFiles(const Snapshot& snapshot,
                                               const EntryFilter& filter = {}) const;
  Result<std::vector<IndexManifestEntry>> IndexFiles(const Snapshot& snapshot) const;

  const std::string& directory() const { return directory_; }
  ObjectStore* store() const { return store_.get(); }
  const std::shared_ptr<ObjectStore>& shared_store() const { return store_; }
  std::string Path(std::string_view below) const { return directory_ + "/" + std::string(below); }

 private:
  std::shared_ptr<ObjectStore> store_;
  std::string directory_;
};

}  // namespace driftless::paimon
