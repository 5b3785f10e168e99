#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "config/expr/eval/json_value.h"
#include "config/expr/eval/nodes.h"
#include "schema/base/utf8.h"
#include "schema/types/decimal.h"
#include "schema/types/value_text.h"

// CAST by Flink SQL's rules (its documentation, "Data Types", casting matrix): what does not fit is
// cut off as Java does it, a decimal that is too large is NULL, a text that does not say a value
// fails. One function per pair of families.
namespace driftless::flink {
namespace {

enum class Family : uint8_t {
  kBool,
  kInt,
  kFloat,
  kDecimal,
  kText,
  kBytes,
  kDate,
  kTime,
  kTimestamp,
  kMoment,
  kVariant,
  kNested
};

Family FamilyOf(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return Family::kBool;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: return Family::kInt;
    case TypeKind::kFloat:
    case TypeKind::kDouble: return Family::kFloat;
    case TypeKind::kDecimal: return Family::kDecimal;
    case TypeKind::kChar:
    case TypeKind::kVarChar: return Family::kText;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return Family::kBytes;
    case TypeKind::kDate: return Family::kDate;
    case TypeKind::kTime: return Family::kTime;
    case TypeKind::kTimestamp: return Family::kTimestamp;
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return Family::kMoment;
    case TypeKind::kVariant: return Family::kVariant;
    default: return Family::kNested;
  }
}

using Fn = void (*)(Call&, int64_t);

// ---- writing -----------------------------------------------------------------------------------

void PutFloating(Call& c, int64_t row, double value) {
  if (c.type.kind() == TypeKind::kFloat) {
    c.out().data<float>()[row] = static_cast<float>(value);
  } else {
    c.out().data<double>()[row] = value;
  }
}

// Half away from zero; NULL where it does not fit.
void PutDecimal(Call& c, int64_t row, Int128 value, int scale) {
  Int128 result = 0;
  bool exact = false;
  if (!Rescale(value, scale, c.type.scale(), &result, &exact) ||
      !FitsPrecision(result, c.type.precision())) {
    return c.PutNull(row);
  }
  std::memcpy(c.out().data<uint8_t>() + row * 16, &result, 16);
}

// Cut to the length; a CHAR is filled up with blanks.
void PutText(Call& c, std::string_view text) {
  const int64_t limit = c.type.length();
  if (static_cast<int64_t>(text.size()) > limit) text = Utf8Prefix(text, limit);
  c.Append(text);
  if (c.type.kind() != TypeKind::kChar) return;
  for (int64_t n = Utf8Length(text); n < limit; ++n) c.Append(" ");
}

TimestampUnit UnitOf(const LogicalType& type) {
  return type.IsNanos() ? TimestampUnit::kNanos : TimestampUnit::kMicros;
}
int64_t PerDay(const LogicalType& type) { return type.IsNanos() ? kNanosPerDay : kMicrosPerDay; }
int64_t PerSecond(const LogicalType& type) {
  return type.IsNanos() ? kNanosPerSecond : kMicrosPerSecond;
}
int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Changes the unit and cuts the fraction to the type's digits, downwards.
bool FitUnits(const LogicalType& from, const LogicalType& to, int64_t* units) {
  if (!from.IsNanos() && to.IsNanos()) {
    if (__builtin_mul_overflow(*units, int64_t{1000}, units)) return false;
  } else if (from.IsNanos() && !to.IsNanos()) {
    *units = FloorDiv(*units, 1000);
  }
  int64_t step = 1;
  for (int digits = to.precision(); digits < (to.IsNanos() ? 9 : 6); ++digits) step *= 10;
  *units = FloorDiv(*units, step) * step;
  return true;
}

// ---- from truth values and numbers
// ---------------------------------------------------------------

void BoolToText(Call& c, int64_t row) { PutText(c, c.Bool(0, row) ? "TRUE" : "FALSE"); }
void BoolToInt(Call& c, int64_t row) {
  WriteInteger(c.type, &c.out(), row, c.Bool(0, row) ? 1 : 0);
}
void BoolToFloat(Call& c, int64_t row) { PutFloating(c, row, c.Bool(0, row) ? 1 : 0); }
void BoolToDecimal(Call& c, int64_t row) { PutDecimal(c, row, c.Bool(0, row) ? 1 : 0, 0); }

void IntToBool(Call& c, int64_t row) { c.PutBool(row, ReadInteger(*c.args[0], row) != 0); }
void IntToInt(Call& c, int64_t row) {
  WriteInteger(c.type, &c.out(), row, ReadInteger(*c.args[0], row));
}
void IntToFloat(Call& c, int64_t row) {
  PutFloating(c, row, static_cast<double>(ReadInteger(*c.args[0], row)));
}
void IntToDecimal(Call& c, int64_t row) { PutDecimal(c, row, ReadInteger(*c.args[0], row), 0); }
void IntToText(Call& c, int64_t row) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, ReadInteger(*c.args[0], row)).ptr;
  PutText(c, {buffer, static_cast<size_t>(end - buffer)});
}

