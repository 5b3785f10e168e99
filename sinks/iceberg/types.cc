#include "sinks/iceberg/types.h"

#include <charconv>
#include <utility>
#include <vector>

namespace driftless::iceberg {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(
      ErrorKind::kUnsupported,
      "this version writes no " + type.ToStringIgnoringNullability() + " into Iceberg tables");
}

// The numbers in "decimal(12, 2)" and "fixed[16]".
bool ParseNumbers(std::string_view text, int count, int32_t* numbers) {
  for (int i = 0; i < count; ++i) {
    while (!text.empty() && (text.front() < '0' || text.front() > '9')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[i]);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return true;
}

Result<LogicalType> ToNestedType(const LogicalType& type) {
  std::vector<RowField> children = type.children();
  for (RowField& child : children) {
    DRIFTLESS_ASSIGN_OR_RETURN(child.type, ToIcebergType(child.type, false));
    child.comment.clear();
  }
  if (type.kind() == TypeKind::kRow) return LogicalType::Row(std::move(children));
  if (type.kind() == TypeKind::kArray) return LogicalType::Array(children[0].type);
  return LogicalType::Map(children[0].type.NotNull(), children[1].type);  // keys are required
}

}  // namespace

Result<std::string> PrimitiveText(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return std::string("boolean");
    case TypeKind::kInt: return std::string("int");
    case TypeKind::kBigInt: return std::string("long");
    case TypeKind::kFloat: return std::string("float");
    case TypeKind::kDouble: return std::string("double");
    case TypeKind::kDate: return std::string("date");
    case TypeKind::kTime: return std::string("time");
    case TypeKind::kTimestamp: return std::string(type.IsNanos() ? "timestamp_ns" : "timestamp");
    case TypeKind::kTimestampLtz:
      return std::string(type.IsNanos() ? "timestamptz_ns" : "timestamptz");
    case TypeKind::kVarChar: return std::string("string");
    case TypeKind::kVarBinary: return std::string("binary");
    case TypeKind::kBinary: return "fixed[" + std::to_string(type.length()) + "]";
    case TypeKind::kDecimal:
      return "decimal(" + std::to_string(type.precision()) + ", " + std::to_string(type.scale()) +
             ")";
    default: return Unsupported(type);
  }
}

Result<LogicalType> ParsePrimitive(std::string_view text) {
  if (text == "boolean") return LogicalType::Boolean();
  if (text == "int") return LogicalType::Int();
  if (text == "long") return LogicalType::BigInt();
  if (text == "float") return LogicalType::Float();
  if (text == "double") return LogicalType::Double();
  if (text == "date") return LogicalType::Date();
  if (text == "time") return LogicalType::Time(6);
  if (text == "timestamp") return LogicalType::Timestamp(6);
  if (text == "timestamptz") return LogicalType::TimestampLtz(6);
  if (text == "timestamp_ns") return LogicalType::Timestamp(9);
  if (text == "timestamptz_ns") return LogicalType::TimestampLtz(9);
  if (text == "string") return LogicalType::String();
  if (text == "binary") return LogicalType::Bytes();
  if (text == "uuid") return LogicalType::Binary(16);
  int32_t numbers[2] = {0, 0};
  if (text.starts_with("fixed[") && ParseNumbers(text, 1, numbers)) {
    return LogicalType::Binary(numbers[0]);
  }
  if (text.starts_with("decimal(") && ParseNumbers(text, 2, numbers) && numbers[0] > 0 &&
      numbers[0] <= LogicalType::kMaxDecimalPrecision && numbers[1] <= numbers[0]) {
    return LogicalType::Decimal(numbers[0], numbers[1]);
  }
  for (const std::string_view name : {"variant", "geometry", "geography", "unknown"}) {
    if (text.starts_with(name)) {
      return MakeError(ErrorKind::kUnsupported,
                       "Iceberg's type " + std::string(text) + " is not supported");
    }
  }
  return MakeError(ErrorKind::kCorrupt, "not an Iceberg type: " + std::string(text));
}

Result<LogicalType> ToIcebergType(const LogicalType& type, bool is_key) {
  const auto nullability = [&](LogicalType mapped) {
    return mapped.WithNullability(type.nullable());
  };
  switch (type.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt: return nullability(LogicalType::Int());
    case TypeKind::kChar:
    case TypeKind::kVarChar: return nullability(LogicalType::String());
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return nullability(LogicalType::Bytes());
    case TypeKind::kTime: return nullability(LogicalType::Time(6));
    case TypeKind::kTimestamp: return nullability(LogicalType::Timestamp(6));
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return nullability(LogicalType::TimestampLtz(6));
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      // Identifier fields must not be floating point (specification, "Identifier Field IDs").
      if (is_key) {
        return MakeError(
            ErrorKind::kUnsupported,
            "Iceberg allows no " + type.ToStringIgnoringNullability() + " as a key column");
      }
      return type;
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kRow: {
      if (is_key) return Unsupported(type);
      DRIFTLESS_ASSIGN_OR_RETURN(LogicalType mapped, ToNestedType(type));
      return nullability(std::move(mapped));
    }
    case TypeKind::kMultiset:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

std::string PromotionProblem(const LogicalType& from, const LogicalType& to) {
  const bool promotes = (from.kind() == TypeKind::kInt && to.kind() == TypeKind::kBigInt) ||
                        (from.kind() == TypeKind::kFloat && to.kind() == TypeKind::kDouble) ||
                        (from.kind() == TypeKind::kDecimal && to.kind() == TypeKind::kDecimal &&
                         from.scale() == to.scale() && to.precision() >= from.precision());
  if (promotes || from.EqualsIgnoringNullability(to)) return "";
  return "Iceberg cannot promote " + from.ToStringIgnoringNullability() + " to " +
         to.ToStringIgnoringNullability();
}

}  // namespace driftless::iceberg
