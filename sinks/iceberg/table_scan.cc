#include "sinks/iceberg/table_scan.h"

#include <algorithm>
#include <utility>

#include "sinks/iceberg/data_file.h"
#include "sinks/iceberg/default_value.h"
#include "sinks/iceberg/deletion_vector.h"
#include "sinks/iceberg/nested_type.h"
#include "sinks/iceberg/partition.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
namespace {

// A column by id, in the current schema or, if it is gone, in the newest that had it.
const Field* FindAnywhere(const TableMetadata& metadata, const Schema& schema, int32_t id) {
  if (const Field* field = schema.FindId(id)) return field;
  for (auto old = metadata.schemas.rbegin(); old != metadata.schemas.rend(); ++old) {
    if (const Field* field = old->FindId(id)) return field;
  }
  return nullptr;
}

Result<void> LoadDeletionVector(const LoadedTable& table, const ManifestEntry& entry,
                                DeleteIndex* index) {
  if (!entry.file.referenced_data_file || !entry.file.content_offset || !entry.file.content_size) {
    return MakeError(ErrorKind::kCorrupt, "a manifest names a deletion vector in " +
                                              entry.file.path + " without its place");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, table.files.Path(entry.file.path));
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::string blob,
      table.files.store()->ReadRange(path, *entry.file.content_offset, *entry.file.content_size));
  auto rows = DecodeDeletionVector(blob);
  if (!rows) return std::move(rows).error().Context(entry.file.path);
  std::vector<int64_t>& positions = index->positions[*entry.file.referenced_data_file];
  positions.insert(positions.end(), rows->begin(), rows->end());
  index->with_vector.insert(*entry.file.referenced_data_file);
  return {};
}

Result<void> LoadPositionDeletes(const LoadedTable& table, const Schema& schema,
                                 const ManifestEntry& entry, DeleteIndex* index) {
  if (entry.file.format == "PUFFIN") return LoadDeletionVector(table, entry, index);
  if (entry.file.format != "PARQUET") {
    return MakeError(ErrorKind::kUnsupported,
                     "delete file " + entry.file.path + " is " + entry.file.format);
  }
  std::vector<RowField> fields;
  DRIFTLESS_ASSIGN_OR_RETURN(auto source, OpenTableFile(table, schema, entry.file.path,
                                                        {kDeletePathId, kDeletePosId}, &fields));
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source->Next());
    if (rows == nullptr) return {};
    const auto columns = rows->values->after();
    for (int64_t i = 0; i < rows->values->size(); ++i) {
      index->positions[std::string(columns[0].Bytes(i))].push_back(columns[1].Fixed<int64_t>(i));
    }
  }
}

Result<void> LoadEqualityDeletes(const LoadedTable& table, const Schema& schema,
                                 const ManifestEntry& entry, DeleteIndex* index) {
  auto group =
      std::ranges::find(index->equality, entry.file.equality_ids, &DeleteIndex::Equality::ids);
  if (group == index->equality.end()) {
    index->equality.push_back({entry.file.equality_ids, {}});
    group = index->equality.end() - 1;
  }
  DeleteIndex::Keys& keys = group->partitions[PartitionKey(table.metadata, entry)];
  const int64_t newer = entry.sequence_number.value_or(0);
  keys.newest = std::max(keys.newest, newer);
  std::vector<RowField> fields;
  DRIFTLESS_ASSIGN_OR_RETURN(auto source,
                             OpenTableFile(table, schema, entry.file.path, group->ids, &fields));
  std::string key;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source->Next());
    if (rows == nullptr) return {};
    for (int64_t i = 0; i < rows->values->size(); ++i) {
      key.clear();
      lake::AppendRowJson(fields, rows->values->after(), i, &key);
      int64_t& sequence = keys.sequences[key];
      sequence = std::max(sequence, newer);
    }
  }
}

bool IsLineage(int32_t id) { return id == kRowId || id == kLastUpdatedId; }

// A row that says nothing of its own has the id that its place gives it, and was last updated when
// its file came (specification, "Row Lineage").
std::function<void(int64_t, ColumnBuilder*)> LineageFill(int32_t id, const ManifestEntry* entry) {
  if (!IsLineage(id) || entry == nullptr) return {};
  const std::optional<int64_t> base =
      id == kRowId ? entry->file.first_row_id : entry->sequence_number;
  if (!base) return {};
  return [base = *base, counts = id == kRowId](int64_t position, ColumnBuilder* out) {
    out->AppendInt(counts ? base + position : base);
  };
}

}  // namespace

