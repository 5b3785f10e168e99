#include "sinks/paimon/java_cast.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "schema/types/decimal.h"
#include "schema/types/value_text.h"
#include "sinks/lake/java_text.h"
#include "sinks/paimon/physical_value.h"

namespace driftless::paimon {
namespace {

bool IsFloating(TypeKind kind) { return kind == TypeKind::kFloat || kind == TypeKind::kDouble; }
bool IsNumeric(const LogicalType& type) {
  return type.IsInteger() || IsFloating(type.kind()) || type.kind() == TypeKind::kDecimal;
}

Error BadText(std::string_view text, const LogicalType& type) {
  return MakeError(ErrorKind::kInvalidInput,
                   "'" + std::string(text.substr(0, 64)) + "' is no " + type.ToString());
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<uint8_t>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<uint8_t>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// Java's conversion of a floating point number to an integer type: NaN is 0, the rest saturates.
template <typename Integer>
Integer Saturate(double value) {
  if (value != value) return 0;
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min())) {
    return std::numeric_limits<Integer>::min();
  }
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max())) {
    return std::numeric_limits<Integer>::max();
  }
  return static_cast<Integer>(value);
}

int64_t IntegerAt(const LogicalType& type, const ColumnView& view, int64_t row) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return view.Bit(row) ? 1 : 0;
    case TypeKind::kTinyInt: return view.Fixed<int8_t>(row);
    case TypeKind::kSmallInt: return view.Fixed<int16_t>(row);
    case TypeKind::kInt: return view.Fixed<int32_t>(row);
    default: return view.Fixed<int64_t>(row);
  }
}

// Microseconds or nanoseconds, whatever the type holds, as nanoseconds of 128 bits.
__int128 MomentNanos(const LogicalType& type, int64_t value) {
  return static_cast<__int128>(value) * (type.IsNanos() ? 1 : 1000);
}

int64_t PowerOfTen64(int digits) {
  int64_t power = 1;
  for (int i = 0; i < digits; ++i) power *= 10;
  return power;
}

__int128 FloorDivide128(__int128 value, __int128 divisor) {
  const __int128 quotient = value / divisor;
  return quotient - static_cast<__int128>(value % divisor < 0);
}

// Nanoseconds as a value of the type, cut to its precision.
int64_t MomentOf(const LogicalType& type, __int128 nanos) {
  const int64_t step = PowerOfTen64(9 - type.precision());
  nanos = FloorDivide128(nanos, step) * step;
  return static_cast<int64_t>(type.IsNanos() ? nanos : FloorDivide128(nanos, 1000));
}

void BuildTree(const LogicalType& type, const std::vector<int32_t>& ids, size_t* next,
               TypeTree* tree) {
  tree->type = type;
  for (const RowField& child : type.children()) {
    TypeTree below;
    if (type.kind() == TypeKind::kRow) {
      below.id = *next < ids.size() ? ids[*next] : -1;
      ++*next;
    }
    BuildTree(child.type, ids, next, &below);
    tree->children.push_back(std::move(below));
  }
}

}  // namespace

TypeTree TypeTree::Of(const PaimonField& field) {
  TypeTree tree;
  tree.id = field.id;
  size_t next = 0;
  BuildTree(field.type, field.nested_ids, &next, &tree);
  return tree;
}

void AppendSame(const LogicalType& type, const ColumnView& view, int64_t row, ColumnBuilder* out) {
  if (view.IsNull(row)) {
    out->AppendNull();
    return;
  }
  switch (type.physical()) {
    case PhysicalKind::kBit: out->AppendBit(view.Bit(row)); return;
    case PhysicalKind::kFixed8: out->AppendFixed(view.Fixed<uint8_t>(row)); return;
    case PhysicalKind::kFixed16: out->AppendFixed(view.Fixed<uint16_t>(row)); return;
    case PhysicalKind::kFixed32: out->AppendFixed(view.Fixed<uint32_t>(row)); return;
    case PhysicalKind::kFixed64: out->AppendFixed(view.Fixed<uint64_t>(row)); return;
    case PhysicalKind::kFixed128: out->AppendInt128(view.Fixed<__int128>(row)); return;
    case PhysicalKind::kVariable: out->AppendBytes(view.Bytes(row)); return;
    case PhysicalKind::kStruct:
      for (size_t i = 0; i < type.children().size(); ++i) {
        AppendSame(type.children()[i].type, view.children[i], row,
                   &out->child(static_cast<int>(i)));
      }
      out->CloseStruct();
      return;
    case PhysicalKind::kList: break;
  }
  for (int32_t e = view.offsets[row]; e < view.offsets[row + 1]; ++e) {
    if (type.kind() == TypeKind::kArray) {
      AppendSame(type.children()[0].type, view.children[0], e, &out->child(0));
      continue;
    }
    const ColumnView& entry = view.children[0];
    ColumnBuilder& target = out->child(0);
    AppendSame(type.children()[0].type, entry.children[0], e, &target.child(0));
    AppendSame(type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int(),
               entry.children[1], e, &target.child(1));
    target.CloseStruct();
  }
  out->CloseList();
}

