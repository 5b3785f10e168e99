#include "sinks/paimon/commit_attempt.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "sinks/paimon/expire.h"
#include "sinks/paimon/file_paths.h"

namespace driftless::paimon {
namespace {

Error Conflict(const CommitAttempt& attempt, std::string what) {
  return MakeError(ErrorKind::kConflict, std::move(what))
      .Context("Paimon table " + attempt.token->identity.table.ToString());
}

using IndexKey = std::tuple<std::string, int32_t, std::string>;
IndexKey KeyOf(const IndexManifestEntry& entry) {
  return {entry.partition, entry.bucket, entry.index_type};
}

// Other writers' snapshots since the token was sealed may have rescaled buckets or assigned keys to
// dynamic buckets; our files would then lie in the wrong bucket.
Result<void> CheckForeignChanges(const CommitAttempt& attempt, int64_t latest_id) {
  const Committable& ours = attempt.payload.committable;
  std::string index_before;
  bool know_index = false;
  for (int64_t id = attempt.payload.latest_snapshot_id; id <= latest_id; ++id) {
    if (id == 0) {
      know_index = true;
      continue;
    }
    const Result<Snapshot> snapshot = attempt.table.SnapshotAt(id);
    if (!snapshot && snapshot.error().kind() == ErrorKind::kNotFound) {
      know_index = false;
      continue;
    }
    if (!snapshot) return snapshot.error();
    const bool foreign = snapshot->commit_user != attempt.user;
    if (id > attempt.payload.latest_snapshot_id && foreign) {
      if (!ours.index_files.empty() && know_index && snapshot->index_manifest != index_before) {
        return Conflict(attempt, "another writer (" + snapshot->commit_user +
                                     ") assigned keys to dynamic buckets in snapshot " +
                                     std::to_string(id))
            .Hint("A table with dynamic buckets takes one writer only; use fixed buckets.");
      }
      if (snapshot->commit_kind == CommitKind::kOverwrite) {
        DRIFTLESS_ASSIGN_OR_RETURN(const auto metas,
                                   attempt.table.ReadManifestList(snapshot->delta_manifest_list));
        for (const ManifestFileMeta& meta : metas) {
          DRIFTLESS_ASSIGN_OR_RETURN(const auto entries,
                                     attempt.table.ReadManifest(meta.file_name));
          for (const ManifestEntry& entry : entries) {
            if (entry.kind != FileKind::kAdd) continue;
            const auto clash = std::ranges::find_if(ours.new_files, [&](const ManifestEntry& mine) {
              return mine.partition == entry.partition && mine.total_buckets != entry.total_buckets;
            });
            if (clash == ours.new_files.end()) continue;
            return Conflict(attempt, "snapshot " + std::to_string(id) + " of " +
                                         snapshot->commit_user + " changed the number of buckets");
          }
        }
      }
    }
    index_before = snapshot->index_manifest;
    know_index = true;
  }
  return {};
}

// What a compaction read must still be live, and nobody else may have filled its level meanwhile
// (Paimon, `ConflictDetection`).
Result<void> CheckCompaction(const CommitAttempt& attempt, const Snapshot& latest) {
  const Committable& ours = attempt.payload.committable;
  using Place = std::pair<std::string, int32_t>;
  std::map<Place, std::set<std::string>> inputs;
  std::map<Place, int32_t> levels;
  for (const ManifestEntry& entry : ours.new_files) {
    const Place place{entry.partition, entry.bucket};
    if (entry.kind == FileKind::kDelete) {
      inputs[place].insert(entry.file.file_name);
    } else {
      levels[place] = entry.file.level;
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> live,
                             attempt.table.LiveFiles(latest, [&](const ManifestEntry& entry) {
                               return inputs.contains(Place{entry.partition, entry.bucket});
                             }));
  for (const ManifestEntry& entry : live) {
    const Place place{entry.partition, entry.bucket};
    if (inputs[place].erase(entry.file.file_name) > 0) continue;
    const auto level = levels.find(place);
    // Level 0 holds any number of files; tables without key know no other.
    if (level != levels.end() && level->second > 0 && level->second == entry.file.level) {
      return Conflict(attempt, "somebody else compacted the same bucket");
    }
  }
  for (const auto& [place, missing] : inputs) {
    if (!missing.empty()) {
      return Conflict(attempt, "file " + *missing.begin() + " was removed by somebody else");
    }
  }
  return {};
}

// Files that rows were taken out of must still be live, or those rows come back.
Result<void> CheckRemovals(const CommitAttempt& attempt, const Snapshot* latest) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const bool live, RemovedFilesAreLive(attempt.table, attempt.payload.committable, latest));
  if (live) return {};
  return Conflict(attempt, "a file that rows were taken out of was removed by somebody else");
}

Result<void> WriteList(MetadataWriter* writer, const std::vector<ManifestFileMeta>& metas,
                       std::string* name, int64_t* size) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes,
                             EncodeManifestList(metas, writer->options->manifest_compression));
  DRIFTLESS_ASSIGN_OR_RETURN(*name, writer->Put("manifest-list", bytes));
  *size = static_cast<int64_t>(bytes.size());
  return {};
}

