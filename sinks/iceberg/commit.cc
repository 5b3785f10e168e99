#include "sinks/iceberg/commit.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sinks/iceberg/data_file.h"
#include "sinks/iceberg/deletion_vector.h"
#include "sinks/iceberg/expire.h"
#include "sinks/iceberg/manifest_writer.h"
#include "sinks/iceberg/needless_deletes.h"
#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/table_scan.h"
#include "sinks/lake/in_parallel.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
namespace {

constexpr int kRetries = 20;

// How many of its newest cuts a table remembers beside its snapshots.
constexpr size_t kRememberedCuts = 32;

// The property under which the last committed cuts of a pipeline stand, whatever is expired:
// "7:mark 6:mark", the newest first.
std::string CutProperty(const CommitIdentity& identity) {
  return "driftless.cut." + lake::FileOwner(identity.pipeline, identity.sink, identity.table);
}

bool IsCommitted(const TableMetadata& metadata, const CommitIdentity& identity,
                 const Committable& files) {
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (snapshot.summary.Says(kCommitMark, files.mark)) return true;
  }
  const std::string remembered = " " + metadata.Property(CutProperty(identity), "") + " ";
  return remembered.find(" " + std::to_string(identity.cut) + ":" + files.mark + " ") !=
         std::string::npos;
}

