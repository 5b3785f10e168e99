#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace driftless::debezium {

// Base64 as Debezium writes it: RFC 4648's two alphabets at once (binary.handling.mode base64 and
// base64-url-safe differ in two letters only), padded or not.
inline constexpr std::array<int8_t, 256> kBase64Digits = [] {
  std::array<int8_t, 256> digits{};
  digits.fill(-1);
  for (int i = 0; i < 26; ++i) {
    digits['A' + i] = static_cast<int8_t>(i);
    digits['a' + i] = static_cast<int8_t>(26 + i);
  }
  for (int i = 0; i < 10; ++i) digits['0' + i] = static_cast<int8_t>(52 + i);
  digits['+'] = digits['-'] = 62;
  digits['/'] = digits['_'] = 63;
  return digits;
}();

// Without the padding; the size is then never 1 modulo 4 in valid text.
inline std::string_view StripBase64Padding(std::string_view text) {
  if (!text.empty() && text.size() % 4 == 0 && text.back() == '=') {
    text.remove_suffix(text[text.size() - 2] == '=' ? 2 : 1);
  }
  return text;
}

inline size_t Base64Size(std::string_view stripped) { return stripped.size() * 3 / 4; }

// Writes Base64Size(stripped) bytes to `out`. False where a letter is not in the alphabet.
inline bool DecodeBase64To(std::string_view stripped, uint8_t* out) {
  if (stripped.size() % 4 == 1) return false;
  int bad = 0;
  size_t at = 0;
  const auto digit = [&](size_t i) {
    const int value = kBase64Digits[static_cast<uint8_t>(stripped[i])];
    bad |= value;
    return static_cast<uint32_t>(value);
  };
  for (; at + 4 <= stripped.size(); at += 4) {
    const uint32_t word =
        digit(at) << 18 | digit(at + 1) << 12 | digit(at + 2) << 6 | digit(at + 3);
    *out++ = static_cast<uint8_t>(word >> 16);
    *out++ = static_cast<uint8_t>(word >> 8);
    *out++ = static_cast<uint8_t>(word);
  }
  const size_t rest = stripped.size() - at;
  if (rest >= 2) {
    uint32_t word = digit(at) << 18 | digit(at + 1) << 12;
    if (rest == 3) word |= digit(at + 2) << 6;
    *out++ = static_cast<uint8_t>(word >> 16);
    if (rest == 3) *out++ = static_cast<uint8_t>(word >> 8);
  }
  return bad >= 0;
}

// The big-endian two's complement number that the text encodes (Kafka Connect's Decimal). False
// where it is no base64, empty, or longer than 16 bytes.
inline bool DecodeBase64Int128(std::string_view stripped, __int128* value) {
  const size_t digits = stripped.size();
  const size_t size = Base64Size(stripped);
  if (digits < 2 || digits % 4 == 1 || size > 16) return false;
  int bad = 0;
  unsigned __int128 bits = 0;
  if (digits <= 11) {  // 66 bits would not fit a word, but the last digit is added below
    uint64_t word = 0;
    for (size_t i = 0; i + 1 < digits; ++i) {
      const int digit = kBase64Digits[static_cast<uint8_t>(stripped[i])];
      bad |= digit;
      word = word << 6 | static_cast<uint32_t>(digit & 63);
    }
    bits = word;
  } else {
    for (size_t i = 0; i + 1 < digits; ++i) {
      const int digit = kBase64Digits[static_cast<uint8_t>(stripped[i])];
      bad |= digit;
      bits = bits << 6 | static_cast<uint32_t>(digit & 63);
    }
  }
  const int last = kBase64Digits[static_cast<uint8_t>(stripped[digits - 1])];
  bad |= last;
  if (bad < 0) return false;
  const unsigned drop = digits * 6 % 8;  // bits of the last digit behind the last byte
  bits = bits << (6 - drop) | static_cast<uint32_t>(last) >> drop;
  const unsigned shift = static_cast<unsigned>(128 - size * 8);
  *value = static_cast<__int128>(bits << shift) >> shift;
  return true;
}

}  // namespace driftless::debezium