Result<std::vector<ManifestFileMeta>> WriteManifests(MetadataWriter* writer,
                                                     const std::vector<ManifestEntry>& entries) {
  ManifestRoller roller(writer);
  for (const ManifestEntry& entry : entries) DRIFTLESS_TRY(roller.Add(entry));
  return roller.Finish();
}

Result<void> WriteIndexManifest(MetadataWriter* writer, const Snapshot* latest,
                                const std::vector<IndexManifestEntry>& changed, Snapshot* next) {
  next->index_manifest = latest != nullptr ? latest->index_manifest : "";
  if (changed.empty()) return {};
  std::vector<IndexManifestEntry> entries;
  if (latest != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(entries, writer->table->IndexFiles(*latest));
  }
  std::set<IndexKey> replaced;
  for (const IndexManifestEntry& entry : changed) replaced.insert(KeyOf(entry));
  std::erase_if(entries,
                [&](const IndexManifestEntry& entry) { return replaced.contains(KeyOf(entry)); });
  entries.insert(entries.end(), changed.begin(), changed.end());
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes,
                             EncodeIndexManifest(entries, writer->options->manifest_compression));
  DRIFTLESS_ASSIGN_OR_RETURN(next->index_manifest, writer->Put("index-manifest", bytes));
  return {};
}

int64_t RowCount(const std::vector<ManifestEntry>& entries) {
  int64_t rows = 0;
  for (const ManifestEntry& entry : entries) {
    rows += entry.kind == FileKind::kAdd ? entry.file.row_count : -entry.file.row_count;
  }
  return rows;
}

Result<void> BuildSnapshot(CommitAttempt* attempt, const PaimonSchema& schema,
                           const Snapshot* latest, int64_t now_ms) {
  const CommitIdentity& identity = attempt->token->identity;
  FileNames names(attempt->owner, identity.cut, identity.attempt);
  MetadataWriter writer{&attempt->table, &schema, &attempt->options, &names, {}};
  const auto build = [&]() -> Result<void> {
    const Committable& ours = attempt->payload.committable;
    Snapshot next;
    next.id = latest != nullptr ? latest->id + 1 : 1;
    next.schema_id = schema.id;
    std::vector<ManifestFileMeta> base;
    if (latest != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(base, attempt->table.ReadManifestList(latest->base_manifest_list));
      DRIFTLESS_ASSIGN_OR_RETURN(const auto delta,
                                 attempt->table.ReadManifestList(latest->delta_manifest_list));
      base.insert(base.end(), delta.begin(), delta.end());
      DRIFTLESS_ASSIGN_OR_RETURN(base, MergeManifests(&writer, std::move(base)));
      next.watermark = latest->watermark;
      next.next_row_id = latest->next_row_id;
      if (latest->schema_id == schema.id) next.statistics = latest->statistics;
    }
    DRIFTLESS_TRY(
        WriteList(&writer, base, &next.base_manifest_list, &next.base_manifest_list_size));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto delta, WriteManifests(&writer, ours.new_files));
    DRIFTLESS_TRY(
        WriteList(&writer, delta, &next.delta_manifest_list, &next.delta_manifest_list_size));
    if (!ours.changelog_files.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto changelog,
                                 WriteManifests(&writer, ours.changelog_files));
      DRIFTLESS_TRY(WriteList(&writer, changelog, &next.changelog_manifest_list,
                              &next.changelog_manifest_list_size));
    }
    DRIFTLESS_TRY(WriteIndexManifest(&writer, latest, ours.index_files, &next));
    next.commit_user = attempt->user;
    next.commit_identifier = static_cast<int64_t>(identity.cut);
    next.commit_kind = ours.kind;
    next.time_ms = std::max(now_ms, latest != nullptr ? latest->time_ms : 0);
    next.delta_record_count = RowCount(ours.new_files);
    next.total_record_count =
        (latest != nullptr ? latest->total_record_count : 0) + next.delta_record_count;
    next.changelog_record_count = RowCount(ours.changelog_files);
    next.properties[std::string(kCommitMark)] = attempt->payload.mark;
    attempt->snapshot = std::move(next);
    return {};
  };
  Result<void> built = build();
  attempt->written = std::move(writer.written);
  return built;
}

}  // namespace