Result<JavaCast> JavaCast::Make(const TypeTree& from, const TypeTree& to, const TimeZone& zone) {
  JavaCast cast;
  cast.from_ = from;
  cast.to_ = to;
  cast.zone_ = zone;
  const LogicalType& a = from.type;
  const LogicalType& b = to.type;
  const auto refuse = [&]() -> Error {
    return MakeError(ErrorKind::kUnsupported,
                     "old values of type " + a.ToString() + " cannot be read as " + b.ToString());
  };
  if (a.kind() == b.kind() && a.IsNested()) {
    cast.identity_ = from.children.size() == to.children.size();
    for (size_t i = 0; i < to.children.size(); ++i) {
      int source = static_cast<int>(i);
      if (a.kind() == TypeKind::kRow) {
        source = -1;
        for (size_t m = 0; m < from.children.size(); ++m) {
          if (from.children[m].id == to.children[i].id) source = static_cast<int>(m);
        }
      }
      cast.source_children_.push_back(source);
      if (source < 0) {
        cast.identity_ = false;
        cast.children_.emplace_back();
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(
          JavaCast child, Make(from.children[static_cast<size_t>(source)], to.children[i], zone));
      cast.identity_ &= child.identity_ && source == static_cast<int>(i);
      cast.children_.push_back(std::move(child));
    }
    return cast;
  }
  if (a.IsNested() || b.IsNested()) return refuse();
  cast.identity_ = a.EqualsIgnoringNullability(b) ||
                   (a.kind() == b.kind() &&
                    (a.kind() == TypeKind::kVarChar || a.kind() == TypeKind::kVarBinary) &&
                    a.length() <= b.length()) ||
                   (a.kind() == b.kind() && a.kind() == TypeKind::kDecimal &&
                    a.scale() == b.scale() && a.precision() <= b.precision());
  const bool supported =
      cast.identity_ || b.IsCharacter() || a.IsCharacter() || (a.IsBytes() && b.IsBytes()) ||
      (IsNumeric(a) &&
       (IsNumeric(b) || b.kind() == TypeKind::kBoolean || (b.IsTimestamp() && a.IsInteger()))) ||
      (a.kind() == TypeKind::kBoolean && IsNumeric(b)) ||
      (a.kind() == TypeKind::kDate && b.IsTimestamp()) ||
      (a.kind() == TypeKind::kTime && (b.IsTimestamp() || b.kind() == TypeKind::kTime)) ||
      (a.IsTimestamp() && (b.IsTimestamp() || b.kind() == TypeKind::kDate ||
                           b.kind() == TypeKind::kTime || b.IsInteger()));
  if (!supported) return refuse();
  return cast;
}

Result<void> JavaCast::Append(const ColumnView& view, int64_t row, ColumnBuilder* out) const {
  if (view.IsNull(row)) {
    out->AppendNull();
    return {};
  }
  if (identity_) {
    AppendSame(to_.type, view, row, out);
    return {};
  }
  if (!to_.type.IsNested()) return AppendScalar(view, row, out);
  if (to_.type.kind() == TypeKind::kRow) {
    for (size_t i = 0; i < children_.size(); ++i) {
      ColumnBuilder& target = out->child(static_cast<int>(i));
      if (source_children_[i] < 0) {
        target.AppendNull();
      } else {
        DRIFTLESS_TRY(children_[i].Append(view.children[static_cast<size_t>(source_children_[i])],
                                          row, &target));
      }
    }
    out->CloseStruct();
    return {};
  }
  for (int32_t e = view.offsets[row]; e < view.offsets[row + 1]; ++e) {
    if (to_.type.kind() == TypeKind::kArray) {
      DRIFTLESS_TRY(children_[0].Append(view.children[0], e, &out->child(0)));
      continue;
    }
    const ColumnView& entry = view.children[0];
    ColumnBuilder& target = out->child(0);
    DRIFTLESS_TRY(children_[0].Append(entry.children[0], e, &target.child(0)));
    if (to_.type.kind() == TypeKind::kMap) {
      DRIFTLESS_TRY(children_[1].Append(entry.children[1], e, &target.child(1)));
    } else {
      AppendSame(LogicalType::Int(), entry.children[1], e, &target.child(1));
    }
    target.CloseStruct();
  }
  out->CloseList();
  return {};
}

Result<void> JavaCast::AppendScalar(const ColumnView& view, int64_t row, ColumnBuilder* out) const {
  const LogicalType& a = from_.type;
  const LogicalType& b = to_.type;
  if (b.IsCharacter()) {
    std::string text;
    switch (a.kind()) {
      case TypeKind::kFloat: text = lake::JavaFloatText(view.Fixed<float>(row)); break;
      case TypeKind::kDouble: text = lake::JavaDoubleText(view.Fixed<double>(row)); break;
      case TypeKind::kBinary:
      case TypeKind::kVarBinary: text = view.Bytes(row); break;
      case TypeKind::kTime:
        // `DateTimeUtils.formatTimestampMillis`: the fraction ends where only zeros follow, but has
        // a digit.
        driftless::AppendText(a, view, row, TextFormat{}, &text);
        while (a.precision() > 0 && text.ends_with('0') && text[text.size() - 2] != '.') {
          text.pop_back();
        }
        break;
      default:
        driftless::AppendText(a, view, row, TextFormat{}, &text);
        if (a.kind() == TypeKind::kTimestampLtz) {
          text.clear();
          const auto unit = a.IsNanos() ? TimestampUnit::kNanos : TimestampUnit::kMicros;
          AppendTimestamp(UtcToLocal(view.Fixed<int64_t>(row), unit, zone_), unit, a.precision(),
                          ' ', &text);
        }
        break;
    }
    AppendText(text, out);
    return {};
  }
  if (a.IsCharacter()) return FromText(view.Bytes(row), out);
  if (a.IsBytes()) {
    std::string bytes(view.Bytes(row).substr(0, static_cast<size_t>(b.length())));
    if (b.kind() == TypeKind::kBinary) bytes.resize(static_cast<size_t>(b.length()), '\0');
    out->AppendBytes(bytes);
    return {};
  }
  if (a.IsTimestamp() || a.kind() == TypeKind::kDate || a.kind() == TypeKind::kTime) {
    return AppendMoment(view, row, out);
  }
  if (a.IsInteger() || a.kind() == TypeKind::kBoolean) {
    AppendLong(IntegerAt(a, view, row), out);
  } else if (a.kind() == TypeKind::kDecimal) {
    AppendDecimal(view.Fixed<__int128>(row), a.scale(), out);
  } else {
    AppendFloating(a.kind() == TypeKind::kFloat ? static_cast<double>(view.Fixed<float>(row))
                                                : view.Fixed<double>(row),
                   out);
  }
  return {};
}

void JavaCast::AppendLong(int64_t value, ColumnBuilder* out) const {
  switch (to_.type.kind()) {
    case TypeKind::kBoolean: out->AppendBit(value != 0); return;
    case TypeKind::kFloat: out->AppendFloat(static_cast<float>(value)); return;
    case TypeKind::kDouble: out->AppendDouble(static_cast<double>(value)); return;
    case TypeKind::kDecimal: AppendDecimal(value, 0, out); return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      // Seconds since the epoch, as the local clock shows them for the type without zone.
      int64_t seconds = value;
      if (to_.type.kind() == TypeKind::kTimestamp) seconds += zone_.OffsetAtUtc(value);
      out->AppendInt(seconds * (to_.type.IsNanos() ? kNanosPerSecond : kMicrosPerSecond));
      return;
    }
    default: out->AppendInt(value); return;  // the low bytes: Java wraps
  }
}

