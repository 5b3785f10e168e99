#include "sinks/iceberg/manifest_writer.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace driftless::iceberg {
namespace {

constexpr int64_t kUnset = -1;  // in a manifest that Adopt has not seen

bool HasSources(const Schema& schema, const PartitionSpec& spec) {
  return std::ranges::all_of(spec.fields, [&](const PartitionField& field) {
    return schema.FindId(field.source_id) != nullptr;
  });
}

// The schema that a manifest of the spec is written under: the wanted one, or else the newest that
// has the spec's columns.
const Schema* SchemaFor(const TableMetadata& metadata, int32_t schema_id,
                        const PartitionSpec& spec) {
  const Schema* wanted = metadata.FindSchema(schema_id);
  if (wanted != nullptr && HasSources(*wanted, spec)) return wanted;
  if (HasSources(metadata.schema(), spec)) return &metadata.schema();
  for (auto schema = metadata.schemas.rbegin(); schema != metadata.schemas.rend(); ++schema) {
    if (HasSources(*schema, spec)) return &*schema;
  }
  return nullptr;
}

int64_t Number(const TableMetadata& metadata, std::string_view key, int64_t fallback) {
  const std::string text = metadata.Property(key, "");
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? value : fallback;
}

Result<std::vector<ManifestEntry>> ReadManifest(const LoadedTable& table,
                                                const ManifestFile& manifest) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table.files.Read(manifest.path));
  return DecodeManifest(bytes, manifest);
}

// Of the live entries that have one of their own; kUnset: all inherit theirs.
int64_t OldestSequence(const std::vector<ManifestEntry>& entries) {
  int64_t oldest = kUnset;
  for (const ManifestEntry& entry : entries) {
    if (entry.status == EntryStatus::kDeleted || !entry.sequence_number) continue;
    if (oldest == kUnset || *entry.sequence_number < oldest) oldest = *entry.sequence_number;
  }
  return oldest;
}

// One manifest of the live entries of several.
Result<ManifestFile> Join(const ManifestWriter& writer, std::span<const ManifestFile> group) {
  std::vector<ManifestEntry> entries;
  for (const ManifestFile& manifest : group) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestEntry> more,
                               ReadManifest(writer.table(), manifest));
    for (ManifestEntry& entry : more) {
      if (entry.status == EntryStatus::kDeleted) continue;
      entry.status = EntryStatus::kExisting;
      entries.push_back(std::move(entry));
    }
  }
  return writer.Write(entries, writer.table().metadata.current_schema_id, group[0].spec_id,
                      group[0].deletes);
}

}  // namespace

Result<std::string> ManifestWriter::Put(const std::string& prefix, std::string_view bytes) const {
  const std::string path = directory_ + "/metadata/" + names_->Next(prefix, ".avro");
  std::string uri = table_->files.Uri(path);
  if (written_ != nullptr) written_->push_back(uri);
  DRIFTLESS_TRY(table_->files.store()->Put(path, bytes));
  return uri;
}

Result<ManifestFile> ManifestWriter::Write(const std::vector<ManifestEntry>& entries,
                                           int32_t schema_id, int32_t spec_id, bool deletes) const {
  const TableMetadata& metadata = table_->metadata;
  const PartitionSpec* spec = metadata.FindSpec(spec_id);
  if (spec == nullptr) {
    return MakeError(ErrorKind::kRefused, "the partition spec of the rows is gone");
  }
  const Schema* schema = SchemaFor(metadata, schema_id, *spec);
  if (schema == nullptr) {
    return MakeError(ErrorKind::kUnsupported, "the columns of partition spec " +
                                                  std::to_string(spec_id) + " are in no schema");
  }
  const ManifestContext context{metadata.format_version, schema, spec, deletes};
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, EncodeManifest(entries, context));
  DRIFTLESS_ASSIGN_OR_RETURN(ManifestFile manifest, DescribeManifest(entries, context));
  DRIFTLESS_ASSIGN_OR_RETURN(manifest.path, Put("manifest", bytes));
  manifest.length = static_cast<int64_t>(bytes.size());
  manifest.added_snapshot_id = kUnset;
  manifest.min_sequence_number = OldestSequence(entries);
  return manifest;
}

Result<std::vector<ManifestFile>> ManifestWriter::WriteAll(
    const std::vector<ManifestEntry>& entries, int32_t schema_id) const {
  std::map<std::pair<bool, int32_t>, std::vector<ManifestEntry>> groups;
  for (const ManifestEntry& entry : entries) {
    groups[{entry.file.content != FileContent::kData, entry.spec_id}].push_back(entry);
  }
  std::vector<ManifestFile> manifests;
  for (const auto& [kind, group] : groups) {
    DRIFTLESS_ASSIGN_OR_RETURN(ManifestFile manifest,
                               Write(group, schema_id, kind.second, kind.first));
    manifests.push_back(std::move(manifest));
  }
  return manifests;
}

