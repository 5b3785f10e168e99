#include "schema/base/bytes_text.h"

#include <array>
#include <cstdint>

namespace driftless {
namespace {

constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool DecodeHex(std::string_view text, std::string* out) {
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return false;
    *out += static_cast<char>(high << 4 | low);
  }
  return true;
}

void AppendHex(std::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *out += kHex[byte >> 4];
    *out += kHex[byte & 15];
  }
}

void AppendBase64(std::string_view bytes, std::string* out) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i]));
  };
  size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    const uint32_t group = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
    for (const int shift : {18, 12, 6, 0}) *out += kBase64Digits[group >> shift & 63];
  }
  const size_t rest = bytes.size() - at;
  if (rest == 0) return;
  const uint32_t group = byte(at) << 16 | (rest == 2 ? byte(at + 1) << 8 : 0);
  *out += kBase64Digits[group >> 18 & 63];
  *out += kBase64Digits[group >> 12 & 63];
  *out += rest == 2 ? kBase64Digits[group >> 6 & 63] : '=';
  *out += '=';
}

bool DecodeBase64(std::string_view text, std::string* out) {
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    for (int i = 0; i < 64; ++i) {
      values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<int8_t>(i);
    }
    return values;
  }();
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      *out += static_cast<char>(bits >> bit_count & 0xFF);
    }
  }
  return true;
}

}  // namespace driftless