void JavaCast::AppendFloating(double value, ColumnBuilder* out) const {
  switch (to_.type.kind()) {
    case TypeKind::kBoolean: out->AppendBit(value != 0); return;
    case TypeKind::kFloat: out->AppendFloat(static_cast<float>(value)); return;
    case TypeKind::kDouble: out->AppendDouble(value); return;
    case TypeKind::kBigInt: out->AppendInt(Saturate<int64_t>(value)); return;
    case TypeKind::kDecimal: {
      // Java goes over the number's decimal text, so that 0.1 is 0.1.
      __int128 decimal = 0;
      std::string text;
      if (from_.type.kind() == TypeKind::kFloat) {
        text = lake::JavaFloatText(static_cast<float>(value));
      } else {
        text = lake::JavaDoubleText(value);
      }
      const DecimalText parsed =
          ParseDecimal(text, to_.type.precision(), to_.type.scale(), &decimal);
      if (parsed == DecimalText::kOk || parsed == DecimalText::kRounded) {
        out->AppendInt128(decimal);
      } else {
        out->AppendNull();
      }
      return;
    }
    default: out->AppendInt(Saturate<int32_t>(value)); return;
  }
}

void JavaCast::AppendDecimal(__int128 value, int from_scale, ColumnBuilder* out) const {
  const LogicalType& b = to_.type;
  switch (b.kind()) {
    case TypeKind::kDecimal: {
      Int128 rescaled = 0;
      bool exact = false;
      if (Rescale(value, from_scale, b.scale(), &rescaled, &exact) &&
          FitsPrecision(rescaled, b.precision())) {
        out->AppendInt128(rescaled);
      } else {
        out->AppendNull();
      }
      return;
    }
    case TypeKind::kFloat:
      out->AppendFloat(static_cast<float>(DecimalToDouble(value, from_scale)));
      return;
    case TypeKind::kDouble: out->AppendDouble(DecimalToDouble(value, from_scale)); return;
    case TypeKind::kBoolean: out->AppendBit(value != 0); return;
    default: out->AppendInt(static_cast<int64_t>(value / PowerOfTen(from_scale))); return;
  }
}

