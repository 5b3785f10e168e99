#include "sinks/paimon/table.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace driftless::paimon {
namespace {

std::optional<int64_t> ParseNumber(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// The numbers N of the files "<prefix>N" in a folder, ascending.
Result<std::vector<int64_t>> NumbersIn(ObjectStore* store, const std::string& directory,
                                       std::string_view prefix) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ListedObject> entries,
                             store->List(directory, ObjectStore::Depth::kDirect));
  std::vector<int64_t> numbers;
  for (const ListedObject& entry : entries) {
    std::string_view name = std::string_view(entry.path).substr(directory.size() + 1);
    if (!name.starts_with(prefix)) continue;
    if (const auto number = ParseNumber(name.substr(prefix.size()))) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::string EntryIdentity(const ManifestEntry& entry) {
  std::string identity = entry.file.file_name;
  identity.append("\0", 1).append(std::to_string(entry.bucket));
  identity.append("\0", 1).append(std::to_string(entry.file.level));
  return identity.append("\0", 1).append(entry.partition);
}

Result<std::vector<int64_t>> PaimonTable::SchemaIds() const {
  return NumbersIn(store_.get(), Path("schema"), "schema-");
}

Result<std::optional<PaimonSchema>> PaimonTable::LatestSchema() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, SchemaIds());
  if (ids.empty()) return std::optional<PaimonSchema>();
  DRIFTLESS_ASSIGN_OR_RETURN(PaimonSchema schema, Schema(ids.back()));
  return std::optional(std::move(schema));
}

Result<PaimonSchema> PaimonTable::Schema(int64_t id) const {
  const std::string path = Path("schema/schema-" + std::to_string(id));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string json, store_->Read(path));
  Result<PaimonSchema> schema = ParseSchemaJson(json);
  if (!schema) return std::move(schema).error().Context(path);
  return schema;
}

Result<std::vector<int64_t>> PaimonTable::SnapshotIds() const {
  return NumbersIn(store_.get(), Path("snapshot"), "snapshot-");
}

// The hint is overwritten without any guarantee, so it is trusted only where nothing follows it.
Result<std::optional<Snapshot>> PaimonTable::LatestSnapshot() const {
  Result<std::string> hint = store_->Read(Path("snapshot/LATEST"));
  if (!hint && hint.error().kind() != ErrorKind::kNotFound) return std::move(hint).error();
  if (const auto id = hint ? ParseNumber(*hint) : std::nullopt) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool newer, store_->Exists(SnapshotPath(*id + 1)));
    if (!newer) {
      Result<Snapshot> snapshot = SnapshotAt(*id);
      if (snapshot) return std::optional(*std::move(snapshot));
      if (snapshot.error().kind() != ErrorKind::kNotFound) return std::move(snapshot).error();
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, SnapshotIds());
  if (ids.empty()) return std::optional<Snapshot>();
  DRIFTLESS_ASSIGN_OR_RETURN(Snapshot snapshot, SnapshotAt(ids.back()));
  return std::optional(std::move(snapshot));
}

std::string PaimonTable::SnapshotPath(int64_t id) const {
  return Path("snapshot/snapshot-" + std::to_string(id));
}

Result<Snapshot> PaimonTable::SnapshotAt(int64_t id) const {
  return ReadSnapshot(SnapshotPath(id));
}

Result<Snapshot> PaimonTable::ReadSnapshot(const std::string& path) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string json, store_->Read(path));
  Result<Snapshot> snapshot = ParseSnapshotJson(json);
  if (!snapshot) return std::move(snapshot).error().Context(path);
  return snapshot;
}

Result<std::vector<ManifestFileMeta>> PaimonTable::ReadManifestList(const std::string& name) const {
  if (name.empty()) return std::vector<ManifestFileMeta>();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, store_->Read(Path("manifest/" + name)));
  Result<std::vector<ManifestFileMeta>> metas = DecodeManifestList(bytes);
  if (!metas) return std::move(metas).error().Context(Path("manifest/" + name));
  return metas;
}

Result<std::vector<ManifestEntry>> PaimonTable::ReadManifest(const std::string& name) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, store_->Read(Path("manifest/" + name)));
  Result<std::vector<ManifestEntry>> entries = DecodeManifest(bytes);
  if (!entries) return std::move(entries).error().Context(Path("manifest/" + name));
  return entries;
}

Result<std::vector<ManifestEntry>> PaimonTable::LiveFiles(const Snapshot& snapshot,
                                                          const EntryFilter& filter) const {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFileMeta> metas,
                             ReadManifestList(snapshot.base_manifest_list));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFileMeta> delta,
                             ReadManifestList(snapshot.delta_manifest_list));
  metas.insert(metas.end(), delta.begin(), delta.end());
  // Merged manifests are in no order of time; a DELETE counts wherever it stands, because an
  // identity is added once only.
  std::unordered_set<std::string> deleted;
  std::vector<ManifestEntry> added;
  for (const ManifestFileMeta& meta : metas) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestEntry> entries, ReadManifest(meta.file_name));
    for (ManifestEntry& entry : entries) {
      if (filter && !filter(entry)) continue;
      if (entry.kind == FileKind::kDelete) {
        deleted.insert(EntryIdentity(entry));
      } else {
        added.push_back(std::move(entry));
      }
    }
  }
  if (!deleted.empty()) {
    std::erase_if(
        added, [&](const ManifestEntry& entry) { return deleted.contains(EntryIdentity(entry)); });
  }
  return added;
}

Result<std::vector<IndexManifestEntry>> PaimonTable::IndexFiles(const Snapshot& snapshot) const {
  if (snapshot.index_manifest.empty()) return std::vector<IndexManifestEntry>();
  const std::string path = Path("manifest/" + snapshot.index_manifest);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, store_->Read(path));
  Result<std::vector<IndexManifestEntry>> entries = DecodeIndexManifest(bytes);
  if (!entries) return std::move(entries).error().Context(path);
  return entries;
}

}  // namespace driftless::paimon
