#include "sinks/iceberg/table_scan.h"

#include <algorithm>
#include <utility>

#include "sinks/iceberg/data_file.h"
#include "sinks/iceberg/partition.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
namespace {

// Spec and partition values; "" for what holds everywhere.
std::string PartitionKey(const TableMetadata& metadata, const ManifestEntry& entry) {
  const PartitionSpec* spec = metadata.FindSpec(entry.spec_id);
  if (spec == nullptr || spec->fields.empty()) return "";
  return std::to_string(entry.spec_id) + "|" + TupleKey(entry.file.partition);
}

// A column by id, in the current schema or, if it is gone, in the newest that had it.
const Field* FindAnywhere(const TableMetadata& metadata, const Schema& schema, int32_t id) {
  if (const Field* field = schema.FindId(id)) return field;
  for (auto old = metadata.schemas.rbegin(); old != metadata.schemas.rend(); ++old) {
    if (const Field* field = old->FindId(id)) return field;
  }
  return nullptr;
}

}  // namespace

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
  scan.table_ = std::make_unique<LoadedTable>(std::move(table));
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

TableScan TableScan::OfFiles(LoadedTable table, std::vector<ManifestEntry> files) {
  TableScan scan;
  scan.schema_ = table.metadata.schema();
  scan.table_ = std::make_unique<LoadedTable>(std::move(table));
  scan.data_ = std::move(files);
  return scan;
}

Result<std::unique_ptr<lake::RowSource>> TableScan::OpenFile(const std::string& uri,
                                                             const std::vector<int32_t>& ids,
                                                             std::vector<RowField>* fields) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string path, table_->files.Path(uri));
  DRIFTLESS_ASSIGN_OR_RETURN(auto names,
                             lake::ReadParquetFieldIds(table_->files.shared_store(), path));
  lake::ParquetRowsRequest request;
  fields->clear();
  for (const int32_t id : ids) {
    RowField field;
    if (id == kDeletePathId) field.type = LogicalType::String();
    if (id == kDeletePosId) field.type = LogicalType::BigInt();
    if (const Field* known = FindAnywhere(table_->metadata, schema_, id)) field.type = known->type;
    fields->push_back(field);
    const auto name = names.find(id);
    if (name != names.end()) field.name = name->second;
    request.columns.push_back(std::move(field));
  }
  return lake::OpenParquetRows(table_->files.shared_store(), path, std::move(request));
}

Result<void> TableScan::LoadPositionDeletes(const ManifestEntry& entry) {
  if (entry.file.format != "PARQUET") {
    return MakeError(ErrorKind::kUnsupported,
                     "delete file " + entry.file.path + " is " + entry.file.format)
        .Hint("this version reads Parquet delete files, no deletion vectors");
  }
  std::vector<RowField> fields;
  DRIFTLESS_ASSIGN_OR_RETURN(auto source,
                             OpenFile(entry.file.path, {kDeletePathId, kDeletePosId}, &fields));
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source->Next());
    if (rows == nullptr) return {};
    const auto columns = rows->values->after();
    for (int64_t i = 0; i < rows->values->size(); ++i) {
      positions_[std::string(columns[0].Bytes(i))].push_back(columns[1].Fixed<int64_t>(i));
    }
  }
}

Result<void> TableScan::LoadEqualityDeletes(const ManifestEntry& entry) {
  auto group = std::ranges::find(equality_, entry.file.equality_ids, &EqualityDeletes::ids);
  if (group == equality_.end()) {
    equality_.push_back({entry.file.equality_ids, {}});
    group = equality_.end() - 1;
  }
  auto& keys = group->keys[PartitionKey(table_->metadata, entry)];
  std::vector<RowField> fields;
  DRIFTLESS_ASSIGN_OR_RETURN(auto source, OpenFile(entry.file.path, group->ids, &fields));
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const lake::FileRowsPtr rows, source->Next());
    if (rows == nullptr) return {};
    for (int64_t i = 0; i < rows->values->size(); ++i) {
      std::string key;
      lake::AppendRowJson(fields, rows->values->after(), i, &key);
      int64_t& sequence = keys[key];
      sequence = std::max(sequence, entry.sequence_number.value_or(0));
    }
  }
}

Result<void> TableScan::Start() {
  started_ = true;
  if (snapshot_) {
    DRIFTLESS_ASSIGN_OR_RETURN(LiveFiles live, ReadLiveFiles(*table_, *snapshot_));
    data_ = std::move(live.data);
    std::ranges::stable_sort(data_, {}, [](const ManifestEntry& e) { return e.sequence_number; });
    for (const ManifestEntry& entry : live.deletes) {
      DRIFTLESS_TRY(entry.file.content == FileContent::kEqualityDeletes
                        ? LoadEqualityDeletes(entry)
                        : LoadPositionDeletes(entry));
    }
    for (auto& [path, positions] : positions_) std::ranges::sort(positions);
  }
  for (const Field& field : schema_.fields) ids_.push_back(field.id);
  for (const EqualityDeletes& deletes : equality_) {
    for (const int32_t id : deletes.ids) {
      if (std::ranges::find(ids_, id) == ids_.end()) ids_.push_back(id);
    }
  }
  return {};
}

bool TableScan::IsDeleted(int64_t row) const {
  const ManifestEntry& file = data_[next_file_ - 1];
  if (const auto found = positions_.find(file.file.path); found != positions_.end()) {
    if (std::ranges::binary_search(found->second, position_ + row)) return true;
  }
  const auto columns = rows_->values->after();
  for (const EqualityDeletes& deletes : equality_) {
    std::vector<RowField> fields;
    std::vector<ColumnView> views;
    for (const int32_t id : deletes.ids) {
      const auto at = static_cast<size_t>(std::ranges::find(ids_, id) - ids_.begin());
      fields.push_back(fields_[at]);
      views.push_back(columns[at]);
    }
    std::string key;
    lake::AppendRowJson(fields, views, row, &key);
    const std::string own = PartitionKey(table_->metadata, file);
    for (const auto& [partition, keys] : deletes.keys) {
      if (!partition.empty() && partition != own) continue;
      const auto found = keys.find(key);
      if (found != keys.end() && file.sequence_number.value_or(0) < found->second) return true;
    }
  }
  return false;
}

Result<bool> TableScan::Next(ScannedRow* row) {
  if (!started_) DRIFTLESS_TRY(Start());
  while (true) {
    while (rows_ != nullptr && row_ < rows_->values->size()) {
      const int64_t at = row_++;
      if (IsDeleted(at)) continue;
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
    const ManifestEntry& file = data_[next_file_++];
    if (file.file.format != "PARQUET") {
      return MakeError(ErrorKind::kUnsupported, "data file " + file.file.path + " is not Parquet");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(source_, OpenFile(file.file.path, ids_, &fields_));
    rows_ = nullptr;
    row_ = 0;
    position_ = 0;
  }
}

}  // namespace driftless::iceberg
