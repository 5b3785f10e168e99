#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "schema/base/json_writer.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "schema/types/value_text.h"
#include "sinks/formats/debezium_json/base64.h"
#include "sinks/formats/debezium_json/geometry.h"
#include "sinks/formats/debezium_json/value_plan.h"

namespace driftless::debezium {
namespace {

bool IsString(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.back() == '"';
}
std::string_view Inside(std::string_view token) { return token.substr(1, token.size() - 2); }
bool HasEscape(std::string_view inside) {
  return !inside.empty() && std::memchr(inside.data(), '\\', inside.size()) != nullptr;
}

// A whole number of at most 18 digits in the short way, all others by the library.
bool ReadInteger(std::string_view token, int64_t* value) {
  const char* at = token.data();
  const char* end = at + token.size();
  const bool negative = at < end && *at == '-';
  if (negative) ++at;
  if (end - at >= 1 && end - at <= 18) {
    int64_t number = 0;
    for (const char* digit = at; digit < end; ++digit) {
      const unsigned d = static_cast<unsigned char>(*digit) - '0';
      if (d > 9) return false;
      number = number * 10 + d;
    }
    *value = negative ? -number : number;
    return true;
  }
  const auto [stop, error] = std::from_chars(token.data(), end, *value);
  return error == std::errc() && stop == end;
}

template <typename Number>
bool ReadFloating(std::string_view token, Number* value) {
  std::string_view text = IsString(token) ? Inside(token) : token;
  if (text == "NaN") {
    *value = std::numeric_limits<Number>::quiet_NaN();
    return true;
  }
  if (text == "Infinity" || text == "-Infinity") {
    const Number infinity = std::numeric_limits<Number>::infinity();
    *value = text[0] == '-' ? -infinity : infinity;
    return true;
  }
  if (IsString(token)) return false;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc::result_out_of_range) {
    // Below the smallest or above the largest number of the type; strtod says which.
    *value = static_cast<Number>(std::strtod(std::string(text).c_str(), nullptr));
    return stop == text.data() + text.size();
  }
  return error == std::errc() && stop == text.data() + text.size();
}

bool Digits(const char* at, int count, int32_t* value) {
  int32_t number = 0;
  for (int i = 0; i < count; ++i) {
    const unsigned d = static_cast<unsigned char>(at[i]) - '0';
    if (d > 9) return false;
    number = number * 10 + static_cast<int32_t>(d);
  }
  *value = number;
  return true;
}

// "2025-06-15T15:06:41.907Z", the form that Debezium writes for every timestamp with zone that lies
// in the years 0 to 9999. Everything else goes to the general parser.
bool ReadCommonTimestamp(std::string_view text, ParsedTimestamp* parsed) {
  const size_t size = text.size();
  if (size < 20 || size > 30 || text[size - 1] != 'Z') return false;
  const char* s = text.data();
  int32_t year, month, day, hour, minute, second;
  if (!Digits(s, 4, &year) || s[4] != '-' || !Digits(s + 5, 2, &month) || s[7] != '-' ||
      !Digits(s + 8, 2, &day) || s[10] != 'T' || !Digits(s + 11, 2, &hour) || s[13] != ':' ||
      !Digits(s + 14, 2, &minute) || s[16] != ':' || !Digits(s + 17, 2, &second)) {
    return false;
  }
  int64_t nanos = 0;
  if (size > 20) {
    if (s[19] != '.' || size == 21) return false;
    const int digits = static_cast<int>(size) - 21;
    int32_t fraction;
    if (!Digits(s + 20, digits, &fraction)) return false;
    static constexpr int32_t kPowers[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                          10000,      1000,      100,      10,      1};
    nanos = static_cast<int64_t>(fraction) * kPowers[digits];
  }
  if (month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return false;
  }
  parsed->days = DaysFromCivil({year, month, day});
  parsed->nanos_of_day = ((hour * 60 + minute) * 60 + second) * kNanosPerSecond + nanos;
  parsed->has_zone = true;
  parsed->offset_seconds = 0;
  return true;
}

// "+292278994-08-16": an ISO date of more than four digits of a year, as Java writes far dates.
bool IsFarDate(std::string_view text) {
  if (text.size() < 11 || (text[0] != '+' && text[0] != '-')) return false;
  const size_t dash = text.find('-', 1);
  return dash != std::string_view::npos && dash >= 6 &&
         std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(dash),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// value * factor, or the nearest edge of 64 bits.
int64_t Scale(int64_t value, int64_t factor, int64_t* clamped) {
  int64_t scaled = 0;
  if (!__builtin_mul_overflow(value, factor, &scaled)) return scaled;
  ++*clamped;
  return value < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t FloorDivide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

int64_t ConvertUnit(int64_t value, TimeUnit from, bool to_nanos, int64_t* clamped) {
  switch (from) {
    case TimeUnit::kMillis: return Scale(value, to_nanos ? 1'000'000 : 1'000, clamped);
    case TimeUnit::kMicros: return to_nanos ? Scale(value, 1'000, clamped) : value;
    case TimeUnit::kNanos: return to_nanos ? value : FloorDivide(value, 1'000);
  }
  return value;
}

bool DecodeHexTo(std::string_view hex, uint8_t* out) {
  const auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    const int high = nibble(hex[i]);
    const int low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    *out++ = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

// A big-endian two's complement number of any length as decimal text with `scale` digits behind
// the point.
void AppendBigDecimal(std::string_view bytes, int32_t scale, std::string* out) {
  const bool negative = !bytes.empty() && static_cast<signed char>(bytes[0]) < 0;
  std::vector<uint32_t> words;  // little-endian, of the magnitude
  for (size_t end = bytes.size(); end > 0; end -= std::min<size_t>(end, 4)) {
    uint32_t word = negative ? ~0u : 0;
    for (size_t i = end - std::min<size_t>(end, 4); i < end; ++i) {
      word = word << 8 | static_cast<uint8_t>(bytes[i]);
    }
    words.push_back(word);
  }
  if (negative) {
    uint64_t carry = 1;
    for (uint32_t& word : words) {
      carry += static_cast<uint32_t>(~word);
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  std::string digits;  // reversed
  while (!words.empty()) {
    uint64_t rest = 0;
    for (size_t i = words.size(); i-- > 0;) {
      const uint64_t value = rest << 32 | words[i];
      words[i] = static_cast<uint32_t>(value / 1'000'000'000);
      rest = value % 1'000'000'000;
    }
    while (!words.empty() && words.back() == 0) words.pop_back();
    for (int i = 0; i < 9 && (rest != 0 || !words.empty()); ++i, rest /= 10) {
      digits += static_cast<char>('0' + rest % 10);
    }
  }
  if (digits.empty() && scale < 0) scale = 0;
  for (; scale < 0; ++scale) digits.insert(digits.begin(), '0');
  while (digits.size() <= static_cast<size_t>(scale)) digits += '0';
  if (negative) *out += '-';
  for (size_t i = digits.size(); i-- > 0;) {
    *out += digits[i];
    if (i == static_cast<size_t>(scale) && i > 0) *out += '.';
  }
}

}  // namespace

ValueDecoder::ValueDecoder(const Format& format)
    : unavailable_(format.unavailable_value), zone_(format.zone) {
  AppendBase64(unavailable_, &unavailable_base64_);
  AppendHex(unavailable_, &unavailable_hex_);
}

bool ValueDecoder::Decode(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  const char first = cursor->Peek();
  if (first == 'n' && cursor->IsNull()) {
    column->AppendNull();
    cursor->Advance();
    return true;
  }
  if (first == '"' && plan.wire == Wire::kCanal) return DecodeQuoted(plan, cursor, column);
  if (first == '[' && plan.kind == ValueKind::kSet) return DecodeSetList(cursor, column);
  switch (plan.kind) {
    case ValueKind::kText: return DecodeText(plan, cursor, column);
    case ValueKind::kDecimalText: return DecodeDecimalText(plan, cursor, column);
    case ValueKind::kGeometryText:
    case ValueKind::kGeometryBytes: return DecodeGeometry(plan, cursor, column);
    case ValueKind::kList: return DecodeList(plan, cursor, column);
    case ValueKind::kMap: return DecodeMap(plan, cursor, column);
    case ValueKind::kRow: return DecodeRow(plan, cursor, column);
    default: break;
  }
  if (first == '{' && plan.kind == ValueKind::kDecimal) {
    scratch_.clear();
    if (!DecodeVariableScale(cursor, &scratch_)) return false;
    Int128 value = 0;
    if (ParseDecimal(scratch_, plan.precision, plan.scale, &value) != DecimalText::kOk) {
      return Fail("the decimal does not fit the column's precision and scale");
    }
    column->AppendInt128(value);
    return true;
  }
  if (first == '{' || first == '[' || first == '}' || first == ']' || first == ',' ||
      first == ':' || first == '\0') {
    return Fail("a single value was expected here");
  }
  const std::string_view token = cursor->Token();
  cursor->Advance();
  switch (plan.kind) {
    case ValueKind::kBoolean: return DecodeBoolean(plan, token, column);
    case ValueKind::kInteger: return DecodeInteger(plan, token, column);
    case ValueKind::kFloat:
    case ValueKind::kDouble: return DecodeFloating(plan, token, column);
    case ValueKind::kDecimal: return DecodeDecimal(plan, token, column);
    case ValueKind::kBytes:
    case ValueKind::kBits: return DecodeBytes(plan, token, column);
    case ValueKind::kDate: return DecodeDate(plan, token, column);
    case ValueKind::kTime:
    case ValueKind::kTimeText: return DecodeTime(plan, token, column);
    case ValueKind::kTimestamp: return DecodeTimestamp(plan, token, column);
    default: return DecodeSet(token, column);
  }
}

bool ValueDecoder::DecodeBoolean(const ValuePlan&, std::string_view token, ColumnBuilder* column) {
  int64_t number = 0;
  if (token == "true" || token == "false") {
    column->AppendBit(token == "true");
  } else if (ReadInteger(token, &number)) {
    column->AppendBit(number != 0);  // TINYINT(1)
  } else if (IsString(token)) {
    // BIT(1) by a connector that writes all bit strings as bytes.
    if (IsUnavailable(Inside(token))) {
      column->AppendAbsent();
      return true;
    }
    __int128 bits = 0;
    if (!DecodeBase64Int128(StripBase64Padding(Inside(token)), &bits)) {
      return Fail("true or false was expected here");
    }
    column->AppendBit((bits & 1) != 0);
  } else {
    return Fail("true or false was expected here");
  }
  return true;
}

bool ValueDecoder::DecodeInteger(const ValuePlan& plan, std::string_view token,
                                 ColumnBuilder* column) {
  int64_t value = 0;
  if (!ReadInteger(token, &value)) {
    if (token == "true" || token == "false") {
      value = token == "true";
    } else if (IsString(token) && IsUnavailable(Inside(token))) {
      column->AppendAbsent();
      return true;
    } else if (IsString(token) && plan.reads_bits) {
      const std::string_view text = StripBase64Padding(Inside(token));
      const size_t size = Base64Size(text);
      uint8_t bytes[9] = {};
      if (size > 8 || !DecodeBase64To(text, bytes)) return Fail("the bits are not base64");
      std::memcpy(&value, bytes, sizeof value);
    } else {
      return Fail("a whole number was expected here");
    }
  }
  const int unused_bits = 64 - plan.width * 8;
  if (value << unused_bits >> unused_bits != value) {
    return Fail("the number does not fit the column's type");
  }
  column->AppendInt(value);
  return true;
}

bool ValueDecoder::DecodeFloating(const ValuePlan& plan, std::string_view token,
                                  ColumnBuilder* column) {
  if (plan.kind == ValueKind::kFloat) {
    float value = 0;
    if (ReadFloating(token, &value)) {
      column->AppendFloat(value);
      return true;
    }
  } else {
    double value = 0;
    if (ReadFloating(token, &value)) {
      column->AppendDouble(value);
      return true;
    }
  }
  if (IsString(token) && IsUnavailable(Inside(token))) {
    column->AppendAbsent();
    return true;
  }
  return Fail("a number was expected here");
}

bool ValueDecoder::DecodeDecimal(const ValuePlan& plan, std::string_view token,
                                 ColumnBuilder* column) {
  Int128 value = 0;
  if (!IsString(token)) {
    int64_t number = 0;
    if (plan.is_unsigned_long && ReadInteger(token, &number)) {
      // bigint.unsigned.handling.mode=long: numbers from 2^63 on arrive negative.
      value = static_cast<uint64_t>(number);
    } else {
      // decimal.handling.mode=double: the number was rounded to a double before it got here, so
      // digits behind the scale are rounded too.
      const DecimalText read = ParseDecimal(token, plan.precision, plan.scale, &value);
      if (read == DecimalText::kInvalid) return Fail("a number was expected here");
      if (read == DecimalText::kOutOfRange) {
        // The largest decimals round up to the double of the next power of ten.
        double rounded = 0;
        if (!ReadFloating(token, &rounded) ||
            std::fabs(rounded) != std::pow(10.0, plan.precision - plan.scale)) {
          return Fail("the decimal does not fit the column's precision");
        }
        ++clamped_;
        value = rounded < 0 ? 1 - plan.limit : plan.limit - 1;
      }
    }
    if (value >= plan.limit || value <= -plan.limit) {
      return Fail("the decimal does not fit the column's precision");
    }
    column->AppendInt128(value);
    return true;
  }
  const std::string_view text = Inside(token);
  if (!text.empty() && text[0] == unavailable_[0] && IsUnavailable(text)) {
    column->AppendAbsent();
    return true;
  }
  if (plan.decimal_mode == DecimalMode::kString) {
    if (ParseDecimal(text, plan.precision, plan.scale, &value) != DecimalText::kOk) {
      return Fail("the decimal is no number of the column's precision and scale");
    }
    column->AppendInt128(value);
    return true;
  }
  if (!DecodeBase64Int128(StripBase64Padding(text), &value)) {
    if (text == unavailable_base64_) {
      column->AppendAbsent();
      return true;
    }
    return Fail(
        "the decimal is not the base64 of at most 16 bytes; if the connector had "
        "decimal.handling.mode=string, set debezium-json.decimal-mode: string");
  }
  if (plan.wire_scale != plan.scale) {
    bool exact = false;
    Int128 rescaled = 0;
    if (!Rescale(value, plan.wire_scale, plan.scale, &rescaled, &exact) || !exact) {
      return Fail("the decimal has more digits than the column's scale");
    }
    value = rescaled;
  }
  if (value >= plan.limit || value <= -plan.limit) {
    return Fail("the decimal does not fit the column's precision");
  }
  column->AppendInt128(value);
  return true;
}

bool ValueDecoder::AppendUnscaled(std::string_view base64, int32_t scale, std::string* text) {
  const std::string_view stripped = StripBase64Padding(base64);
  bytes_.resize(Base64Size(stripped));
  if (bytes_.empty() || !DecodeBase64To(stripped, reinterpret_cast<uint8_t*>(bytes_.data()))) {
    return Fail(
        "the decimal is not base64; if the connector had decimal.handling.mode=string, "
        "set debezium-json.decimal-mode: string");
  }
  AppendBigDecimal(bytes_, scale, text);
  return true;
}

bool ValueDecoder::DecodeVariableScale(JsonCursor* cursor, std::string* text) {
  int64_t scale = 0;
  bool has_scale = false;
  std::string_view value;
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    if (key == "scale") {
      has_scale = ReadInteger(cursor->Token(), &scale);
      cursor->Advance();
    } else if (key == "value") {
      value = cursor->Token();
      cursor->Advance();
    } else if (!cursor->Skip()) {
      return Fail("the value is cut off");
    }
  }
  if (walk.failed() || !has_scale || !IsString(value) || scale < -100000 || scale > 100000) {
    return Fail("a decimal of scale and value was expected here");
  }
  return AppendUnscaled(Inside(value), static_cast<int32_t>(scale), text);
}

bool ValueDecoder::DecodeDecimalText(const ValuePlan& plan, JsonCursor* cursor,
                                     ColumnBuilder* column) {
  if (cursor->Peek() == '{') {
    scratch_.clear();
    if (!DecodeVariableScale(cursor, &scratch_)) return false;
    column->AppendBytes(scratch_);
    return true;
  }
  const std::string_view token = cursor->Token();
  if (!IsString(token) || plan.decimal_mode == DecimalMode::kString) {
    return DecodeText(plan, cursor, column);
  }
  if (IsUnavailable(Inside(token)) || Inside(token) == unavailable_base64_) {
    column->AppendAbsent();
  } else {
    scratch_.clear();
    if (!AppendUnscaled(Inside(token), plan.wire_scale, &scratch_)) return false;
    column->AppendBytes(scratch_);
  }
  cursor->Advance();
  return true;
}

// The member of an ENUM that scratch_ means: as it is, or with its escaped commas.
std::string_view ValueDecoder::MemberOf(const std::vector<std::string>& members) {
  const auto is_member = [&](const std::string& text) {
    return std::find(members.begin(), members.end(), text) != members.end();
  };
  if (is_member(scratch_)) return scratch_;
  bytes_.clear();
  for (size_t i = 0; i < scratch_.size(); ++i) {
    if (scratch_[i] == '\\' && i + 1 < scratch_.size() && scratch_[i + 1] == ',') continue;
    bytes_ += scratch_[i];
  }
  return is_member(bytes_) ? bytes_ : scratch_;
}

bool ValueDecoder::DecodeText(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  const char first = cursor->Peek();
  if (first == '"') {
    const std::string_view token = cursor->Token();
    if (!IsString(token)) return Fail("the string is malformed");
    const std::string_view inside = Inside(token);
    if (!HasEscape(inside)) {
      if (IsUnavailable(inside)) {
        column->AppendAbsent();
      } else {
        column->AppendBytes(inside);
      }
    } else {
      scratch_.clear();
      if (!AppendJsonUnescaped(inside, &scratch_)) {
        return Fail("the string has a malformed escape or half of a surrogate pair");
      }
      column->AppendBytes(plan.members.empty() ? std::string_view(scratch_)
                                               : MemberOf(plan.members));
    }
    cursor->Advance();
    return true;
  }
  // A number where text was expected keeps its digits; an object or array is JSON text.
  JsonCursor check = *cursor;
  if (!SkipChecked(&check)) return Fail("a value was expected here");
  column->AppendBytes(cursor->RawValue());
  return true;
}

bool ValueDecoder::DecodeBytes(const ValuePlan& plan, std::string_view token,
                               ColumnBuilder* column) {
  if (!IsString(token)) {
    if (plan.kind == ValueKind::kBits && (token == "true" || token == "false")) {
      uint8_t* bytes = column->AppendUninitialized(1);
      *bytes = token == "true";
      return true;
    }
    int64_t bits = 0;
    if (plan.kind == ValueKind::kBits && ReadInteger(token, &bits)) {  // Maxwell
      return DecodeMembers(plan, token, column);
    }
    return Fail("encoded bytes were expected here");
  }
  const std::string_view text = Inside(token);
  if (text == unavailable_base64_ || text == unavailable_hex_ || IsUnavailable(text)) {
    column->AppendAbsent();
    return true;
  }
  if (plan.kind == ValueKind::kBytes && plan.binary_mode == BinaryMode::kHex) {
    if (text.size() % 2 != 0) return Fail("hex digits come in pairs");
    bytes_.resize(text.size() / 2);
    if (!DecodeHexTo(text, reinterpret_cast<uint8_t*>(bytes_.data()))) {
      return Fail(
          "the bytes are not hex digits; if the connector had binary.handling.mode=bytes "
          "or base64, set debezium-json.binary-mode: base64");
    }
    column->AppendBytes(bytes_);
    return true;
  }
  const std::string_view stripped = StripBase64Padding(text);
  bytes_.resize(Base64Size(stripped));
  if (!DecodeBase64To(stripped, reinterpret_cast<uint8_t*>(bytes_.data()))) {
    return Fail(
        "the bytes are not base64; if the connector had binary.handling.mode=hex, set "
        "debezium-json.binary-mode: hex");
  }
  if (plan.kind == ValueKind::kBits) {
    // io.debezium.data.Bits is little-endian without leading zeros; the server and SQL show the
    // highest bit first.
    const auto length = static_cast<size_t>(plan.length);
    while (plan.fixed_length && bytes_.size() > length && bytes_.back() == '\0') bytes_.pop_back();
    if (plan.fixed_length && bytes_.size() > length) return Fail("there are more bits than fit");
    if (plan.fixed_length) bytes_.resize(length, '\0');
    std::reverse(bytes_.begin(), bytes_.end());
  }
  column->AppendBytes(bytes_);
  return true;
}

bool ValueDecoder::DecodeDate(const ValuePlan& plan, std::string_view token,
                              ColumnBuilder* column) {
  int64_t days = 0;
  if (IsString(token)) {
    std::string_view text = Inside(token);
    if (IsUnavailable(text)) {
      column->AppendAbsent();
      return true;
    }
    if (text.ends_with('Z')) text.remove_suffix(1);  // IsoDate
    const TimeText read = ParseDate(text, &days);
    const bool far = read == TimeText::kInvalid && IsFarDate(text);
    if (far || read == TimeText::kInfinity || read == TimeText::kMinusInfinity) {
      ++clamped_;
      days = text[0] == '-' ? std::numeric_limits<int32_t>::min()
                            : std::numeric_limits<int32_t>::max();
    } else if (read == TimeText::kZero) {
      return AppendZeroDate(plan, column);
    } else if (read != TimeText::kOk) {
      return Fail("a date was expected here");
    }
  } else if (!ReadInteger(token, &days)) {
    return Fail("a date was expected here: days since 1970-01-01 or ISO text");
  }
  if (days != static_cast<int32_t>(days)) return Fail("the date is out of range");
  column->AppendInt(days);
  return true;
}

bool ValueDecoder::TimeNanos(const ValuePlan& plan, std::string_view token, int64_t* nanos) {
  if (IsString(token)) {
    bool inexact = false;
    if (ParseTime(Inside(token), nanos, &inexact) != TimeText::kOk || inexact) {
      return Fail("a time was expected here");
    }
    return true;
  }
  int64_t number = 0;
  if (!ReadInteger(token, &number)) return Fail("a time was expected here: a number or ISO text");
  *nanos = ConvertUnit(number, plan.unit, /*to_nanos=*/true, &clamped_);
  return true;
}

bool ValueDecoder::DecodeTime(const ValuePlan& plan, std::string_view token,
                              ColumnBuilder* column) {
  if (IsString(token) && IsUnavailable(Inside(token))) {
    column->AppendAbsent();
    return true;
  }
  int64_t nanos = 0;
  if (!TimeNanos(plan, token, &nanos)) return false;
  if (plan.kind == ValueKind::kTimeText) {
    // MySQL's TIME reaches from -838:59:59 to 838:59:59.
    scratch_.clear();
    if (nanos < 0) scratch_ += '-';
    AppendTimeOfDay(nanos < 0 ? -nanos : nanos, plan.precision, &scratch_);
    column->AppendBytes(scratch_);
    return true;
  }
  column->AppendInt(plan.nanos ? nanos : FloorDivide(nanos, 1'000));
  return true;
}

bool ValueDecoder::DecodeTimestamp(const ValuePlan& plan, std::string_view token,
                                   ColumnBuilder* column) {
  if (!IsString(token)) {
    int64_t number = 0;
    if (!ReadInteger(token, &number)) {
      return Fail("a timestamp was expected here: a number or ISO text");
    }
    column->AppendInt(ConvertUnit(number, plan.unit, plan.nanos, &clamped_));
    return true;
  }
  const std::string_view text = Inside(token);
  ParsedTimestamp parsed;
  if (!ReadCommonTimestamp(text, &parsed)) {
    if (IsUnavailable(text)) {
      column->AppendAbsent();
      return true;
    }
    const TimeText read = ParseTimestamp(text, &parsed);
    const bool far = read == TimeText::kInvalid && IsFarDate(text);
    if (far || read == TimeText::kInfinity || read == TimeText::kMinusInfinity) {
      ++clamped_;
      column->AppendInt(text[0] == '-' ? std::numeric_limits<int64_t>::min()
                                       : std::numeric_limits<int64_t>::max());
      return true;
    }
    if (read == TimeText::kZero) return AppendZeroDate(plan, column);
    if (read != TimeText::kOk) return Fail("a timestamp was expected here");
  }
  int64_t value = 0;
  if (!(plan.nanos ? ToNanos(parsed, &value) : ToMicros(parsed, &value))) {
    ++clamped_;
    value =
        parsed.days < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
  column->AppendInt(value);
  return true;
}

bool ValueDecoder::DecodeGeometry(const ValuePlan& plan, JsonCursor* cursor,
                                  ColumnBuilder* column) {
  if (cursor->Peek() == '"') {
    const std::string_view token = cursor->Token();
    if (IsString(token) && IsUnavailable(Inside(token))) {
      column->AppendAbsent();
      cursor->Advance();
      return true;
    }
    // Flink CDC and our own sink write the geometry as the text that the column holds.
    if (plan.kind == ValueKind::kGeometryText) return DecodeText(plan, cursor, column);
  }
  std::string_view wkb;
  std::optional<int64_t> srid;
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    const bool is_wkb = key == "wkb";
    if ((is_wkb || key == "srid") && !cursor->IsNull()) {
      const std::string_view token = cursor->Token();
      int64_t number = 0;
      if (is_wkb) {
        wkb = token;
      } else if (ReadInteger(token, &number)) {
        srid = number;
      }
    }
    if (!cursor->Skip()) return Fail("the value is cut off");
  }
  if (walk.failed() || !IsString(wkb)) return Fail("a geometry of wkb and srid was expected here");
  const std::string_view stripped = StripBase64Padding(Inside(wkb));
  bytes_.resize(Base64Size(stripped));
  if (!DecodeBase64To(stripped, reinterpret_cast<uint8_t*>(bytes_.data()))) {
    return Fail("the geometry's wkb is not base64");
  }
  if (plan.kind == ValueKind::kGeometryBytes) {
    column->AppendBytes(bytes_);
    return true;
  }
  scratch_.clear();
  if (!AppendGeometryJson(bytes_, srid, &scratch_)) {
    return Fail("the geometry's wkb is not understood");
  }
  column->AppendBytes(scratch_);
  return true;
}

bool ValueDecoder::DecodeSet(std::string_view token, ColumnBuilder* column) {
  std::string_view text;
  if (!ReadJsonString(token, &scratch_, &text)) return Fail("the members of a SET were expected");
  if (IsUnavailable(text)) {
    column->AppendAbsent();
    return true;
  }
  for (size_t at = 0; at < text.size();) {  // members have no commas (MySQL manual, 11.3.6)
    const size_t comma = std::min(text.find(',', at), text.size());
    column->child(0).AppendBytes(text.substr(at, comma - at));
    at = comma + 1;
  }
  column->CloseList();
  return true;
}

bool ValueDecoder::DecodeList(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  if (cursor->Peek() == '"') {
    const std::string_view token = cursor->Token();
    if (!IsString(token) || !IsUnavailable(Inside(token))) return Fail("a list was expected here");
    column->AppendAbsent();
    cursor->Advance();
    return true;
  }
  // A list that the database did not send has the placeholder as its only element.
  JsonCursor look = *cursor;
  JsonArrayWalk peek(&look);
  if (peek.Next() && look.Peek() == '"') {
    const std::string_view token = look.Token();
    if (IsString(token) && (IsUnavailable(Inside(token)) || Inside(token) == unavailable_base64_)) {
      look.Advance();
      if (!peek.Next() && !peek.failed()) {
        column->AppendAbsent();
        *cursor = look;
        return true;
      }
    }
  }
  JsonArrayWalk walk(cursor);
  while (walk.Next()) {
    if (!Decode(plan.children[0], cursor, &column->child(0))) return false;
  }
  if (walk.failed()) return Fail("a list was expected here");
  column->CloseList();
  return true;
}

bool ValueDecoder::DecodeMap(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  ColumnBuilder& entries = column->child(0);
  if (cursor->Peek() == '[') {  // keys that are no strings: a list of pairs
    JsonArrayWalk walk(cursor);
    while (walk.Next()) {
      JsonArrayWalk pair(cursor);
      for (int i = 0; i < 2; ++i) {
        if (!pair.Next()) return Fail("a pair of key and value was expected here");
        if (!Decode(plan.children[i], cursor, &entries.child(i))) return false;
      }
      if (pair.Next() || pair.failed()) return Fail("a pair of key and value was expected here");
      entries.CloseStruct();
    }
    if (walk.failed()) return Fail("a map was expected here");
    column->CloseList();
    return true;
  }
  if (plan.children[0].kind != ValueKind::kText) return Fail("a list of pairs was expected here");
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    scratch_.clear();
    if (!AppendJsonUnescaped(key, &scratch_)) return Fail("the key has a malformed escape");
    entries.child(0).AppendBytes(scratch_);
    if (!Decode(plan.children[1], cursor, &entries.child(1))) return false;
    entries.CloseStruct();
  }
  if (walk.failed()) return Fail("a map was expected here");
  column->CloseList();
  return true;
}

bool ValueDecoder::DecodeRow(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column) {
  const int64_t row = column->length();
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    size_t index = 0;
    while (index < plan.names.size() && plan.names[index] != key) ++index;
    if (index == plan.names.size()) return Fail("the struct has a field that its type lacks");
    ColumnBuilder& child = column->child(static_cast<int>(index));
    if (child.length() != row) return Fail("the struct has a field twice");
    if (!Decode(plan.children[index], cursor, &child)) return false;
  }
  if (walk.failed()) return Fail("a struct was expected here");
  for (int i = 0; i < column->child_count(); ++i) {
    if (column->child(i).length() == row) column->child(i).AppendNull();
  }
  column->CloseStruct();
  return true;
}

}  // namespace driftless::debezium
