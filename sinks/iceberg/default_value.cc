#include "sinks/iceberg/default_value.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <utility>

#include "schema/base/bytes_text.h"
#include "schema/types/casts.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "sinks/lake/row_json.h"

namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;
using Fill = std::function<void(ColumnBuilder*)>;

Fill OfInt(int64_t value) {
  return [value](ColumnBuilder* out) { out->AppendInt(value); };
}
Fill OfBytes(std::string bytes) {
  return [bytes = std::move(bytes)](ColumnBuilder* out) { out->AppendBytes(bytes); };
}

// Types whose values are JSON texts; an empty function where the text is none.
Fill OfText(const LogicalType& type, std::string_view text) {
  switch (type.kind()) {
    case TypeKind::kVarChar: return OfBytes(std::string(text));
    case TypeKind::kVarBinary:
    case TypeKind::kBinary: {
      std::string hex(text);
      std::erase(hex, '-');  // a UUID
      std::string bytes;
      if (!DecodeHex(hex, &bytes)) return {};
      return OfBytes(std::move(bytes));
    }
    case TypeKind::kDecimal: {
      Int128 value = 0;
      if (ParseDecimal(text, type.precision(), type.scale(), &value) != DecimalText::kOk) return {};
      return [value](ColumnBuilder* out) { out->AppendInt128(value); };
    }
    case TypeKind::kDate: {
      int64_t days = 0;
      return ParseDate(text, &days) == TimeText::kOk ? OfInt(days) : Fill();
    }
    case TypeKind::kTime: {
      int64_t nanos = 0;
      bool inexact = false;
      if (ParseTime(text, &nanos, &inexact) != TimeText::kOk) return {};
      return OfInt(type.IsNanos() ? nanos : nanos / 1000);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      ParsedTimestamp parsed;
      int64_t value = 0;
      if (ParseTimestamp(text, &parsed) != TimeText::kOk) return {};
      const bool fits = type.IsNanos() ? ToNanos(parsed, &value) : ToMicros(parsed, &value);
      return fits ? OfInt(value) : Fill();
    }
    default: return {};
  }
}

Fill OfElement(const LogicalType& type, const dom::element& value) {
  int64_t integer = 0;
  double number = 0;
  bool flag = false;
  std::string_view text;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (value.get(flag) != simdjson::SUCCESS) return {};
      return [flag](ColumnBuilder* out) { out->AppendBit(flag); };
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return value.get(integer) == simdjson::SUCCESS ? OfInt(integer) : Fill();
    case TypeKind::kFloat:
      if (value.get(number) != simdjson::SUCCESS) return {};
      return [number](ColumnBuilder* out) { out->AppendFloat(static_cast<float>(number)); };
    case TypeKind::kDouble:
      if (value.get(number) != simdjson::SUCCESS) return {};
      return [number](ColumnBuilder* out) { out->AppendDouble(number); };
    default: return value.get(text) == simdjson::SUCCESS ? OfText(type, text) : Fill();
  }
}

}  // namespace

Result<Fill> DefaultFill(const LogicalType& type, std::string_view json) {
  if (type.IsNested()) {
    return MakeError(ErrorKind::kUnsupported, "a default of a nested column is not supported");
  }
  dom::parser parser;
  dom::element value;
  Fill fill;
  if (parser.parse(json.data(), json.size()).get(value) == simdjson::SUCCESS) {
    fill = OfElement(type, value);
  }
  if (!fill) {
    return MakeError(ErrorKind::kCorrupt, "the default " + std::string(json) + " is no value of " +
                                              type.ToStringIgnoringNullability());
  }
  return fill;
}

std::string DefaultJson(const LogicalType& type, const DefaultValue& value) {
  if (value.kind != DefaultValue::Kind::kLiteral || type.IsNested()) return "";
  switch (type.kind()) {
    case TypeKind::kTimestampLtz:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return "";
    default: break;
  }
  const int32_t offsets[] = {0, static_cast<int32_t>(value.text.size())};
  ColumnView text;
  text.length = 1;
  text.values = reinterpret_cast<const uint8_t*>(value.text.data());
  text.offsets = offsets;
  OwnedColumn cast;
  ColumnCast(LogicalType::String(), type, TimeZone()).Run(text, &cast);
  if (cast.misfit_count > 0) return "";
  std::string json;
  lake::AppendValueJson(type, cast.view(), 0, &json);
  const bool is_float = type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble;
  if (json == "null" || (is_float && json.starts_with('"'))) return "";
  return json;
}

}  // namespace driftless::iceberg
