#include "sinks/olap/row_encoder.h"

#include <algorithm>
#include <cmath>

#include "schema/base/json_writer.h"
#include "schema/types/overlay.h"
#include "schema/types/value_text.h"

namespace driftless::olap {
namespace {

constexpr TextFormat kFormat{.bytes = BytesText::kBase64, .decimals = DecimalJson::kString};

// 0000-01-01 and 9999-12-31 in days since 1970-01-01.
constexpr int64_t kFirstDay = -719528;
constexpr int64_t kLastDay = 2932896;
constexpr int64_t kMicrosPerDay = 86'400'000'000;

}  // namespace

RowEncoder::Column::Column(const EvolvedColumn& evolved, bool of_key)
    : name(evolved.sink.name), type(evolved.sink.type), writer(type), is_key(of_key) {
  AppendJsonString(name, &key);
  key += ':';
  switch (type.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarChar:
      bytes_max = type.length();
      if (bytes_max != LogicalType::kMaxLength) check = Check::kBytes;
      break;
    case TypeKind::kFloat:
    case TypeKind::kDouble: check = Check::kFinite; break;
    case TypeKind::kDate: check = Check::kDate; break;
    case TypeKind::kTimestamp: check = Check::kMoment; break;
    default: break;
  }
  if (is_key || type.nullable()) return;
  OwnedColumn zero;
  MakeZero(type, &zero);
  AppendJson(type, zero.view(), 0, kFormat, &filler);
}

RowEncoder::RowEncoder(const EvolvedSchema& table, OperationField operation, char separator,
                       bool as_arrow)
    : path_(table.path),
      operation_(operation),
      separator_(separator),
      has_key_(!table.primary_key.empty()),
      arrow_(as_arrow ? std::make_unique<ArrowRows>(table) : nullptr) {
  // Braces, the separator, and the longer of the two operations.
  row_bytes_ = 4 + std::max(operation.upsert.size(), operation.remove.size());
  columns_.reserve(table.columns.size());
  for (const EvolvedColumn& evolved : table.columns) {
    const bool is_key = std::find(table.primary_key.begin(), table.primary_key.end(),
                                  evolved.sink.name) != table.primary_key.end();
    const Column& column = columns_.emplace_back(evolved, is_key);
    // A comma, or "null".
    row_bytes_ += column.key.size() + column.writer.bytes_max() + column.filler.size() + 5;
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
      // Rare, and once for a row, however many of its values do not fit.
      if (std::find(left_out_.begin(), left_out_.end(), row) != left_out_.end()) continue;
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

bool RowEncoder::IsUnknown(const Column& column, const ColumnView& values, uint32_t row) const {
  return !column.is_key &&
         (values.IsNull(row) || values.IsAbsent(row) || !Fits(column, values, row));
}

void RowEncoder::AppendRow(std::span<const ColumnView> columns, uint32_t row, Image image,
                           LoadBody* body) {
  auto nulled = nulled_.end();
  if (!nulled_.empty()) nulled = std::lower_bound(nulled_.begin(), nulled_.end(), ValueAt{row, 0});
  const size_t count = image == Image::kSome ? carried_.size() : columns_.size();
  char* at = body->Reserve(row_bytes_);
  *at++ = '{';
  for (uint32_t n = 0; n < count; ++n) {
    const uint32_t i = image == Image::kSome ? carried_[n] : n;
    Column& column = columns_[i];
    if (image == Image::kKey && !column.is_key) continue;
    const bool is_unknown = image == Image::kDelete && IsUnknown(column, columns[i], row);
    if (is_unknown && column.filler.empty()) continue;
    at = std::copy(column.key.begin(), column.key.end(), at);
    while (nulled != nulled_.end() && nulled->row == row && nulled->column < i) ++nulled;
    const bool is_nulled = image != Image::kKey && nulled != nulled_.end() && nulled->row == row &&
                           nulled->column == i;
    if (is_unknown) {
      at = std::copy(column.filler.begin(), column.filler.end(), at);
    } else if (is_nulled || columns[i].IsNull(row)) {
      at = std::copy_n("null", 4, at);
    } else {
      at = column.writer.Write(columns[i], row, row_bytes_, body, at);
    }
    *at++ = ',';
  }
  if (has_key_ && image != Image::kSome) {
    const bool removes = image == Image::kKey || image == Image::kDelete;
    const std::string_view field = removes ? operation_.remove : operation_.upsert;
    at = std::copy(field.begin(), field.end(), at);
  } else if (at[-1] == ',') {
    --at;
  }
  *at++ = '}';
  *at++ = separator_;
  body->Commit(at);
}

// Of the key's texts, which are equal where the keys are (FNV-1a, draft-eastlake-fnv).
uint64_t RowEncoder::KeyHash(std::span<const ColumnView> columns, uint32_t row) {
  key_text_.Truncate(0);
  AppendRow(columns, row, Image::kKey, &key_text_);
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : key_text_.view()) {
    hash ^= static_cast<uint8_t>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

void RowEncoder::FindAbsent(const ProjectedBatch& batch) {
  may_lack_.clear();
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    if (batch.after()[i].absent != nullptr) may_lack_.push_back(i);
  }
}

Result<bool> RowEncoder::FindCarried(const ProjectedBatch& batch, const Projection& projection,
                                     uint32_t row) {
  carried_.clear();
  const bool lacks = std::any_of(may_lack_.begin(), may_lack_.end(),
                                 [&](uint32_t i) { return batch.after()[i].IsAbsent(row); });
  if (!lacks) return false;
  const Op op = batch.source().ops()[row];
  for (uint32_t i = 0; i < columns_.size(); ++i) {
    if (!batch.after()[i].IsAbsent(row)) {
      carried_.push_back(i);
      continue;
    }
    // A free column keeps what it has; a new row has nothing there to keep.
    const bool is_of_source = projection.columns()[i].from == ProjectedColumn::From::kSource;
    if (is_of_source && op != Op::kUpdate) {
      return MakeError(ErrorKind::kInvalidInput,
                       "table " + path_.ToString() + ", column " + columns_[i].name +
                           ": the source did not send the value, and the row is a new one, so that "
                           "the sink has no value to keep")
          .Position(batch.source().point(row).ToString())
          .Hint(
              "Set REPLICA IDENTITY FULL (PostgreSQL) or binlog_row_image=FULL (MySQL) at the "
              "source.");
    }
  }
  return true;
}

Result<void> RowEncoder::RequireKey(const ProjectedBatch& batch) const {
  if (has_key_) return {};
  const std::span<const Op> ops = batch.source().ops();
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
  return {};
}

Result<void> RowEncoder::Append(const ProjectedBatch& batch, const Projection& projection,
                                RowReporter* reporter, LoadParts* parts) {
  DRIFTLESS_TRY(FindMisfits(batch, projection, reporter));
  DRIFTLESS_TRY(RequireKey(batch));
  FindAbsent(batch);
  const bool as_arrow = arrow_ != nullptr && may_lack_.empty();
  const std::span<const Op> ops = batch.source().ops();
  auto left_out = left_out_.begin();
  for (const uint32_t row : batch.rows()) {
    while (left_out != left_out_.end() && *left_out < row) ++left_out;
    if (left_out != left_out_.end() && *left_out == row) continue;
    const bool is_delete = ops[row] == Op::kDelete;
    if (is_delete && !operation_.carries_deletes) continue;
    Image image = is_delete ? Image::kDelete : Image::kAll;
    if (!is_delete && !may_lack_.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool lacks, FindCarried(batch, projection, row));
      if (lacks) image = Image::kSome;
    }
    const std::span<const ColumnView> columns = is_delete ? batch.before() : batch.after();
    // What a table without a key gets is new rows only: a column left out reads its default.
    const std::vector<uint32_t>& carried = image == Image::kSome && has_key_ ? carried_ : all_;
    const uint64_t hash =
        has_key_ && parts->NeedsKey(carried, as_arrow) ? KeyHash(columns, row) : 0;
    LoadPart* const part = parts->For(carried, as_arrow, hash);
    if (as_arrow) {
      part->waiting.push_back(row);
      ++part->rows;
      continue;
    }
    if (part->rows == 0 && separator_ == ',') part->body.Append('[');
    AppendRow(columns, row, image, &part->body);
    ++part->rows;
  }
  if (!as_arrow) return {};
  for (const auto& part : parts->parts()) {
    DRIFTLESS_TRY(arrow_->Append(batch, part->waiting, nulled_, &part->body));
    part->waiting.clear();
  }
  return {};
}

}  // namespace driftless::olap
