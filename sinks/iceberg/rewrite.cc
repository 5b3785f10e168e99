#include "sinks/iceberg/rewrite.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "sinks/iceberg/manifest_writer.h"
#include "sinks/iceberg/table_scan.h"

namespace driftless::iceberg {
namespace {

constexpr int kAttempts = 5;

Error Conflict(std::string what) { return MakeError(ErrorKind::kConflict, std::move(what)); }

class RewriteCommit {
 public:
  RewriteCommit(const MaintenanceContext& context, const Rewrite& rewrite, lake::FileNames* names)
      : context_(context), rewrite_(rewrite), names_(names), id_(RandomSnapshotId()) {}

  Result<void> Run() {
    const std::unique_lock<std::shared_mutex> lock(*context_.commits);
    Result<void> done;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      bool is_there = false;
      done = Prepare(&is_there);
      if (is_there) return {};
      if (!done) break;
      const CatalogCommit commit{context_.identity.table, &*table_, &change_};
      done = std::move(context_.catalog->Commit(std::span(&commit, 1)).front());
      if (done) return {};
      const ErrorKind kind = done.error().kind();
      // A repeated request may have been in conflict with itself: only a look at the table tells.
      unchecked_ = kind == ErrorKind::kConflict || kind == ErrorKind::kCommitUnknown;
      unknown_ |= kind == ErrorKind::kCommitUnknown;
      if (!unchecked_) break;
    }
    bool is_there = false;
    if (unchecked_ && Look(&is_there) && is_there) return {};
    if (unchecked_ || unknown_) {
      return MakeError(ErrorKind::kCommitUnknown, done.error().message());
    }
    DeleteWritten();
    return done;
  }

 private:
  void DeleteWritten() {
    for (const std::string& uri : written_) (void)table_->files.Delete(uri);
    written_.clear();
  }

