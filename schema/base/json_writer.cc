#include "schema/base/json_writer.h"

#include <cmath>

#include "schema/base/bytes_text.h"
#include "schema/base/utf8.h"

namespace driftless {
namespace {

bool IsPlain(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

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
    size_t plain_end = at;
    while (plain_end < text.size() && IsPlain(static_cast<unsigned char>(text[plain_end]))) {
      ++plain_end;
    }
    out->append(text.substr(at, plain_end - at));
    at = plain_end;
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
