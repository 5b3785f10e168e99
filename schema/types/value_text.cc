#include "schema/types/value_text.h"

#include <cmath>

#include "schema/base/json_writer.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"

namespace driftless {
namespace {

void AppendBytesText(std::string_view bytes, BytesText format, std::string* out) {
  if (format == BytesText::kHex) {
    AppendHex(bytes, out);
  } else {
    AppendBase64(bytes, out);
  }
}

int64_t IntegerAt(const LogicalType& type, const ColumnView& column, int64_t row) {
  switch (type.physical()) {
    case PhysicalKind::kFixed8: return column.Fixed<int8_t>(row);
    case PhysicalKind::kFixed16: return column.Fixed<int16_t>(row);
    case PhysicalKind::kFixed32: return column.Fixed<int32_t>(row);
    default: return column.Fixed<int64_t>(row);
  }
}

TimestampUnit UnitOf(const LogicalType& type) {
  return type.IsNanos() ? TimestampUnit::kNanos : TimestampUnit::kMicros;
}

// DATE, TIME and TIMESTAMP*: the same characters in text and in JSON.
void AppendTemporal(const LogicalType& type, const ColumnView& column, int64_t row,
                    const TextFormat& format, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kDate: AppendDate(column.Fixed<int32_t>(row), out); return;
    case TypeKind::kTime: {
      const int64_t value = column.Fixed<int64_t>(row);
      AppendTimeOfDay(type.IsNanos() ? value : value * 1000, type.precision(), out);
      return;
    }
    default:
      AppendTimestamp(column.Fixed<int64_t>(row), UnitOf(type), type.precision(),
                      format.date_time_separator, out);
      if (type.kind() != TypeKind::kTimestamp) *out += 'Z';
  }
}

// A map's entries as an object; `value_type` null: a multiset, whose values are counts.
void AppendMapJson(const LogicalType& type, const ColumnView& column, int64_t row,
                   const TextFormat& format, std::string* out) {
  const ColumnView& entries = column.children[0];
  const LogicalType& key_type = type.children()[0].type;
  static const LogicalType kCount = LogicalType::Int().NotNull();
  const LogicalType& value_type = type.kind() == TypeKind::kMap ? type.children()[1].type : kCount;
  *out += '{';
  for (int32_t i = column.offsets[row]; i < column.offsets[row + 1]; ++i) {
    if (i > column.offsets[row]) *out += ',';
    std::string key;
    AppendText(key_type, entries.children[0], i, format, &key);
    AppendJsonString(key, out);
    *out += ':';
    AppendJson(value_type, entries.children[1], i, format, out);
  }
  *out += '}';
}

void AppendNestedJson(const LogicalType& type, const ColumnView& column, int64_t row,
                      const TextFormat& format, std::string* out) {
  if (type.kind() == TypeKind::kArray) {
    *out += '[';
    for (int32_t i = column.offsets[row]; i < column.offsets[row + 1]; ++i) {
      if (i > column.offsets[row]) *out += ',';
      AppendJson(type.children()[0].type, column.children[0], i, format, out);
    }
    *out += ']';
  } else if (type.kind() == TypeKind::kRow) {
    *out += '{';
    const auto& fields = type.children();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) *out += ',';
      AppendJsonString(fields[i].name, out);
      *out += ':';
      AppendJson(fields[i].type, column.children[i], row, format, out);
    }
    *out += '}';
  } else {
    AppendMapJson(type, column, row, format, out);
  }
}

template <typename Float>
void AppendFloating(Float value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "Infinity" : "-Infinity";
  } else {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out->append(buffer, static_cast<size_t>(end - buffer));
  }
}

}  // namespace

void AppendDouble(double value, std::string* out) { AppendFloating(value, out); }
void AppendFloat(float value, std::string* out) { AppendFloating(value, out); }

void AppendText(const LogicalType& type, const ColumnView& column, int64_t row,
                const TextFormat& format, std::string* out) {
  if (column.IsNull(row)) return;
  switch (type.kind()) {
    case TypeKind::kBoolean: *out += column.Bit(row) ? "true" : "false"; return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: AppendInteger(IntegerAt(type, column, row), out); return;
    case TypeKind::kFloat: AppendFloat(column.Fixed<float>(row), out); return;
    case TypeKind::kDouble: AppendDouble(column.Fixed<double>(row), out); return;
    case TypeKind::kDecimal: AppendDecimal(column.Fixed<Int128>(row), type.scale(), out); return;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kVariant: *out += column.Bytes(row); return;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: AppendBytesText(column.Bytes(row), format.bytes, out); return;
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: AppendTemporal(type, column, row, format, out); return;
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow: AppendNestedJson(type, column, row, format, out); return;
  }
}

void AppendJson(const LogicalType& type, const ColumnView& column, int64_t row,
                const TextFormat& format, std::string* out) {
  if (column.IsNull(row)) {
    *out += "null";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kFloat: AppendJsonFloat(column.Fixed<float>(row), out); return;
    case TypeKind::kDouble: AppendJsonDouble(column.Fixed<double>(row), out); return;
    case TypeKind::kChar:
    case TypeKind::kVarChar: AppendJsonString(column.Bytes(row), out); return;
    case TypeKind::kDecimal:
      if (format.decimals == DecimalJson::kString) break;
      [[fallthrough]];
    case TypeKind::kBoolean:
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kVariant:
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow: AppendText(type, column, row, format, out); return;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: break;
  }
  // What is left has text without a character that JSON would escape.
  *out += '"';
  AppendText(type, column, row, format, out);
  *out += '"';
}

}  // namespace driftless