// Java's (int) and (long): cut, NaN is 0, the ends stay the ends; smaller ones wrap from int.
int64_t JavaInteger(double value, TypeKind kind) {
  if (std::isnan(value)) return 0;
  const bool is_long = kind == TypeKind::kBigInt;
  const double most = is_long ? 9223372036854775807.0 : 2147483647.0;
  const double least = is_long ? -9223372036854775808.0 : -2147483648.0;
  if (value >= most) {
    return is_long ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  }
  if (value <= least) {
    return is_long ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  }
  return static_cast<int64_t>(value);
}

void FloatToBool(Call& c, int64_t row) { c.PutBool(row, ReadFloating(*c.args[0], row) != 0); }
void FloatToInt(Call& c, int64_t row) {
  WriteInteger(c.type, &c.out(), row, JavaInteger(ReadFloating(*c.args[0], row), c.type.kind()));
}
void FloatToFloat(Call& c, int64_t row) { PutFloating(c, row, ReadFloating(*c.args[0], row)); }
void FloatToDecimal(Call& c, int64_t row) {
  char buffer[40];
  const bool is_float = c.args[0]->type.kind() == TypeKind::kFloat;
  const double value = ReadFloating(*c.args[0], row);
  const auto end =
      is_float ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr
               : std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  Int128 result = 0;
  const DecimalText read = ParseDecimal({buffer, static_cast<size_t>(end - buffer)},
                                        c.type.precision(), c.type.scale(), &result);
  if (read != DecimalText::kOk && read != DecimalText::kRounded) return c.PutNull(row);
  PutDecimal(c, row, result, c.type.scale());
}
void FloatToText(Call& c, int64_t row) {
  c.scratch.clear();
  AppendJavaDouble(ReadFloating(*c.args[0], row), c.args[0]->type.kind() == TypeKind::kFloat,
                   &c.scratch);
  PutText(c, c.scratch);
}

Int128 ReadDecimal(Call& c, int64_t row) { return c.args[0]->Fixed<Int128>(row); }
void DecimalToBool(Call& c, int64_t row) { c.PutBool(row, ReadDecimal(c, row) != 0); }
void DecimalToInt(Call& c, int64_t row) {
  const Int128 whole = ReadDecimal(c, row) / PowerOfTen(c.args[0]->type.scale());
  WriteInteger(c.type, &c.out(), row, static_cast<int64_t>(whole));
}
void DecimalToFloat(Call& c, int64_t row) {
  char buffer[kDecimalTextMax];
  const std::string_view text = WriteDecimal(ReadDecimal(c, row), c.args[0]->type.scale(), buffer);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  PutFloating(c, row, value);
}
void DecimalToDecimal(Call& c, int64_t row) {
  PutDecimal(c, row, ReadDecimal(c, row), c.args[0]->type.scale());
}
void DecimalToText(Call& c, int64_t row) {
  char buffer[kDecimalTextMax];
  PutText(c, WriteDecimal(ReadDecimal(c, row), c.args[0]->type.scale(), buffer));
}