Result<void> JavaCast::AppendMoment(const ColumnView& view, int64_t row, ColumnBuilder* out) const {
  const LogicalType& a = from_.type;
  const LogicalType& b = to_.type;
  // Nanoseconds of the clock that `a` shows.
  __int128 nanos = 0;
  if (a.kind() == TypeKind::kDate) {
    nanos = static_cast<__int128>(view.Fixed<int32_t>(row)) * kNanosPerDay;
  } else {
    nanos = MomentNanos(a, view.Fixed<int64_t>(row));
  }
  const bool from_utc = a.kind() == TypeKind::kTimestampLtz || a.kind() == TypeKind::kTimestampTz;
  const bool to_utc = b.kind() == TypeKind::kTimestampLtz || b.kind() == TypeKind::kTimestampTz;
  const auto seconds = static_cast<int64_t>(FloorDivide128(nanos, kNanosPerSecond));
  if (b.IsInteger()) {
    out->AppendInt(from_utc ? seconds : zone_.ToUtc(seconds));
    return {};
  }
  if (from_utc && !to_utc) {
    nanos += static_cast<__int128>(zone_.OffsetAtUtc(seconds)) * kNanosPerSecond;
  } else if (!from_utc && to_utc) {
    nanos += static_cast<__int128>(zone_.ToUtc(seconds) - seconds) * kNanosPerSecond;
  }
  switch (b.kind()) {
    case TypeKind::kDate:
      // Paimon 1.4 divides the milliseconds of a TIMESTAMP towards zero, so that moments before
      // 1970 fall on the day after. Rows must look alike through every reader.
      out->AppendInt(static_cast<int64_t>(from_utc ? FloorDivide128(nanos, kNanosPerDay)
                                                   : FloorDivide128(nanos, 1000000) /
                                                         (kSecondsPerDay * 1000)));
      return {};
    case TypeKind::kTime: {
      const __int128 of_day = nanos - FloorDivide128(nanos, kNanosPerDay) * kNanosPerDay;
      out->AppendInt(MomentOf(LogicalType::Time(b.IsNanos() ? 9 : 3), of_day));
      return {};
    }
    default: out->AppendInt(MomentOf(b, nanos)); return {};
  }
}

void JavaCast::AppendText(std::string_view text, ColumnBuilder* out) const {
  const LogicalType& b = to_.type;
  size_t at = 0;
  int32_t characters = 0;
  while (at < text.size() && characters < b.length()) {
    ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) ++at;
    ++characters;
  }
  if (b.kind() == TypeKind::kChar && characters < b.length()) {
    std::string padded(text.substr(0, at));
    padded.append(static_cast<size_t>(b.length() - characters), ' ');
    out->AppendBytes(padded);
    return;
  }
  out->AppendBytes(text.substr(0, at));
}