std::string PartitionKey(const TableMetadata& metadata, const ManifestEntry& entry) {
  const PartitionSpec* spec = metadata.FindSpec(entry.spec_id);
  if (spec == nullptr || IsUnpartitioned(*spec)) return "";
  return std::to_string(entry.spec_id) + "|" + TupleKey(entry.file.partition);
}

Result<std::unique_ptr<lake::RowSource>> OpenTableFile(const LoadedTable& table,
                                                       const Schema& schema, const std::string& uri,
                                                       const std::vector<int32_t>& ids,
                                                       std::vector<RowField>* fields,
                                                       const ManifestEntry* entry) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, table.files.Path(uri));
  DRIFTLESS_ASSIGN_OR_RETURN(auto names,
                             lake::ReadParquetFieldIds(table.files.shared_store(), path));
  lake::ParquetRowsRequest request;
  fields->clear();
  for (const int32_t id : ids) {
    RowField field;
    if (id == kDeletePathId) field.type = LogicalType::String();
    if (id == kDeletePosId || IsLineage(id)) field.type = LogicalType::BigInt();
    const Field* known = FindAnywhere(table.metadata, schema, id);
    if (known != nullptr) field.type = known->type;
    fields->push_back(field);
    if (field.type.IsNested()) {
      field.type = NamedAsIn(field.type, NestedIds(known->type_json), names);
    }
    const auto name = names.find(id);
    std::function<void(ColumnBuilder*)> fill;
    if (name != names.end()) {
      field.name = name->second;
    } else if (known != nullptr && !known->initial_default.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(fill, DefaultFill(known->type, known->initial_default));
    }
    request.fills.push_back(std::move(fill));
    request.null_fills.push_back(LineageFill(id, entry));
    request.columns.push_back(std::move(field));
  }
  return lake::OpenParquetRows(table.files.shared_store(), path, std::move(request));
}

Result<DeleteIndex> DeleteIndex::Load(const LoadedTable& table, const Schema& schema,
                                      const std::vector<ManifestEntry>& deletes) {
  DeleteIndex index;
  for (const ManifestEntry& entry : deletes) {
    DRIFTLESS_TRY(entry.file.content == FileContent::kEqualityDeletes
                      ? LoadEqualityDeletes(table, schema, entry, &index)
                      : LoadPositionDeletes(table, schema, entry, &index));
  }
  for (auto& [path, positions] : index.positions) std::ranges::sort(positions);
  return index;
}

Result<LiveFiles> ReadLiveFiles(const LoadedTable& table, const Snapshot& snapshot) {
  LiveFiles live;
  if (snapshot.manifest_list.empty()) {
    return MakeError(ErrorKind::kUnsupported, "the snapshot has no manifest list (format 1)");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string list, table.files.Read(snapshot.manifest_list));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestFile> manifests, DecodeManifestList(list));
  for (const ManifestFile& manifest : manifests) {
    if (!manifest.HasLive()) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string bytes, table.files.Read(manifest.path));
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestEntry> entries, DecodeManifest(bytes, manifest));
    for (ManifestEntry& entry : entries) {
      if (entry.status == EntryStatus::kDeleted) continue;
      (manifest.deletes ? live.deletes : live.data).push_back(std::move(entry));
    }
  }
  return live;
}

Result<TableScan> TableScan::Open(LoadedTable table, std::optional<int64_t> snapshot) {
  TableScan scan;
  scan.table_ = std::make_shared<const LoadedTable>(std::move(table));
  const TableMetadata& metadata = scan.table_->metadata;
  scan.schema_ = metadata.schema();
  const Snapshot* found = metadata.current_snapshot();
  if (snapshot) {
    found = metadata.FindSnapshot(*snapshot);
    if (found == nullptr) {
      return MakeError(ErrorKind::kNotFound, "there is no snapshot " + std::to_string(*snapshot));
    }
    const Schema* schema = metadata.FindSchema(found->schema_id);
    if (schema != nullptr) scan.schema_ = *schema;
  }
  if (found != nullptr) scan.snapshot_ = *found;
  return scan;
}

