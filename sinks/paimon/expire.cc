#include "sinks/paimon/expire.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "sinks/paimon/file_paths.h"

namespace driftless::paimon {
namespace {

bool IsMissing(const Error& error) { return error.kind() == ErrorKind::kNotFound; }

// The smallest snapshot that a streaming reader still wants; INT64_MAX where there is none.
Result<int64_t> SmallestConsumer(const PaimonTable& table) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::vector<ListedObject> files,
      table.store()->List(table.Path("consumer"), ObjectStore::Depth::kDirect));
  int64_t smallest = INT64_MAX;
  for (const ListedObject& file : files) {
    if (file.path.find("/consumer-") == std::string::npos) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string json, table.store()->Read(file.path));
    simdjson::dom::parser parser;
    simdjson::dom::object root;
    int64_t next = 0;
    if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
        root["nextSnapshot"].get(next) != simdjson::SUCCESS) {
      return int64_t{0};  // half written: hold everything until it can be read
    }
    smallest = std::min(smallest, next);
  }
  return smallest;
}

// Snapshots before the result may go. A snapshot is old when the one after it is, because until
// then it was the table's state.
Result<int64_t> FirstRetained(const PaimonTable& table, const TableOptions& options,
                              const std::vector<int64_t>& ids, int64_t now_ms) {
  const int64_t earliest = ids.front();
  const int64_t latest = ids.back();
  int64_t end = latest - options.snapshots_retained_min + 1;
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t consumer, SmallestConsumer(table));
  end = std::min({end, consumer, earliest + options.snapshot_expire_limit});
  int64_t id = std::max(earliest, std::min(end, latest - options.snapshots_retained_max + 1));
  for (; id < end; ++id) {
    Result<Snapshot> next = table.SnapshotAt(id + 1);
    if (!next && IsMissing(next.error())) continue;
    if (!next) return std::move(next).error();
    if (next->time_ms > now_ms - options.snapshot_time_retained_ms) break;
  }
  return id;
}

class Expiry {
 public:
  Expiry(const PaimonTable& table, int64_t begin, int64_t end)
      : table_(table), begin_(begin), end_(end) {}

  Result<void> Run() {
    DRIFTLESS_TRY(CollectRetained());
    // What the changes of begin+1 ... end removed is needed by no snapshot from `end` on.
    for (int64_t id = begin_ + 1; id <= end_; ++id) DRIFTLESS_TRY(DeleteRemovedDataFiles(id));
    for (int64_t id = begin_; id < end_; ++id) {
      Result<Snapshot> snapshot = table_.SnapshotAt(id);
      if (!snapshot && IsMissing(snapshot.error())) continue;
      if (!snapshot) return std::move(snapshot).error();
      DRIFTLESS_TRY(DeleteChangelog(*snapshot));
      DRIFTLESS_TRY(DeleteMetadata(*snapshot));
      DRIFTLESS_TRY(Delete(table_.SnapshotPath(id)));
    }
    return table_.store()->PutHint(table_.Path("snapshot/EARLIEST"), std::to_string(end_));
  }

 private:
  Result<void> Delete(const std::string& path) {
    DRIFTLESS_TRY(table_.store()->Delete(path));
    return {};
  }

  Result<void> CollectRetained() {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Snapshot> pinned, PinnedSnapshots(table_));
    for (const Snapshot& snapshot : pinned) {
      DRIFTLESS_TRY(CollectNeeded(table_, snapshot, true, &needed_));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const Snapshot first, table_.SnapshotAt(end_));
    return CollectNeeded(table_, first, false, &needed_);
  }

  Result<void> DeleteFile(const ManifestEntry& entry) {
    if (needed_.contains(entry.file.file_name)) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, paths_.Directory(entry));
    if (directory.empty()) return {};  // outside of the table: not ours to delete
    DRIFTLESS_TRY(Delete(directory + "/" + entry.file.file_name));
    for (const std::string& extra : entry.file.extra_files) {
      DRIFTLESS_TRY(Delete(directory + "/" + extra));
    }
    return {};
  }

  // The entries of a manifest list's manifests; nothing where an earlier, interrupted run deleted
  // them already.
  Result<std::vector<ManifestEntry>> EntriesOf(const std::string& list) {
    std::vector<ManifestEntry> entries;
    const Result<std::vector<ManifestFileMeta>> metas = table_.ReadManifestList(list);
    if (!metas && IsMissing(metas.error())) return entries;
    if (!metas) return metas.error();
    for (const ManifestFileMeta& meta : *metas) {
      Result<std::vector<ManifestEntry>> read = table_.ReadManifest(meta.file_name);
      if (!read && IsMissing(read.error())) continue;
      if (!read) return std::move(read).error();
      std::ranges::move(*read, std::back_inserter(entries));
    }
    return entries;
  }

  Result<void> DeleteRemovedDataFiles(int64_t id) {
    Result<Snapshot> snapshot = table_.SnapshotAt(id);
    if (!snapshot && IsMissing(snapshot.error())) return {};
    if (!snapshot) return std::move(snapshot).error();
    DRIFTLESS_ASSIGN_OR_RETURN(const auto entries, EntriesOf(snapshot->delta_manifest_list));
    // A file that only changes its level is deleted and added in one delta.
    std::unordered_set<std::string> added;
    for (const ManifestEntry& entry : entries) {
      if (entry.kind == FileKind::kAdd) added.insert(entry.file.file_name);
    }
    for (const ManifestEntry& entry : entries) {
      if (entry.kind == FileKind::kDelete && !added.contains(entry.file.file_name)) {
        DRIFTLESS_TRY(DeleteFile(entry));
      }
    }
    return {};
  }

  Result<void> DeleteChangelog(const Snapshot& snapshot) {
    if (snapshot.changelog_manifest_list.empty()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const auto entries, EntriesOf(snapshot.changelog_manifest_list));
    for (const ManifestEntry& entry : entries) {
      if (entry.kind == FileKind::kAdd) DRIFTLESS_TRY(DeleteFile(entry));
    }
    return {};
  }

  Result<void> DeleteMetadata(const Snapshot& snapshot) {
    std::unordered_set<std::string> own;
    DRIFTLESS_TRY(CollectNeeded(table_, snapshot, false, &own));
    // Lists last: as long as they are there, the next run finds what they name.
    std::vector<std::string> lists;
    for (const std::string& path : own) {
      if (needed_.contains(path)) continue;
      if (path.starts_with("manifest/manifest-list-") || path.starts_with("manifest/index-")) {
        lists.push_back(path);
      } else {
        DRIFTLESS_TRY(Delete(table_.Path(path)));
      }
    }
    for (const std::string& path : lists) DRIFTLESS_TRY(Delete(table_.Path(path)));
    return {};
  }

  const PaimonTable& table_;
  const int64_t begin_;
  const int64_t end_;
  std::unordered_set<std::string> needed_;
  FilePaths paths_{table_};
};

}  // namespace