std::string RememberCut(const TableMetadata& metadata, const CommitIdentity& identity,
                        const Committable& files) {
  std::string cuts = std::to_string(identity.cut) + ":" + files.mark;
  const std::string before = metadata.Property(CutProperty(identity), "");
  std::string_view rest = before;
  for (size_t count = 1; count < kRememberedCuts && !rest.empty(); ++count) {
    const size_t end = rest.find(' ');
    cuts.append(" ").append(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return cuts;
}

struct Attempt {
  const CommitToken* token = nullptr;
  Committable files;
  LoadedTable base;
  MetadataChange change;
  // By batch; written once, used again by every round that finds rows in the table as that did.
  std::vector<std::vector<ManifestFile>> manifests;
  bool for_rows = false;
  bool may_be_committed = false;      // some round had no answer
  std::vector<std::string> needless;  // URIs of deletes that the manifests leave out
  std::vector<std::string> written;   // URIs of this round
  Result<void> outcome;
  bool committed = false;
  int round = 0;
};

class CommitRun {
 public:
  explicit CommitRun(const CommitSettings& settings) : settings_(settings) {}

  // Everything up to the catalog's own step.
  Result<void> Prepare(Attempt* attempt) const {
    const CommitIdentity& identity = attempt->token->identity;
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<LoadedTable> loaded,
                               settings_.catalog->Load(identity.table));
    if (!loaded || (!attempt->files.table_uuid.empty() &&
                    loaded->metadata.uuid != attempt->files.table_uuid)) {
      return MakeError(ErrorKind::kRefused,
                       "Iceberg table " + identity.table.ToString() +
                           " is gone or was created anew since the rows were written");
    }
    attempt->base = *std::move(loaded);
    attempt->committed = IsCommitted(attempt->base.metadata, identity, attempt->files);
    if (attempt->committed) {
      attempt->needless.clear();  // which round it was is not known
      // Durable, too: whoever made it may have died before it was.
      return attempt->base.files.store()->SyncAll();
    }
    DeleteWritten(attempt);  // of a round that was in conflict
    const TableMetadata& metadata = attempt->base.metadata;
    attempt->change = {};
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, attempt->base.Directory());
    lake::FileNames names(lake::FileOwner(identity.pipeline, identity.sink, identity.table),
                          identity.cut, identity.attempt);
    const Snapshot* parent = metadata.current_snapshot();
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> current,
                               LiveManifests(attempt->base, parent));
    const bool has_rows = std::ranges::any_of(
        current, [](const ManifestFile& manifest) { return !manifest.deletes; });
    if (attempt->manifests.empty() || attempt->for_rows != has_rows) {
      attempt->for_rows = has_rows;
      DRIFTLESS_TRY(WriteManifests(attempt, {&attempt->base, directory, &names, nullptr}));
    }
    const ManifestWriter writer(&attempt->base, directory, &names, &attempt->written);
    DRIFTLESS_ASSIGN_OR_RETURN(current, MergeManifests(writer, std::move(current)));
    std::vector<std::vector<ManifestFile>> added = attempt->manifests;
    std::set<std::string> replaced;
    DRIFTLESS_TRY(AddRemovals(attempt, directory, &names, &added, &replaced));
    Snapshot last = parent != nullptr ? *parent : Snapshot{};
    int64_t sequence = metadata.last_sequence_number;
    int64_t next_row_id = metadata.next_row_id;
    for (size_t batch = 0; batch < added.size(); ++batch) {
      Snapshot snapshot;
      snapshot.id = RandomSnapshotId();
      if (last.id != 0) snapshot.parent = last.id;
      snapshot.sequence_number = ++sequence;
      snapshot.timestamp_ms = std::max(settings_.clock->NowMillis(), metadata.last_updated_ms);
      snapshot.schema_id = metadata.current_schema_id;
      int64_t rows = 0;
      if (metadata.format_version >= 3) snapshot.first_row_id = next_row_id;
      std::vector<ManifestEntry> removed;
      if (!replaced.empty() && batch + 1 == added.size()) {
        DRIFTLESS_ASSIGN_OR_RETURN(
            current, RemoveVectors(writer, std::move(current), snapshot, replaced, &removed));
      }
      current.insert(current.end(), added[batch].begin(), added[batch].end());
      for (ManifestFile& manifest : current) {
        Adopt(snapshot, metadata.format_version, &manifest, &rows);
      }
      if (metadata.format_version >= 3) {
        snapshot.added_rows = rows;
        next_row_id += rows;
      }
      FillSummary(last, added[batch], static_cast<int64_t>(removed.size()), *attempt, batch,
                  &snapshot);
      DRIFTLESS_ASSIGN_OR_RETURN(snapshot.manifest_list, writer.WriteList(current, snapshot));
      attempt->change.snapshots.push_back(snapshot);
      last = std::move(snapshot);
    }
    attempt->change.set_properties[CutProperty(identity)] =
        RememberCut(metadata, identity, attempt->files);
    return {};
  }

  void DeleteWritten(Attempt* attempt) const {
    for (const std::string& uri : attempt->written) (void)attempt->base.files.Delete(uri);
    attempt->written.clear();
  }

 private:
  // A data file has one deletion vector at most: the one that is extended goes.
  static Result<std::vector<ManifestFile>> RemoveVectors(const ManifestWriter& writer,
                                                         std::vector<ManifestFile> manifests,
                                                         const Snapshot& snapshot,
                                                         const std::set<std::string>& replaced,
                                                         std::vector<ManifestEntry>* removed) {
    return RemoveEntries(
        writer, std::move(manifests), snapshot,
        [](const ManifestFile& manifest) { return manifest.deletes; },
        [&](const ManifestEntry& entry) {
          return entry.file.format == "PUFFIN" && entry.file.referenced_data_file &&
                 replaced.contains(*entry.file.referenced_data_file);
        },
        removed);
  }

  static void FillSummary(const Snapshot& parent, const std::vector<ManifestFile>& added,
                          int64_t removed_deletes, const Attempt& attempt, size_t batch,
                          Snapshot* snapshot) {
    int64_t data = 0;
    int64_t deletes = 0;
    int64_t rows = 0;
    for (const ManifestFile& manifest : added) {
      (manifest.deletes ? deletes : data) += manifest.added_files;
      if (!manifest.deletes) rows += manifest.added_rows;
    }
    std::map<std::string, std::string> summary;
    summary["operation"] = deletes == 0 ? "append" : data == 0 ? "delete" : "overwrite";
    const auto total = [&](const std::string& name, int64_t more) {
      const auto old = parent.summary.Find("total-" + name);
      if (parent.id != 0 && !old) return;
      const int64_t before = parent.id == 0 ? 0 : std::strtoll(old->c_str(), nullptr, 10);
      summary["total-" + name] = std::to_string(before + more);
    };
    if (data > 0) summary["added-data-files"] = std::to_string(data);
    if (deletes > 0) summary["added-delete-files"] = std::to_string(deletes);
    if (removed_deletes > 0) summary["removed-delete-files"] = std::to_string(removed_deletes);
    if (rows > 0) summary["added-records"] = std::to_string(rows);
    total("data-files", data);
    total("delete-files", deletes - removed_deletes);
    total("records", rows);
    const CommitIdentity& identity = attempt.token->identity;
    summary["engine-name"] = "driftless";
    summary[std::string(kCommitMark)] = attempt.files.mark;
    summary["driftless.pipeline"] = identity.pipeline;
    summary["driftless.cut"] = std::to_string(identity.cut);
    summary["driftless.batch"] = std::to_string(batch);
    snapshot->summary = SnapshotSummary(summary);
  }

  static std::vector<ManifestEntry> EntriesOf(const Committable& files,
                                              const std::vector<DataFile>& batch) {
    std::vector<ManifestEntry> entries(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      entries[i].file = batch[i];
      entries[i].spec_id = files.spec_id;
    }
    return entries;
  }

  static Result<void> WriteManifests(Attempt* attempt, const ManifestWriter& writer) {
    const Committable& files = attempt->files;
    const TableMetadata& metadata = attempt->base.metadata;
    const PartitionSpec* const spec = metadata.FindSpec(files.spec_id);
    const Schema* const schema = metadata.FindSchema(files.schema_id);
    if (!attempt->may_be_committed) {
      for (const std::vector<ManifestFile>& batch : attempt->manifests) {
        for (const ManifestFile& manifest : batch) (void)attempt->base.files.Delete(manifest.path);
      }
    }
    std::vector<std::vector<DataFile>> batches = files.batches;
    attempt->needless.clear();
    if (!attempt->for_rows && spec != nullptr && schema != nullptr) {
      batches = WithoutNeedlessDeletes(*schema, *spec, files.batches, &attempt->needless);
    }
    std::vector<std::vector<ManifestFile>> written;
    for (const std::vector<DataFile>& batch : batches) {
      DRIFTLESS_ASSIGN_OR_RETURN(
          std::vector<ManifestFile> manifests,
          writer.WriteAll(EntriesOf(attempt->files, batch), attempt->files.schema_id));
      written.push_back(std::move(manifests));
    }
    attempt->manifests = std::move(written);
    return {};
  }

  // Looks for the rows that leave a table without key, in what is there and in this cut's own
  // files, and writes where they stand.
  Result<void> AddRemovals(Attempt* attempt, const std::string& directory, lake::FileNames* names,
                           std::vector<std::vector<ManifestFile>>* added,
                           std::set<std::string>* replaced) const {
    if (attempt->files.removals.empty()) return {};
    std::unordered_map<std::string, int64_t> wanted;
    std::vector<int32_t> ids;
    int64_t missing = 0;
    for (const std::string& uri : attempt->files.removals) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, attempt->base.files.Read(uri));
      ids.clear();
      size_t at = 0;
      for (bool first = true; at < text.size(); first = false) {
        const size_t end = text.find('\n', at);
        std::string line = text.substr(at, end - at);
        at = end == std::string::npos ? text.size() : end + 1;
        if (!first) {
          ++wanted[std::move(line)];
          ++missing;
          continue;
        }
        for (size_t i = 0; i < line.size();) {
          size_t used = 0;
          ids.push_back(std::stoi(line.substr(i), &used));
          i += used + 1;
        }
      }
    }
    struct Found {
      PartitionTuple partition;
      int32_t spec_id = 0;  // of the files that the rows are in
      std::map<std::string, DeletedRows> files;
    };
    std::map<std::pair<int32_t, std::string>, Found> found;
    const auto look = [&](TableScan& scan) -> Result<void> {
      ScannedRow row;
      while (missing > 0) {
        DRIFTLESS_ASSIGN_OR_RETURN(const bool more, scan.Next(&row));
        if (!more) break;
        std::vector<RowField> fields;
        std::vector<ColumnView> views;
        for (const int32_t id : ids) {
          const Field* field = scan.schema().FindId(id);
          if (field == nullptr) continue;
          fields.push_back({field->name, field->type, ""});
          views.push_back(
              row.row.columns()[static_cast<size_t>(field - scan.schema().fields.data())]);
        }
        std::string text;
        lake::AppendRowJson(fields, views, row.row.row, &text);
        const auto match = wanted.find(text);
        if (match == wanted.end() || match->second == 0) continue;
        --match->second;
        --missing;
        Found& group = found[{row.file->spec_id, TupleKey(row.file->file.partition)}];
        group.partition = row.file->file.partition;
        group.spec_id = row.file->spec_id;
        DeletedRows& deleted = group.files[row.file->file.path];
        deleted.path = row.file->file.path;
        deleted.positions.push_back(row.position);
      }
      return {};
    };
    DRIFTLESS_ASSIGN_OR_RETURN(TableScan scan, TableScan::Open(attempt->base, std::nullopt));
    DRIFTLESS_TRY(look(scan));
    if (attempt->base.metadata.format_version >= 3) {
      // A vector holds everything that was ever deleted from its file.
      for (auto& [key, group] : found) {
        for (auto& [path, deleted] : group.files) {
          const auto before = scan.deletes()->positions.find(path);
          if (before == scan.deletes()->positions.end()) continue;
          deleted.positions.insert(deleted.positions.end(), before->second.begin(),
                                   before->second.end());
          if (scan.deletes()->with_vector.contains(path)) replaced->insert(path);
        }
      }
    }
    std::vector<ManifestEntry> own;
    for (const std::vector<DataFile>& batch : attempt->files.batches) {
      std::ranges::move(EntriesOf(attempt->files, batch), std::back_inserter(own));
    }
    TableScan own_scan =
        TableScan::OfFiles(std::make_shared<const LoadedTable>(attempt->base), std::move(own));
    DRIFTLESS_TRY(look(own_scan));
    if (missing > 0 && settings_.warn) {
      settings_.warn(
          MakeError(ErrorKind::kInvalidInput,
                    std::to_string(missing) + " updated or deleted rows are not in Iceberg table " +
                        attempt->token->identity.table.ToString() + ", which has no primary key"));
    }
    if (found.empty()) return {};
    std::vector<ManifestEntry> entries;
    const FilePlace place{&attempt->base.files, directory + "/data", names};
    for (auto& [key, group] : found) {
      std::vector<DeletedRows> rows;
      for (auto& [path, deleted] : group.files) rows.push_back(std::move(deleted));
      if (attempt->base.metadata.format_version >= 3) {
        DRIFTLESS_ASSIGN_OR_RETURN(std::vector<DataFile> vectors,
                                   WriteDeletionVectors(place, std::move(rows), group.partition));
        attempt->written.push_back(vectors.front().path);
        for (DataFile& vector : vectors) {
          ManifestEntry& entry = entries.emplace_back();
          entry.file = std::move(vector);
          entry.spec_id = group.spec_id;
        }
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(DataFile file,
                                 WritePositionDeletes(place, std::move(rows), {}, group.partition));
      attempt->written.push_back(file.path);
      ManifestEntry& entry = entries.emplace_back();
      entry.file = std::move(file);
      entry.spec_id = group.spec_id;
    }
    const ManifestWriter writer(&attempt->base, directory, names, &attempt->written);
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests,
                               writer.WriteAll(entries, attempt->files.schema_id));
    if (added->empty()) added->emplace_back();
    std::ranges::move(manifests, std::back_inserter(added->back()));
    return {};
  }

  const CommitSettings& settings_;
};

