#include <algorithm>
#include <unordered_set>
#include <utility>

#include "sinks/paimon/commit.h"
#include "sinks/paimon/commit_attempt.h"
#include "sinks/paimon/expire.h"
#include "sinks/paimon/file_paths.h"

// What recovery asks of a Paimon sink: where a token stands, and what may be removed.
namespace driftless::paimon {
namespace {

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The highest cut that this commit user has in a retained snapshot; nullopt: none is retained.
Result<std::optional<int64_t>> LastCommittedCut(const PaimonTable& table, const std::string& user) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, table.SnapshotIds());
  for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
    Result<Snapshot> snapshot = table.SnapshotAt(*id);
    if (!snapshot && snapshot.error().kind() == ErrorKind::kNotFound) continue;
    if (!snapshot) return std::move(snapshot).error();
    if (snapshot->commit_user == user) return std::optional(snapshot->commit_identifier);
  }
  return std::optional<int64_t>();
}

void AddNames(const Committable& committable, std::unordered_set<std::string>* names) {
  for (const auto* files : {&committable.new_files, &committable.changelog_files}) {
    for (const ManifestEntry& entry : *files) {
      names->insert(entry.file.file_name);
      names->insert(entry.file.extra_files.begin(), entry.file.extra_files.end());
    }
  }
  for (const IndexManifestEntry& entry : committable.index_files) names->insert(entry.file_name);
}

}  // namespace

Result<CommitState> PaimonCommitter::LookUp(const CommitToken& token) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const TokenPayload payload, ReadToken(token));
  const Committable& files = payload.committable;
  if (files.new_files.empty() && files.changelog_files.empty() && files.index_files.empty()) {
    return CommitState::kCommitted;
  }
  const PaimonTable table(store_, TableDirectory(token.identity.table));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> schema, table.LatestSchema());
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> latest, table.LatestSnapshot());
  const int64_t latest_id = latest ? latest->id : 0;
  if (!schema || latest_id < payload.latest_snapshot_id) return CommitState::kGone;
  bool gap = false;
  DRIFTLESS_ASSIGN_OR_RETURN(bool committed, IsCommitted(table, payload, latest_id, &gap));
  if (!committed && gap) {
    DRIFTLESS_ASSIGN_OR_RETURN(committed, IsReferenced(table, payload));
  }
  if (committed) {
    // It is recorded next, and its process may have died before it was durable.
    DRIFTLESS_TRY(store_->SyncAll());
    return CommitState::kCommitted;
  }
  const Result<bool> exist = FilesExist(table, files);
  if (!exist && exist.error().kind() == ErrorKind::kNotFound) return CommitState::kGone;  // schema
  if (!exist) return exist.error();
  if (!*exist) return CommitState::kGone;
  DRIFTLESS_ASSIGN_OR_RETURN(const bool live,
                             RemovedFilesAreLive(table, files, latest ? &*latest : nullptr));
  return live ? CommitState::kPrepared : CommitState::kGone;
}

Result<void> PaimonCommitter::Abort(std::span<const CommitToken> tokens) const {
  for (const CommitToken& token : tokens) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TokenPayload payload, ReadToken(token));
    const PaimonTable table(store_, TableDirectory(token.identity.table));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> latest, table.LatestSnapshot());
    bool gap = false;
    DRIFTLESS_ASSIGN_OR_RETURN(bool committed,
                               IsCommitted(table, payload, latest ? latest->id : 0, &gap));
    if (!committed && gap) {
      DRIFTLESS_ASSIGN_OR_RETURN(committed, IsReferenced(table, payload));
    }
    if (committed) continue;
    FilePaths paths(table);
    for (const auto* files :
         {&payload.committable.new_files, &payload.committable.changelog_files}) {
      for (const ManifestEntry& entry : *files) {
        if (entry.kind == FileKind::kDelete) continue;  // still the table's
        const Result<std::string> path = paths.File(entry);
        if (!path && path.error().kind() == ErrorKind::kNotFound) continue;  // table dropped
        if (!path) return path.error();
        if (!path->empty()) DRIFTLESS_TRY(store_->Delete(*path));
      }
    }
    for (const IndexManifestEntry& entry : payload.committable.index_files) {
      DRIFTLESS_TRY(store_->Delete(paths.Index(entry)));
    }
  }
  return {};
}

Result<void> PaimonCommitter::CleanUp(const CommitIdentity& next,
                                      std::span<const CommitToken> recorded) const {
  const TablePath& path = next.table;
  const PaimonTable table(store_, TableDirectory(path));
  const std::string owner = FileOwner(next.pipeline, next.sink, path);
  std::unordered_set<std::string> named;
  for (const CommitToken& token : recorded) {
    if (token.identity.table != path) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const TokenPayload payload, ReadToken(token));
    AddNames(payload.committable, &named);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<int64_t> last,
                             LastCommittedCut(table, CommitUser(settings_, next)));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ListedObject> files,
                             store_->List(table.directory(), ObjectStore::Depth::kAll));
  std::vector<std::string> leftovers;
  for (const ListedObject& file : files) {
    const std::string name(NameOf(file.path));
    const std::optional<OwnedName> owned = ParseOwnedName(name, owner);
    if (!owned || named.contains(name)) continue;
    // Files of a committed cut are needed, or were removed with it.
    if (last && owned->first_cut <= static_cast<uint64_t>(std::max<int64_t>(*last, 0))) continue;
    leftovers.push_back(file.path);
  }
  if (leftovers.empty()) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unordered_set<std::string> needed, EverythingNeeded(table));
  for (const std::string& leftover : leftovers) {
    const std::string below = leftover.substr(table.directory().size() + 1);
    if (needed.contains(below) || needed.contains(std::string(NameOf(leftover)))) continue;
    DRIFTLESS_TRY(store_->Delete(leftover));
  }
  return {};
}

}  // namespace driftless::paimon
