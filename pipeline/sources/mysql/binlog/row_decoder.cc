#include "pipeline/sources/mysql/binlog/row_decoder.h"

#include <fmt/format.h>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/column_plan.h"
#include "pipeline/sources/mysql/binlog/inflate.h"

namespace driftless::mysql {
namespace {

Error Malformed(const BinlogEvent& event, std::string_view what) {
  return MakeError(ErrorKind::kInvalidInput,
                   fmt::format("{} event: {}", ToString(event.type), what))
      .Position("end position " + std::to_string(event.end_position));
}

Op OpOf(EventType type) {
  switch (type) {
    case EventType::kWriteRowsV1:
    case EventType::kWriteRows:
    case EventType::kWriteRowsCompressedV1:
    case EventType::kWriteRowsCompressed: return Op::kInsert;
    case EventType::kDeleteRowsV1:
    case EventType::kDeleteRows:
    case EventType::kDeleteRowsCompressedV1:
    case EventType::kDeleteRowsCompressed: return Op::kDelete;
    default: return Op::kUpdate;
  }
}

bool IsCompressed(EventType type) { return static_cast<int>(type) >= 166; }
bool HasExtraData(EventType type) {
  const auto code = static_cast<int>(type);
  return (code >= 30 && code <= 39) || code >= 169;
}

bool Bit(std::string_view bitmap, size_t index) {
  return (static_cast<uint8_t>(bitmap[index / 8]) >> (index % 8) & 1) != 0;
}

// One value of an image: where it is, or that it is not.
struct Value {
  enum class State : uint8_t { kAbsent, kNull, kPresent, kPartial };
  const uint8_t* at = nullptr;
  size_t size = 0;
  State state = State::kAbsent;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(at), size}; }
  bool SameAs(const Value& other) const {
    if (state != other.state) return false;
    return state != State::kPresent || (size == other.size && std::memcmp(at, other.at, size) == 0);
  }
};

}  // namespace

Result<RowsEvent> ParseRows(const BinlogEvent& event, std::string* buffer) {
  ByteReader reader(event.body);
  RowsEvent rows;
  rows.op = OpOf(event.type);
  rows.is_partial = event.type == EventType::kPartialUpdateRows;
  rows.table_id = reader.Little(6);
  rows.ends_statement = (reader.U16() & 1) != 0;
  if (HasExtraData(event.type)) {
    const uint16_t extra = reader.U16();
    if (extra < 2) return Malformed(event, "its extra data is shorter than its length");
    reader.Bytes(extra - 2U);
  }
  const uint64_t count = reader.LengthEncoded();
  if (reader.failed() || count > 65535) return Malformed(event, "its header is malformed");
  rows.column_count = static_cast<uint32_t>(count);
  const std::string_view first = reader.Bytes((count + 7) / 8);
  const std::string_view second =
      rows.op == Op::kUpdate ? reader.Bytes((count + 7) / 8) : std::string_view();
  if (reader.failed()) return Malformed(event, "its bitmaps are cut off");
  rows.before_columns = rows.op == Op::kInsert ? std::string_view() : first;
  rows.after_columns = rows.op == Op::kInsert ? first : second;
  rows.rows_offset = BinlogEvent::kHeaderSize + reader.offset();
  rows.rows = reader.Rest();
  if (IsCompressed(event.type)) {
    if (!InflateEvent(rows.rows, buffer)) return Malformed(event, "its rows cannot be unpacked");
    rows.rows = *buffer;
    rows.rows_offset = 0;
  }
  return rows;
}

Result<uint64_t> RowsTableId(const BinlogEvent& event) {
  ByteReader reader(event.body);
  const uint64_t id = reader.Little(6);
  if (reader.failed()) return Malformed(event, "its header is cut off");
  return id;
}

struct RowPlan::Impl {
  std::vector<ColumnPlan> columns;
  bool has_key = false;
  bool has_json = false;
};

RowPlan::RowPlan() = default;
RowPlan::~RowPlan() = default;

Result<std::unique_ptr<RowPlan>> RowPlan::Make(const TableMap& map, TableSchemaPtr schema) {
  const std::string difference = DifferenceOf(map, *schema);
  if (!difference.empty()) {
    return MakeError(ErrorKind::kConflict,
                     fmt::format("table {}: {}", map.path().ToString(), difference))
        .Hint(
            "a change of the table was missed: its statement is not in the binary log, or was "
            "not understood");
  }
  auto plan = std::unique_ptr<RowPlan>(new RowPlan);
  plan->impl_ = std::make_unique<Impl>();
  for (size_t i = 0; i < schema->columns.size(); ++i) {
    Result<ColumnPlan> column = PlanColumn(map.columns[i], schema->columns[i]);
    if (!column) return std::move(column).error().Context("table " + map.path().ToString());
    column->is_key = schema->IsKey(schema->columns[i].id);
    plan->impl_->has_key = plan->impl_->has_key || column->is_key;
    plan->impl_->has_json = plan->impl_->has_json || column->is_json;
    plan->impl_->columns.push_back(std::move(*column));
  }
  plan->schema_ = std::move(schema);
  return plan;
}

