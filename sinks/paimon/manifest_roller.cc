#include "sinks/paimon/manifest_roller.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "sinks/paimon/binary_row.h"
#include "sinks/paimon/manifest_encoding.h"
#include "sinks/paimon/partition.h"

namespace driftless::paimon {
namespace {

// Copies one field of a serialized row into a builder; fields in ascending order.
Result<void> CopyField(const LogicalType& type, const BinaryRowView& from, int from_field,
                       BinaryRowBuilder* to, int to_field) {
  if (from.IsNull(from_field)) {
    to->SetNullOf(to_field, type);
  } else if (type.kind() == TypeKind::kDecimal && type.precision() > 18) {
    DRIFTLESS_ASSIGN_OR_RETURN(const __int128 value, from.Decimal(from_field, type.precision()));
    to->SetWideDecimal(to_field, value);
  } else if (type.IsTimestamp() && type.precision() > 3) {
    int32_t nanos = 0;
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t millis,
                               from.TimestampMillis(from_field, type.precision(), &nanos));
    to->SetWideTimestamp(to_field, millis, nanos);
  } else if (type.IsCharacter() || type.IsBytes()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, from.Bytes(from_field));
    to->SetBytes(to_field, bytes);
  } else {
    to->SetFixed(to_field, from.Fixed<uint64_t>(from_field), 8);
  }
  return {};
}

// Minimum, maximum and null count per partition column, over the entries of one manifest.
Result<SimpleStats> PartitionStats(const PaimonSchema& schema,
                                   const std::unordered_map<std::string, int64_t>& partitions) {
  SimpleStats stats;
  const std::vector<LogicalType> types = PartitionTypes(schema);
  if (types.empty()) return stats;
  const int arity = static_cast<int>(types.size());
  BinaryRowBuilder min_row(arity);
  BinaryRowBuilder max_row(arity);
  for (int i = 0; i < arity; ++i) {
    const LogicalType& type = types[static_cast<size_t>(i)];
    BinaryRowBuilder builder(1);
    std::string min;
    std::string max;
    int64_t nulls = 0;
    for (const auto& [partition, entries] : partitions) {
      DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView row, BinaryRowView::Parse(partition, arity));
      if (row.IsNull(i)) {
        nulls += entries;
        continue;
      }
      builder.Reset();
      DRIFTLESS_TRY(CopyField(type, row, i, &builder, 0));
      const std::string value = builder.Serialized();
      if (!min.empty()) {
        DRIFTLESS_ASSIGN_OR_RETURN(const int below, CompareBinaryRows({type}, value, min));
        DRIFTLESS_ASSIGN_OR_RETURN(const int above, CompareBinaryRows({type}, value, max));
        if (below < 0) min = value;
        if (above > 0) max = value;
      } else {
        min = max = value;
      }
    }
    stats.null_counts.emplace_back(nulls);
    for (const auto& [value, to] : {std::pair(&min, &min_row), std::pair(&max, &max_row)}) {
      if (value->empty()) {
        to->SetNullOf(i, type);
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView row, BinaryRowView::Parse(*value, 1));
      DRIFTLESS_TRY(CopyField(type, row, 0, to, i));
    }
  }
  stats.min_values = min_row.Serialized();
  stats.max_values = max_row.Serialized();
  return stats;
}

template <typename T>
void Widen(T value, std::optional<T>* min, std::optional<T>* max) {
  *min = std::min(value, min->value_or(value));
  *max = std::max(value, max->value_or(value));
}

// Rewrites some manifests as few; ADD and DELETE of one file cancel each other out. `drop_deletes`:
// all manifests of the table are here, so a DELETE that is left over has nothing to delete.
Result<std::vector<ManifestFileMeta>> Rewrite(MetadataWriter* writer,
                                              std::span<const ManifestFileMeta> metas,
                                              bool drop_deletes) {
  std::unordered_set<std::string> deleted;
  for (const ManifestFileMeta& meta : metas) {
    if (meta.num_deleted_files == 0) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> entries,
                               writer->table->ReadManifest(meta.file_name));
    for (const ManifestEntry& entry : entries) {
      if (entry.kind == FileKind::kDelete) deleted.insert(EntryIdentity(entry));
    }
  }
  std::unordered_set<std::string> cancelled;
  ManifestRoller roller(writer);
  for (const ManifestFileMeta& meta : metas) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> entries,
                               writer->table->ReadManifest(meta.file_name));
    for (const ManifestEntry& entry : entries) {
      if (entry.kind == FileKind::kDelete) continue;
      if (!deleted.empty()) {
        std::string identity = EntryIdentity(entry);
        if (deleted.contains(identity)) {
          cancelled.insert(std::move(identity));
          continue;
        }
      }
      DRIFTLESS_TRY(roller.Add(entry));
    }
  }
  for (const ManifestFileMeta& meta : metas) {
    if (meta.num_deleted_files == 0 || drop_deletes) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> entries,
                               writer->table->ReadManifest(meta.file_name));
    for (const ManifestEntry& entry : entries) {
      if (entry.kind != FileKind::kDelete || cancelled.contains(EntryIdentity(entry))) continue;
      DRIFTLESS_TRY(roller.Add(entry));
    }
  }
  return roller.Finish();
}

}  // namespace