// ---- from text
// -----------------------------------------------------------------------------------

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

void FailText(Call& c, int64_t row, std::string_view text) {
  c.scratch = "CAST('";
  c.scratch += Utf8Prefix(text, 60);
  c.scratch += "' AS " + c.type.ToStringIgnoringNullability() + ") says no value";
  c.Fail(row, c.scratch);
}

bool IsWord(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if ((ch >= 'A' && ch <= 'Z' ? ch + 32 : ch) != lower[i]) return false;
  }
  return true;
}

void TextToBool(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  for (const std::string_view yes : {"true", "t", "1", "y", "yes"}) {
    if (IsWord(text, yes)) return c.PutBool(row, true);
  }
  for (const std::string_view no : {"false", "f", "0", "n", "no"}) {
    if (IsWord(text, no)) return;
  }
  FailText(c, row, text);
}

void IntegerRange(TypeKind kind, int64_t* least, int64_t* most) {
  const int bits = kind == TypeKind::kTinyInt    ? 8
                   : kind == TypeKind::kSmallInt ? 16
                   : kind == TypeKind::kInt      ? 32
                                                 : 64;
  *most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  *least = -*most - 1;
}

void TextToInt(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  // Digits behind a point are cut off.
  const size_t dot = digits.find('.');
  if (dot != std::string_view::npos && dot + 1 < digits.size() &&
      digits.find_first_not_of("0123456789", dot + 1) == std::string_view::npos) {
    digits = digits.substr(0, dot);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  int64_t least = 0;
  int64_t most = 0;
  IntegerRange(c.type.kind(), &least, &most);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      value < least || value > most) {
    return FailText(c, row, text);
  }
  WriteInteger(c.type, &c.out(), row, value);
}
void TextToFloat(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  if (digits.empty() || end != digits.data() + digits.size() ||
      (error != std::errc() && !out_of_range)) {
    return FailText(c, row, text);
  }
  if (out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);  // infinite or zero
  PutFloating(c, row, value);
}
void TextToDecimal(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  Int128 value = 0;
  switch (ParseDecimal(text, c.type.precision(), c.type.scale(), &value)) {
    case DecimalText::kOk:
    case DecimalText::kRounded: return PutDecimal(c, row, value, c.type.scale());
    case DecimalText::kOutOfRange: return c.PutNull(row);
    case DecimalText::kInvalid: return FailText(c, row, text);
  }
}
void TextToText(Call& c, int64_t row) { PutText(c, c.Str(0, row)); }
void TextToBytes(Call& c, int64_t row) {
  c.Append(c.Str(0, row).substr(0, static_cast<size_t>(c.type.length())));
}
void TextToDate(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  int64_t days = 0;
  if (ParseDate(text, &days) != TimeText::kOk) {
    ParsedTimestamp parsed;
    if (ParseTimestamp(text, &parsed) != TimeText::kOk) return FailText(c, row, text);
    days = parsed.days;
  }
  c.PutDays(row, static_cast<int32_t>(days));
}
void TextToTime(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  int64_t nanos = 0;
  bool inexact = false;
  if (ParseTime(text, &nanos, &inexact) != TimeText::kOk || nanos < 0 || nanos >= kNanosPerDay) {
    return FailText(c, row, text);
  }
  FitUnits(LogicalType::Time(9), c.type, &nanos);
  c.PutInt(row, nanos);
}
void TextToTimestamp(Call& c, int64_t row) {
  const std::string_view text = Trimmed(c.Str(0, row));
  ParsedTimestamp parsed;
  int64_t units = 0;
  if (ParseTimestamp(text, &parsed) != TimeText::kOk ||
      !(c.type.IsNanos() ? ToNanos(parsed, &units) : ToMicros(parsed, &units))) {
    return FailText(c, row, text);
  }
  const bool is_moment = FamilyOf(c.type) == Family::kMoment;
  if (is_moment && !parsed.has_zone) units = LocalToUtc(units, UnitOf(c.type), c.zone);
  if (!is_moment && parsed.has_zone) units = UtcToLocal(units, UnitOf(c.type), c.zone);
  FitUnits(c.type, c.type, &units);
  c.PutInt(row, units);
}

