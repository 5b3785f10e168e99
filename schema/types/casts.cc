#include "schema/types/casts.h"

#include <algorithm>

#include "schema/types/cast_kernels.h"

namespace driftless {
namespace {

constexpr int64_t kUnbounded = LogicalType::kMaxLength;
// Digits that any decimal keeps through a double or a float and back (C's DBL_DIG, FLT_DIG).
constexpr int32_t kDoubleDigits = 15;
constexpr int32_t kFloatDigits = 6;

// The longest text that a value of the type can have, in characters.
int64_t MaxTextLength(const LogicalType& type) {
  const int64_t p = type.precision();
  const int64_t fraction = p > 0 ? p + 1 : 0;
  switch (type.kind()) {
    case TypeKind::kBoolean: return 5;
    case TypeKind::kTinyInt: return 4;
    case TypeKind::kSmallInt: return 6;
    case TypeKind::kInt: return 11;
    case TypeKind::kBigInt: return 20;
    case TypeKind::kFloat: return 16;
    case TypeKind::kDouble: return 25;
    case TypeKind::kDecimal:
      return 1 + p + (type.scale() > 0 ? 1 : 0) + (type.scale() == p ? 1 : 0);
    case TypeKind::kChar:
    case TypeKind::kVarChar: return type.length();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return std::min<int64_t>((type.length() + 2LL) / 3 * 4, kUnbounded);
    case TypeKind::kDate: return 10;
    case TypeKind::kTime: return 8 + fraction;
    case TypeKind::kTimestamp: return 19 + fraction;
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return 20 + fraction;
    default: return kUnbounded;
  }
}

CastVerdict When(bool condition, CastVerdict then, CastVerdict otherwise = CastVerdict::kLoses) {
  return condition ? then : otherwise;
}

CastVerdict ToCharacter(const LogicalType& from, const LogicalType& to) {
  const bool as_it_is = from.IsCharacter() || from.kind() == TypeKind::kVariant;
  return When(MaxTextLength(from) <= to.length(),
              as_it_is ? CastVerdict::kFits : CastVerdict::kWidens);
}

CastVerdict ToBytes(const LogicalType& from, const LogicalType& to) {
  if (from.IsBytes()) return When(from.length() <= to.length(), CastVerdict::kFits);
  if (from.IsCharacter() || from.kind() == TypeKind::kVariant) {
    // A character is up to four bytes.
    const int64_t bytes = std::min<int64_t>(MaxTextLength(from) * 4, kUnbounded);
    return When(bytes <= to.length(), CastVerdict::kFits);
  }
  return When(MaxTextLength(from) <= to.length(), CastVerdict::kWidens);
}

// Decimal digits that every value of an integer kind fits into, and those that always fit the kind.
int32_t DigitsOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return 3;
    case TypeKind::kSmallInt: return 5;
    case TypeKind::kInt: return 10;
    default: return 19;
  }
}

CastVerdict ToInteger(const LogicalType& from, const LogicalType& to) {
  if (from.kind() == TypeKind::kBoolean) return CastVerdict::kWidens;
  if (from.IsInteger()) return When(from.kind() <= to.kind(), CastVerdict::kWidens);
  if (from.kind() == TypeKind::kDecimal) {
    return When(from.scale() == 0 && from.precision() < DigitsOf(to.kind()), CastVerdict::kWidens);
  }
  return CastVerdict::kLoses;
}

CastVerdict ToDecimal(const LogicalType& from, const LogicalType& to) {
  const int32_t integer_digits = to.precision() - to.scale();
  if (from.kind() == TypeKind::kBoolean) return When(integer_digits >= 1, CastVerdict::kWidens);
  if (from.IsInteger()) {
    return When(integer_digits >= DigitsOf(from.kind()), CastVerdict::kWidens);
  }
  if (from.kind() == TypeKind::kDecimal) {
    const bool holds =
        to.scale() >= from.scale() && integer_digits >= from.precision() - from.scale();
    return When(holds, to.scale() == from.scale() ? CastVerdict::kFits : CastVerdict::kWidens);
  }
  return CastVerdict::kLoses;
}