Result<std::string> MetadataWriter::Put(std::string_view prefix, const std::string& bytes) {
  std::string name = names->Next(prefix, "");
  std::string path = table->Path("manifest/" + name);
  written.push_back(path);
  DRIFTLESS_TRY(table->store()->Put(path, bytes));
  return name;
}

Result<void> ManifestRoller::Add(const ManifestEntry& entry) {
  if (file_ == nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(const avro::Codec codec,
                               avro::ParseCodec(writer_->options->manifest_compression));
    file_ = std::make_unique<avro::FileWriter>(ManifestAvroSchema(), codec);
  }
  WriteManifestEntry(entry, &file_->encoder());
  DRIFTLESS_TRY(file_->EndRecord());
  (entry.kind == FileKind::kAdd ? meta_.num_added_files : meta_.num_deleted_files) += 1;
  meta_.schema_id = std::max(meta_.schema_id, entry.file.schema_id);
  Widen(entry.bucket, &meta_.min_bucket, &meta_.max_bucket);
  Widen(entry.file.level, &meta_.min_level, &meta_.max_level);
  ++partitions_[entry.partition];
  if (static_cast<int64_t>(file_->size()) < writer_->options->manifest_target_bytes) return {};
  return Roll();
}

Result<void> ManifestRoller::Roll() {
  if (file_ == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, file_->Finish());
  file_.reset();
  meta_.file_size = static_cast<int64_t>(bytes.size());
  DRIFTLESS_ASSIGN_OR_RETURN(meta_.partition_stats, PartitionStats(*writer_->schema, partitions_));
  DRIFTLESS_ASSIGN_OR_RETURN(meta_.file_name, writer_->Put("manifest", bytes));
  metas_.push_back(std::exchange(meta_, ManifestFileMeta()));
  partitions_.clear();
  return {};
}

Result<std::vector<ManifestFileMeta>> ManifestRoller::Finish() {
  DRIFTLESS_TRY(Roll());
  return std::move(metas_);
}

// Apache Paimon, ManifestFileMerger: a full rewrite when the small and the deleting manifests are
// large together; else runs of small ones are joined once they reach the target size or number.
Result<std::vector<ManifestFileMeta>> MergeManifests(MetadataWriter* writer,
                                                     std::vector<ManifestFileMeta> metas) {
  const TableOptions& options = *writer->options;
  int64_t worth_rewriting = 0;
  bool deletes = false;
  for (const ManifestFileMeta& meta : metas) {
    const bool is_small = meta.file_size < options.manifest_target_bytes;
    if (is_small || meta.num_deleted_files > 0) worth_rewriting += meta.file_size;
    deletes = deletes || meta.num_deleted_files > 0;
  }
  if (deletes && worth_rewriting >= options.manifest_full_compaction_bytes) {
    return Rewrite(writer, metas, true);
  }
  std::vector<ManifestFileMeta> result;
  size_t begin = 0;
  int64_t size = 0;
  for (size_t end = 0; end < metas.size(); ++end) {
    size += metas[end].file_size;
    const int64_t count = static_cast<int64_t>(end + 1 - begin);
    const bool is_last = end + 1 == metas.size();
    if (size < options.manifest_target_bytes && !is_last) continue;
    const std::span run = std::span(metas).subspan(begin, static_cast<size_t>(count));
    if (count > 1 &&
        (size >= options.manifest_target_bytes || count >= options.manifest_merge_min_count)) {
      DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestFileMeta> joined, Rewrite(writer, run, false));
      std::ranges::move(joined, std::back_inserter(result));
    } else {
      std::ranges::move(run, std::back_inserter(result));
    }
    begin = end + 1;
    size = 0;
  }
  return result;
}

}  // namespace driftless::paimon