Result<bool> IsCommitted(const PaimonTable& table, const TokenPayload& payload, int64_t latest_id,
                         bool* gap) {
  if (gap != nullptr) *gap = false;
  for (int64_t id = latest_id; id > payload.latest_snapshot_id; --id) {
    const Result<Snapshot> snapshot = table.SnapshotAt(id);
    if (!snapshot) {
      if (snapshot.error().kind() != ErrorKind::kNotFound) return snapshot.error();
      if (gap != nullptr) *gap = true;
      return false;  // expiry leaves no holes: everything older is gone too
    }
    const auto mark = snapshot->properties.find(std::string(kCommitMark));
    if (mark != snapshot->properties.end() && mark->second == payload.mark) return true;
  }
  return false;
}

Result<bool> IsReferenced(const PaimonTable& table, const TokenPayload& payload) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unordered_set<std::string> needed, EverythingNeeded(table));
  const auto is_needed = [&](const ManifestEntry& entry) {
    return entry.kind == FileKind::kAdd && needed.contains(entry.file.file_name);
  };
  return std::ranges::any_of(payload.committable.new_files, is_needed) ||
         std::ranges::any_of(payload.committable.changelog_files, is_needed) ||
         std::ranges::any_of(payload.committable.index_files, [&](const IndexManifestEntry& entry) {
           return needed.contains("index/" + entry.file_name);
         });
}

Result<bool> RemovedFilesAreLive(const PaimonTable& table, const Committable& committable,
                                 const Snapshot* latest) {
  std::set<std::string> removed;
  for (const ManifestEntry& entry : committable.new_files) {
    if (entry.kind == FileKind::kDelete) removed.insert(EntryIdentity(entry));
  }
  if (removed.empty()) return true;
  if (latest == nullptr) return false;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> live, table.LiveFiles(*latest));
  for (const ManifestEntry& entry : live) removed.erase(EntryIdentity(entry));
  return removed.empty();
}

Result<bool> FilesExist(const PaimonTable& table, const Committable& committable) {
  FilePaths paths(table);
  for (const auto* files : {&committable.new_files, &committable.changelog_files}) {
    for (const ManifestEntry& entry : *files) {
      if (entry.kind == FileKind::kDelete) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, paths.File(entry));
      if (path.empty()) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool exists, table.store()->Exists(path));
      if (!exists) return false;
    }
  }
  for (const IndexManifestEntry& entry : committable.index_files) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool exists, table.store()->Exists(paths.Index(entry)));
    if (!exists) return false;
  }
  return true;
}

Result<void> PrepareSnapshot(CommitAttempt* attempt, int64_t now_ms) {
  attempt->written.clear();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> latest, attempt->table.LatestSnapshot());
  const int64_t latest_id = latest ? latest->id : 0;
  bool gap = false;
  DRIFTLESS_ASSIGN_OR_RETURN(attempt->committed,
                             IsCommitted(attempt->table, attempt->payload, latest_id, &gap));
  // Durable, too: whoever made it may have died before it was.
  if (attempt->committed) return attempt->table.store()->SyncAll();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> schema,
                             attempt->table.LatestSchema());
  if (!schema) return Conflict(*attempt, "the table is not there any more");
  if (latest_id < attempt->payload.latest_snapshot_id ||
      schema->id < attempt->payload.committable.schema_id) {
    return Conflict(*attempt, "the table was re-created by somebody else");
  }
  if (gap) {
    DRIFTLESS_ASSIGN_OR_RETURN(attempt->committed, IsReferenced(attempt->table, attempt->payload));
    if (attempt->committed) return attempt->table.store()->SyncAll();
    DRIFTLESS_ASSIGN_OR_RETURN(const bool exist,
                               FilesExist(attempt->table, attempt->payload.committable));
    if (!exist) return Conflict(*attempt, "data files of the cut were removed by somebody else");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(attempt->options, ReadTableOptions(*schema));
  DRIFTLESS_TRY(CheckForeignChanges(*attempt, latest_id));
  if (attempt->payload.committable.kind == CommitKind::kOverwrite) {
    DRIFTLESS_TRY(CheckRemovals(*attempt, latest ? &*latest : nullptr));
  }
  if (attempt->payload.committable.kind == CommitKind::kCompact) {
    if (!latest) return Conflict(*attempt, "the table has no snapshot any more");
    DRIFTLESS_TRY(CheckCompaction(*attempt, *latest));
  }
  return BuildSnapshot(attempt, *schema, latest ? &*latest : nullptr, now_ms);
}

}  // namespace driftless::paimon