std::vector<std::string> FilesOf(const Committable& files) {
  std::vector<std::string> uris = files.removals;
  for (const std::vector<DataFile>& batch : files.batches) {
    for (const DataFile& file : batch) uris.push_back(file.path);
  }
  return uris;
}

Result<void> KeepNeeded(const LoadedTable& table, std::unordered_set<std::string>* needed) {
  for (const Snapshot& snapshot : table.metadata.snapshots) {
    needed->insert(snapshot.manifest_list);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string list, table.files.Read(snapshot.manifest_list));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests, DecodeManifestList(list));
    for (const ManifestFile& manifest : manifests) {
      if (!needed->insert(manifest.path).second) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table.files.Read(manifest.path));
      DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> entries,
                                 DecodeManifest(bytes, manifest));
      for (const ManifestEntry& entry : entries) {
        if (entry.status != EntryStatus::kDeleted) needed->insert(entry.file.path);
      }
    }
  }
  return {};
}

// What of a transaction's success is true, table by table.
void LookAfter(Catalog* catalog, std::span<Attempt* const> sent,
               std::vector<Result<void>>* results) {
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!(*results)[i]) continue;
    const CommitToken& token = *sent[i]->token;
    const auto table = catalog->Load(token.identity.table);
    if (!table) {
      (*results)[i] = MakeError(ErrorKind::kCommitUnknown, table.error().message());
    } else if (!*table || !IsCommitted((*table)->metadata, token.identity, sent[i]->files)) {
      (*results)[i] =
          MakeError(ErrorKind::kConflict, "the catalog said that it committed to " +
                                              token.identity.table.ToString() + ", and has not");
    }
  }
}

}  // namespace