CastVerdict ToApproximate(const LogicalType& from, const LogicalType& to) {
  const bool is_double = to.kind() == TypeKind::kDouble;
  switch (from.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt: return CastVerdict::kWidens;
    case TypeKind::kInt:
    case TypeKind::kFloat: return When(is_double, CastVerdict::kWidens);
    case TypeKind::kDecimal:
      return When(from.precision() <= (is_double ? kDoubleDigits : kFloatDigits),
                  CastVerdict::kWidens);
    default: return CastVerdict::kLoses;
  }
}

// For types that count in a unit which depends on the precision.
CastVerdict ByPrecision(const LogicalType& from, const LogicalType& to) {
  if (to.precision() < from.precision()) return CastVerdict::kLoses;
  return from.IsNanos() == to.IsNanos() ? CastVerdict::kFits : CastVerdict::kWidens;
}

CastVerdict ToTimestamp(const LogicalType& from, const LogicalType& to) {
  if (from.kind() == TypeKind::kDate) return CastVerdict::kWidens;
  const bool from_local = from.kind() == TypeKind::kTimestamp;
  const bool to_local = to.kind() == TypeKind::kTimestamp;
  if (from_local == to_local) return ByPrecision(from, to);
  // A local clock shows some hours twice a year's change: two moments would become one.
  if (to_local) return CastVerdict::kLoses;
  return When(to.precision() >= from.precision(), CastVerdict::kWidens);
}

CastVerdict ToNested(const LogicalType& from, const LogicalType& to) {
  const auto& a = from.children();
  const auto& b = to.children();
  if (from.kind() != to.kind() || a.size() != b.size()) return CastVerdict::kImpossible;
  CastVerdict worst = CastVerdict::kFits;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name) return CastVerdict::kImpossible;
    worst = std::max(worst, VerdictOfCast(a[i].type, b[i].type));
  }
  return worst;
}

bool IsNumber(const LogicalType& type) {
  return type.IsInteger() || type.kind() == TypeKind::kDecimal || type.kind() == TypeKind::kFloat ||
         type.kind() == TypeKind::kDouble;
}

}  // namespace

CastVerdict VerdictOfCast(const LogicalType& from, const LogicalType& to) {
  if (from.EqualsIgnoringNullability(to)) return CastVerdict::kFits;
  const bool from_text = from.IsCharacter();
  switch (to.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarChar: return ToCharacter(from, to);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return ToBytes(from, to);
    case TypeKind::kVariant: return When(!from_text, CastVerdict::kWidens);
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow: return ToNested(from, to);
    default: break;
  }
  switch (to.kind()) {
    case TypeKind::kDate:
      return When(from.IsTimestamp() || from_text, CastVerdict::kLoses, CastVerdict::kImpossible);
    case TypeKind::kTime:
      if (from.kind() == TypeKind::kTime) return ByPrecision(from, to);
      return When(from_text, CastVerdict::kLoses, CastVerdict::kImpossible);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      if (from.IsTimestamp() || from.kind() == TypeKind::kDate) return ToTimestamp(from, to);
      return When(from_text, CastVerdict::kLoses, CastVerdict::kImpossible);
    default: break;
  }
  // What is left are BOOLEAN and the numbers.
  if (!IsNumber(from) && !from_text && from.kind() != TypeKind::kBoolean) {
    return CastVerdict::kImpossible;
  }
  if (to.IsInteger()) return ToInteger(from, to);
  if (to.kind() == TypeKind::kDecimal) return ToDecimal(from, to);
  if (to.kind() == TypeKind::kBoolean) return CastVerdict::kLoses;
  return ToApproximate(from, to);
}

ColumnCast::ColumnCast(const LogicalType& from, const LogicalType& to, const TimeZone& local_zone)
    : from_(from),
      to_(to),
      zone_(local_zone),
      verdict_(VerdictOfCast(from, to)),
      kernel_(ChooseCastKernel(from, to, verdict_)) {
  if (!to.IsNested() || verdict_ == CastVerdict::kImpossible) return;
  if (to.kind() == TypeKind::kMap || to.kind() == TypeKind::kMultiset) {
    children_.emplace_back(EntriesType(from), EntriesType(to), local_zone);
    return;
  }
  for (size_t i = 0; i < to.children().size(); ++i) {
    children_.emplace_back(from.children()[i].type, to.children()[i].type, local_zone);
  }
}

void ColumnCast::Run(const ColumnView& in, OwnedColumn* out) const {
  out->Prepare(to_, in.length);
  out->CopyPresence(in);
  kernel_(*this, in, out);
}

}  // namespace driftless
