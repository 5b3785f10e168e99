#include "sinks/iceberg/data_file.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "schema/events/change_batch_builder.h"
#include "sinks/iceberg/nested_type.h"
#include "sinks/iceberg/single_value.h"

namespace driftless::iceberg {
namespace {

constexpr int64_t kRowGroupBytes = 64 << 20;
constexpr int64_t kRowGroupRowsMax = 1 << 20;
constexpr int64_t kRowGroupRowsMin = 4096;

lake::ParquetDialect Dialect() {
  lake::ParquetDialect dialect;
  dialect.root_name = "table";
  return dialect;
}

lake::ParquetColumn ColumnOf(const Field& field, int image_column) {
  lake::ParquetColumn column;
  column.name = field.name;
  column.type = field.type;
  column.field_id = field.id;
  column.nested_ids = NestedIds(field.type_json);
  column.image_column = image_column;
  return column;
}

Result<int64_t> ByteOption(const TableMetadata& metadata, std::string_view key, int64_t fallback) {
  const std::string text = metadata.Property(key, "");
  if (text.empty()) return fallback;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  return MakeError(ErrorKind::kUnsupported,
                   "table property " + std::string(key) + " = " + text + " is no number of bytes");
}

Error Changed(const EvolvedSchema& table, const std::string& what) {
  return MakeError(ErrorKind::kConflict, "Iceberg table " + table.path.ToString() + what)
      .Hint("somebody else changed the table");
}

Result<void> MatchColumns(const EvolvedSchema& table, FileFormat* format) {
  for (const Field& field : format->schema.fields) {
    int at = -1;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].sink.name == field.name) at = static_cast<int>(i);
    }
    format->image_columns.push_back(at);
    if (at < 0) {
      // Readers fill an optional column that a file lacks with null.
      if (field.type.nullable() || !field.initial_default.empty()) continue;
      return Changed(table,
                     " has a required column " + field.name + " that the pipeline does not know");
    }
    const LogicalType& known = table.columns[static_cast<size_t>(at)].sink.type;
    if (!known.EqualsIgnoringNullability(field.type)) {
      return Changed(table, ": column " + field.name + " is " + field.type.ToString() +
                                " now, not " + known.ToString());
    }
    format->columns.push_back(ColumnOf(field, at));
  }
  for (const EvolvedColumn& column : table.columns) {
    if (format->schema.FindName(column.sink.name) == nullptr) {
      return Changed(table, " has no column " + column.sink.name + " any more");
    }
  }
  return {};
}

Result<void> ReadMetricsModes(const TableMetadata& metadata, FileFormat* format) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const MetricsMode fallback,
      ParseMetricsMode(metadata.Property("write.metadata.metrics.default", "truncate(16)")));
  size_t inferred = 0;
  for (const Field& field : format->schema.fields) {
    const std::string own = metadata.Property("write.metadata.metrics.column." + field.name, "");
    MetricsMode mode = fallback;
    if (!own.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(mode, ParseMetricsMode(own));
    } else if (++inferred > 100) {
      mode.kind = MetricsMode::Kind::kNone;
    }
    format->metrics[field.id] = mode;
  }
  return {};
}

void AddMetrics(const FileFormat& format, const std::vector<lake::ParquetColumn>& columns,
                const lake::ParquetSummary& summary, DataFile* file) {
  for (size_t i = 0; i < columns.size(); ++i) {
    // What lies inside nested columns has metrics of its own, which are not kept.
    if (columns[i].type.IsNested()) continue;
    const int32_t id = columns[i].field_id;
    const auto mode = format.metrics.find(id);
    if (mode == format.metrics.end() || mode->second.kind == MetricsMode::Kind::kNone) continue;
    file->column_sizes[id] = summary.column_bytes[i];
    file->value_counts[id] = summary.rows;
    const lake::ColumnBounds& bounds = summary.columns[i];
    if (bounds.null_count) file->null_counts[id] = *bounds.null_count;
    if (mode->second.kind != MetricsMode::Kind::kBounds) continue;
    StoredBounds stored = ToStoredBounds(columns[i].type, bounds, mode->second.truncate);
    if (stored.lower) file->lower_bounds[id] = *std::move(stored.lower);
    if (stored.upper) file->upper_bounds[id] = *std::move(stored.upper);
  }
}

}  // namespace