Result<std::string> ManifestWriter::WriteList(const std::vector<ManifestFile>& manifests,
                                              const Snapshot& snapshot) const {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::string bytes,
      EncodeManifestList(manifests, table_->metadata.format_version, snapshot));
  return Put("snap-" + std::to_string(snapshot.id), bytes);
}

Result<std::vector<ManifestFile>> LiveManifests(const LoadedTable& table,
                                                const Snapshot* snapshot) {
  if (snapshot == nullptr) return std::vector<ManifestFile>();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string list, table.files.Read(snapshot->manifest_list));
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFile> manifests, DecodeManifestList(list));
  std::erase_if(manifests, [](const ManifestFile& manifest) { return !manifest.HasLive(); });
  return manifests;
}

void Adopt(const Snapshot& snapshot, int format_version, ManifestFile* manifest, int64_t* rows) {
  if (manifest->added_snapshot_id != kUnset) return;
  manifest->sequence_number = snapshot.sequence_number;
  if (manifest->min_sequence_number == kUnset) {
    manifest->min_sequence_number = snapshot.sequence_number;
  }
  manifest->added_snapshot_id = snapshot.id;
  if (format_version < 3 || manifest->deletes) return;
  manifest->first_row_id = snapshot.first_row_id.value_or(0) + *rows;
  *rows += manifest->added_rows + manifest->existing_rows;
}

Result<std::vector<ManifestFile>> MergeManifests(const ManifestWriter& writer,
                                                 std::vector<ManifestFile> manifests) {
  const TableMetadata& metadata = writer.table().metadata;
  const int64_t min_count = Number(metadata, "commit.manifest.min-count-to-merge", 100);
  const int64_t target = Number(metadata, "commit.manifest.target-size-bytes", 8 << 20);
  if (metadata.Property("commit.manifest-merge.enabled", "true") == "false" ||
      manifests.size() < 2) {
    return manifests;
  }
  std::map<std::pair<bool, int32_t>, std::vector<ManifestFile>> groups;
  for (ManifestFile& manifest : manifests) {
    groups[{manifest.deletes, manifest.spec_id}].push_back(std::move(manifest));
  }
  std::vector<ManifestFile> result;
  for (auto& [kind, group] : groups) {
    size_t begin = 0;
    int64_t size = 0;
    const auto close = [&](size_t end, bool is_newest) -> Result<void> {
      const std::span run = std::span(group).subspan(begin, end - begin);
      begin = end;
      size = 0;
      // Only the newest bin waits until it is worth while.
      if (run.size() > 1 && (!is_newest || static_cast<int64_t>(run.size()) >= min_count)) {
        auto joined = Join(writer, run);
        if (!joined && joined.error().kind() != ErrorKind::kUnsupported) return joined.error();
        if (joined) {
          result.push_back(*std::move(joined));
          return {};
        }
      }
      result.insert(result.end(), run.begin(), run.end());
      return {};
    };
    for (size_t end = 0; end < group.size(); ++end) {
      if (end > begin && size + group[end].length > target) DRIFTLESS_TRY(close(end, false));
      size += group[end].length;
    }
    DRIFTLESS_TRY(close(group.size(), true));
  }
  return result;
}

Result<std::vector<ManifestFile>> RemoveEntries(
    const ManifestWriter& writer, std::vector<ManifestFile> manifests, const Snapshot& snapshot,
    const std::function<bool(const ManifestFile&)>& may_hold,
    const std::function<bool(const ManifestEntry&)>& is_removed,
    std::vector<ManifestEntry>* removed) {
  std::vector<ManifestFile> result;
  for (ManifestFile& manifest : manifests) {
    bool holds = false;
    std::vector<ManifestEntry> entries;
    if (may_hold(manifest)) {
      DRIFTLESS_ASSIGN_OR_RETURN(entries, ReadManifest(writer.table(), manifest));
      std::erase_if(entries, [](const ManifestEntry& entry) {
        return entry.status == EntryStatus::kDeleted;
      });
      for (ManifestEntry& entry : entries) {
        entry.status = EntryStatus::kExisting;
        if (!is_removed(entry)) continue;
        entry.status = EntryStatus::kDeleted;
        entry.snapshot_id = snapshot.id;
        removed->push_back(entry);
        holds = true;
      }
    }
    if (!holds) {
      result.push_back(std::move(manifest));
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(ManifestFile rewritten,
                               writer.Write(entries, writer.table().metadata.current_schema_id,
                                            manifest.spec_id, manifest.deletes));
    result.push_back(std::move(rewritten));
  }
  return result;
}

}  // namespace driftless::iceberg