struct RowDecoder::Impl {
  BeforeImages before_images;
  std::vector<ColumnPlan>* columns = nullptr;
  bool has_key = false;
  bool has_json = false;
  RowsEvent event;
  const uint8_t* begin = nullptr;
  const uint8_t* at = nullptr;
  const uint8_t* end = nullptr;
  uint32_t row = 0;
  uint32_t first_row = 0;
  std::vector<Value> before;
  std::vector<Value> after;
  size_t before_present = 0;
  size_t after_present = 0;
  ValueReader values;
  const char* fault = "";
  size_t fault_column = 0;

  bool Split(std::string_view present, size_t count, bool partial, std::vector<Value>* image);
  bool SplitPartial(std::string_view* partial_bits);
  bool Fill(ChangeBatchBuilder* builder);
  bool FillBefore(ChangeBatchBuilder* builder);
  bool FillAfter(ChangeBatchBuilder* builder);
  bool WantsBefore() const;
  bool AppendValue(size_t i, const Value& value, ColumnBuilder* column);
  Error ErrorAt(const uint8_t* row_begin, const TableSchema& schema) const;
  bool Fail(const char* text, size_t column) {
    fault = text;
    fault_column = column;
    return false;
  }
};

// Finds the values of one image. A row is taken apart before anything is appended, so that values
// of one image can stand in for those of the other.
bool RowDecoder::Impl::Split(std::string_view present, size_t count, bool partial,
                             std::vector<Value>* image) {
  std::string_view partial_bits;
  if (partial && !SplitPartial(&partial_bits)) return Fail("the image is cut off", columns->size());
  const size_t null_bytes = (count + 7) / 8;
  if (static_cast<size_t>(end - at) < null_bytes) {
    return Fail("the image is cut off", columns->size());
  }
  const uint8_t* nulls = at;
  at += null_bytes;
  size_t index = 0;
  size_t json = 0;
  for (size_t i = 0; i < columns->size(); ++i) {
    Value& value = (*image)[i];
    if (!Bit(present, i)) {
      value.state = Value::State::kAbsent;
      continue;
    }
    const ColumnPlan& plan = (*columns)[i];
    const bool is_null = (nulls[index >> 3] >> (index & 7) & 1) != 0;
    ++index;
    const bool is_partial = plan.is_json && !partial_bits.empty() && Bit(partial_bits, json++);
    if (is_null) {
      value.state = Value::State::kNull;
      continue;
    }
    const size_t left = static_cast<size_t>(end - at);
    size_t size = plan.width;
    if (plan.prefix != 0) {
      if (left < plan.prefix) return Fail("the value is cut off", i);
      size = LoadLittle(at, plan.prefix);
      at += plan.prefix;
    }
    if (size > static_cast<size_t>(end - at)) return Fail("the value is cut off", i);
    value.at = at;
    value.size = size;
    value.state = is_partial ? Value::State::kPartial : Value::State::kPresent;
    at += size;
  }
  return true;
}

// What a PARTIAL_UPDATE_ROWS event has before an after image: which JSON values are differences.
bool RowDecoder::Impl::SplitPartial(std::string_view* partial_bits) {
  ByteReader reader({reinterpret_cast<const char*>(at), static_cast<size_t>(end - at)});
  const uint64_t options = reader.LengthEncoded();
  if ((options & 1) != 0) {
    size_t count = 0;
    for (size_t i = 0; i < columns->size(); ++i) {
      count += (*columns)[i].is_json && Bit(event.after_columns, i) ? 1 : 0;
    }
    *partial_bits = reader.Bytes((count + 7) / 8);
  }
  if (reader.failed()) return false;
  at += reader.offset();
  return true;
}

bool RowDecoder::Impl::AppendValue(size_t i, const Value& value, ColumnBuilder* column) {
  switch (value.state) {
    case Value::State::kAbsent: column->AppendAbsent(); return true;
    case Value::State::kNull: column->AppendNull(); return true;
    case Value::State::kPresent:
      if (values.Append(&(*columns)[i], value.at, value.size, column)) return true;
      return Fail(values.fault(), i);
    case Value::State::kPartial:
      if (before[i].state != Value::State::kPresent) {
        return Fail(
            "the JSON's differences come without the value before them "
            "(binlog_row_image must be FULL with binlog_row_value_options=PARTIAL_JSON)",
            i);
      }
      if (values.AppendPatchedJson(before[i].bytes(), value.bytes(), column)) return true;
      return Fail(values.fault(), i);
  }
  return false;
}

