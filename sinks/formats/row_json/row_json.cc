#include "sinks/formats/row_json/row_json.h"

#include <algorithm>

#include "schema/base/bytes_text.h"
#include "schema/base/json_writer.h"
#include "schema/base/letter_case.h"
#include "schema/types/decimal.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

void AppendQuotedBase64(std::string_view bytes, std::string* out) {
  *out += '"';
  AppendBase64(bytes, out);
  *out += '"';
}

// The shortest big-endian two's complement, as java.math.BigInteger writes it.
void AppendUnscaledBase64(Int128 value, std::string* out) {
  char bytes[16];
  for (int i = 15; i >= 0; --i) {
    bytes[i] = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  int first = 0;
  while (first < 15) {
    const bool next_negative = (static_cast<uint8_t>(bytes[first + 1]) & 0x80) != 0;
    const auto now = static_cast<uint8_t>(bytes[first]);
    if (!(now == 0 && !next_negative) && !(now == 0xff && next_negative)) break;
    ++first;
  }
  AppendQuotedBase64({bytes + first, static_cast<size_t>(16 - first)}, out);
}

int64_t FloorDivide(int64_t value, int64_t by) {
  return value / by - (value % by != 0 && (value < 0) != (by < 0) ? 1 : 0);
}

// Debezium's Timestamp (ms), MicroTimestamp and NanoTimestamp, by the type's precision.
int64_t ConnectTimestamp(const LogicalType& type, int64_t value) {
  return type.precision() <= 3 ? FloorDivide(value, 1000) : value;
}

// Every byte is one character of ISO-8859-1, written in UTF-8.
void AppendLatin1String(std::string_view bytes, std::string* out) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | (byte >> 6));
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  AppendJsonString(text, out);
}

bool StartsWithWord(std::string_view type_text, std::string_view word) {
  if (type_text.size() < word.size()) return false;
  if (!EqualsIgnoringCase(type_text.substr(0, word.size()), word)) return false;
  return type_text.size() == word.size() || type_text[word.size()] == '(' ||
         type_text[word.size()] == ' ';
}

bool IsDecimalWord(std::string_view text) {
  return StartsWithWord(text, "decimal") || StartsWithWord(text, "numeric") ||
         StartsWithWord(text, "dec") || StartsWithWord(text, "fixed");
}

// Big-endian bits to the little-endian bytes of io.debezium.data.Bits.
void AppendBits(std::string_view bytes, std::string* out) {
  std::string reversed(bytes.rbegin(), bytes.rend());
  AppendQuotedBase64(reversed, out);
}

// The elements of a SET, joined by commas, as MySQL prints it.
void AppendSet(const ColumnView& values, int64_t row, std::string* out) {
  std::string text;
  for (int32_t i = values.offsets[row]; i < values.offsets[row + 1]; ++i) {
    if (i > values.offsets[row]) text += ',';
    text += values.children[0].Bytes(i);
  }
  AppendJsonString(text, out);
}

}  // namespace

RowJson::RowJson(const EvolvedSchema& table, RowJsonOptions options) : options_(options) {
  for (const EvolvedColumn& column : table.columns) {
    ColumnPlan plan;
    AppendJsonString(column.sink.name, &plan.key);
    plan.key += ':';
    plan.type = column.sink.type;
    plan.source = column.source;
    columns_.push_back(std::move(plan));
  }
}

void RowJson::Follow(const TableSchemaPtr& source) {
  if (source == source_) return;
  source_ = source;
  for (ColumnPlan& plan : columns_) {
    plan.write = Write::kPlain;
    const Column* column = source == nullptr ? nullptr : source->Find(plan.source);
    if (column == nullptr) continue;
    const std::string_view text = column->source.type_text;
    if (plan.type.IsBytes() && StartsWithWord(text, "bit")) plan.write = Write::kBits;
    if (plan.type.kind() == TypeKind::kArray && StartsWithWord(text, "set")) {
      plan.write = Write::kSet;
    }
    if (plan.type.IsCharacter() && IsDecimalWord(text)) plan.write = Write::kNumberText;
  }
}

void RowJson::Append(std::span<const ColumnView> columns, int64_t row, std::string* out) const {
  *out += '{';
  bool first = true;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].IsAbsent(row)) continue;
    if (options_.ignore_null_fields && columns[i].IsNull(row)) continue;
    if (!first) *out += ',';
    first = false;
    *out += columns_[i].key;
    AppendValue(i, columns[i], row, out);
  }
  *out += '}';
}

