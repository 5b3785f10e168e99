#include "schema/types/cast_kernels.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "schema/base/check.h"
#include "schema/base/utf8.h"
#include "schema/types/decimal.h"
#include "schema/types/json_text.h"
#include "schema/types/value_text.h"

// Every kernel is one loop over the rows, with the conversion of one value inlined into it. The
// conversions are overloads of Convert(cast, value, result): false marks the value as a misfit.
namespace driftless {
namespace {

using Cast = ColumnCast;

// ---- reading values --------------------------------------------------------------------------

struct ReadBool {
  static int64_t Get(const ColumnView& in, int64_t row) { return in.Bit(row) ? 1 : 0; }
};
template <typename T>
struct ReadInteger {
  static int64_t Get(const ColumnView& in, int64_t row) { return in.Fixed<T>(row); }
};
template <typename T>
struct ReadAs {
  static T Get(const ColumnView& in, int64_t row) { return in.Fixed<T>(row); }
};
struct ReadText {
  static std::string_view Get(const ColumnView& in, int64_t row) { return in.Bytes(row); }
};
// Temporal values get types of their own, so that they never meet the overloads of plain integers.
struct DateValue {
  int32_t days;
};
struct TimeValue {
  int64_t units;
};
struct TimestampValue {
  int64_t units;
};

// ---- numbers ---------------------------------------------------------------------------------

template <typename T>
  requires std::is_integral_v<T>
bool Convert(const Cast&, int64_t value, T* result) {
  *result = static_cast<T>(value);
  return *result == value;
}
template <typename T>
  requires std::is_floating_point_v<T>
bool Convert(const Cast&, int64_t value, T* result) {
  *result = static_cast<T>(value);
  // 2^63 as T is exact and is what INT64_MAX would round up to.
  return *result < static_cast<T>(9223372036854775808.0) && static_cast<int64_t>(*result) == value;
}
bool Convert(const Cast& cast, int64_t value, Int128* result) {
  // At most 19 digits times 10^19 stays inside 128 bits; more digits behind leave less in front.
  const LogicalType& to = cast.to();
  const int integer_digits = to.precision() - to.scale();
  if (!FitsPrecision(value, integer_digits)) return false;
  *result = static_cast<Int128>(value) * PowerOfTen(to.scale());
  return true;
}

template <typename T>
  requires std::is_integral_v<T>
bool Convert(const Cast&, double value, T* result) {
  constexpr auto kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) return false;  // NaN too
  const auto whole = static_cast<int64_t>(value);
  *result = static_cast<T>(whole);
  return static_cast<double>(whole) == value && *result == whole;
}
bool Convert(const Cast&, double value, double* result) {
  *result = value;
  return true;
}
bool Convert(const Cast&, double value, float* result) {
  *result = static_cast<float>(value);
  return static_cast<double>(*result) == value || std::isnan(value);
}
template <typename Float>
bool ShortestToDecimal(const Cast& cast, Float value, Int128* result) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return ParseDecimal({buffer, static_cast<size_t>(end - buffer)}, cast.to().precision(),
                      cast.to().scale(), result) == DecimalText::kOk;
}
bool Convert(const Cast& cast, double value, Int128* result) {
  return ShortestToDecimal(cast, value, result);
}
// A float that becomes a decimal is read by its own shortest text, not as the double it is near to.
bool Convert(const Cast& cast, float value, Int128* result) {
  return ShortestToDecimal(cast, value, result);
}
template <typename T>
  requires std::is_arithmetic_v<T>
bool Convert(const Cast& cast, float value, T* result) {
  return Convert(cast, static_cast<double>(value), result);
}

// The significant digits of a number's text and the power of ten of the first one: two texts of the
// same number have the same.
struct Significant {
  char digits[64];
  size_t count = 0;
  int64_t exponent = 0;

  explicit Significant(std::string_view text) {
    int64_t point_at = -1;
    int64_t seen = 0;  // digits from the first one that is not zero
    int64_t lead = 0;  // digits before it
    size_t i = 0;
    for (; i < text.size() && (text[i] | 0x20) != 'e'; ++i) {
      if (text[i] == '.') point_at = lead + seen;
      if (text[i] < '0' || text[i] > '9') continue;
      if (seen == 0 && text[i] == '0') {
        ++lead;
        continue;
      }
      if (count < sizeof digits) digits[count++] = text[i];
      ++seen;
    }
    if (point_at < 0) point_at = lead + seen;
    exponent = point_at - lead;
    if (i < text.size()) {
      int64_t power = 0;
      std::string_view rest = text.substr(i + 1);
      if (!rest.empty() && rest[0] == '+') rest.remove_prefix(1);
      std::from_chars(rest.data(), rest.data() + rest.size(), power);
      exponent += power;
    }
    while (count > 0 && digits[count - 1] == '0') --count;
    if (count == 0) exponent = 0;
  }
  bool operator==(const Significant& other) const {
    return count == other.count && exponent == other.exponent &&
           std::memcmp(digits, other.digits, count) == 0;
  }
};