bool RowDecoder::Impl::WantsBefore() const {
  if (event.op == Op::kDelete || before_images == BeforeImages::kAll || !has_key) return true;
  for (size_t i = 0; i < columns->size(); ++i) {
    // A key column that the after image lacks has not changed.
    if ((*columns)[i].is_key && after[i].state != Value::State::kAbsent &&
        !after[i].SameAs(before[i])) {
      return true;
    }
  }
  return false;
}

bool RowDecoder::Impl::FillBefore(ChangeBatchBuilder* builder) {
  for (size_t i = 0; i < columns->size(); ++i) {
    if (!AppendValue(i, before[i], &builder->before(static_cast<int>(i)))) return false;
  }
  return true;
}

bool RowDecoder::Impl::FillAfter(ChangeBatchBuilder* builder) {
  const bool stands_in = event.op == Op::kUpdate && after_present < columns->size();
  for (size_t i = 0; i < columns->size(); ++i) {
    const bool from_before = stands_in && after[i].state == Value::State::kAbsent;
    const Value& value = from_before ? before[i] : after[i];
    if (!AppendValue(i, value, &builder->after(static_cast<int>(i)))) return false;
  }
  return true;
}

bool RowDecoder::Impl::Fill(ChangeBatchBuilder* builder) {
  if (event.op != Op::kInsert) {
    if (!Split(event.before_columns, before_present, /*partial=*/false, &before)) return false;
  }
  if (event.op != Op::kDelete) {
    if (!Split(event.after_columns, after_present, event.is_partial, &after)) return false;
    if (!FillAfter(builder)) return false;
  }
  return event.op == Op::kInsert || !WantsBefore() || FillBefore(builder);
}

Error RowDecoder::Impl::ErrorAt(const uint8_t* row_begin, const TableSchema& schema) const {
  std::string where = fmt::format("row {} of the event", row - first_row + 1);
  if (event.rows_offset != 0) {
    where +=
        fmt::format(", byte {} of it", event.rows_offset + static_cast<size_t>(row_begin - begin));
  }
  const std::string column = fault_column < schema.columns.size()
                                 ? fmt::format(", column '{}'", schema.columns[fault_column].name)
                                 : "";
  return MakeError(ErrorKind::kInvalidInput,
                   fmt::format("table {}{}: {}", schema.path.ToString(), column, fault))
      .Position(where);
}

RowDecoder::RowDecoder(BeforeImages before_images) : impl_(std::make_unique<Impl>()) {
  impl_->before_images = before_images;
}
RowDecoder::~RowDecoder() = default;

Result<void> RowDecoder::Begin(RowPlan* plan, const RowsEvent& event, uint32_t first_row) {
  Impl& impl = *impl_;
  impl.columns = &plan->impl_->columns;
  impl.has_key = plan->impl_->has_key;
  impl.has_json = plan->impl_->has_json;
  if (event.column_count != impl.columns->size()) {
    return MakeError(
        ErrorKind::kInvalidInput,
        fmt::format("table {}: a rows event has {} columns, its table map {}",
                    plan->schema()->path.ToString(), event.column_count, impl.columns->size()));
  }
  impl.event = event;
  impl.begin = impl.at = reinterpret_cast<const uint8_t*>(event.rows.data());
  impl.end = impl.at + event.rows.size();
  impl.row = impl.first_row = first_row;
  impl.before.assign(impl.columns->size(), Value{});
  impl.after.assign(impl.columns->size(), Value{});
  impl.before_present = impl.after_present = 0;
  for (size_t i = 0; i < impl.columns->size(); ++i) {
    if (!event.before_columns.empty() && Bit(event.before_columns, i)) ++impl.before_present;
    if (!event.after_columns.empty() && Bit(event.after_columns, i)) ++impl.after_present;
  }
  // Rows without any column would not move on.
  if (impl.before_present + impl.after_present == 0 && !event.rows.empty()) {
    return MakeError(ErrorKind::kInvalidInput,
                     "table " + plan->schema()->path.ToString() + ": a rows event has no columns");
  }
  return {};
}

Result<bool> RowDecoder::Append(const Point& point, int64_t commit_time_ms,
                                std::string_view transaction, ChangeBatchBuilder* builder) {
  Impl& impl = *impl_;
  Point at = point;
  while (impl.at < impl.end) {
    if (builder->size() >= ChangeBatchBuilder::kMaxRows ||
        ((impl.row & 15) == 0 && builder->IsFull())) {
      return true;
    }
    const uint8_t* row_begin = impl.at;
    at.row = impl.row;
    builder->BeginRow(impl.event.op, at, commit_time_ms);
    if (!transaction.empty()) builder->SetTransaction(transaction);
    if (!impl.Fill(builder)) {
      builder->AbandonRow();
      return impl.ErrorAt(row_begin, *builder->schema());
    }
    builder->EndRow();
    ++impl.row;
  }
  return false;
}

uint32_t RowDecoder::next_row() const { return impl_->row; }

}  // namespace driftless::mysql
