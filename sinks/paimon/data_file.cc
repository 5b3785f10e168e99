#include "sinks/paimon/data_file.h"

#include <algorithm>
#include <ctime>

#include "schema/base/check.h"
#include "sinks/paimon/file_stats.h"

namespace driftless::paimon {
namespace {

// Field ids of the system columns (Apache Paimon, `SpecialFields`).
constexpr int32_t kKeyFieldIdStart = 1073741823;
constexpr int32_t kSequenceFieldId = 2147483646;
constexpr int32_t kKindFieldId = 2147483645;
constexpr int32_t kNestedIdBase = 536870911;
constexpr int32_t kNestedIdStep = 1024;

constexpr int64_t kRowGroupBytes = 64 << 20;
constexpr int64_t kRowGroupRowsMax = 1 << 20;
constexpr int64_t kRowGroupRowsMin = 4096;

bool IsTrue(const PaimonSchema& schema, std::string_view key) {
  const auto value = ParseBool(schema.Option(key, "false"));
  return value && *value;
}

// Ids of what lies inside a column, depth first: elements, map keys and values have ids derived
// from the column's own, members of rows have ids in the schema.
void NestedIds(const LogicalType& type, int32_t field_id, int32_t depth,
               const std::vector<int32_t>& member_ids, size_t* next_member,
               std::vector<int32_t>* ids) {
  const auto& children = type.children();
  const int32_t offset = kNestedIdStep * field_id + depth;
  switch (type.kind()) {
    case TypeKind::kArray:
      ids->push_back(kNestedIdBase + offset);
      NestedIds(children[0].type, field_id, depth + 1, member_ids, next_member, ids);
      break;
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      ids->push_back(kNestedIdBase - offset);
      NestedIds(children[0].type, field_id, depth + 1, member_ids, next_member, ids);
      ids->push_back(kNestedIdBase + offset);
      if (type.kind() == TypeKind::kMap) {
        NestedIds(children[1].type, field_id, depth + 1, member_ids, next_member, ids);
      }
      break;
    case TypeKind::kRow:
      for (const RowField& member : children) {
        const int32_t id = *next_member < member_ids.size() ? member_ids[*next_member] : -1;
        ++*next_member;
        ids->push_back(id);
        NestedIds(member.type, id, 1, member_ids, next_member, ids);
      }
      break;
    default: break;
  }
}

lake::ParquetColumn ValueColumn(const PaimonField& field, int image_column) {
  lake::ParquetColumn column;
  column.name = field.name;
  column.type = field.type;
  column.field_id = field.id;
  column.image_column = image_column;
  size_t next_member = 0;
  NestedIds(field.type, field.id, 1, field.nested_ids, &next_member, &column.nested_ids);
  return column;
}

std::string KeyRow(const KeyLayout& layout, const FileRows& rows, size_t at) {
  BinaryRowBuilder row(static_cast<int>(layout.keys.size()));
  const lake::RowRef ref = rows.rows[at];
  for (size_t k = 0; k < layout.keys.size(); ++k) {
    row.SetFromColumn(static_cast<int>(k), layout.key_types[k],
                      rows.images[ref.image].columns[static_cast<size_t>(layout.keys[k])], ref.row);
  }
  return row.Serialized();
}

// Paimon stores creation times as the local clock shows them, as if that were UTC
// (`DataFileMeta.creationTime`).
int64_t LocalMillis(const Clock* clock) {
  const int64_t now = (clock != nullptr ? clock : SystemClock())->NowMillis();
  const auto seconds = static_cast<time_t>(now / 1000);
  tm local{};
  localtime_r(&seconds, &local);
  return now + static_cast<int64_t>(local.tm_gmtoff) * 1000;
}

}  // namespace

lake::ParquetDialect PaimonDialect() {
  lake::ParquetDialect dialect;
  dialect.root_name = "paimon_schema";
  dialect.nanos_as_int96 = true;
  dialect.millis_timestamps = true;
  dialect.time_as_millis = true;
  dialect.time_adjusted_to_utc = true;
  return dialect;
}

std::vector<lake::ParquetColumn> DataFileColumns(const PaimonSchema& schema,
                                                 const std::vector<int>& image_columns) {
  std::vector<lake::ParquetColumn> columns;
  if (schema.HasPrimaryKey()) {
    if (!IsTrue(schema, "data-file.thin-mode")) {
      for (const std::string& name : schema.TrimmedPrimaryKeys()) {
        const int at = schema.IndexOf(name);
        DRIFTLESS_CHECK(at >= 0);
        lake::ParquetColumn key = ValueColumn(schema.fields[static_cast<size_t>(at)],
                                              image_columns[static_cast<size_t>(at)]);
        key.name = "_KEY_" + name;
        key.type = key.type.NotNull();
        key.field_id += kKeyFieldIdStart;
        columns.push_back(std::move(key));
      }
    }
    lake::ParquetColumn sequence;
    sequence.name = "_SEQUENCE_NUMBER";
    sequence.type = LogicalType::BigInt().NotNull();
    sequence.field_id = kSequenceFieldId;
    sequence.source = lake::ParquetColumn::Source::kSequence;
    columns.push_back(std::move(sequence));
    lake::ParquetColumn kind;
    kind.name = "_VALUE_KIND";
    kind.type = LogicalType::TinyInt().NotNull();
    kind.field_id = kKindFieldId;
    kind.source = lake::ParquetColumn::Source::kRowKind;
    columns.push_back(std::move(kind));
  }
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    columns.push_back(ValueColumn(schema.fields[i], image_columns[i]));
  }
  return columns;
}

