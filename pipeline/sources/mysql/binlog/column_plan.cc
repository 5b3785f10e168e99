#include "pipeline/sources/mysql/binlog/column_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pipeline/sources/mysql/binlog/collations.h"
#include "pipeline/sources/mysql/binlog/packed.h"
#include "schema/base/letter_case.h"

namespace driftless::mysql {
namespace {

// "decimal(65,30) unsigned" gives "decimal", 65 and 30.
struct SourceType {
  std::string name;
  int first = -1;
  int second = -1;
};

SourceType ReadSourceType(std::string_view text) {
  SourceType type;
  const size_t open = text.find('(');
  type.name = LowerCase(text.substr(0, std::min(open, text.find(' '))));
  if (open == std::string_view::npos) return type;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data() + open + 1, end, type.first);
  if (error == std::errc() && at < end && *at == ',') std::from_chars(at + 1, end, type.second);
  return type;
}

struct Family {
  std::string_view name;
  std::vector<WireType> types;
};

// Which codes a column of a type has in the log.
const std::vector<Family>& Families() {
  using W = WireType;
  static const auto* const kFamilies =
      new std::vector<Family>{{"tinyint", {W::kTiny}},
                              {"smallint", {W::kShort}},
                              {"mediumint", {W::kInt24}},
                              {"int", {W::kLong}},
                              {"bigint", {W::kLongLong}},
                              {"decimal", {W::kDecimal}},
                              {"float", {W::kFloat}},
                              {"double", {W::kDouble}},
                              {"bit", {W::kBit}},
                              {"year", {W::kYear}},
                              {"date", {W::kDate}},
                              {"time", {W::kTime, W::kTimeOld}},
                              {"datetime", {W::kDateTime, W::kDateTimeOld}},
                              {"timestamp", {W::kTimestamp, W::kTimestampOld}},
                              {"char", {W::kString}},
                              {"binary", {W::kString}},
                              {"uuid", {W::kString}},
                              {"inet4", {W::kString}},
                              {"inet6", {W::kString}},
                              {"varchar", {W::kVarChar, W::kVarString, W::kVarCharCompressed}},
                              {"varbinary", {W::kVarChar, W::kVarString, W::kVarCharCompressed}},
                              {"tinytext", {W::kBlob, W::kBlobCompressed}},
                              {"text", {W::kBlob, W::kBlobCompressed}},
                              {"mediumtext", {W::kBlob, W::kBlobCompressed}},
                              {"longtext", {W::kBlob, W::kBlobCompressed}},
                              {"tinyblob", {W::kBlob, W::kBlobCompressed}},
                              {"blob", {W::kBlob, W::kBlobCompressed}},
                              {"mediumblob", {W::kBlob, W::kBlobCompressed}},
                              {"longblob", {W::kBlob, W::kBlobCompressed}},
                              {"xmltype", {W::kBlob, W::kBlobCompressed}},
                              {"json", {W::kJson, W::kBlob, W::kBlobCompressed}},
                              {"enum", {W::kEnum}},
                              {"set", {W::kSet}},
                              {"vector", {W::kVector, W::kVarChar}}};
  return *kFamilies;
}

Error Conflict(const WireColumn& wire, const Column& column) {
  const std::string& text = column.source.type_text;
  return MakeError(ErrorKind::kConflict,
                   fmt::format("column '{}' has type {} in the binary log (length {}, scale {}), "
                               "but {} in the schema",
                               column.name, static_cast<int>(wire.type), wire.length, wire.scale,
                               text.empty() ? column.type.ToString() : text));
}

int FixedWidth(const WireColumn& wire) {
  const int digits = static_cast<int>(wire.length);
  switch (wire.type) {
    case WireType::kTiny:
    case WireType::kYear: return 1;
    case WireType::kShort: return 2;
    case WireType::kInt24:
    case WireType::kDate: return 3;
    case WireType::kLong:
    case WireType::kFloat: return 4;
    case WireType::kLongLong:
    case WireType::kDouble: return 8;
    case WireType::kBit: return (digits + 7) / 8;
    case WireType::kDecimal: return PackedDecimalSize(digits, wire.scale);
    case WireType::kTimestamp: return 4 + FractionBytes(digits);
    case WireType::kDateTime: return 5 + FractionBytes(digits);
    case WireType::kTime: return 3 + FractionBytes(digits);
    case WireType::kTimestampOld: return 4;
    case WireType::kDateTimeOld: return 8;
    case WireType::kTimeOld: return 3;
    case WireType::kEnum:
    case WireType::kSet: return digits;
    default: return 0;
  }
}

int PrefixWidth(const WireColumn& wire) {
  switch (wire.type) {
    case WireType::kString:
    case WireType::kVarString:
    case WireType::kVarChar:
    case WireType::kVarCharCompressed: return wire.length < 256 ? 1 : 2;
    case WireType::kBlob:
    case WireType::kBlobCompressed:
    case WireType::kJson:
    case WireType::kGeometry:
    case WireType::kVector: return static_cast<int>(wire.length);
    default: return 0;
  }
}

bool PlanInteger(const WireColumn& wire, const Column& column, ColumnPlan* plan) {
  switch (column.type.kind()) {
    case TypeKind::kBoolean: plan->kind = ValueKind::kBoolean; return true;
    case TypeKind::kTinyInt: return wire.type == WireType::kTiny;
    case TypeKind::kSmallInt: return plan->width <= 2;
    case TypeKind::kInt: return plan->width <= 4;
    case TypeKind::kBigInt: return true;
    case TypeKind::kDecimal:
      plan->kind = ValueKind::kUnsigned;
      return column.type.scale() == 0 && column.type.precision() >= 20;
    default: return false;
  }
}

bool PlanTime(const WireColumn& wire, const Column& column, ColumnPlan* plan) {
  const TypeKind kind = column.type.kind();
  if (column.type.IsNested() || column.type.IsNanos()) return false;
  const bool is_old = wire.type == WireType::kTimestampOld || wire.type == WireType::kTimeOld ||
                      wire.type == WireType::kDateTimeOld;
  // The old codes come without a number of digits; MariaDB's with a fraction differ in size.
  plan->digits = is_old ? column.type.precision() : static_cast<int>(wire.length);
  const bool hires = is_old && plan->digits > 0;
  switch (wire.type) {
    case WireType::kTime:
    case WireType::kTimeOld:
      plan->kind = hires ? ValueKind::kHiresTime : is_old ? ValueKind::kOldTime : ValueKind::kTime;
      if (hires) plan->width = static_cast<uint8_t>(HiresTimeSize(plan->digits));
      return kind == TypeKind::kTime && column.type.precision() == plan->digits;
    case WireType::kDateTime:
    case WireType::kDateTimeOld:
      plan->kind = hires    ? ValueKind::kHiresDateTime
                   : is_old ? ValueKind::kOldDateTime
                            : ValueKind::kDateTime;
      if (hires) plan->width = static_cast<uint8_t>(HiresDateTimeSize(plan->digits));
      return kind == TypeKind::kTimestamp && column.type.precision() == plan->digits;
    default:
      plan->kind = hires    ? ValueKind::kHiresTimestamp
                   : is_old ? ValueKind::kOldTimestamp
                            : ValueKind::kTimestamp;
      if (hires) plan->width = static_cast<uint8_t>(4 + FractionBytes(plan->digits));
      return kind == TypeKind::kTimestampLtz && column.type.precision() == plan->digits;
  }
}

bool PlanDecimal(const WireColumn& wire, const Column& column, ColumnPlan* plan) {
  plan->digits = static_cast<int>(wire.length);
  plan->scale = wire.scale;
  if (column.type.kind() == TypeKind::kDecimal) {
    plan->kind = ValueKind::kDecimal;
    return column.type.precision() == plan->digits && column.type.scale() == plan->scale;
  }
  plan->kind = ValueKind::kDecimalText;
  return column.type.IsCharacter();
}

Result<void> PlanText(const WireColumn& wire, const Column& column, ColumnPlan* plan) {
  std::string_view charset = CharsetOfCollation(wire.collation);
  if (charset.empty() || charset == "binary") charset = column.source.charset;
  if (charset.empty()) charset = "utf8mb4";
  Result<Transcoder> transcoder = Transcoder::Make(charset);
  if (!transcoder) {
    return std::move(transcoder).error().Context("column '" + column.name + "'");
  }
  plan->kind = ValueKind::kText;
  plan->transcoder = std::make_unique<Transcoder>(std::move(*transcoder));
  return {};
}

// Strings of all kinds: what they are is in the schema.
Result<void> PlanString(const WireColumn& wire, const Column& column, const SourceType& source,
                        ColumnPlan* plan) {
  plan->is_compressed =
      wire.type == WireType::kBlobCompressed || wire.type == WireType::kVarCharCompressed;
  if (source.name == "uuid" || source.name == "inet4" || source.name == "inet6") {
    plan->kind = source.name == "uuid"    ? ValueKind::kUuid
                 : source.name == "inet4" ? ValueKind::kInet4
                                          : ValueKind::kInet6;
    plan->length = source.name == "inet4" ? 4 : 16;
    if (!column.type.IsCharacter() || wire.length != plan->length) return Conflict(wire, column);
    return {};
  }
  if (column.type.kind() == TypeKind::kArray) {
    plan->kind = ValueKind::kVector;
    if (source.name != "vector") return Conflict(wire, column);
    return {};
  }
  if (column.type.IsBytes()) {
    plan->kind = wire.type == WireType::kString ? ValueKind::kPaddedBytes : ValueKind::kBytes;
    plan->length = wire.length;
    return {};
  }
  if (!column.type.IsCharacter() && column.type.kind() != TypeKind::kVariant) {
    return Conflict(wire, column);
  }
  return PlanText(wire, column, plan);
}

Result<void> PlanMembers(const WireColumn& wire, const Column& column, ColumnPlan* plan) {
  const bool is_set = wire.type == WireType::kSet;
  plan->kind = is_set ? ValueKind::kSet : ValueKind::kEnum;
  plan->members = column.source.enum_values;
  const bool fits = is_set ? column.type.kind() == TypeKind::kArray : column.type.IsCharacter();
  if (!fits || plan->members.empty()) return Conflict(wire, column);
  if (!wire.members.empty() && wire.members.size() != plan->members.size()) {
    return MakeError(ErrorKind::kConflict,
                     fmt::format("column '{}' has {} members in the binary log, but {} in the "
                                 "schema",
                                 column.name, wire.members.size(), plan->members.size()));
  }
  // SHOW CREATE TABLE has labels in three-byte UTF-8, where the log has all of them.
  auto transcoder = Transcoder::Make(CharsetOfCollation(wire.collation));
  for (size_t i = 0; transcoder && i < wire.members.size(); ++i) {
    plan->members[i].clear();
    transcoder->Append(wire.members[i], &plan->members[i]);
  }
  return {};
}

Result<void> PlanByType(const WireColumn& wire, const Column& column, const SourceType& source,
                        ColumnPlan* plan) {
  const LogicalType& type = column.type;
  const auto fits = [&](bool ok) -> Result<void> {
    if (!ok) return Conflict(wire, column);
    return {};
  };
  switch (wire.type) {
    case WireType::kTiny:
    case WireType::kShort:
    case WireType::kInt24:
    case WireType::kLong:
    case WireType::kLongLong: return fits(PlanInteger(wire, column, plan));
    case WireType::kYear: plan->kind = ValueKind::kYear; return fits(type.kind() == TypeKind::kInt);
    case WireType::kFloat:
      plan->kind = type.kind() == TypeKind::kDouble ? ValueKind::kRoundedFloat : ValueKind::kFloat;
      plan->scale = source.second;
      return fits(type.kind() == TypeKind::kDouble || type.kind() == TypeKind::kFloat);
    case WireType::kDouble:
      plan->kind = ValueKind::kDouble;
      return fits(type.kind() == TypeKind::kDouble);
    case WireType::kDecimal: return fits(PlanDecimal(wire, column, plan));
    case WireType::kBit:
      plan->kind = type.kind() == TypeKind::kBoolean ? ValueKind::kBoolean : ValueKind::kBits;
      plan->is_unsigned = true;
      return fits(type.kind() == TypeKind::kBoolean
                      ? wire.length == 1
                      : type.IsBytes() && type.length() == plan->width);
    case WireType::kDate:
      plan->kind = ValueKind::kDate;
      return fits(type.kind() == TypeKind::kDate);
    case WireType::kTime:
    case WireType::kTimeOld:
    case WireType::kDateTime:
    case WireType::kDateTimeOld:
    case WireType::kTimestamp:
    case WireType::kTimestampOld: return fits(PlanTime(wire, column, plan));
    case WireType::kEnum:
    case WireType::kSet: return PlanMembers(wire, column, plan);
    case WireType::kJson:
      plan->kind = ValueKind::kJson;
      plan->is_json = true;
      return fits(type.IsCharacter() || type.kind() == TypeKind::kVariant);
    case WireType::kGeometry: plan->kind = ValueKind::kGeometry; return fits(type.IsCharacter());
    case WireType::kVector:
      plan->kind = ValueKind::kVector;
      return fits(type.kind() == TypeKind::kArray);
    default: return PlanString(wire, column, source, plan);
  }
}

bool IsOfFamily(WireType wire, std::string_view name) {
  for (const Family& family : Families()) {
    if (family.name != name) continue;
    return std::find(family.types.begin(), family.types.end(), wire) != family.types.end();
  }
  return true;  // a geometry, or no text of the source's type
}

}  // namespace

