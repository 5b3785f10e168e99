#include "sinks/olap/row_encoder.h"

#include <algorithm>
#include <cmath>

#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"

namespace driftless::olap {
namespace {

constexpr TextFormat kFormat{.bytes = BytesText::kBase64, .decimals = DecimalJson::kString};

// 0000-01-01 and 9999-12-31 in days since 1970-01-01.
constexpr int64_t kFirstDay = -719528;
constexpr int64_t kLastDay = 2932896;
constexpr int64_t kMicrosPerDay = 86'400'000'000;

}  // namespace

RowEncoder::RowEncoder(const EvolvedSchema& table, OperationField operation, char separator)
    : path_(table.path),
      operation_(operation),
      separator_(separator),
      has_key_(!table.primary_key.empty()) {
  for (const EvolvedColumn& evolved : table.columns) {
    Column column;
    column.name = evolved.sink.name;
    AppendJsonString(column.name, &column.key);
    column.key += ':';
    column.type = evolved.sink.type;
    column.is_key = std::find(table.primary_key.begin(), table.primary_key.end(), column.name) !=
                    table.primary_key.end();
    switch (column.type.kind()) {
      case TypeKind::kChar:
      case TypeKind::kVarChar:
        column.bytes_max = column.type.length();
        if (column.bytes_max != LogicalType::kMaxLength) column.check = Check::kBytes;
        break;
      case TypeKind::kFloat:
      case TypeKind::kDouble: column.check = Check::kFinite; break;
      case TypeKind::kDate: column.check = Check::kDate; break;
      case TypeKind::kTimestamp: column.check = Check::kMoment; break;
      default: break;
    }
    columns_.push_back(std::move(column));
  }
}

bool RowEncoder::Fits(const Column& column, const ColumnView& values, int64_t row) const {
  switch (column.check) {
    case Check::kNone: return true;
    case Check::kBytes: return static_cast<int64_t>(values.Bytes(row).size()) <= column.bytes_max;
    case Check::kFinite:
      return column.type.kind() == TypeKind::kFloat ? std::isfinite(values.Fixed<float>(row))
                                                    : std::isfinite(values.Fixed<double>(row));
    case Check::kDate: {
      const int32_t day = values.Fixed<int32_t>(row);
      return day >= kFirstDay && day <= kLastDay;
    }
    case Check::kMoment: {
      const int64_t micros = values.Fixed<int64_t>(row);
      return micros >= kFirstDay * kMicrosPerDay && micros < (kLastDay + 1) * kMicrosPerDay;
    }
  }
  return true;
}

Error RowEncoder::MisfitError(const ProjectedBatch& batch, const Column& column,
                              const ColumnView& values, uint32_t row) const {
  std::string text;
  AppendText(column.type, values, row, kFormat, &text);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  std::string why = column.check == Check::kBytes
                        ? std::to_string(values.Bytes(row).size()) +
                              " bytes, and the column takes " + std::to_string(column.bytes_max)
                        : "the server has no such value";
  return MakeError(ErrorKind::kInvalidInput, "table " + path_.ToString() + ", column " +
                                                 column.name + ": \"" + text + "\": " + why)
      .Position(batch.source().point(row).ToString());
}

Result<void> RowEncoder::FindMisfits(const ProjectedBatch& batch, const Projection& projection,
                                     RowReporter* reporter) {
  nulled_.clear();
  left_out_.clear();
  const std::span<const Op> ops = batch.source().ops();
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.check == Check::kNone) continue;
    const ColumnView& values = batch.after()[i];
    int64_t lost = 0;
    for (const uint32_t row : batch.rows()) {
      if (ops[row] == Op::kDelete || values.IsNull(row) || Fits(column, values, row)) continue;
      OnCastFailure policy = projection.on_cast_failure();
      if (policy == OnCastFailure::kNull && (column.is_key || !column.type.nullable())) {
        policy = OnCastFailure::kFail;
      }
      if (policy == OnCastFailure::kNull) {
        nulled_.push_back({row, i});
        ++lost;
        continue;
      }
      Error error = MisfitError(batch, column, values, row);
      if (policy == OnCastFailure::kFail || reporter == nullptr) return error;
      reporter->DeadLetter(batch.source(), row, error);
      left_out_.push_back(row);
    }
    if (lost > 0 && reporter != nullptr) {
      reporter->Count(path_, column.name, RowReporter::Loss::kMisfit, lost);
    }
  }
  std::sort(nulled_.begin(), nulled_.end());
  std::sort(left_out_.begin(), left_out_.end());
  return {};
}

void RowEncoder::AppendRow(std::span<const ColumnView> columns, uint32_t row, bool keys_only,
                           std::string* body) const {
  auto nulled = std::lower_bound(nulled_.begin(), nulled_.end(), Misfit{row, 0});
  *body += '{';
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (keys_only && !column.is_key) continue;
    *body += column.key;
    const bool is_nulled =
        !keys_only && nulled != nulled_.end() && nulled->row == row && nulled->column == i;
    if (is_nulled) ++nulled;
    if (is_nulled || columns[i].IsNull(row)) {
      *body += "null";
    } else {
      AppendJson(column.type, columns[i], row, kFormat, body);
    }
    *body += ',';
  }
  if (has_key_) {
    *body += keys_only ? operation_.remove : operation_.upsert;
  } else {
    body->pop_back();
  }
  *body += '}';
  *body += separator_;
}

Result<void> RowEncoder::Append(const ProjectedBatch& batch, const Projection& projection,
                                RowReporter* reporter, std::string* body, int64_t* rows) {
  DRIFTLESS_TRY(FindMisfits(batch, projection, reporter));
  const std::span<const Op> ops = batch.source().ops();
  if (!has_key_) {
    for (const uint32_t row : batch.rows()) {
      if (ops[row] == Op::kInsert || ops[row] == Op::kRead) continue;
      return MakeError(ErrorKind::kUnsupported,
                       "table " + path_.ToString() +
                           " has no primary key, so that the sink can only append to it, and a "
                           "row was " +
                           (ops[row] == Op::kDelete ? "deleted" : "updated"))
          .Position(batch.source().point(row).ToString())
          .Hint("Give the table a primary key (transform: primary-keys), or leave it out.");
    }
  }
  auto left_out = left_out_.begin();
  for (const uint32_t row : batch.rows()) {
    while (left_out != left_out_.end() && *left_out < row) ++left_out;
    if (left_out != left_out_.end() && *left_out == row) continue;
    const bool is_delete = ops[row] == Op::kDelete;
    if (is_delete && !operation_.carries_deletes) continue;
    AppendRow(is_delete ? batch.before() : batch.after(), row, is_delete, body);
    ++*rows;
  }
  return {};
}

}  // namespace driftless::olap