Result<DataFileFormat> DataFileFormat::Make(const PaimonSchema& schema,
                                            const EvolvedSchema& table) {
  DataFileFormat format;
  DRIFTLESS_ASSIGN_OR_RETURN(format.layout, KeyLayout::Make(table, schema.options));
  format.schema = schema;
  for (const PaimonField& field : schema.fields) {
    int at = -1;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].sink.name == field.name) at = static_cast<int>(i);
    }
    if (at < 0 && !field.type.nullable()) {
      return MakeError(ErrorKind::kConflict, "Paimon table " + table.path.ToString() +
                                                 " has a column " + field.name +
                                                 " NOT NULL that the pipeline does not know")
          .Hint("somebody else changed the table; make the column nullable or drop it");
    }
    if (at >= 0) {
      const LogicalType& known = table.columns[static_cast<size_t>(at)].sink.type;
      if (known.physical() != field.type.physical() || (known.kind() != field.type.kind()) ||
          known.IsNanos() != field.type.IsNanos() || known.scale() != field.type.scale()) {
        return MakeError(ErrorKind::kConflict,
                         "column " + field.name + " of Paimon table " + table.path.ToString() +
                             " is " + field.type.ToString() + " now, not " + known.ToString())
            .Hint("somebody else changed the table");
      }
    }
    format.image_columns.push_back(at);
  }
  for (const EvolvedColumn& column : table.columns) {
    if (schema.IndexOf(column.sink.name) < 0) {
      return MakeError(ErrorKind::kConflict, "Paimon table " + table.path.ToString() +
                                                 " has no column " + column.sink.name + " any more")
          .Hint("somebody else changed the table");
    }
  }
  format.columns = DataFileColumns(schema, format.image_columns);
  format.settings.compression = schema.Option("file.compression", "zstd");
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t level,
                             ParseByteSize(schema.Option("file.compression.zstd-level", "1")));
  format.settings.zstd_level = static_cast<int>(level);
  DRIFTLESS_ASSIGN_OR_RETURN(
      format.target_file_bytes,
      ParseByteSize(schema.Option("target-file-size", schema.HasPrimaryKey() ? "128mb" : "256mb")));
  format.has_changelog = schema.Option("changelog-producer", "none") == "input";
  format.ignore_delete = IsTrue(schema, "ignore-delete");
  format.ignore_update_before = IsTrue(schema, "ignore-update-before");
  return format;
}

struct DataFileRoller::OpenFile {
  DataFileMeta meta;
  std::vector<KeyBounds> key_bounds;
};

