#include "sinks/olap/json_value.h"

#include <charconv>
#include <cstring>

#include "schema/base/utf8.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "schema/types/value_text.h"

namespace driftless::olap {
namespace {

constexpr TextFormat kFormat{.bytes = BytesText::kBase64, .decimals = DecimalJson::kString};

char* Copy(std::string_view text, char* at) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

// True where one of eight bytes needs a look: below 0x20, '"', '\\', or above 0x7F. The well-known
// test for a zero byte (Hacker's Delight, 6-1); borrows only ever raise a false alarm.
bool NeedsALook(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const uint64_t quote = bytes ^ (kOnes * '"');
  const uint64_t escape = bytes ^ (kOnes * '\\');
  const uint64_t below = (bytes - kOnes * 0x20) | (quote - kOnes) | (escape - kOnes) | bytes;
  return (below & kHighs) != 0;
}

char* Escape(unsigned char c, char* at) {
  static constexpr char kHex[] = "0123456789abcdef";
  *at++ = '\\';
  switch (c) {
    case '"': *at++ = '"'; return at;
    case '\\': *at++ = '\\'; return at;
    case '\n': *at++ = 'n'; return at;
    case '\r': *at++ = 'r'; return at;
    case '\t': *at++ = 't'; return at;
    case '\b': *at++ = 'b'; return at;
    case '\f': *at++ = 'f'; return at;
    default: break;
  }
  at = Copy("u00", at);
  *at++ = kHex[c >> 4];
  *at++ = kHex[c & 15];
  return at;
}

// Room for a text as JSON: short ones are not looked at for it.
size_t TextBytesMax(std::string_view text) {
  constexpr size_t kShort = 512;
  if (text.size() <= kShort) return 6 * text.size() + 2;
  size_t more = 2;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) more += 2;  // where it is not UTF-8, it becomes three
    if (byte < 0x20 || byte == '"' || byte == '\\') more += 5;
  }
  return text.size() + more;
}

// As AppendJsonString: what is not UTF-8 becomes U+FFFD.
char* WriteText(std::string_view text, char* at) {
  *at++ = '"';
  size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= 8) {
      uint64_t bytes = 0;
      std::memcpy(&bytes, text.data() + i, 8);
      if (!NeedsALook(bytes)) {
        std::memcpy(at, &bytes, 8);
        at += 8;
        i += 8;
        continue;
      }
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const size_t length = Utf8SequenceLength(text, i);
      at = length == 0 ? Copy("\xEF\xBF\xBD", at) : Copy(text.substr(i, length), at);
      i += length == 0 ? 1 : length;
    } else {
      if (c < 0x20 || c == '"' || c == '\\') {
        at = Escape(c, at);
      } else {
        *at++ = static_cast<char>(c);
      }
      ++i;
    }
  }
  *at++ = '"';
  return at;
}

char* WriteDecimalText(Int128 value, int scale, char* at) {
  *at++ = '"';
  if (value > INT64_MAX || value < -INT64_MAX) {
    char buffer[kDecimalTextMax];
    at = Copy(WriteDecimal(value, scale, buffer), at);
    *at++ = '"';
    return at;
  }
  if (value < 0) *at++ = '-';
  const auto whole = static_cast<uint64_t>(value < 0 ? -value : value);
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, whole).ptr;
  const auto count = static_cast<int>(end - digits);
  if (scale <= 0) {
    at = Copy({digits, static_cast<size_t>(count)}, at);
  } else if (count > scale) {
    at = Copy({digits, static_cast<size_t>(count - scale)}, at);
    *at++ = '.';
    at = Copy({digits + count - scale, static_cast<size_t>(scale)}, at);
  } else {
    at = Copy("0.", at);
    for (int i = count; i < scale; ++i) *at++ = '0';
    at = Copy({digits, static_cast<size_t>(count)}, at);
  }
  *at++ = '"';
  return at;
}

char* TwoDigits(int64_t value, char* at) {
  *at++ = static_cast<char>('0' + value / 10);
  *at++ = static_cast<char>('0' + value % 10);
  return at;
}

