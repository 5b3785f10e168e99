#include "schema/types/value_text.h"

#include <array>
#include <cmath>

#include "schema/base/json_writer.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"

namespace driftless {
namespace {

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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
  const LogicalType& value_type =
      type.kind() == TypeKind::kMap ? type.children()[1].type : kCount;
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
    case TypeKind::kDecimal:
      AppendDecimal(column.Fixed<Int128>(row), type.scale(), out);
      return;
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

void AppendHex(std::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *out += kHex[byte >> 4];
    *out += kHex[byte & 15];
  }
}

void AppendBase64(std::string_view bytes, std::string* out) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i]));
  };
  size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    for (const int shift : {18, 12, 6, 0}) *out += kBase64Digits[group >> shift & 63];
  }
  const size_t rest = bytes.size() - at;
  if (rest == 0) return;
  const uint32_t group = byte(at) << 16 | (rest == 2 ? byte(at + 1) << 8 : 0);
  *out += kBase64Digits[group >> 18 & 63];
  *out += kBase64Digits[group >> 12 & 63];
  *out += rest == 2 ? kBase64Digits[group >> 6 & 63] : '=';
  *out += '=';
}

bool DecodeBase64(std::string_view text, std::string* out) {
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    for (int i = 0; i < 64; ++i) {
      values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<int8_t>(i);
    }
    return values;
  }();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      *out += static_cast<char>(bits >> bit_count & 0xFF);
    }
  }
  return true;
}

}  // namespace driftless