Result<CommitToken> IcebergCommitter::Seal(const CommitIdentity& identity,
                                           std::span<const PreparedPart> parts) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> table,
                             settings_.catalog->Load(identity.table));
  if (!table) {
    return MakeError(ErrorKind::kNotFound,
                     "there is no Iceberg table " + identity.table.ToString());
  }
  std::vector<std::string_view> payloads;
  for (const PreparedPart& part : parts) payloads.push_back(part.payload);
  CommitToken token{identity, ""};
  DRIFTLESS_ASSIGN_OR_RETURN(token.payload, SealParts(payloads, RandomUuid(), table->metadata.uuid,
                                                      table->metadata.current_snapshot_id));
  // The token is recorded next: what it names must survive a power cut by then.
  DRIFTLESS_TRY(table->files.store()->SyncAll());
  return token;
}

Result<CommitState> IcebergCommitter::LookUp(const CommitToken& token) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const Committable files, DecodeCommittable(token.payload));
  if (files.IsEmpty()) return CommitState::kCommitted;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> table,
                             settings_.catalog->Load(token.identity.table));
  if (!table || table->metadata.uuid != files.table_uuid) return CommitState::kGone;
  if (IsCommitted(table->metadata, token.identity, files)) {
    // It is recorded next, and its process may have died before it was durable.
    DRIFTLESS_TRY(table->files.store()->SyncAll());
    return CommitState::kCommitted;
  }
  for (const std::string& uri : FilesOf(files)) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, table->files.Path(uri));
    DRIFTLESS_ASSIGN_OR_RETURN(const bool exists, table->files.store()->Exists(path));
    if (!exists) return CommitState::kGone;
  }
  return CommitState::kPrepared;
}