template <typename Number>
char* WriteNumber(Number value, char* at) {
  return std::to_chars(at, at + 40, value).ptr;
}

}  // namespace

JsonValueWriter::JsonValueWriter(const LogicalType& type) : type_(type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: form_ = Form::kBit; break;
    case TypeKind::kTinyInt: form_ = Form::kInt8; break;
    case TypeKind::kSmallInt: form_ = Form::kInt16; break;
    case TypeKind::kInt: form_ = Form::kInt32; break;
    case TypeKind::kBigInt: form_ = Form::kInt64; break;
    case TypeKind::kFloat: form_ = Form::kFloat; break;
    case TypeKind::kDouble: form_ = Form::kDouble; break;
    case TypeKind::kDecimal: form_ = Form::kDecimal; break;
    case TypeKind::kChar:
    case TypeKind::kVarChar: form_ = Form::kText; break;
    case TypeKind::kDate: form_ = Form::kDate; break;
    case TypeKind::kTimestamp: form_ = type.IsNanos() ? Form::kOther : Form::kMicros; break;
    default: form_ = Form::kOther;
  }
  bytes_max_ = form_ == Form::kText || form_ == Form::kOther ? 2 : 64;
}

char* JsonValueWriter::WriteDay(int64_t day, char* at) {
  if (day != last_day_) {
    last_day_text_.clear();
    AppendDate(day, &last_day_text_);
    last_day_ = day;
  }
  return Copy(last_day_text_, at);
}

char* JsonValueWriter::WriteMoment(int64_t micros, char* at) {
  int64_t day = micros / kMicrosPerDay;
  int64_t rest = micros % kMicrosPerDay;
  if (rest < 0) {
    rest += kMicrosPerDay;
    --day;
  }
  at = WriteDay(day, at);
  *at++ = ' ';
  const int64_t seconds = rest / kMicrosPerSecond;
  at = TwoDigits(seconds / 3600, at);
  *at++ = ':';
  at = TwoDigits(seconds / 60 % 60, at);
  *at++ = ':';
  at = TwoDigits(seconds % 60, at);
  const int precision = type_.precision();
  if (precision <= 0) return at;
  *at++ = '.';
  char digits[6];
  int64_t fraction = rest % kMicrosPerSecond;
  for (int i = 5; i >= 0; --i) {
    digits[i] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  return Copy({digits, static_cast<size_t>(precision)}, at);
}

char* JsonValueWriter::Write(const ColumnView& values, int64_t row, size_t room, LoadBody* body,
                             char* at) {
  switch (form_) {
    case Form::kBit: return Copy(values.Bit(row) ? "true" : "false", at);
    case Form::kInt8: return WriteNumber(int{values.Fixed<int8_t>(row)}, at);
    case Form::kInt16: return WriteNumber(values.Fixed<int16_t>(row), at);
    case Form::kInt32: return WriteNumber(values.Fixed<int32_t>(row), at);
    case Form::kInt64: return WriteNumber(values.Fixed<int64_t>(row), at);
    case Form::kFloat: return WriteNumber(values.Fixed<float>(row), at);
    case Form::kDouble: return WriteNumber(values.Fixed<double>(row), at);
    case Form::kDecimal: return WriteDecimalText(values.Fixed<Int128>(row), type_.scale(), at);
    case Form::kDate:
      *at++ = '"';
      at = WriteDay(values.Fixed<int32_t>(row), at);
      *at++ = '"';
      return at;
    case Form::kMicros:
      *at++ = '"';
      at = WriteMoment(values.Fixed<int64_t>(row), at);
      *at++ = '"';
      return at;
    case Form::kText: {
      const std::string_view text = values.Bytes(row);
      body->Commit(at);
      return WriteText(text, body->Reserve(TextBytesMax(text) + room));
    }
    case Form::kOther: break;
  }
  scratch_.clear();
  AppendJson(type_, values, row, kFormat, &scratch_);
  body->Commit(at);
  return Copy(scratch_, body->Reserve(scratch_.size() + room));
}

}  // namespace driftless::olap
