#include "schema/base/json_writer.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "schema/base/bytes_text.h"
#include "schema/base/utf8.h"

namespace driftless {
namespace {

bool IsPlain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

// How many bytes at the front are plain. Eight at a time: the high bit of each byte of `other` says
// that it is below 0x20, above 0x7f, a quote or a backslash; what a borrow marks wrongly stands
// behind a byte that is marked rightly.
size_t PlainPrefix(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x80 * kOnes;
  size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + 8 <= text.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      const uint64_t quote = word ^ ('"' * kOnes);
      const uint64_t backslash = word ^ ('\\' * kOnes);
      const uint64_t other =
          ((word - 0x20 * kOnes) | word | (quote - kOnes) | (backslash - kOnes)) & kHigh;
      if (other != 0) return at + static_cast<size_t>(std::countr_zero(other)) / 8;
    }
  }
  while (at < text.size() && IsPlain(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

void AppendEscaped(unsigned char c, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"': *out += "\\\""; return;
    case '\\': *out += "\\\\"; return;
    case '\n': *out += "\\n"; return;
    case '\r': *out += "\\r"; return;
    case '\t': *out += "\\t"; return;
    case '\b': *out += "\\b"; return;
    case '\f': *out += "\\f"; return;
    default:
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 15];
  }
}

// Shortest text that reads back as the same number.
template <typename Float>
void AppendFloating(Float value, std::string* out) {
  if (std::isnan(value)) {
    *out += "\"NaN\"";
  } else if (std::isinf(value)) {
    *out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char buffer[40];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    out->append(buffer, static_cast<size_t>(end - buffer));
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  size_t at = 0;
  while (at < text.size()) {
    const size_t plain = PlainPrefix(text.substr(at));
    out->append(text.substr(at, plain));
    at += plain;
    if (at == text.size()) break;
    const auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x80) {
      AppendEscaped(c, out);
      ++at;
      continue;
    }
    const size_t length = Utf8SequenceLength(text, at);
    if (length == 0) {
      *out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out->append(text.substr(at, length));
      at += length;
    }
  }
  *out += '"';
}

JsonWriter& JsonWriter::Bytes(std::string_view value) {
  if (IsValidUtf8(value)) return String(value);
  std::string text;
  AppendBase64(value, &text);
  return BeginObject().Key("base64").String(text).EndObject();
}

void AppendJsonDouble(double value, std::string* out) { AppendFloating(value, out); }
void AppendJsonFloat(float value, std::string* out) { AppendFloating(value, out); }

}  // namespace driftless