TableScan TableScan::OfFiles(std::shared_ptr<const LoadedTable> table,
                             std::vector<ManifestEntry> files,
                             std::shared_ptr<const DeleteIndex> deletes) {
  TableScan scan;
  scan.schema_ = table->metadata.schema();
  scan.table_ = std::move(table);
  scan.data_ = std::move(files);
  scan.deletes_ = std::move(deletes);
  return scan;
}

Result<void> TableScan::Start() {
  started_ = true;
  if (snapshot_) {
    DRIFTLESS_ASSIGN_OR_RETURN(LiveFiles live, ReadLiveFiles(*table_, *snapshot_));
    data_ = std::move(live.data);
    std::ranges::stable_sort(data_, {}, [](const ManifestEntry& e) { return e.sequence_number; });
    DRIFTLESS_ASSIGN_OR_RETURN(DeleteIndex index,
                               DeleteIndex::Load(*table_, schema_, live.deletes));
    deletes_ = std::make_shared<const DeleteIndex>(std::move(index));
  }
  if (deletes_ == nullptr) deletes_ = std::make_shared<const DeleteIndex>();
  if (ids_.empty()) {
    for (const Field& field : schema_.fields) ids_.push_back(field.id);
  }
  for (const DeleteIndex::Equality& deletes : deletes_->equality) {
    for (const int32_t id : deletes.ids) {
      if (std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(id);
    }
  }
  return {};
}

Result<void> TableScan::OpenNext() {
  const ManifestEntry& file = data_[next_file_++];
  if (file.file.format != "PARQUET") {
    return MakeError(ErrorKind::kUnsupported, "data file " + file.file.path + " is not Parquet");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      source_, OpenTableFile(*table_, schema_, file.file.path, ids_, &fields_, &file));
  rows_ = nullptr;
  row_ = 0;
  position_ = 0;
  const auto positions = deletes_->positions.find(file.file.path);
  deleted_positions_ = positions == deletes_->positions.end() ? nullptr : &positions->second;
  applied_.clear();
  const std::string own = PartitionKey(table_->metadata, file);
  for (const DeleteIndex::Equality& deletes : deletes_->equality) {
    Applied applied;
    for (const auto& [partition, keys] : deletes.partitions) {
      if (!partition.empty() && partition != own) continue;
      if (keys.newest > file.sequence_number.value_or(0)) applied.keys.push_back(&keys);
    }
    if (applied.keys.empty()) continue;
    for (const int32_t id : deletes.ids) {
      applied.columns.push_back(static_cast<size_t>(std::ranges::find(ids_, id) - ids_.begin()));
      applied.fields.push_back(fields_[applied.columns.back()]);
    }
    applied_.push_back(std::move(applied));
  }
  return {};
}

bool TableScan::IsDeleted(int64_t row) {
  if (deleted_positions_ != nullptr &&
      std::ranges::binary_search(*deleted_positions_, position_ + row)) {
    return true;
  }
  const int64_t sequence = data_[next_file_ - 1].sequence_number.value_or(0);
  const auto columns = rows_->values->after();
  for (Applied& applied : applied_) {
    applied.views.clear();
    for (const size_t column : applied.columns) applied.views.push_back(columns[column]);
    key_.clear();
    lake::AppendRowJson(applied.fields, applied.views, row, &key_);
    for (const DeleteIndex::Keys* keys : applied.keys) {
      const auto found = keys->sequences.find(key_);
      if (found != keys->sequences.end() && sequence < found->second) return true;
    }
  }
  return false;
}

Result<bool> TableScan::Next(ScannedRow* row) {
  if (!started_) DRIFTLESS_TRY(Start());
  while (true) {
    while (rows_ != nullptr && row_ < rows_->values->size()) {
      const int64_t at = row_++;
      row->is_deleted = IsDeleted(at);
      if (row->is_deleted && !keeps_deleted_) continue;
      row->row.rows = rows_;
      row->row.row = static_cast<uint32_t>(at);
      row->file = &data_[next_file_ - 1];
      row->position = position_ + at;
      return true;
    }
    if (source_ != nullptr) {
      if (rows_ != nullptr) position_ += rows_->values->size();
      row_ = 0;
      DRIFTLESS_ASSIGN_OR_RETURN(rows_, source_->Next());
      if (rows_ != nullptr) continue;
      source_.reset();
    }
    if (next_file_ == data_.size()) return false;
    DRIFTLESS_TRY(OpenNext());
  }
}

}  // namespace driftless::iceberg