// ---- from dates and times
// ------------------------------------------------------------------------

// Days, or the node's own units turned to local time where it is a moment.
int64_t LocalUnits(const Call& c, int64_t row) {
  const LogicalType& from = c.args[0]->type;
  const int64_t units = c.Int(0, row);
  return FamilyOf(from) == Family::kMoment ? UtcToLocal(units, UnitOf(from), c.zone) : units;
}

void DateToText(Call& c, int64_t row) {
  c.scratch.clear();
  AppendDate(c.Days(0, row), &c.scratch);
  PutText(c, c.scratch);
}
void DateToTimestamp(Call& c, int64_t row) {
  int64_t units = 0;
  if (__builtin_mul_overflow(int64_t{c.Days(0, row)}, PerDay(c.type), &units)) {
    return c.PutNull(row);
  }
  if (FamilyOf(c.type) == Family::kMoment) units = LocalToUtc(units, UnitOf(c.type), c.zone);
  c.PutInt(row, units);
}
void TimeToText(Call& c, int64_t row) {
  const LogicalType& from = c.args[0]->type;
  c.scratch.clear();
  AppendTimeOfDay(from.IsNanos() ? c.Int(0, row) : c.Int(0, row) * 1000, from.precision(),
                  &c.scratch);
  PutText(c, c.scratch);
}
void TimeToTime(Call& c, int64_t row) {
  int64_t units = c.Int(0, row);
  if (!FitUnits(c.args[0]->type, c.type, &units)) return c.PutNull(row);
  c.PutInt(row, units);
}
void TimestampToText(Call& c, int64_t row) {
  const LogicalType& from = c.args[0]->type;
  c.scratch.clear();
  AppendTimestamp(LocalUnits(c, row), UnitOf(from), from.precision(), ' ', &c.scratch);
  PutText(c, c.scratch);
}
void TimestampToDate(Call& c, int64_t row) {
  c.PutDays(row, static_cast<int32_t>(FloorDiv(LocalUnits(c, row), PerDay(c.args[0]->type))));
}
void TimestampToTime(Call& c, int64_t row) {
  const LogicalType& from = c.args[0]->type;
  const int64_t local = LocalUnits(c, row);
  int64_t units = local - FloorDiv(local, PerDay(from)) * PerDay(from);
  FitUnits(from, c.type, &units);
  c.PutInt(row, units);
}
void TimestampToTimestamp(Call& c, int64_t row) {
  const LogicalType& from = c.args[0]->type;
  const bool from_moment = FamilyOf(from) == Family::kMoment;
  const bool to_moment = FamilyOf(c.type) == Family::kMoment;
  int64_t units = c.Int(0, row);
  if (from_moment && !to_moment) units = UtcToLocal(units, UnitOf(from), c.zone);
  if (!from_moment && to_moment) units = LocalToUtc(units, UnitOf(from), c.zone);
  if (!FitUnits(from, c.type, &units)) return c.PutNull(row);
  c.PutInt(row, units);
}
// Seconds since 1970, as Flink has it for TIMESTAMP_LTZ and numbers.
void TimestampToInt(Call& c, int64_t row) {
  WriteInteger(c.type, &c.out(), row, FloorDiv(c.Int(0, row), PerSecond(c.args[0]->type)));
}

void AnyToText(Call& c, int64_t row) {
  c.scratch.clear();
  AppendText(c.args[0]->type, c.args[0]->view, c.args[0]->At(row), {}, &c.scratch);
  PutText(c, c.scratch);
}

template <Fn F>
CallLoop Fixed() {
  return StrictLoop<F, false>;
}
template <Fn F>
CallLoop Variable() {
  return StrictLoop<F, true>;
}