// Whether the number that `text` says can be told from `value` again.
template <typename Float>
bool SaysTheSame(std::string_view text, Float value) {
  const Significant wanted(text);
  if (wanted.count <= static_cast<size_t>(std::numeric_limits<Float>::digits10) &&
      std::isnormal(value)) {
    return true;
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return wanted == Significant({buffer, static_cast<size_t>(end - buffer)});
}

template <typename T>
  requires std::is_integral_v<T>
bool Convert(const Cast& cast, Int128 value, T* result) {
  Int128 whole = 0;
  bool exact = false;
  if (!Rescale(value, cast.from().scale(), 0, &whole, &exact) || !exact) return false;
  *result = static_cast<T>(whole);
  return *result == whole;
}
bool Convert(const Cast& cast, Int128 value, Int128* result) {
  bool exact = false;
  return Rescale(value, cast.from().scale(), cast.to().scale(), result, &exact) && exact &&
         FitsPrecision(*result, cast.to().precision());
}
template <typename T>
  requires std::is_floating_point_v<T>
bool Convert(const Cast& cast, Int128 value, T* result) {
  char buffer[kDecimalTextMax];
  const std::string_view text = WriteDecimal(value, cast.from().scale(), buffer);
  std::from_chars(text.data(), text.data() + text.size(), *result);
  return FitsPrecision(value, std::numeric_limits<T>::digits10) || SaysTheSame(text, *result);
}

// ---- text to numbers -------------------------------------------------------------------------

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool EqualsLower(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lower[i]) return false;
  }
  return true;
}

// Also the BOOLEAN kernels' value.
struct Truth {
  bool value;
};
bool Convert(const Cast&, std::string_view text, Truth* result) {
  text = Trimmed(text);
  for (const std::string_view yes : {"true", "t", "1", "y", "yes"}) {
    if (EqualsLower(text, yes)) {
      result->value = true;
      return true;
    }
  }
  for (const std::string_view no : {"false", "f", "0", "n", "no"}) {
    if (EqualsLower(text, no)) {
      result->value = false;
      return true;
    }
  }
  return false;
}
template <typename T>
bool Convert(const Cast& cast, T value, Truth* result) {
  int8_t number = 0;
  if (!Convert(cast, value, &number)) return false;
  result->value = number == 1;
  return number == 0 || number == 1;
}

template <typename T>
  requires std::is_integral_v<T>
bool Convert(const Cast&, std::string_view text, T* result) {
  text = Trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *result);
  if (error == std::errc() && end == text.data() + text.size()) return true;
  Int128 wide = 0;  // "1e3", "7.00"
  if (ParseDecimal(text, 38, 0, &wide) != DecimalText::kOk) return false;
  *result = static_cast<T>(wide);
  return *result == wide;
}
template <typename T>
  requires std::is_floating_point_v<T>
bool Convert(const Cast&, std::string_view text, T* result) {
  text = Trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *result);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  return !std::isfinite(*result) || SaysTheSame(text, *result);
}
bool Convert(const Cast& cast, std::string_view text, Int128* result) {
  return ParseDecimal(text, cast.to().precision(), cast.to().scale(), result) == DecimalText::kOk;
}

// ---- times -----------------------------------------------------------------------------------

TimestampUnit UnitOf(const LogicalType& type) {
  return type.IsNanos() ? TimestampUnit::kNanos : TimestampUnit::kMicros;
}

// Whether the digits behind the precision of `type` are zero.
bool FitsFraction(const LogicalType& type, int64_t units) {
  static constexpr int64_t kPowers[] = {1,      10,      100,      1000,      10000,
                                        100000, 1000000, 10000000, 100000000, 1000000000};
  const int digits = type.IsNanos() ? 9 : 6;
  return units % kPowers[digits - type.precision()] == 0;
}

// From one unit to the other; false on overflow or where nanoseconds would be lost.
bool ChangeUnit(TimestampUnit from, TimestampUnit to, int64_t units, int64_t* result) {
  *result = units;
  if (from == to) return true;
  if (from == TimestampUnit::kMicros) return !__builtin_mul_overflow(units, int64_t{1000}, result);
  *result = units / 1000;
  return units % 1000 == 0;
}

