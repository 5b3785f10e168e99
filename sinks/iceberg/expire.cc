#include "sinks/iceberg/expire.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sinks/iceberg/manifest_writer.h"
#include "sinks/lake/file_names.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kMaxAge = "history.expire.max-snapshot-age-ms";
constexpr std::string_view kMinSnapshots = "history.expire.min-snapshots-to-keep";
constexpr int kAttempts = 3;

using Uris = std::unordered_set<std::string>;
using Ids = std::unordered_set<int64_t>;

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A limit of main: its own, or the table's.
int64_t Limit(const TableMetadata& metadata, std::string_view ref_key, std::string_view property,
              int64_t fallback) {
  const std::string member = "\"" + std::string(ref_key) + "\":";
  if (const size_t at = metadata.main_ref_json.find(member); at != std::string::npos) {
    std::string_view text = std::string_view(metadata.main_ref_json).substr(at + member.size());
    text = text.substr(0, text.find(','));
    if (const auto own = ParseNumber(text)) return *own;
  }
  return ParseNumber(metadata.Property(property, "")).value_or(fallback);
}

// The snapshot and those before it, newest first, as far as they are there.
std::vector<const Snapshot*> Ancestry(const TableMetadata& metadata, int64_t id) {
  std::unordered_map<int64_t, const Snapshot*> by_id;
  for (const Snapshot& snapshot : metadata.snapshots) by_id[snapshot.id] = &snapshot;
  std::vector<const Snapshot*> chain;
  for (auto found = by_id.find(id); found != by_id.end();) {
    const Snapshot* snapshot = found->second;
    chain.push_back(snapshot);
    by_id.erase(found);  // a damaged table may go in circles
    found = snapshot->parent ? by_id.find(*snapshot->parent) : by_id.end();
  }
  return chain;
}

// The manifests of some snapshots by URI.
using Manifests = std::unordered_map<std::string, ManifestFile>;
Result<void> AddManifests(const LoadedTable& table, const Snapshot& snapshot, Manifests* out) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string list, table.files.Read(snapshot.manifest_list));
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests, DecodeManifestList(list));
  for (ManifestFile& manifest : manifests) out->try_emplace(manifest.path, std::move(manifest));
  return {};
}

// The snapshots whose files decide about what only expired ones reach. Along main nothing comes
// back that was taken out, so its oldest snapshot that stays speaks for all (and the newest, in
// case somebody added an old file again); where an expired or a kept one is not on main's way, all
// do.
std::vector<const Snapshot*> Witnesses(const TableMetadata& metadata, const Ids& expired) {
  const std::vector<const Snapshot*> main = Ancestry(metadata, metadata.current_snapshot_id);
  Ids on_main;
  const Snapshot* oldest_kept = nullptr;
  bool in_line = true;
  for (const Snapshot* snapshot : main) {
    on_main.insert(snapshot->id);
    if (expired.contains(snapshot->id)) continue;
    // What is kept behind an expired one was kept by a tag.
    in_line = in_line && (oldest_kept == nullptr || oldest_kept->parent == snapshot->id);
    oldest_kept = snapshot;
  }
  in_line =
      in_line && std::ranges::all_of(expired, [&](int64_t id) { return on_main.contains(id); });
  std::vector<const Snapshot*> witnesses;
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (expired.contains(snapshot.id)) continue;
    const bool speaks = !in_line || !on_main.contains(snapshot.id) || &snapshot == oldest_kept ||
                        snapshot.id == metadata.current_snapshot_id;
    if (speaks) witnesses.push_back(&snapshot);
  }
  return witnesses;
}

// Everything that only the expired snapshots reach.
Result<std::vector<std::string>> Unreachable(const LoadedTable& table, const Ids& expired) {
  Manifests candidates;
  Manifests kept;
  std::vector<std::string> uris;
  Uris kept_lists;
  for (const Snapshot& snapshot : table.metadata.snapshots) {
    if (!expired.contains(snapshot.id)) kept_lists.insert(snapshot.manifest_list);
  }
  for (const Snapshot* witness : Witnesses(table.metadata, expired)) {
    DRIFTLESS_TRY(AddManifests(table, *witness, &kept));
  }
  for (const Snapshot& snapshot : table.metadata.snapshots) {
    if (!expired.contains(snapshot.id)) continue;
    DRIFTLESS_TRY(AddManifests(table, snapshot, &candidates));
    if (!kept_lists.contains(snapshot.manifest_list)) uris.push_back(snapshot.manifest_list);
  }
  std::erase_if(candidates, [&](const auto& item) { return kept.contains(item.first); });
  if (candidates.empty()) return uris;
  Uris files;
  int64_t oldest = INT64_MAX;
  for (const auto& [uri, manifest] : candidates) {
    uris.push_back(uri);
    oldest = std::min(oldest, manifest.sequence_number);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table.files.Read(uri));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto entries, DecodeManifest(bytes, manifest));
    for (const ManifestEntry& entry : entries) {
      if (entry.status != EntryStatus::kDeleted) files.insert(entry.file.path);
    }
  }
  for (const auto& [uri, manifest] : kept) {
    // Entries move to manifests that are made later only.
    if (files.empty() || manifest.sequence_number < oldest) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table.files.Read(uri));
    DRIFTLESS_ASSIGN_OR_RETURN(const auto entries, DecodeManifest(bytes, manifest));
    for (const ManifestEntry& entry : entries) {
      if (entry.status != EntryStatus::kDeleted) files.erase(entry.file.path);
    }
  }
  uris.insert(uris.end(), files.begin(), files.end());
  return uris;
}

}  // namespace