CallLoop Choose(Family from, Family to) {
  switch (from) {
    case Family::kBool:
      if (to == Family::kInt) return Fixed<BoolToInt>();
      if (to == Family::kFloat) return Fixed<BoolToFloat>();
      if (to == Family::kDecimal) return Fixed<BoolToDecimal>();
      if (to == Family::kText) return Variable<BoolToText>();
      return nullptr;
    case Family::kInt:
      if (to == Family::kBool) return Fixed<IntToBool>();
      if (to == Family::kInt) return Fixed<IntToInt>();
      if (to == Family::kFloat) return Fixed<IntToFloat>();
      if (to == Family::kDecimal) return Fixed<IntToDecimal>();
      if (to == Family::kText) return Variable<IntToText>();
      return nullptr;
    case Family::kFloat:
      if (to == Family::kBool) return Fixed<FloatToBool>();
      if (to == Family::kInt) return Fixed<FloatToInt>();
      if (to == Family::kFloat) return Fixed<FloatToFloat>();
      if (to == Family::kDecimal) return Fixed<FloatToDecimal>();
      if (to == Family::kText) return Variable<FloatToText>();
      return nullptr;
    case Family::kDecimal:
      if (to == Family::kBool) return Fixed<DecimalToBool>();
      if (to == Family::kInt) return Fixed<DecimalToInt>();
      if (to == Family::kFloat) return Fixed<DecimalToFloat>();
      if (to == Family::kDecimal) return Fixed<DecimalToDecimal>();
      if (to == Family::kText) return Variable<DecimalToText>();
      return nullptr;
    case Family::kText:
      switch (to) {
        case Family::kBool: return Fixed<TextToBool>();
        case Family::kInt: return Fixed<TextToInt>();
        case Family::kFloat: return Fixed<TextToFloat>();
        case Family::kDecimal: return Fixed<TextToDecimal>();
        case Family::kText: return Variable<TextToText>();
        case Family::kBytes: return Variable<TextToBytes>();
        case Family::kDate: return Fixed<TextToDate>();
        case Family::kTime: return Fixed<TextToTime>();
        case Family::kTimestamp:
        case Family::kMoment: return Fixed<TextToTimestamp>();
        default: return nullptr;
      }
    case Family::kBytes:
      if (to == Family::kText) return Variable<TextToText>();
      if (to == Family::kBytes) return Variable<TextToBytes>();
      return nullptr;
    case Family::kDate:
      if (to == Family::kText) return Variable<DateToText>();
      if (to == Family::kTimestamp || to == Family::kMoment) return Fixed<DateToTimestamp>();
      return nullptr;
    case Family::kTime:
      if (to == Family::kText) return Variable<TimeToText>();
      if (to == Family::kTime) return Fixed<TimeToTime>();
      return nullptr;
    case Family::kTimestamp:
    case Family::kMoment:
      if (to == Family::kText) return Variable<TimestampToText>();
      if (to == Family::kDate) return Fixed<TimestampToDate>();
      if (to == Family::kTime) return Fixed<TimestampToTime>();
      if (to == Family::kTimestamp || to == Family::kMoment) return Fixed<TimestampToTimestamp>();
      if (to == Family::kInt && from == Family::kMoment) return Fixed<TimestampToInt>();
      return nullptr;
    case Family::kVariant: return nullptr;
    case Family::kNested: return to == Family::kText ? Variable<AnyToText>() : nullptr;
  }
  return nullptr;
}

// A failure becomes NULL.
class TryNode : public Node {
 public:
  explicit TryNode(NodePtr value) : Node(value->type.Nullable()) {
    args.push_back(std::move(value));
  }

 protected:
  void Run(const EvalBatch&) override { view = args[0]->view; }
};

NodePtr Wrap(NodePtr from, const LogicalType& to, CallLoop loop, const TimeZone& zone) {
  auto call = std::make_shared<Call>(to, loop);
  call->zone = zone;
  call->args.push_back(std::move(from));
  return call;
}