// Local to UTC; false for a local time that the zone leaves out.
bool ToMoment(const Cast& cast, TimestampUnit unit, int64_t local, int64_t* moment) {
  *moment = LocalToUtc(local, unit, cast.zone());
  return UtcToLocal(*moment, unit, cast.zone()) == local;
}

// From local time or a moment in the unit of `to` to what `to` keeps.
bool Finish(const Cast& cast, bool from_local, int64_t units, TimestampValue* result) {
  const LogicalType& to = cast.to();
  const bool to_local = to.kind() == TypeKind::kTimestamp;
  result->units = units;
  if (from_local && !to_local) {
    if (!ToMoment(cast, UnitOf(to), units, &result->units)) return false;
  } else if (!from_local && to_local) {
    result->units = UtcToLocal(units, UnitOf(to), cast.zone());
    if (LocalToUtc(result->units, UnitOf(to), cast.zone()) != units) return false;
  }
  return FitsFraction(to, result->units);
}

bool Convert(const Cast& cast, TimestampValue value, TimestampValue* result) {
  int64_t units = 0;
  return ChangeUnit(UnitOf(cast.from()), UnitOf(cast.to()), value.units, &units) &&
         Finish(cast, cast.from().kind() == TypeKind::kTimestamp, units, result);
}
bool Convert(const Cast& cast, DateValue value, TimestampValue* result) {
  const int64_t per_day = cast.to().IsNanos() ? kNanosPerDay : kMicrosPerDay;
  int64_t units = 0;
  return !__builtin_mul_overflow(int64_t{value.days}, per_day, &units) &&
         Finish(cast, true, units, result);
}
bool Convert(const Cast& cast, TimestampValue value, DateValue* result) {
  const TimestampUnit unit = UnitOf(cast.from());
  int64_t local = value.units;
  if (cast.from().kind() != TypeKind::kTimestamp) {
    local = UtcToLocal(value.units, unit, cast.zone());
    if (LocalToUtc(local, unit, cast.zone()) != value.units) return false;
  }
  const int64_t per_day = unit == TimestampUnit::kNanos ? kNanosPerDay : kMicrosPerDay;
  if (local % per_day != 0) return false;
  result->days = static_cast<int32_t>(local / per_day);
  return result->days == local / per_day;
}
// A TIME of MySQL reaches from -838:59:59 to 838:59:59; one of Flink SQL, and of every sink, is a
// time of the day.
bool Convert(const Cast& cast, TimeValue value, TimeValue* result) {
  const int64_t day = cast.from().IsNanos() ? 86'400'000'000'000 : 86'400'000'000;
  if (value.units < 0 || value.units >= day) return false;
  return ChangeUnit(UnitOf(cast.from()), UnitOf(cast.to()), value.units, &result->units) &&
         FitsFraction(cast.to(), result->units);
}
bool Convert(const Cast&, std::string_view text, DateValue* result) {
  int64_t days = 0;
  if (ParseDate(text, &days) != TimeText::kOk) {
    ParsedTimestamp parsed;
    if (ParseTimestamp(text, &parsed) != TimeText::kOk || parsed.nanos_of_day != 0 ||
        parsed.has_zone || parsed.inexact) {
      return false;
    }
    days = parsed.days;
  }
  result->days = static_cast<int32_t>(days);
  return result->days == days;
}
bool Convert(const Cast& cast, std::string_view text, TimeValue* result) {
  int64_t nanos = 0;
  bool inexact = false;
  if (ParseTime(text, &nanos, &inexact) != TimeText::kOk || inexact) return false;
  if (nanos < 0 || nanos >= kNanosPerDay) return false;
  return ChangeUnit(TimestampUnit::kNanos, UnitOf(cast.to()), nanos, &result->units) &&
         FitsFraction(cast.to(), result->units);
}
bool Convert(const Cast& cast, std::string_view text, TimestampValue* result) {
  ParsedTimestamp parsed;
  if (ParseTimestamp(text, &parsed) != TimeText::kOk || parsed.inexact) return false;
  int64_t units = 0;
  if (cast.to().IsNanos()) {
    if (!ToNanos(parsed, &units)) return false;
  } else if (!ToMicros(parsed, &units) || parsed.nanos_of_day % 1000 != 0) {
    return false;
  }
  return Finish(cast, !parsed.has_zone, units, result);
}

// ---- loops -----------------------------------------------------------------------------------