void RowJson::AppendChanged(std::span<const ColumnView> before, std::span<const ColumnView> after,
                            int64_t row, std::string* out) const {
  *out += '{';
  bool first = true;
  std::string old_value, new_value;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].IsAbsent(row) || after[i].IsAbsent(row)) continue;
    old_value.clear();
    new_value.clear();
    AppendValue(i, before[i], row, &old_value);
    AppendValue(i, after[i], row, &new_value);
    if (old_value == new_value) continue;
    if (!first) *out += ',';
    first = false;
    *out += columns_[i].key;
    *out += old_value;
  }
  *out += '}';
}

void RowJson::AppendValue(size_t column, const ColumnView& values, int64_t row,
                          std::string* out) const {
  const ColumnPlan& plan = columns_[column];
  if (values.IsNull(row)) {
    *out += "null";
    return;
  }
  switch (plan.write) {
    case Write::kPlain: break;
    case Write::kBits:
      if (options_.dialect == JsonDialect::kFlink || options_.dialect == JsonDialect::kConnect) {
        return AppendBits(values.Bytes(row), out);
      }
      break;
    case Write::kSet: return AppendSet(values, row, out);
    case Write::kNumberText:
      if (options_.dialect == JsonDialect::kFlink || options_.dialect == JsonDialect::kMaxwell) {
        *out += values.Bytes(row);
        return;
      }
      break;
  }
  AppendPlain(plan.type, values, row, out);
}

void RowJson::AppendPlain(const LogicalType& type, const ColumnView& values, int64_t row,
                          std::string* out) const {
  switch (options_.dialect) {
    case JsonDialect::kConnect: return AppendConnect(type, values, row, out);
    case JsonDialect::kCanal: return AppendCanal(type, values, row, out);
    case JsonDialect::kFlink:
    case JsonDialect::kMaxwell: break;
  }
  const TextFormat format{.bytes = BytesText::kBase64,
                          .decimals = DecimalJson::kNumber,
                          .date_time_separator = options_.date_time_separator};
  const size_t begin = out->size();
  AppendJson(type, values, row, format, out);
  if (options_.dialect == JsonDialect::kMaxwell &&
      (type.kind() == TypeKind::kTimestampLtz || type.kind() == TypeKind::kTimestampTz) &&
      out->size() > begin + 2 && (*out)[out->size() - 2] == 'Z') {
    out->erase(out->size() - 2, 1);
  }
}

void RowJson::AppendConnect(const LogicalType& type, const ColumnView& values, int64_t row,
                            std::string* out) const {
  if (values.IsNull(row)) {
    *out += "null";
    return;
  }
  static constexpr TextFormat kIso = {.decimals = DecimalJson::kNumber, .date_time_separator = 'T'};
  switch (type.kind()) {
    case TypeKind::kDecimal: return AppendUnscaledBase64(values.Fixed<Int128>(row), out);
    case TypeKind::kDate: return AppendInteger(values.Fixed<int32_t>(row), out);
    case TypeKind::kTime: return AppendInteger(values.Fixed<int64_t>(row), out);
    case TypeKind::kTimestamp:
      return AppendInteger(ConnectTimestamp(type, values.Fixed<int64_t>(row)), out);
    case TypeKind::kVariant: return AppendJsonString(values.Bytes(row), out);
    case TypeKind::kArray:
      *out += '[';
      for (int32_t i = values.offsets[row]; i < values.offsets[row + 1]; ++i) {
        if (i > values.offsets[row]) *out += ',';
        AppendConnect(type.children()[0].type, values.children[0], i, out);
      }
      *out += ']';
      return;
    case TypeKind::kRow:
      *out += '{';
      for (size_t i = 0; i < type.children().size(); ++i) {
        if (i > 0) *out += ',';
        AppendJsonString(type.children()[i].name, out);
        *out += ':';
        AppendConnect(type.children()[i].type, values.children[i], row, out);
      }
      *out += '}';
      return;
    default: return AppendJson(type, values, row, kIso, out);
  }
}

void RowJson::AppendCanal(const LogicalType& type, const ColumnView& values, int64_t row,
                          std::string* out) const {
  if (type.IsBytes()) return AppendLatin1String(values.Bytes(row), out);
  if (type.kind() == TypeKind::kBoolean) {
    *out += values.Bit(row) ? "\"1\"" : "\"0\"";
    return;
  }
  static constexpr TextFormat kText = {.decimals = DecimalJson::kNumber};
  std::string text;
  AppendText(type, values, row, kText, &text);
  // MySQL prints moments without a zone.
  if ((type.kind() == TypeKind::kTimestampLtz || type.kind() == TypeKind::kTimestampTz) &&
      text.ends_with('Z')) {
    text.pop_back();
  }
  AppendJsonString(text, out);
}

}  // namespace driftless