bool IsSame(const LogicalType& from, const LogicalType& to) {
  if (from.EqualsIgnoringNullability(to)) return true;
  // A longer VARCHAR or VARBINARY holds the same bytes.
  if (from.IsCharacter() && to.kind() == TypeKind::kVarChar) return from.length() <= to.length();
  if (from.IsBytes() && to.kind() == TypeKind::kVarBinary) return from.length() <= to.length();
  return from.kind() == to.kind() && from.IsTimestamp() && from.precision() <= to.precision() &&
         from.IsNanos() == to.IsNanos();
}

}  // namespace

Result<NodePtr> MakeCast(NodePtr from, const LogicalType& to, CastMode mode, const TimeZone& zone) {
  if (IsSame(from->type, to)) return from;
  if (from->IsNullLiteral()) return MakeNullLiteral(to);
  if (from->type.kind() == TypeKind::kVariant) {
    // By way of the text that the JSON value says.
    NodePtr text = Wrap(from, LogicalType::String(), StrictLoop<VariantText, true>, zone);
    return MakeCast(std::move(text), to, mode, zone);
  }
  const CallLoop loop = Choose(FamilyOf(from->type), FamilyOf(to));
  if (loop == nullptr) {
    return MakeError(ErrorKind::kUnsupported, "Cast function cannot convert value of type " +
                                                  from->type.ToStringIgnoringNullability() +
                                                  " to type " + to.ToStringIgnoringNullability());
  }
  NodePtr cast = Wrap(from, to, loop, zone);
  if (mode == CastMode::kTry) cast = std::make_shared<TryNode>(std::move(cast));
  return cast;
}

int64_t ReadInteger(const Node& node, int64_t row) {
  switch (node.type.kind()) {
    case TypeKind::kTinyInt: return node.Fixed<int8_t>(row);
    case TypeKind::kSmallInt: return node.Fixed<int16_t>(row);
    case TypeKind::kInt:
    case TypeKind::kDate: return node.Fixed<int32_t>(row);
    default: return node.Fixed<int64_t>(row);
  }
}

double ReadFloating(const Node& node, int64_t row) {
  return node.type.kind() == TypeKind::kFloat ? static_cast<double>(node.Fixed<float>(row))
                                              : node.Fixed<double>(row);
}

void WriteInteger(const LogicalType& type, OwnedColumn* out, int64_t row, int64_t value) {
  switch (type.kind()) {
    case TypeKind::kTinyInt: out->data<int8_t>()[row] = static_cast<int8_t>(value); break;
    case TypeKind::kSmallInt: out->data<int16_t>()[row] = static_cast<int16_t>(value); break;
    case TypeKind::kInt:
    case TypeKind::kDate: out->data<int32_t>()[row] = static_cast<int32_t>(value); break;
    default: out->data<int64_t>()[row] = value;
  }
}

// java.lang.Double.toString: plain from 10^-3 to 10^7, else one digit, a point, and an exponent.
void AppendJavaDouble(double value, bool is_float, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value > 0 ? "Infinity" : "-Infinity";
    return;
  }
  if (value == 0) {
    *out += std::signbit(value) ? "-0.0" : "0.0";
    return;
  }
  char buffer[48];
  const double size = std::fabs(value);
  const auto format =
      size >= 1e-3 && size < 1e7 ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end =
      is_float
          ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value), format).ptr
          : std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  const std::string_view mantissa = text.substr(0, e);
  *out += mantissa;
  if (mantissa.find('.') == std::string_view::npos) *out += ".0";
  if (e == std::string_view::npos) return;
  std::string_view exponent = text.substr(e + 1);
  *out += 'E';
  if (exponent[0] == '-') *out += '-';
  exponent.remove_prefix(1);
  while (exponent.size() > 1 && exponent[0] == '0') exponent.remove_prefix(1);
  *out += exponent;
}

}  // namespace driftless::flink