Result<MetricsMode> ParseMetricsMode(std::string_view text) {
  MetricsMode mode;
  if (text == "none") {
    mode.kind = MetricsMode::Kind::kNone;
    return mode;
  }
  if (text == "counts") {
    mode.kind = MetricsMode::Kind::kCounts;
    return mode;
  }
  if (text == "full") {
    mode.truncate = 0;
    return mode;
  }
  if (text.starts_with("truncate(") && text.ends_with(')')) {
    const auto [end, error] =
        std::from_chars(text.data() + 9, text.data() + text.size() - 1, mode.truncate);
    if (error == std::errc() && end == text.data() + text.size() - 1 && mode.truncate > 0) {
      return mode;
    }
  }
  return MakeError(ErrorKind::kUnsupported, "\"" + std::string(text) + "\" is no metrics mode")
      .Hint("none, counts, full, truncate(16)");
}

Result<FileFormat> FileFormat::Make(const TableMetadata& metadata, const EvolvedSchema& table) {
  FileFormat format;
  if (metadata.format_version < 2) {
    return MakeError(ErrorKind::kUnsupported,
                     "Iceberg table " + table.path.ToString() + " has format version 1")
        .Hint("upgrade it first (ALTER TABLE ... SET TBLPROPERTIES ('format-version' = '2'))");
  }
  format.format_version = metadata.format_version;
  format.schema = metadata.schema();
  format.spec = *metadata.FindSpec(metadata.default_spec_id);
  DRIFTLESS_TRY(MatchColumns(table, &format));
  for (const int32_t id : format.schema.identifier_ids) {
    const Field* field = format.schema.FindId(id);
    if (field == nullptr) return MakeError(ErrorKind::kCorrupt, "an identifier field is missing");
    const auto at = static_cast<size_t>(field - format.schema.fields.data());
    format.key_columns.push_back(ColumnOf(*field, format.image_columns[at]));
    format.key_images.push_back(format.image_columns[at]);
    format.key_types.push_back(field->type);
  }
  for (const PartitionField& part : format.spec.fields) {
    const auto& ids = format.schema.identifier_ids;
    if (!format.has_key() || part.transform == "void" ||
        std::ranges::find(ids, part.source_id) != ids.end()) {
      continue;
    }
    return MakeError(ErrorKind::kUnsupported, "partition field " + part.name +
                                                  " of Iceberg table " + table.path.ToString() +
                                                  " is not of a key column")
        .Hint("equality deletes hold for one partition, so a row that moves would stay in both");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const SortOrder order, DefaultSortOrder(metadata));
  if (auto sorter = RowSorter::Make(format.schema, order, format.image_columns)) {
    format.sorter = *std::move(sorter);
  }
  DRIFTLESS_TRY(ReadMetricsModes(metadata, &format));
  const std::string codec = metadata.Property("write.parquet.compression-codec", "zstd");
  format.settings.compression = codec == "uncompressed" ? "none" : codec;
  DRIFTLESS_ASSIGN_OR_RETURN(
      format.target_file_bytes,
      ByteOption(metadata, "write.target-file-size-bytes", format.target_file_bytes));
  DRIFTLESS_ASSIGN_OR_RETURN(
      format.delete_target_file_bytes,
      ByteOption(metadata, "write.delete.target-file-size-bytes", format.delete_target_file_bytes));
  return format;
}

void FileFormat::AddLineage(int image_column) {
  for (const auto& [id, name] :
       {std::pair(kRowId, "_row_id"), std::pair(kLastUpdatedId, "_last_updated_sequence_number")}) {
    lake::ParquetColumn column;
    column.name = name;
    column.type = LogicalType::BigInt();
    column.field_id = id;
    column.image_column = image_column++;
    columns.push_back(std::move(column));
  }
}

FileRoller::FileRoller(const FileFormat* format, FilePlace place, FileContent content,
                       PartitionTuple partition)
    : format_(format),
      place_(std::move(place)),
      content_(content),
      partition_(std::move(partition)) {}
FileRoller::~FileRoller() = default;

const std::vector<lake::ParquetColumn>& FileRoller::columns() const {
  return content_ == FileContent::kData ? format_->columns : format_->key_columns;
}

Result<void> FileRoller::Write(const FileRun& run) {
  const int64_t target = content_ == FileContent::kData ? format_->target_file_bytes
                                                        : format_->delete_target_file_bytes;
  const auto group_rows =
      static_cast<size_t>(std::clamp(kRowGroupBytes / std::max<int64_t>(run.bytes_per_row, 1),
                                     kRowGroupRowsMin, kRowGroupRowsMax));
  for (size_t at = 0; at < run.rows.size();) {
    const size_t n = std::min(group_rows, run.rows.size() - at);
    const lake::EncodeInput input{run.images, run.rows.subspan(at, n), {}};
    if (encoder_ == nullptr) {
      DRIFTLESS_TRY(Open(input));
    } else if (at == 0 && !run.continues_order) {
      files_.back().sort_order_id = 0;
    }
    DRIFTLESS_TRY(encoder_->WriteRowGroup(input));
    at += n;
    if (encoder_->bytes_written() >= target) DRIFTLESS_TRY(Close());
  }
  return {};
}