Result<void> IcebergCommitter::Commit(std::span<const CommitToken> tokens) const {
  std::map<TablePath, std::vector<Attempt>> waiting;
  for (const CommitToken& token : tokens) {
    Attempt attempt;
    attempt.token = &token;
    DRIFTLESS_ASSIGN_OR_RETURN(attempt.files, DecodeCommittable(token.payload));
    if (!attempt.files.IsEmpty()) waiting[token.identity.table].push_back(std::move(attempt));
  }
  const CommitRun run(settings_);
  std::optional<Error> failure;
  int64_t wait_ms = 0;
  bool is_first = true;
  while (!waiting.empty()) {
    if (wait_ms > 0 && settings_.wait_ms) settings_.wait_ms(wait_ms);
    if (wait_ms > 0 && !settings_.wait_ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    }
    wait_ms = 0;
    std::vector<Attempt*> round;
    for (auto& [path, attempts] : waiting) round.push_back(&attempts.front());
    lake::InParallel(round.size(), settings_.threads,
                     [&](size_t i) { round[i]->outcome = run.Prepare(round[i]); });
    std::vector<CatalogCommit> commits;
    std::vector<Attempt*> sent;
    for (Attempt* attempt : round) {
      if (!attempt->outcome) run.DeleteWritten(attempt);
      if (!attempt->outcome || attempt->committed) continue;
      commits.push_back({attempt->token->identity.table, &attempt->base, &attempt->change});
      sent.push_back(attempt);
    }
    // Together at first; whoever was in conflict goes alone.
    std::vector<Result<void>> results;
    if (is_first) {
      results = settings_.catalog->Commit(commits);
      if (commits.size() > 1 && !settings_.catalog->IsSureOfTogether())
        LookAfter(settings_.catalog, sent, &results);
    } else {
      for (const CatalogCommit& commit : commits) {
        results.push_back(std::move(settings_.catalog->Commit({&commit, 1}).front()));
      }
    }
    is_first = false;
    for (size_t i = 0; i < sent.size(); ++i) {
      sent[i]->outcome = std::move(results[i]);
      sent[i]->committed = sent[i]->outcome.has_value();
      // What may have been committed is looked up by the next round, and deletes nothing. So is a
      // conflict, since a repeated request may have been in conflict with itself; if the look finds
      // nothing, what was written goes.
      if (sent[i]->committed || sent[i]->outcome.error().kind() == ErrorKind::kCommitUnknown) {
        sent[i]->may_be_committed = true;
        sent[i]->written.clear();
      } else if (sent[i]->outcome.error().kind() != ErrorKind::kConflict) {
        run.DeleteWritten(sent[i]);
      }
    }
    for (auto it = waiting.begin(); it != waiting.end();) {
      std::vector<Attempt>& attempts = it->second;
      Attempt& attempt = attempts.front();
      if (attempt.committed) {
        for (const std::string& uri : attempt.files.removals) (void)attempt.base.files.Delete(uri);
        for (const std::string& uri : attempt.needless) (void)attempt.base.files.Delete(uri);
        attempts.erase(attempts.begin());
      } else {
        const Error& error = attempt.outcome.error();
        const bool again = error.IsRetryable() || error.kind() == ErrorKind::kConflict ||
                           error.kind() == ErrorKind::kCommitUnknown;
        if (!again || ++attempt.round > kRetries) {
          if (!failure) {
            failure = error;
            failure->Context("commit of Iceberg table " + it->first.ToString());
          }
          attempts.clear();  // later cuts must not overtake this one
        } else {
          wait_ms = std::max<int64_t>(wait_ms, std::min(10 << std::min(attempt.round, 8), 2000));
        }
      }
      it = attempts.empty() ? waiting.erase(it) : std::next(it);
    }
  }
  if (failure) return *std::move(failure);
  return {};
}

