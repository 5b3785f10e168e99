#include "schema/plan/type_fit.h"

#include <cstdint>

namespace driftless {
namespace {

// Decimal digits that an integer type needs in the worst case.
int IntegerDigits(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return 3;
    case TypeKind::kSmallInt: return 5;
    case TypeKind::kInt: return 10;
    default: return 19;
  }
}

// Bits of an integer that a binary floating point type keeps exactly.
bool FloatHolds(TypeKind column, const LogicalType& wanted) {
  if (column == TypeKind::kDouble) {
    return wanted.kind() == TypeKind::kTinyInt || wanted.kind() == TypeKind::kSmallInt ||
           wanted.kind() == TypeKind::kInt || wanted.kind() == TypeKind::kFloat ||
           wanted.kind() == TypeKind::kDouble;
  }
  return wanted.kind() == TypeKind::kTinyInt || wanted.kind() == TypeKind::kSmallInt ||
         wanted.kind() == TypeKind::kFloat;
}

bool DecimalHolds(const LogicalType& column, const LogicalType& wanted) {
  const int integer_digits = column.precision() - column.scale();
  if (wanted.IsInteger()) return integer_digits >= IntegerDigits(wanted.kind());
  if (wanted.kind() != TypeKind::kDecimal) return false;
  return wanted.scale() <= column.scale() && wanted.precision() - wanted.scale() <= integer_digits;
}

// The longest text that a value of the type has; -1: no bound worth a name. Mirrors the text forms
// of schema/types/value_text.h.
int64_t TextLength(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return 5;
    case TypeKind::kTinyInt: return 4;
    case TypeKind::kSmallInt: return 6;
    case TypeKind::kInt: return 11;
    case TypeKind::kBigInt: return 20;
    case TypeKind::kFloat: return 16;
    case TypeKind::kDouble: return 25;
    case TypeKind::kDecimal: return type.precision() + (type.scale() > 0 ? 3 : 1);
    case TypeKind::kDate: return 13;
    case TypeKind::kTime: return 8 + (type.precision() > 0 ? 1 + type.precision() : 0);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return 33 + type.precision();
    case TypeKind::kChar:
    case TypeKind::kVarChar: return type.length();
    default: return LogicalType::kMaxLength;
  }
}

bool ChildrenHold(const LogicalType& column, const LogicalType& wanted) {
  if (column.children().size() != wanted.children().size()) return false;
  for (size_t i = 0; i < column.children().size(); ++i) {
    const RowField& a = column.children()[i];
    const RowField& b = wanted.children()[i];
    if (a.name != b.name || !HoldsEveryValue(a.type, b.type)) return false;
    if (!a.type.nullable() && b.type.nullable()) return false;
  }
  return true;
}

std::string IntegerRange(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return "values above 127 or below -128";
    case TypeKind::kSmallInt: return "values above 32767 or below -32768";
    case TypeKind::kInt: return "values above 2147483647 or below -2147483648";
    default: return "values above 9223372036854775807 or below -9223372036854775808";
  }
}

}  // namespace

bool HoldsEveryValue(const LogicalType& column, const LogicalType& wanted) {
  if (column.EqualsIgnoringNullability(wanted)) return true;
  switch (column.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return (wanted.IsInteger() && wanted.kind() <= column.kind()) ||
             wanted.kind() == TypeKind::kBoolean;
    case TypeKind::kFloat:
    case TypeKind::kDouble: return FloatHolds(column.kind(), wanted);
    case TypeKind::kDecimal: return DecimalHolds(column, wanted);
    case TypeKind::kChar: return wanted.IsCharacter() && wanted.length() <= column.length();
    case TypeKind::kVarChar:
      if (wanted.IsBytes() || wanted.kind() == TypeKind::kMultiset) return false;
      return TextLength(wanted) <= column.length();
    case TypeKind::kBinary: return false;  // padding changes shorter values
    case TypeKind::kVarBinary: return wanted.IsBytes() && wanted.length() <= column.length();
    case TypeKind::kTime:
      return wanted.kind() == TypeKind::kTime && wanted.precision() <= column.precision();
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      if (wanted.kind() == TypeKind::kDate) return column.kind() == TypeKind::kTimestamp;
      return wanted.kind() == column.kind() && wanted.precision() <= column.precision();
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow: return wanted.kind() == column.kind() && ChildrenHold(column, wanted);
    default: return false;
  }
}

std::string Misfits(const LogicalType& column, const LogicalType& wanted) {
  if (HoldsEveryValue(column, wanted)) return "";
  if (column.IsInteger() && (wanted.IsInteger())) return IntegerRange(column.kind());
  if (column.IsInteger() && wanted.kind() == TypeKind::kDecimal) {
    return wanted.scale() > 0 ? IntegerRange(column.kind()) + ", or with a fraction"
                              : IntegerRange(column.kind());
  }
  if (column.IsCharacter() && (wanted.IsCharacter() || !wanted.IsNested())) {
    return "texts longer than " + std::to_string(column.length()) + " characters";
  }
  if (column.IsBytes() && wanted.IsBytes()) {
    return "values longer than " + std::to_string(column.length()) + " bytes";
  }
  if (column.kind() == TypeKind::kDecimal) {
    return "numbers with more than " + std::to_string(column.precision() - column.scale()) +
           " digits before or " + std::to_string(column.scale()) + " behind the point";
  }
  if (column.kind() == wanted.kind() &&
      (column.IsTimestamp() || column.kind() == TypeKind::kTime)) {
    return "times with more than " + std::to_string(column.precision()) + " fractional digits";
  }
  return "values that are no " + column.ToStringIgnoringNullability();
}

}  // namespace driftless