// Calls `visit(row)` for each row that is not null.
template <typename Visit>
void EachValue(const ColumnView& in, Visit visit) {
  if (in.validity == nullptr) {
    for (int64_t row = 0; row < in.length; ++row) visit(row);
    return;
  }
  for (int64_t row = 0; row < in.length; ++row) {
    if (!in.IsNull(row)) visit(row);
  }
}

template <typename Read, typename To>
void FixedKernel(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  To* const values = out->data<To>();
  EachValue(in, [&](int64_t row) {
    To value{};
    if (Convert(cast, Read::Get(in, row), &value)) {
      values[row] = value;
    } else {
      out->MarkMisfit(row);
    }
  });
}

template <typename Read>
void BoolKernel(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  EachValue(in, [&](int64_t row) {
    Truth truth{false};
    if (!Convert(cast, Read::Get(in, row), &truth)) {
      out->MarkMisfit(row);
    } else if (truth.value) {
      out->values[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
    }
  });
}

// Variable-length values whose bytes stay: only their length is looked at.
template <typename Fits>
void CopyVariable(const ColumnView& in, OwnedColumn* out, Fits fits) {
  out->offsets.assign(in.offsets, in.offsets + in.length + 1);
  const auto begin = static_cast<size_t>(in.offsets[0]);
  const auto end = static_cast<size_t>(in.offsets[in.length]);
  out->values.assign(in.values, in.values + end);
  DRIFTLESS_CHECK(begin <= end);
  EachValue(in, [&](int64_t row) {
    if (!fits(in.Bytes(row))) out->MarkMisfit(row);
  });
}

void TextToText(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  const int64_t limit = cast.to().length();
  CopyVariable(in, out, [limit](std::string_view text) {
    return static_cast<int64_t>(text.size()) <= limit || Utf8Length(text) <= limit;
  });
}

void BytesToBytes(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  const int64_t limit = cast.to().length();
  CopyVariable(in, out, [limit](std::string_view bytes) {
    return static_cast<int64_t>(bytes.size()) <= limit;
  });
}

void TextToVariant(const Cast&, const ColumnView& in, OwnedColumn* out) {
  JsonChecker checker;
  CopyVariable(in, out, [&](std::string_view text) { return checker.IsJson(text); });
}

// Appends what `append(row, &text)` makes; `fits` looks at the text of one value.
template <typename Append, typename Fits>
void BuildText(const ColumnView& in, OwnedColumn* out, Append append, Fits fits) {
  std::string text;
  for (int64_t row = 0; row < in.length; ++row) {
    if (!in.IsNull(row)) {
      text.clear();
      append(row, &text);
      if (fits(text)) {
        out->values.insert(out->values.end(), text.begin(), text.end());
      } else {
        out->MarkMisfit(row);
      }
    }
    out->offsets.push_back(static_cast<int32_t>(out->values.size()));
  }
}

void AnythingToText(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  const int64_t limit = cast.to().length();
  BuildText(
      in, out, [&](int64_t row, std::string* text) { AppendText(cast.from(), in, row, {}, text); },
      [limit](const std::string& text) {
        return static_cast<int64_t>(text.size()) <= limit || Utf8Length(text) <= limit;
      });
}

void AnythingToBytes(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  const int64_t limit = cast.to().length();
  BuildText(
      in, out, [&](int64_t row, std::string* text) { AppendText(cast.from(), in, row, {}, text); },
      [limit](const std::string& text) { return static_cast<int64_t>(text.size()) <= limit; });
}

void AnythingToVariant(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  BuildText(
      in, out, [&](int64_t row, std::string* text) { AppendJson(cast.from(), in, row, {}, text); },
      [](const std::string&) { return true; });
}

// Lists: the children are cast as whole columns; a list with a misfit inside is one itself.
void ListKernel(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  out->offsets.assign(in.offsets, in.offsets + in.length + 1);
  OwnedColumn* const child = &out->children[0];
  cast.children()[0].Run(in.children[0], child);
  if (child->misfit_count == 0) return;
  EachValue(in, [&](int64_t row) {
    for (int32_t i = in.offsets[row]; i < in.offsets[row + 1]; ++i) {
      if (child->IsMisfit(i)) {
        out->MarkMisfit(row);
        return;
      }
    }
  });
}

void StructKernel(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  int64_t misfits = 0;
  for (size_t i = 0; i < cast.children().size(); ++i) {
    cast.children()[i].Run(in.children[i], &out->children[i]);
    misfits += out->children[i].misfit_count;
  }
  if (misfits == 0) return;
  EachValue(in, [&](int64_t row) {
    for (const OwnedColumn& child : out->children) {
      if (child.IsMisfit(row)) {
        out->MarkMisfit(row);
        return;
      }
    }
  });
}

void NothingFits(const Cast& cast, const ColumnView& in, OwnedColumn* out) {
  EachValue(in, [&](int64_t row) { out->MarkMisfit(row); });
  const PhysicalKind physical = cast.to().physical();
  if (physical == PhysicalKind::kVariable || physical == PhysicalKind::kList) {
    out->offsets.assign(static_cast<size_t>(in.length) + 1, 0);
  }
}

// kFits without nesting: the bytes as they are.
void CopyFixed(const Cast&, const ColumnView& in, OwnedColumn* out) {
  if (in.length > 0) std::memcpy(out->values.data(), in.values, out->values.size());
}
void CopyBytes(const Cast&, const ColumnView& in, OwnedColumn* out) {
  CopyVariable(in, out, [](std::string_view) { return true; });
}

// ---- choosing --------------------------------------------------------------------------------

template <typename Read>
Cast::Kernel ToNumber(TypeKind to) {
  switch (to) {
    case TypeKind::kBoolean: return BoolKernel<Read>;
    case TypeKind::kTinyInt: return FixedKernel<Read, int8_t>;
    case TypeKind::kSmallInt: return FixedKernel<Read, int16_t>;
    case TypeKind::kInt: return FixedKernel<Read, int32_t>;
    case TypeKind::kBigInt: return FixedKernel<Read, int64_t>;
    case TypeKind::kFloat: return FixedKernel<Read, float>;
    case TypeKind::kDouble: return FixedKernel<Read, double>;
    case TypeKind::kDecimal: return FixedKernel<Read, Int128>;
    default: return NothingFits;
  }
}

template <typename Read>
Cast::Kernel ToTemporal(TypeKind to) {
  switch (to) {
    case TypeKind::kDate: return FixedKernel<Read, DateValue>;
    case TypeKind::kTime: return FixedKernel<Read, TimeValue>;
    default: return FixedKernel<Read, TimestampValue>;
  }
}

Cast::Kernel FromText(TypeKind to) {
  switch (to) {
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return ToTemporal<ReadText>(to);
    default: return ToNumber<ReadText>(to);
  }
}

Cast::Kernel CopyAsItIs(PhysicalKind physical) {
  return physical == PhysicalKind::kVariable ? CopyBytes : CopyFixed;
}

}  // namespace