Result<void> IcebergCommitter::Abort(std::span<const CommitToken> tokens) const {
  for (const CommitToken& token : tokens) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Committable files, DecodeCommittable(token.payload));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> table,
                               settings_.catalog->Load(token.identity.table));
    if (!table || IsCommitted(table->metadata, token.identity, files)) continue;
    for (const std::string& uri : FilesOf(files)) DRIFTLESS_TRY(table->files.Delete(uri));
  }
  return {};
}

Result<void> IcebergCommitter::CleanUp(const CommitIdentity& next,
                                       std::span<const CommitToken> recorded) const {
  const TablePath& path = next.table;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> table, settings_.catalog->Load(path));
  if (!table) return {};
  const uint64_t last =
      std::strtoull(table->metadata.Property(CutProperty(next), "0").c_str(), nullptr, 10);
  std::unordered_set<std::string> needed;
  for (const CommitToken& token : recorded) {
    if (token.identity.table != path) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const Committable files, DecodeCommittable(token.payload));
    for (std::string& uri : FilesOf(files)) needed.insert(std::move(uri));
  }
  const std::string owner = lake::FileOwner(next.pipeline, next.sink, path);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, table->Directory());
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ListedObject> found,
                             table->files.store()->List(directory, ObjectStore::Depth::kAll));
  std::vector<std::string> leftovers;
  for (const ListedObject& object : found) {
    const std::string name = object.path.substr(object.path.rfind('/') + 1);
    const std::optional<lake::OwnedName> owned = lake::ParseOwnedName(name, owner);
    if (!owned || owned->first_cut <= last) continue;
    if (!needed.contains(table->files.Uri(object.path))) leftovers.push_back(object.path);
  }
  if (leftovers.empty()) return {};
  DRIFTLESS_TRY(KeepNeeded(*table, &needed));
  for (const std::string& leftover : leftovers) {
    if (needed.contains(table->files.Uri(leftover))) continue;
    if (leftover.find("/" + std::string(kExpiryPrefix)) != std::string::npos) {
      DRIFTLESS_TRY(FinishExpiry(table->files, leftover,
                                 [&](const std::string& uri) { return needed.contains(uri); }));
      continue;
    }
    DRIFTLESS_TRY(table->files.store()->Delete(leftover));
  }
  return {};
}

}  // namespace driftless::iceberg
