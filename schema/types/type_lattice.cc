#include <algorithm>
#include <optional>

#include "schema/base/check.h"
#include "schema/types/casts.h"

// Flink CDC's lattice (reference sheet on Flink CDC, section 4.1) and the policy's changes to it
// (schema-change policy, section 7).
namespace driftless {
namespace {

// Digits in front of the decimal point that an integer kind needs.
int32_t IntegerDigits(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return 3;
    case TypeKind::kSmallInt: return 5;
    case TypeKind::kInt: return 10;
    default: return 19;
  }
}

LogicalType DecimalOf(int32_t integer_digits, int32_t scale) {
  constexpr int32_t kMax = LogicalType::kMaxDecimalPrecision;
  integer_digits = std::min(integer_digits, kMax);
  scale = std::min(scale, kMax - integer_digits);  // digits in front are kept, those behind are cut
  return LogicalType::Decimal(integer_digits + scale, scale);
}

// DECIMAL with DECIMAL or an integer; anything else with DECIMAL is STRING.
LogicalType CommonDecimal(const LogicalType& a, const LogicalType& b) {
  int32_t integer_digits = 0;
  int32_t scale = 0;
  for (const LogicalType* type : {&a, &b}) {
    if (type->kind() == TypeKind::kDecimal) {
      integer_digits = std::max(integer_digits, type->precision() - type->scale());
      scale = std::max(scale, type->scale());
    } else if (type->IsInteger()) {
      integer_digits = std::max(integer_digits, IntegerDigits(type->kind()));
    } else {
      return LogicalType::String();
    }
  }
  return DecimalOf(integer_digits, scale);
}

LogicalType CommonTimestamp(const LogicalType& a, const LogicalType& b) {
  const TypeKind kind = std::max(a.kind(), b.kind());
  const int32_t precision = std::max(a.precision(), b.precision());
  switch (kind) {
    case TypeKind::kTimestamp: return LogicalType::Timestamp(precision);
    case TypeKind::kTimestampLtz: return LogicalType::TimestampLtz(precision);
    default: return LogicalType::TimestampTz(precision);
  }
}

LogicalType TimestampOfPrecision9(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTimestamp: return LogicalType::Timestamp(9);
    case TypeKind::kTimestampLtz: return LogicalType::TimestampLtz(9);
    default: return LogicalType::TimestampTz(9);
  }
}

bool IsApproximate(TypeKind kind) { return kind == TypeKind::kFloat || kind == TypeKind::kDouble; }

LogicalType CommonIgnoringNullability(const LogicalType& a, const LogicalType& b,
                                      LatticeStyle style) {
  if (a.EqualsIgnoringNullability(b)) return a;
  if (a.IsTimestamp() && b.IsTimestamp()) return CommonTimestamp(a, b);
  if (a.kind() == TypeKind::kDate && b.IsTimestamp()) return TimestampOfPrecision9(b.kind());
  if (b.kind() == TypeKind::kDate && a.IsTimestamp()) return TimestampOfPrecision9(a.kind());
  if (a.kind() == TypeKind::kDecimal || b.kind() == TypeKind::kDecimal) return CommonDecimal(a, b);
  if (a.IsInteger() && b.IsInteger()) return a.kind() > b.kind() ? a : b;
  if (IsApproximate(a.kind()) && IsApproximate(b.kind())) return LogicalType::Double();
  const LogicalType* integer = a.IsInteger() ? &a : b.IsInteger() ? &b : nullptr;
  const LogicalType& other = integer == &a ? b : a;
  if (integer != nullptr && IsApproximate(other.kind())) {
    const bool exact_in_float = integer->kind() <= TypeKind::kSmallInt;
    return exact_in_float ? other : LogicalType::Double();
  }
  if (style == LatticeStyle::kMatrix) {
    if (integer != nullptr && other.kind() == TypeKind::kBoolean) return *integer;
    const int32_t longest = std::max(a.length(), b.length());
    if (a.IsCharacter() && b.IsCharacter()) {
      return a.kind() == b.kind() && a.kind() == TypeKind::kChar ? LogicalType::Char(longest)
                                                                 : LogicalType::VarChar(longest);
    }
    if (a.IsBytes() && b.IsBytes()) {
      return a.kind() == b.kind() && a.kind() == TypeKind::kBinary
                 ? LogicalType::Binary(longest)
                 : LogicalType::VarBinary(longest);
    }
  }
  return LogicalType::String();
}

}  // namespace

LogicalType LeastCommonType(const LogicalType& a, const LogicalType& b, LatticeStyle style) {
  return CommonIgnoringNullability(a, b, style).WithNullability(a.nullable() || b.nullable());
}

LogicalType LeastCommonType(std::span<const LogicalType> types, LatticeStyle style) {
  DRIFTLESS_CHECK(!types.empty());
  // BOOLEAN last: it has to fit what all the others came to.
  const LogicalType* boolean = nullptr;
  std::optional<LogicalType> common;
  bool nullable = false;
  for (const LogicalType& type : types) {
    nullable |= type.nullable();
    if (type.kind() == TypeKind::kBoolean) {
      boolean = &type;
    } else {
      common = common ? LeastCommonType(*common, type, style) : type;
    }
  }
  if (!common) return boolean->WithNullability(nullable);
  if (boolean != nullptr) common = LeastCommonType(*common, *boolean, style);
  return common->WithNullability(nullable);
}

}  // namespace driftless