ColumnCast::Kernel ChooseCastKernel(const LogicalType& from, const LogicalType& to,
                                    CastVerdict verdict) {
  if (verdict == CastVerdict::kImpossible) return NothingFits;
  if (to.kind() == TypeKind::kRow) return StructKernel;
  if (to.IsNested()) return ListKernel;
  const bool is_time = from.kind() == TypeKind::kTime && to.kind() == TypeKind::kTime;
  if (verdict == CastVerdict::kFits && !is_time) return CopyAsItIs(to.physical());
  const bool stays_text = from.IsCharacter() || from.kind() == TypeKind::kVariant;
  if (to.IsCharacter()) return stays_text ? TextToText : AnythingToText;
  if (to.IsBytes()) return stays_text || from.IsBytes() ? BytesToBytes : AnythingToBytes;
  if (to.kind() == TypeKind::kVariant)
    return from.IsCharacter() ? TextToVariant : AnythingToVariant;
  switch (from.kind()) {
    case TypeKind::kBoolean: return ToNumber<ReadBool>(to.kind());
    case TypeKind::kTinyInt: return ToNumber<ReadInteger<int8_t>>(to.kind());
    case TypeKind::kSmallInt: return ToNumber<ReadInteger<int16_t>>(to.kind());
    case TypeKind::kInt: return ToNumber<ReadInteger<int32_t>>(to.kind());
    case TypeKind::kBigInt: return ToNumber<ReadInteger<int64_t>>(to.kind());
    case TypeKind::kFloat: return ToNumber<ReadAs<float>>(to.kind());
    case TypeKind::kDouble: return ToNumber<ReadAs<double>>(to.kind());
    case TypeKind::kDecimal: return ToNumber<ReadAs<Int128>>(to.kind());
    case TypeKind::kChar:
    case TypeKind::kVarChar: return FromText(to.kind());
    case TypeKind::kDate: return FixedKernel<ReadAs<DateValue>, TimestampValue>;
    case TypeKind::kTime: return FixedKernel<ReadAs<TimeValue>, TimeValue>;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      if (to.kind() == TypeKind::kDate) return FixedKernel<ReadAs<TimestampValue>, DateValue>;
      return FixedKernel<ReadAs<TimestampValue>, TimestampValue>;
    default: return NothingFits;
  }
}

}  // namespace driftless