Result<std::vector<Snapshot>> PinnedSnapshots(const PaimonTable& table) {
  std::vector<Snapshot> snapshots;
  const auto add = [&](const std::string& directory, std::string_view prefix) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ListedObject> files,
                               table.store()->List(directory, ObjectStore::Depth::kDirect));
    for (const ListedObject& file : files) {
      const std::string_view name = std::string_view(file.path).substr(directory.size() + 1);
      if (file.is_directory || !name.starts_with(prefix)) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(Snapshot snapshot, table.ReadSnapshot(file.path));
      snapshots.push_back(std::move(snapshot));
    }
    return {};
  };
  DRIFTLESS_TRY(add(table.Path("tag"), "tag-"));
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::vector<ListedObject> branches,
      table.store()->List(table.Path("branch"), ObjectStore::Depth::kDirect));
  for (const ListedObject& branch : branches) {
    if (!branch.is_directory) continue;
    DRIFTLESS_TRY(add(branch.path + "/tag", "tag-"));
    DRIFTLESS_TRY(add(branch.path + "/snapshot", "snapshot-"));
  }
  return snapshots;
}

Result<void> CollectNeeded(const PaimonTable& table, const Snapshot& snapshot, bool with_data_files,
                           std::unordered_set<std::string>* needed) {
  for (const std::string* list : {&snapshot.base_manifest_list, &snapshot.delta_manifest_list,
                                  &snapshot.changelog_manifest_list}) {
    if (list->empty()) continue;
    needed->insert("manifest/" + *list);
    const Result<std::vector<ManifestFileMeta>> metas = table.ReadManifestList(*list);
    if (!metas && IsMissing(metas.error())) continue;
    if (!metas) return metas.error();
    for (const ManifestFileMeta& meta : *metas) {
      // A manifest that is known already was read for another snapshot.
      const bool is_new = needed->insert("manifest/" + meta.file_name).second;
      if (!with_data_files || !is_new) continue;
      const Result<std::vector<ManifestEntry>> entries = table.ReadManifest(meta.file_name);
      if (!entries && IsMissing(entries.error())) continue;
      if (!entries) return entries.error();
      for (const ManifestEntry& entry : *entries) {
        needed->insert(entry.file.file_name);
        for (const std::string& extra : entry.file.extra_files) needed->insert(extra);
      }
    }
  }
  if (!snapshot.index_manifest.empty()) {
    needed->insert("manifest/" + snapshot.index_manifest);
    const Result<std::vector<IndexManifestEntry>> entries = table.IndexFiles(snapshot);
    if (!entries && !IsMissing(entries.error())) return entries.error();
    if (entries) {
      for (const IndexManifestEntry& entry : *entries) needed->insert("index/" + entry.file_name);
    }
  }
  if (!snapshot.statistics.empty()) needed->insert("statistics/" + snapshot.statistics);
  return {};
}

Result<std::unordered_set<std::string>> EverythingNeeded(const PaimonTable& table) {
  std::unordered_set<std::string> needed;
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Snapshot> snapshots, PinnedSnapshots(table));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, table.SnapshotIds());
  for (const int64_t id : ids) {
    Result<Snapshot> snapshot = table.SnapshotAt(id);
    if (!snapshot && snapshot.error().kind() == ErrorKind::kNotFound) continue;
    if (!snapshot) return std::move(snapshot).error();
    snapshots.push_back(*std::move(snapshot));
  }
  for (const Snapshot& snapshot : snapshots) {
    DRIFTLESS_TRY(CollectNeeded(table, snapshot, true, &needed));
  }
  return needed;
}

Result<void> ExpireSnapshots(const PaimonTable& table, const TableOptions& options,
                             int64_t now_ms) {
  if (options.write_only || options.decoupled_changelog) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, table.SnapshotIds());
  if (ids.empty() || ids.back() - ids.front() < options.snapshots_retained_min) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t end, FirstRetained(table, options, ids, now_ms));
  if (end <= ids.front()) return {};
  return Expiry(table, ids.front(), end).Run();
}

}  // namespace driftless::paimon
