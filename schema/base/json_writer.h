#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace driftless {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that
// what we write is always a JSON document (RFC 8259).
void AppendJsonString(std::string_view text, std::string* out);

// Appends a number as JSON. NaN and the infinities, which JSON lacks, become the strings "NaN",
// "Infinity" and "-Infinity".
void AppendJsonDouble(double value, std::string* out);
void AppendJsonFloat(float value, std::string* out);

template <typename Integer>
  requires std::is_integral_v<Integer>
void AppendInteger(Integer value, std::string* out) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

// Writes one compact JSON document piece by piece; it puts the commas. Example:
//   JsonWriter json(&text);
//   json.BeginObject().Key("id").Int(7).Key("names").BeginArray().String("a").EndArray()
//       .EndObject();
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view name) {
    Separate();
    AppendJsonString(name, out_);
    *out_ += ':';
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& String(std::string_view value) {
    Separate();
    AppendJsonString(value, out_);
    return *this;
  }
  // Text that may not be UTF-8: a string, or {"base64": "..."}; JsonObject::String reads both.
  JsonWriter& Bytes(std::string_view value);
  template <typename Integer>
    requires std::is_integral_v<Integer>
  JsonWriter& Int(Integer value) {
    Separate();
    AppendInteger(value, out_);
    return *this;
  }
  JsonWriter& Double(double value) {
    Separate();
    AppendJsonDouble(value, out_);
    return *this;
  }
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json) {
    Separate();
    *out_ += json;
    return *this;
  }

 private:
  JsonWriter& Open(char bracket) {
    Separate();
    *out_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  JsonWriter& Close(char bracket) {
    *out_ += bracket;
    needs_comma_ = true;
    return *this;
  }
  void Separate() {
    if (needs_comma_) *out_ += ',';
    needs_comma_ = true;
  }

  std::string* out_;
  bool needs_comma_ = false;
};

}  // namespace driftless