std::vector<int64_t> ExpiredSnapshots(const TableMetadata& metadata, int64_t now_ms) {
  const bool asked = metadata.properties.contains(std::string(kMaxAge)) ||
                     metadata.properties.contains(std::string(kMinSnapshots));
  if (!asked || metadata.Property("gc.enabled", "true") == "false") return {};
  const int64_t max_age = Limit(metadata, "max-snapshot-age-ms", kMaxAge, 432'000'000);
  const int64_t min_kept =
      std::max<int64_t>(1, Limit(metadata, "min-snapshots-to-keep", kMinSnapshots, 1));
  const int64_t oldest_ms = now_ms - max_age;
  Ids kept;
  for (const auto& [name, id] : metadata.refs) {
    for (const Snapshot* snapshot : Ancestry(metadata, id)) {
      kept.insert(snapshot->id);
      // A tag holds its snapshot alone; of branches everything stays.
      if (metadata.refs_json.at(name).find("\"tag\"") != std::string::npos) break;
    }
  }
  int64_t count = 0;
  Ids on_main;
  bool young = true;
  for (const Snapshot* snapshot : Ancestry(metadata, metadata.current_snapshot_id)) {
    on_main.insert(snapshot->id);
    young = young && (count++ < min_kept || snapshot->timestamp_ms >= oldest_ms);
    if (young) kept.insert(snapshot->id);
  }
  std::vector<int64_t> expired;
  for (const Snapshot& snapshot : metadata.snapshots) {
    if (kept.contains(snapshot.id)) continue;
    // What nobody refers to stays as long as its age allows.
    if (!on_main.contains(snapshot.id) && snapshot.timestamp_ms >= oldest_ms) continue;
    expired.push_back(snapshot.id);
  }
  return expired;
}

Result<int64_t> ExpireSnapshots(const MaintenanceContext& context) {
  const CommitIdentity& identity = context.identity;
  for (int attempt = 0; attempt < kAttempts && !context.stopped(); ++attempt) {
    std::unique_lock<std::shared_mutex> lock(*context.commits, std::defer_lock);
    if (attempt > 0) lock.lock();  // somebody was faster
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> table,
                               context.catalog->Load(identity.table));
    if (!table) return 0;
    MetadataChange change;
    change.removed_snapshots = ExpiredSnapshots(table->metadata, context.clock->NowMillis());
    if (change.removed_snapshots.empty()) return 0;
    const Ids expired(change.removed_snapshots.begin(), change.removed_snapshots.end());
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<std::string> unreachable,
                               Unreachable(*table, expired));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string directory, table->Directory());
    lake::FileNames names(lake::FileOwner(identity.pipeline, identity.sink, identity.table),
                          kMaintenanceCut, identity.attempt);
    const std::string path = directory + "/metadata/" + names.Next("expired", ".txt");
    std::string text;
    for (const std::string& uri : unreachable) text.append(uri).push_back('\n');
    DRIFTLESS_TRY(table->files.store()->Put(path, text));
    if (!lock.owns_lock()) lock.lock();
    const CatalogCommit commit{identity.table, &*table, &change};
    Result<void> done = std::move(context.catalog->Commit(std::span(&commit, 1)).front());
    lock.unlock();
    const bool is_lost = !done && done.error().kind() == ErrorKind::kCommitUnknown;
    const bool is_conflict = !done && done.error().kind() == ErrorKind::kConflict;
    if (is_lost || is_conflict) {
      // A repeated request may have been in conflict with itself.
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<LoadedTable> now,
                                 context.catalog->Load(identity.table));
      const bool gone = now && now->metadata.uuid == table->metadata.uuid &&
                        std::ranges::all_of(expired, [&](int64_t id) {
                          return now->metadata.FindSnapshot(id) == nullptr;
                        });
      if (gone) done = {};
      // It may still arrive: the list stays for CleanUp.
      if (!gone && is_lost) return std::move(done).error();
    }
    if (!done) {
      DRIFTLESS_TRY(table->files.store()->Delete(path));
      if (is_conflict) continue;
      return std::move(done).error();
    }
    DRIFTLESS_TRY(FinishExpiry(table->files, path, [](const std::string&) { return false; }));
    return static_cast<int64_t>(expired.size());
  }
  return 0;
}

Result<void> FinishExpiry(const TableFiles& files, const std::string& path,
                          const std::function<bool(const std::string& uri)>& needed) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, files.store()->Read(path));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string uri = text.substr(at, end - at);
    at = end + 1;
    if (uri.empty() || needed(uri)) continue;
    auto deleted = files.Delete(uri);
    // What lies elsewhere is not ours to find.
    if (!deleted && deleted.error().kind() != ErrorKind::kUnsupported) return deleted;
  }
  return files.store()->Delete(path);
}

}  // namespace driftless::iceberg