Result<void> FileRoller::Open(const lake::EncodeInput& first) {
  const bool is_data = content_ == FileContent::kData;
  DataFile file;
  file.content = content_;
  const std::string path =
      place_.directory + "/" + place_.names->Next(is_data ? "data" : "delete", ".parquet");
  file.path = place_.files->Uri(path);
  file.partition = partition_;
  if (!is_data) file.equality_ids = format_->schema.identifier_ids;
  file.sort_order_id = is_data ? format_->sorter.order_id() : 0;
  DRIFTLESS_ASSIGN_OR_RETURN(auto object, place_.files->store()->OpenWriter(path));
  DRIFTLESS_ASSIGN_OR_RETURN(encoder_,
                             lake::ParquetEncoder::Open(std::move(object), Dialect(), columns(),
                                                        format_->settings, first));
  files_.push_back(std::move(file));
  return {};
}

Result<void> FileRoller::Close() {
  if (encoder_ == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const lake::ParquetSummary summary, encoder_->Finish());
  encoder_.reset();
  DataFile& file = files_.back();
  file.record_count = summary.rows;
  file.size = summary.bytes;
  file.split_offsets = summary.row_group_offsets;
  AddMetrics(*format_, columns(), summary, &file);
  return {};
}

Result<std::vector<DataFile>> FileRoller::Finish() {
  DRIFTLESS_TRY(Close());
  return std::move(files_);
}

Result<std::vector<DataFile>> WriteFiles(const FileFormat& format, const FilePlace& place,
                                         const FileRun& run, FileContent content,
                                         const PartitionTuple& partition) {
  FileRoller roller(&format, place, content, partition);
  DRIFTLESS_TRY(roller.Write(run));
  return roller.Finish();
}

Result<DataFile> WritePositionDeletes(const FilePlace& place, std::vector<DeletedRows> deleted,
                                      const lake::EncodeSettings& settings,
                                      const PartitionTuple& partition) {
  std::ranges::sort(deleted, {}, &DeletedRows::path);
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("file_path", LogicalType::String().NotNull());
  schema->AddColumn("pos", LogicalType::BigInt().NotNull());
  ChangeBatchBuilder builder(schema, 0);
  std::vector<lake::RowRef> rows;
  for (DeletedRows& file : deleted) {
    std::ranges::sort(file.positions);
    for (const int64_t position : file.positions) {
      const auto at = static_cast<uint32_t>(rows.size());
      builder.BeginRow(Op::kInsert, Point{0, 0, at, 0, 0}, 0);
      builder.after(0).AppendBytes(file.path);
      builder.after(1).AppendInt(position);
      builder.EndRow();
      rows.emplace_back(0U, at, lake::RowKind::kInsert);
    }
  }
  const ChangeBatchPtr batch = builder.Seal();
  const std::vector<lake::RowImage> images = {{batch->after()}};
  std::vector<lake::ParquetColumn> columns(2);
  columns[0].name = "file_path";
  columns[0].type = LogicalType::String().NotNull();
  columns[0].field_id = kDeletePathId;
  columns[0].image_column = 0;
  columns[1].name = "pos";
  columns[1].type = LogicalType::BigInt().NotNull();
  columns[1].field_id = kDeletePosId;
  columns[1].image_column = 1;
  const lake::EncodeInput input{images, rows, {}};
  DataFile file;
  file.content = FileContent::kPositionDeletes;
  file.partition = partition;
  const std::string path = place.directory + "/" + place.names->Next("position", ".parquet");
  file.path = place.files->Uri(path);
  DRIFTLESS_ASSIGN_OR_RETURN(auto object, place.files->store()->OpenWriter(path));
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto encoder,
      lake::ParquetEncoder::Open(std::move(object), Dialect(), columns, settings, input));
  DRIFTLESS_TRY(encoder->WriteRowGroup(input));
  DRIFTLESS_ASSIGN_OR_RETURN(const lake::ParquetSummary summary, encoder->Finish());
  file.record_count = summary.rows;
  file.size = summary.bytes;
  file.split_offsets = summary.row_group_offsets;
  // Whole paths: readers match single files by equal bounds.
  file.lower_bounds[kDeletePathId] = deleted.front().path;
  file.upper_bounds[kDeletePathId] = deleted.back().path;
  if (deleted.size() == 1) file.referenced_data_file = deleted.front().path;
  return file;
}

}  // namespace driftless::iceberg
