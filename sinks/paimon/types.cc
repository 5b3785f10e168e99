#include "sinks/paimon/types.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace driftless::paimon {
namespace {

// How many digits before the point an integer type's values have at most.
int IntegerDigits(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return 3;
    case TypeKind::kSmallInt: return 5;
    case TypeKind::kInt: return 10;
    case TypeKind::kBigInt: return 19;
    default: return 0;
  }
}

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

bool HoldsChildren(const LogicalType& sink, const LogicalType& wanted) {
  const auto& a = sink.children();
  const auto& b = wanted.children();
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || !HoldsEveryValue(a[i].type, b[i].type)) return false;
  }
  return true;
}

bool HoldsNumber(const LogicalType& sink, const LogicalType& wanted) {
  if (wanted.kind() == TypeKind::kDecimal) {
    if (sink.kind() != TypeKind::kDecimal) return false;
    return sink.scale() >= wanted.scale() &&
           sink.precision() - sink.scale() >= wanted.precision() - wanted.scale();
  }
  if (wanted.IsInteger()) {
    const int digits = IntegerDigits(wanted.kind());
    if (sink.IsInteger()) return IntegerDigits(sink.kind()) >= digits;
    if (sink.kind() == TypeKind::kDecimal) return sink.precision() - sink.scale() >= digits;
    if (sink.kind() == TypeKind::kFloat) return digits <= 5;   // 24 bits of mantissa
    return sink.kind() == TypeKind::kDouble && digits <= 10;   // 53 bits
  }
  if (wanted.kind() == TypeKind::kFloat) {
    return sink.kind() == TypeKind::kFloat || sink.kind() == TypeKind::kDouble;
  }
  return sink.kind() == wanted.kind();
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

bool HoldsEveryValue(const LogicalType& sink, const LogicalType& wanted) {
  if (wanted.nullable() && !sink.nullable()) return false;
  if (sink.EqualsIgnoringNullability(wanted)) return true;
  switch (wanted.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal: return HoldsNumber(sink, wanted);
    case TypeKind::kChar:
    case TypeKind::kVarChar:
      return sink.IsCharacter() && sink.length() >= wanted.length();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return sink.IsBytes() && sink.length() >= wanted.length();
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
      return sink.kind() == wanted.kind() && sink.precision() >= wanted.precision();
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      return sink.kind() == TypeKind::kTimestampLtz && sink.precision() >= wanted.precision();
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow: return sink.kind() == wanted.kind() && HoldsChildren(sink, wanted);
    default: return false;
  }
}

}  // namespace driftless::paimon
