#include "sinks/paimon/types.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace driftless::paimon {
namespace {

bool IsNumeric(const LogicalType& type) {
  return type.IsInteger() || type.kind() == TypeKind::kFloat || type.kind() == TypeKind::kDouble ||
         type.kind() == TypeKind::kDecimal;
}

bool IsDateTime(const LogicalType& type) {
  return type.kind() == TypeKind::kTimestamp || type.kind() == TypeKind::kTimestampLtz;
}

// Paimon's cast from dates and times to text exists for nullable STRING only.
bool IsPlainString(const LogicalType& type) {
  return type.kind() == TypeKind::kVarChar && type.length() == LogicalType::kMaxLength;
}

bool CanChangeNumber(const LogicalType& from, const LogicalType& to) {
  if (IsNumeric(to) || to.IsCharacter() || IsDateTime(to)) return true;
  return to.kind() == TypeKind::kBoolean && from.IsInteger();
}

bool CanChangeCharacter(const LogicalType& to) {
  return to.IsCharacter() || to.IsBytes() || IsNumeric(to) || IsDateTime(to) ||
         to.kind() == TypeKind::kBoolean || to.kind() == TypeKind::kDate ||
         to.kind() == TypeKind::kTime;
}

}  // namespace

std::string PaimonTypeText(const LogicalType& type) {
  std::string text;
  if (type.kind() == TypeKind::kTimestampLtz) {
    text = "TIMESTAMP(" + std::to_string(type.precision()) + ") WITH LOCAL TIME ZONE";
  } else {
    text = type.ToStringIgnoringNullability();
  }
  return type.nullable() ? text : text + " NOT NULL";
}

Result<LogicalType> ParsePaimonType(std::string_view text) {
  for (const std::string_view name : {"BLOB", "VECTOR", "GEOMETRY", "GEOGRAPHY", "VARIANT"}) {
    if (text.starts_with(name)) {
      return MakeError(ErrorKind::kUnsupported,
                       "Paimon's type " + std::string(text) + " is not supported");
    }
  }
  Result<LogicalType> type = ParseLogicalType(text);
  if (!type) {
    return MakeError(ErrorKind::kCorrupt, "not a Paimon type: " + type.error().message());
  }
  return type;
}

Result<LogicalType> ToPaimonType(const LogicalType& type, bool is_key) {
  if (is_key && type.IsNested()) {
    return MakeError(ErrorKind::kUnsupported,
                     "Paimon has no keys of type " + type.ToStringIgnoringNullability());
  }
  const auto child = [&](size_t i) { return ToPaimonType(type.children()[i].type, false); };
  LogicalType result = type;
  switch (type.kind()) {
    case TypeKind::kVariant:
      return MakeError(ErrorKind::kUnsupported, "VARIANT is not supported in Paimon tables")
          .Hint("Cast the column to STRING in a transform.");
    case TypeKind::kTimestampTz: result = LogicalType::TimestampLtz(type.precision()); break;
    case TypeKind::kChar: result = LogicalType::Char(std::max(1, type.length())); break;
    case TypeKind::kVarChar: result = LogicalType::VarChar(std::max(1, type.length())); break;
    case TypeKind::kBinary: result = LogicalType::Binary(std::max(1, type.length())); break;
    case TypeKind::kVarBinary: result = LogicalType::VarBinary(std::max(1, type.length())); break;
    case TypeKind::kArray:
    case TypeKind::kMultiset: {
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType element, child(0));
      result = type.kind() == TypeKind::kArray ? LogicalType::Array(element)
                                               : LogicalType::Multiset(element);
      break;
    }
    case TypeKind::kMap: {
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType key, child(0));
      DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType value, child(1));
      result = LogicalType::Map(key, value);
      break;
    }
    case TypeKind::kRow: {
      std::vector<RowField> fields = type.children();
      for (size_t i = 0; i < fields.size(); ++i) {
        DRIFTLESS_ASSIGN_OR_RETURN(fields[i].type, child(i));
      }
      result = LogicalType::Row(std::move(fields));
      break;
    }
    default: break;
  }
  return result.WithNullability(type.nullable());
}

bool CanChangeType(const LogicalType& from, const LogicalType& to) {
  switch (from.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal: return CanChangeNumber(from, to);
    case TypeKind::kBoolean: return IsNumeric(to) || to.IsCharacter();
    case TypeKind::kChar:
    case TypeKind::kVarChar: return CanChangeCharacter(to);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return to.IsBytes() || to.IsCharacter();
    case TypeKind::kDate:
    case TypeKind::kTime: return IsDateTime(to) || IsPlainString(to);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return IsDateTime(to) || to.kind() == TypeKind::kDate || to.kind() == TypeKind::kTime ||
             to.kind() == TypeKind::kInt || to.kind() == TypeKind::kBigInt || IsPlainString(to);
    default: return false;
  }
}

}  // namespace driftless::paimon