  // Reads the table, and whether an earlier attempt has come through: all of them share the
  // snapshot's id. If not, what it wrote goes, unless its answer was lost: it may still arrive.
  Result<void> Look(bool* is_there) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadedTable> loaded,
                               context_.catalog->Load(context_.identity.table));
    if (!loaded || loaded->metadata.uuid != rewrite_.base->metadata.uuid) {
      return Conflict("the table is gone");
    }
    table_ = std::move(loaded);
    unchecked_ = false;
    *is_there = table_->metadata.FindSnapshot(id_) != nullptr;
    if (unknown_ || *is_there) {
      written_.clear();
    } else {
      DeleteWritten();
    }
    return {};
  }

  Result<void> Prepare(bool* is_there) {
    DRIFTLESS_TRY(Look(is_there));
    if (*is_there) return {};
    const TableMetadata& base = rewrite_.base->metadata;
    const TableMetadata& metadata = table_->metadata;
    const Snapshot* parent = metadata.current_snapshot();
    if (parent == nullptr) return Conflict("the table is empty");
    Snapshot snapshot;
    snapshot.id = id_;
    snapshot.parent = parent->id;
    snapshot.sequence_number = metadata.last_sequence_number + 1;
    snapshot.timestamp_ms = std::max(context_.clock->NowMillis(), metadata.last_updated_ms);
    snapshot.schema_id = metadata.current_schema_id;
    if (metadata.format_version >= 3) snapshot.first_row_id = metadata.next_row_id;

    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests, LiveManifests(*table_, parent));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFile> known,
                               LiveManifests(*rewrite_.base, base.current_snapshot()));
    std::unordered_set<std::string> known_paths;
    for (const ManifestFile& manifest : known) known_paths.insert(manifest.path);
    for (const ManifestFile& manifest : manifests) {
      if (!known_paths.contains(manifest.path)) DRIFTLESS_TRY(CheckNew(manifest));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, table_->Directory());
    const ManifestWriter writer(&*table_, directory, names_, &written_);
    std::vector<ManifestEntry> removed;
    DRIFTLESS_ASSIGN_OR_RETURN(manifests,
                               RemoveEntries(
                                   writer, std::move(manifests), snapshot,
                                   [&](const ManifestFile& manifest) {
                                     return rewrite_.holders.contains(manifest.path) ||
                                            !known_paths.contains(manifest.path);
                                   },
                                   [&](const ManifestEntry& entry) {
                                     return rewrite_.removed.contains(EntryKey(entry.file));
                                   },
                                   &removed));
    if (removed.size() != rewrite_.removed.size()) {
      return Conflict("a file that was rewritten was removed by somebody else");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> added,
                               writer.WriteAll(rewrite_.added, metadata.current_schema_id));
    std::ranges::move(added, std::back_inserter(manifests));
    int64_t rows = 0;
    for (ManifestFile& manifest : manifests) {
      Adopt(snapshot, metadata.format_version, &manifest, &rows);
    }
    if (metadata.format_version >= 3) snapshot.added_rows = rows;
    FillSummary(*parent, removed, &snapshot);
    DRIFTLESS_ASSIGN_OR_RETURN(snapshot.manifest_list, writer.WriteList(manifests, snapshot));
    change_ = {};
    change_.snapshots.push_back(std::move(snapshot));
    return {};
  }

  // A manifest that came after the base: what it says of files that were there already is only
  // moved; what is new must not touch what was rewritten.
  Result<void> CheckNew(const ManifestFile& manifest) const {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table_->files.Read(manifest.path));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto entries, DecodeManifest(bytes, manifest));
    for (const ManifestEntry& entry : entries) {
      const bool is_new =
          entry.file_sequence_number.value_or(0) > rewrite_.base->metadata.last_sequence_number;
      if (entry.status == EntryStatus::kDeleted || !is_new) continue;
      const auto place = rewrite_.newest.find(PartitionKey(table_->metadata, entry));
      if (place == rewrite_.newest.end()) continue;
      if (entry.file.content != FileContent::kPositionDeletes) {
        if (entry.sequence_number.value_or(0) > place->second) continue;
        return Conflict("somebody else rewrote files of the same partition");
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const DeleteIndex index,
                                 DeleteIndex::Load(*table_, table_->metadata.schema(), {entry}));
      for (const auto& [path, positions] : index.positions) {
        if (!rewrite_.removed.contains(path) && !rewrite_.with_vector.contains(path)) continue;
        return Conflict("rows of a file that was rewritten were deleted meanwhile");
      }
    }
    return {};
  }

  void FillSummary(const Snapshot& parent, const std::vector<ManifestEntry>& removed,
                   Snapshot* snapshot) const {
    struct Counts {
      int64_t data = 0, deletes = 0, records = 0;
      void Add(const ManifestEntry& entry) {
        const bool is_data = entry.file.content == FileContent::kData;
        ++(is_data ? data : deletes);
        if (is_data) records += entry.file.record_count;
      }
    } more, less;
    for (const ManifestEntry& entry : rewrite_.added) more.Add(entry);
    for (const ManifestEntry& entry : removed) less.Add(entry);
    std::map<std::string, std::string> summary;
    summary["operation"] = "replace";
    summary["engine-name"] = "driftless";
    const auto put = [&](const char* name, int64_t number) {
      if (number > 0) summary[name] = std::to_string(number);
    };
    put("added-data-files", more.data);
    put("deleted-data-files", less.data);
    put("added-delete-files", more.deletes);
    put("removed-delete-files", less.deletes);
    put("added-records", more.records);
    put("deleted-records", less.records);
    const auto total = [&](const std::string& name, int64_t change) {
      const auto old = parent.summary.Find("total-" + name);
      if (!old) return;
      summary["total-" + name] = std::to_string(std::strtoll(old->c_str(), nullptr, 10) + change);
    };
    total("data-files", more.data - less.data);
    total("delete-files", more.deletes - less.deletes);
    total("records", more.records - less.records);
    snapshot->summary = SnapshotSummary(summary);
  }

  const MaintenanceContext& context_;
  const Rewrite& rewrite_;
  lake::FileNames* names_;
  int64_t id_;
  bool unchecked_ = false;  // whether the last attempt has come through
  bool unknown_ = false;    // some attempt's answer was lost
  std::optional<LoadedTable> table_;
  MetadataChange change_;
  std::vector<std::string> written_;
};

}  // namespace

Result<void> CommitRewrite(const MaintenanceContext& context, const Rewrite& rewrite,
                           lake::FileNames* names) {
  auto done = RewriteCommit(context, rewrite, names).Run();
  if (!done) return std::move(done).error().Context(context.identity.table.ToString());
  return {};
}

}  // namespace driftless::iceberg