Result<void> JavaCast::FromText(std::string_view text, ColumnBuilder* out) const {
  const LogicalType& b = to_.type;
  if (b.IsBytes()) {
    std::string bytes(text.substr(0, static_cast<size_t>(b.length())));
    if (b.kind() == TypeKind::kBinary) bytes.resize(static_cast<size_t>(b.length()), '\0');
    out->AppendBytes(bytes);
    return {};
  }
  const std::string_view trimmed = Trim(text);
  switch (b.kind()) {
    case TypeKind::kBoolean: {
      std::string lower;
      for (const char c : trimmed) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      if (lower == "true" || lower == "t" || lower == "yes" || lower == "y" || lower == "1") {
        out->AppendBit(true);
        return {};
      }
      if (lower == "false" || lower == "f" || lower == "no" || lower == "n" || lower == "0") {
        out->AppendBit(false);
        return {};
      }
      return BadText(text, b);
    }
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt: {
      // Digits behind a point are checked and cut off, as Paimon's BinaryStringUtils does.
      std::string_view whole = trimmed;
      const size_t point = whole.find('.');
      if (point != std::string_view::npos) {
        for (const char c : whole.substr(point + 1)) {
          if (c < '0' || c > '9') return BadText(text, b);
        }
        whole = whole.substr(0, point);
      }
      if (!whole.empty() && whole.front() == '+') whole.remove_prefix(1);
      int64_t value = 0;
      const auto parsed = std::from_chars(whole.data(), whole.data() + whole.size(), value);
      if (parsed.ec != std::errc() || parsed.ptr != whole.data() + whole.size()) {
        return BadText(text, b);
      }
      const int bits =
          b.kind() == TypeKind::kTinyInt
              ? 8
              : (b.kind() == TypeKind::kSmallInt ? 16 : (b.kind() == TypeKind::kInt ? 32 : 64));
      if (bits < 64 && (value < -(int64_t{1} << (bits - 1)) || value >= int64_t{1} << (bits - 1))) {
        return BadText(text, b);
      }
      out->AppendInt(value);
      return {};
    }
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      double value = 0;
      const auto parsed = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value);
      if (parsed.ec != std::errc() || parsed.ptr != trimmed.data() + trimmed.size()) {
        return BadText(text, b);
      }
      b.kind() == TypeKind::kFloat ? out->AppendFloat(static_cast<float>(value))
                                   : out->AppendDouble(value);
      return {};
    }
    case TypeKind::kDecimal: {
      __int128 value = 0;
      switch (ParseDecimal(trimmed, b.precision(), b.scale(), &value)) {
        case DecimalText::kOk:
        case DecimalText::kRounded: out->AppendInt128(value); return {};
        case DecimalText::kOutOfRange: out->AppendNull(); return {};
        case DecimalText::kInvalid: break;
      }
      return BadText(text, b);
    }
    case TypeKind::kDate: {
      int64_t days = 0;
      if (ParseDate(trimmed, &days) != TimeText::kOk) return BadText(text, b);
      out->AppendInt(days);
      return {};
    }
    case TypeKind::kTime: {
      int64_t nanos = 0;
      bool inexact = false;
      if (driftless::ParseTime(trimmed, &nanos, &inexact) != TimeText::kOk || nanos < 0 ||
          nanos >= kNanosPerDay) {
        return BadText(text, b);
      }
      out->AppendInt(b.IsNanos() ? nanos : nanos / 1000);
      return {};
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      ParsedTimestamp parsed;
      if (ParseTimestamp(trimmed, &parsed) != TimeText::kOk) return BadText(text, b);
      __int128 nanos = static_cast<__int128>(parsed.days) * kNanosPerDay + parsed.nanos_of_day;
      if (parsed.has_zone) {
        nanos -= static_cast<__int128>(parsed.offset_seconds) * kNanosPerSecond;
      } else if (b.kind() == TypeKind::kTimestampLtz) {
        const auto seconds = static_cast<int64_t>(FloorDivide128(nanos, kNanosPerSecond));
        nanos += static_cast<__int128>(zone_.ToUtc(seconds) - seconds) * kNanosPerSecond;
      }
      out->AppendInt(MomentOf(b, nanos));
      return {};
    }
    default: break;
  }
  if (b.IsCharacter()) {
    AppendText(text, out);
    return {};
  }
  return BadText(text, b);
}

}  // namespace driftless::paimon
