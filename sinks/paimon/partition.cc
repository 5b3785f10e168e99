#include "sinks/paimon/partition.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "sinks/paimon/binary_row.h"

namespace driftless::paimon {
namespace {

constexpr int64_t kMillisPerDay = 86'400'000;

// java.time.LocalDateTime.toString: seconds and fraction only as far as needed, the fraction in
// groups of three digits.
std::string JavaLocalDateTime(int64_t millis, int32_t nanos_of_milli) {
  const int64_t days =
      (millis - (millis % kMillisPerDay + kMillisPerDay) % kMillisPerDay) / kMillisPerDay;
  const int64_t nanos = (millis - days * kMillisPerDay) * 1'000'000 + nanos_of_milli;
  std::string text;
  AppendDate(days, &text);
  text += 'T';
  const int64_t seconds = nanos / kNanosPerSecond % 60;
  const int64_t fraction = nanos % kNanosPerSecond;
  std::string time;
  AppendTimeOfDay(nanos,
                  fraction == 0               ? 0
                  : fraction % 1'000'000 == 0 ? 3
                  : fraction % 1000 == 0      ? 6
                                              : 9,
                  &time);
  if (seconds == 0 && fraction == 0) time.resize(time.size() - 3);
  return text + time;
}

Result<std::string> TimestampText(const BinaryRowView& row, int field, const LogicalType& type,
                                  bool legacy) {
  int32_t nanos = 0;
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t millis,
                             row.TimestampMillis(field, type.precision(), &nanos));
  if (legacy) return JavaLocalDateTime(millis, nanos);
  int64_t micros = 0;
  if (__builtin_mul_overflow(millis, 1000, &micros)) {
    return MakeError(ErrorKind::kCorrupt, "a partition's timestamp is out of range");
  }
  std::string text;
  AppendTimestamp(micros + nanos / 1000, TimestampUnit::kMicros, std::min(6, type.precision()), ' ',
                  &text);
  return text;
}

Result<std::string> ValueText(const BinaryRowView& row, int field, const LogicalType& type,
                              bool legacy) {
  std::string text;
  switch (type.kind()) {
    case TypeKind::kBoolean: return std::string(row.Fixed<uint8_t>(field) != 0 ? "true" : "false");
    case TypeKind::kTinyInt: return std::to_string(row.Fixed<int8_t>(field));
    case TypeKind::kSmallInt: return std::to_string(row.Fixed<int16_t>(field));
    case TypeKind::kInt: return std::to_string(row.Fixed<int32_t>(field));
    case TypeKind::kBigInt: return std::to_string(row.Fixed<int64_t>(field));
    case TypeKind::kChar:
    case TypeKind::kVarChar: {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, row.Bytes(field));
      return std::string(bytes);
    }
    case TypeKind::kDecimal: {
      DRIFTLESS_ASSIGN_OR_RETURN(const __int128 unscaled, row.Decimal(field, type.precision()));
      AppendDecimal(unscaled, type.scale(), &text);
      return text;
    }
    case TypeKind::kDate:
      if (legacy) return std::to_string(row.Fixed<int32_t>(field));
      AppendDate(row.Fixed<int32_t>(field), &text);
      return text;
    case TypeKind::kTime:
      if (legacy) return std::to_string(row.Fixed<int32_t>(field));
      AppendTimeOfDay(int64_t{row.Fixed<int32_t>(field)} * 1'000'000, std::min(3, type.precision()),
                      &text);
      return text;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return TimestampText(row, field, type, legacy);
    default:
      return MakeError(ErrorKind::kUnsupported, "a partition column of type " + type.ToString());
  }
}

bool IsBlank(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

}  // namespace

std::vector<LogicalType> PartitionTypes(const PaimonSchema& schema) {
  std::vector<LogicalType> types;
  for (const std::string& key : schema.partition_keys) {
    const PaimonField* field = schema.Find(key);
    types.push_back(field != nullptr ? field->type : LogicalType());
  }
  return types;
}

std::string EscapePathName(std::string_view text) {
  static constexpr std::string_view kEscaped = "\"#%'*/:=?\\{}[]^";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == 0x7f || kEscaped.find(c) != std::string_view::npos) {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", byte);
      escaped += code;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

Result<std::string> PartitionPath(const PaimonSchema& schema, std::string_view partition) {
  if (schema.partition_keys.empty()) return std::string();
  const std::vector<LogicalType> types = PartitionTypes(schema);
  DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView row,
                             BinaryRowView::Parse(partition, static_cast<int>(types.size())));
  const bool legacy = schema.Option("partition.legacy-name", "true") != "false";
  std::string path;
  for (size_t i = 0; i < types.size(); ++i) {
    const int field = static_cast<int>(i);
    std::string value;
    if (!row.IsNull(field)) {
      DRIFTLESS_ASSIGN_OR_RETURN(value, ValueText(row, field, types[i], legacy));
    }
    if (IsBlank(value)) value = schema.Option("partition.default-name", "__DEFAULT_PARTITION__");
    path += EscapePathName(schema.partition_keys[i]) + "=" + EscapePathName(value) + "/";
  }
  return path;
}

}  // namespace driftless::paimon
