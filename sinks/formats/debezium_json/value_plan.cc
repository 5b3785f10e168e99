#include "sinks/formats/debezium_json/value_plan.h"

#include <algorithm>
#include <charconv>

#include "schema/base/letter_case.h"
#include "schema/types/decimal.h"

namespace driftless::debezium {
namespace {

// "decimal(65,30) unsigned" gives "decimal", 65 and 30.
struct SourceType {
  std::string name;
  std::vector<int32_t> arguments;
};

SourceType ReadSourceType(std::string_view text) {
  SourceType type;
  const size_t open = text.find('(');
  type.name = LowerCase(text.substr(0, std::min(open, text.find(' '))));
  if (open == std::string_view::npos) return type;
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size();
  int32_t number = 0;
  while (at < end) {
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    type.arguments.push_back(number);
    at = stop;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return type;
}

bool IsGeometryName(std::string_view name) {
  return name.find("geom") != std::string_view::npos || name.find("point") == 0 ||
         name.find("polygon") != std::string_view::npos ||
         name.find("linestring") != std::string_view::npos || name == "multipoint" ||
         name == "geography";
}

bool HasSemantic(const ConnectField* wire, std::string_view name) {
  return wire != nullptr && wire->semantic == name;
}

bool IsGeometryField(const ConnectField* wire) {
  return wire != nullptr && wire->semantic.starts_with("io.debezium.data.geometry.");
}

// The unit of a time or timestamp number. Semantic names end with the unit's own word.
TimeUnit UnitOf(const LogicalType& type, const ConnectField* wire, const Format& format) {
  if (wire != nullptr && !wire->semantic.empty()) {
    const std::string_view name = wire->semantic;
    if (name.find(".Micro") != std::string_view::npos) return TimeUnit::kMicros;
    if (name.find(".Nano") != std::string_view::npos) return TimeUnit::kNanos;
    if (name.ends_with("Time") || name.ends_with("Timestamp")) return TimeUnit::kMillis;
  }
  switch (format.time_mode) {
    case TimePrecisionMode::kConnect: return TimeUnit::kMillis;
    case TimePrecisionMode::kMicroseconds: return TimeUnit::kMicros;
    case TimePrecisionMode::kNanoseconds: return TimeUnit::kNanos;
    case TimePrecisionMode::kAdaptive: break;
  }
  if (type.kind() == TypeKind::kTime && format.time_is_micros) return TimeUnit::kMicros;
  if (type.precision() <= 3) return TimeUnit::kMillis;
  return type.precision() <= 6 ? TimeUnit::kMicros : TimeUnit::kNanos;
}

void PlanDecimal(const LogicalType& type, const Column& column, const SourceType& source,
                 const ConnectField* wire, ValuePlan* plan) {
  plan->kind = ValueKind::kDecimal;
  plan->precision = type.precision();
  plan->scale = plan->wire_scale = type.scale();
  plan->limit = PowerOfTen(type.precision());
  plan->is_unsigned_long = column.source.is_unsigned && source.name == "bigint";
  if (plan->wire != Wire::kDebezium) {
    plan->is_unsigned_long = false;  // digits, never a negative number
  } else if (plan->is_unsigned_long) {
    // bigint.unsigned.handling.mode=precise is base64 in every decimal.handling.mode.
    plan->decimal_mode = DecimalMode::kPrecise;
  } else if (wire != nullptr) {
    // The schema tells base64 (bytes) from digits (string) for certain.
    plan->decimal_mode =
        wire->type == ConnectType::kString ? DecimalMode::kString : DecimalMode::kPrecise;
  }
  if (wire != nullptr && wire->scale) plan->wire_scale = *wire->scale;
}

// Character columns: what their JSON values are depends on the source's type.
void PlanCharacter(const SourceType& source, const std::vector<std::string>& members,
                   const ConnectField* wire, const Format& format, ValuePlan* plan) {
  const bool is_decimal = source.name == "decimal" || source.name == "numeric" ||
                          source.name == "dec" || source.name == "fixed";
  if (is_decimal || HasSemantic(wire, "org.apache.kafka.connect.data.Decimal") ||
      HasSemantic(wire, "io.debezium.data.VariableScaleDecimal")) {
    plan->kind = ValueKind::kDecimalText;
    plan->scale = source.arguments.size() > 1 ? source.arguments[1] : 0;
    plan->wire_scale = plan->scale;
    if (wire != nullptr) {
      plan->decimal_mode =
          wire->type == ConnectType::kString ? DecimalMode::kString : DecimalMode::kPrecise;
      plan->wire_scale = wire->scale.value_or(plan->scale);
    }
  } else if (IsGeometryField(wire) || (wire == nullptr && IsGeometryName(source.name))) {
    plan->kind = ValueKind::kGeometryText;
  } else if (source.name == "enum") {
    const auto has_comma = [](const std::string& member) {
      return member.find(',') != std::string::npos;
    };
    if (std::any_of(members.begin(), members.end(), has_comma)) plan->members = members;
  } else if (source.name == "time") {
    plan->kind = ValueKind::kTimeText;
    plan->precision = source.arguments.empty() ? 0 : source.arguments[0];
    plan->unit = UnitOf(LogicalType::Time(plan->precision), wire, format);
  }
}

void PlanBinary(const LogicalType& type, const SourceType& source, const ConnectField* wire,
                ValuePlan* plan) {
  plan->kind = ValueKind::kBytes;
  if (wire != nullptr && wire->type == ConnectType::kBytes) plan->binary_mode = BinaryMode::kBase64;
  if (HasSemantic(wire, "io.debezium.data.Bits") || source.name == "bit") {
    plan->kind = ValueKind::kBits;
    plan->binary_mode = BinaryMode::kBase64;  // Bits are base64 in every binary.handling.mode
    plan->length = type.length();
    plan->fixed_length = type.kind() == TypeKind::kBinary;
  } else if (IsGeometryField(wire) || (wire == nullptr && IsGeometryName(source.name))) {
    plan->kind = ValueKind::kGeometryBytes;
  }
}

ValuePlan PlanType(const LogicalType& type, const Column& column, const ConnectField* wire,
                   const Format& format) {
  const SourceType source = ReadSourceType(column.source.type_text);
  ValuePlan plan;
  plan.decimal_mode = format.wire == Wire::kDebezium ? format.decimal_mode : DecimalMode::kString;
  plan.binary_mode = format.binary_mode;
  plan.wire = format.wire;
  plan.nullable = type.nullable();
  plan.is_moment = type.kind() == TypeKind::kTimestampLtz;
  const auto child = [&](size_t index, size_t wire_index) {
    const bool has = wire != nullptr && wire_index < wire->children.size();
    return PlanType(type.children()[index].type, Column{},
                    has ? &wire->children[wire_index] : nullptr, format);
  };
  switch (type.kind()) {
    case TypeKind::kBoolean: plan.kind = ValueKind::kBoolean; break;
    case TypeKind::kTinyInt: plan.kind = ValueKind::kInteger, plan.width = 1; break;
    case TypeKind::kSmallInt: plan.kind = ValueKind::kInteger, plan.width = 2; break;
    case TypeKind::kInt: plan.kind = ValueKind::kInteger, plan.width = 4; break;
    case TypeKind::kBigInt: plan.kind = ValueKind::kInteger, plan.width = 8; break;
    case TypeKind::kFloat: plan.kind = ValueKind::kFloat; break;
    case TypeKind::kDouble: plan.kind = ValueKind::kDouble; break;
    case TypeKind::kDecimal: PlanDecimal(type, column, source, wire, &plan); break;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kVariant:
      PlanCharacter(source, column.source.enum_values, wire, format, &plan);
      break;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: PlanBinary(type, source, wire, &plan); break;
    case TypeKind::kDate: plan.kind = ValueKind::kDate; break;
    case TypeKind::kTime:
      plan.kind = ValueKind::kTime;
      plan.nanos = type.IsNanos();
      plan.unit = UnitOf(type, wire, format);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      plan.kind = ValueKind::kTimestamp;
      plan.nanos = type.IsNanos();
      plan.unit = UnitOf(type, wire, format);
      break;
    case TypeKind::kArray:
      if (source.name == "set" || HasSemantic(wire, "io.debezium.data.EnumSet")) {
        plan.kind = ValueKind::kSet;
        break;
      }
      plan.kind = ValueKind::kList;
      plan.children.push_back(child(0, 0));
      break;
    case TypeKind::kMap:
      plan.kind = ValueKind::kMap;
      plan.children.push_back(child(0, 0));
      plan.children.push_back(child(1, 1));
      break;
    case TypeKind::kMultiset:  // a map of counts
      plan.kind = ValueKind::kMap;
      plan.children.push_back(child(0, 0));
      plan.children.push_back({.kind = ValueKind::kInteger, .width = 4});
      break;
    case TypeKind::kRow:
      plan.kind = ValueKind::kRow;
      for (size_t i = 0; i < type.children().size(); ++i) {
        plan.names.push_back(JsonKeyOf(type.children()[i].name));
        plan.children.push_back(child(i, i));
      }
      break;
  }
  if (source.name == "bit") plan.reads_bits = true;
  if (format.wire == Wire::kCanal && (source.name == "enum" || source.name == "set")) {
    plan.members = column.source.enum_values;
  }
  plan.members_are_numbers = format.members_are_numbers;
  return plan;
}

}  // namespace

ValuePlan PlanValue(const Column& column, const ConnectField* wire, const Format& format) {
  return PlanType(column.type, column, wire, format);
}

}  // namespace driftless::debezium