DataFileRoller::DataFileRoller(const DataFileFormat* format, FilePlace place)
    : format_(format), place_(std::move(place)) {}
DataFileRoller::~DataFileRoller() = default;

Result<void> DataFileRoller::Write(const FileRows& rows) {
  const auto group_rows =
      static_cast<size_t>(std::clamp(kRowGroupBytes / std::max<int64_t>(rows.bytes_per_row, 1),
                                     kRowGroupRowsMin, kRowGroupRowsMax));
  for (size_t at = 0; at < rows.rows.size();) {
    const size_t end = std::min(at + group_rows, rows.rows.size());
    DRIFTLESS_TRY(WriteGroup(rows, at, end));
    at = end;
    if (encoder_->bytes_written() >= format_->target_file_bytes) DRIFTLESS_TRY(CloseFile());
  }
  return {};
}

Result<void> DataFileRoller::WriteGroup(const FileRows& rows, size_t begin, size_t end) {
  const bool has_key = format_->layout.has_key;
  lake::EncodeInput input{rows.images, rows.rows.subspan(begin, end - begin), {}};
  const std::span<const int64_t> sequences = rows.sequences.subspan(begin, end - begin);
  if (has_key) input.sequences = sequences;
  if (encoder_ == nullptr) {
    file_ = std::make_unique<OpenFile>();
    DataFileMeta& meta = file_->meta;
    meta.file_name = place_.names->Next(place_.prefix, ".parquet");
    meta.schema_id = format_->schema.id;
    meta.level = place_.level;
    meta.file_source = place_.source;
    meta.delete_row_count = 0;
    meta.min_sequence_number = sequences[0];
    meta.max_sequence_number = sequences[0];
    if (has_key) meta.min_key = KeyRow(format_->layout, rows, begin);
    DRIFTLESS_ASSIGN_OR_RETURN(auto target,
                               place_.store->OpenWriter(place_.directory + "/" + meta.file_name));
    DRIFTLESS_ASSIGN_OR_RETURN(
        encoder_, lake::ParquetEncoder::Open(std::move(target), PaimonDialect(), format_->columns,
                                             format_->settings, input));
  }
  DRIFTLESS_TRY(encoder_->WriteRowGroup(input));
  DataFileMeta& meta = file_->meta;
  for (const int64_t sequence : sequences) {
    meta.min_sequence_number = std::min(meta.min_sequence_number, sequence);
    meta.max_sequence_number = std::max(meta.max_sequence_number, sequence);
  }
  if (!has_key) return {};
  for (const lake::RowRef ref : input.rows) {
    *meta.delete_row_count += lake::IsRetract(ref.row_kind()) ? 1 : 0;
  }
  meta.max_key = KeyRow(format_->layout, rows, end - 1);
  return WidenKeyBounds(format_->layout, rows, begin, end, &file_->key_bounds);
}

Result<void> DataFileRoller::CloseFile() {
  if (encoder_ == nullptr) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const lake::ParquetSummary summary, encoder_->Finish());
  encoder_.reset();
  DataFileMeta& meta = file_->meta;
  meta.file_size = summary.bytes;
  meta.row_count = summary.rows;
  meta.creation_time_ms = LocalMillis(place_.clock);
  if (format_->layout.has_key) {
    DRIFTLESS_ASSIGN_OR_RETURN(meta.key_stats, KeyStats(format_->layout, file_->key_bounds));
  }
  FillValueStats(format_->schema, summary, &meta);
  files_.push_back(std::move(meta));
  file_.reset();
  return {};
}

Result<std::vector<DataFileMeta>> DataFileRoller::Finish() {
  DRIFTLESS_TRY(CloseFile());
  return std::move(files_);
}

Result<std::vector<DataFileMeta>> WriteDataFiles(const DataFileFormat& format,
                                                 const FilePlace& place, const FileRows& rows) {
  DataFileRoller roller(&format, place);
  DRIFTLESS_TRY(roller.Write(rows));
  return roller.Finish();
}

}  // namespace driftless::paimon