Result<ColumnPlan> PlanColumn(const WireColumn& wire, const Column& column) {
  const SourceType source = ReadSourceType(column.source.type_text);
  if (!IsOfFamily(wire.type, source.name)) return Conflict(wire, column);
  ColumnPlan plan;
  plan.is_nullable = column.type.nullable();
  plan.is_unsigned = wire.has_signedness ? wire.is_unsigned : column.source.is_unsigned;
  plan.width = static_cast<uint8_t>(FixedWidth(wire));
  plan.prefix = static_cast<uint8_t>(PrefixWidth(wire));
  DRIFTLESS_TRY(PlanByType(wire, column, source, &plan));
  return plan;
}

std::string DifferenceOf(const TableMap& map, const TableSchema& schema) {
  if (map.columns.size() != schema.columns.size()) {
    return fmt::format("the binary log has {} columns, the schema {}", map.columns.size(),
                       schema.columns.size());
  }
  for (size_t i = 0; i < map.columns.size(); ++i) {
    const WireColumn& wire = map.columns[i];
    const Column& column = schema.columns[i];
    if (map.has_names && wire.name != column.name) {
      return fmt::format("column {} is '{}' in the binary log, but '{}' in the schema", i + 1,
                         wire.name, column.name);
    }
    // YEAR counts as unsigned in the log.
    if (wire.has_signedness && wire.type != WireType::kYear && !column.source.type_text.empty() &&
        wire.is_unsigned != column.source.is_unsigned) {
      return fmt::format("column '{}' is {} in the binary log, but not in the schema", column.name,
                         wire.is_unsigned ? "unsigned" : "signed");
    }
    const Result<ColumnPlan> plan = PlanColumn(wire, column);
    if (!plan && plan.error().kind() == ErrorKind::kConflict) return plan.error().message();
  }
  return {};
}

}  // namespace driftless::mysql
