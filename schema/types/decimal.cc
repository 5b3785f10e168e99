#include "schema/types/decimal.h"

#include <array>
#include <charconv>
#include <cstring>

#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr int kMaxDigits = 38;

constexpr std::array<Int128, kMaxDigits + 1> MakePowers() {
  std::array<Int128, kMaxDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Int128, kMaxDigits + 1> kPowers = MakePowers();

UInt128 Magnitude(Int128 value) {
  return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

// Digits of `value` right-aligned in `buffer`; returns their number.
int WriteDigits(UInt128 value, char* buffer_end) {
  int n = 0;
  while (value > UINT64_MAX) {
    // 18 digits at a time, so that 128-bit division is rare.
    auto low = static_cast<uint64_t>(value % 1'000'000'000'000'000'000ULL);
    value /= 1'000'000'000'000'000'000ULL;
    for (int i = 0; i < 18; ++i) {
      *--buffer_end = static_cast<char>('0' + low % 10);
      low /= 10;
      ++n;
    }
  }
  auto rest = static_cast<uint64_t>(value);
  while (rest > 0) {
    *--buffer_end = static_cast<char>('0' + rest % 10);
    rest /= 10;
    ++n;
  }
  return n;
}

}  // namespace

Int128 PowerOfTen(int exponent) {
  DRIFTLESS_CHECK(exponent >= 0 && exponent <= kMaxDigits);
  return kPowers[static_cast<size_t>(exponent)];
}

bool FitsPrecision(Int128 value, int precision) {
  return Magnitude(value) < static_cast<UInt128>(kPowers[static_cast<size_t>(precision)]);
}

std::string_view WriteDecimal(Int128 value, int scale, char (&buffer)[kDecimalTextMax]) {
  char* const end = buffer + sizeof buffer;
  int n = WriteDigits(Magnitude(value), end);
  while (n <= scale) end[-++n] = '0';
  char* begin = end - n;
  if (scale > 0) {
    // Make room for the point by moving the digits in front of it.
    std::memmove(begin - 1, begin, static_cast<size_t>(n - scale));
    --begin;
    end[-scale - 1] = '.';
  }
  if (value < 0) *--begin = '-';
  return {begin, static_cast<size_t>(end - begin)};
}

void AppendDecimal(Int128 value, int scale, std::string* out) {
  char buffer[kDecimalTextMax];
  *out += WriteDecimal(value, scale, buffer);
}

DecimalText ParseDecimal(std::string_view text, int precision, int scale, Int128* value) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  size_t at = 0;
  bool negative = false;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
  // First pass: where the digits and the exponent stand.
  int64_t exponent = 0;
  size_t digits_end = text.size();
  const size_t e = text.find_first_of("eE", at);
  if (e != std::string_view::npos) {
    digits_end = e;
    std::string_view number = text.substr(e + 1);
    if (!number.empty() && number[0] == '+') number.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), exponent);
    if (error != std::errc() || end != number.data() + number.size() || number.empty()) {
      return DecimalText::kInvalid;
    }
    if (exponent > 100000 || exponent < -100000) exponent = exponent > 0 ? 100000 : -100000;
  }
  size_t point = digits_end;
  size_t digit_count = 0;
  for (size_t i = at; i < digits_end; ++i) {
    if (text[i] == '.') {
      if (point != digits_end) return DecimalText::kInvalid;
      point = i;
    } else if (text[i] >= '0' && text[i] <= '9') {
      ++digit_count;
    } else {
      return DecimalText::kInvalid;
    }
  }
  if (digit_count == 0) return DecimalText::kInvalid;
  // Second pass: each digit has a power of ten relative to the scale; those below 0 are rounded.
  int64_t power = static_cast<int64_t>(point - at) - 1 + exponent + scale;
  UInt128 magnitude = 0;
  bool lost = false;
  bool round_up = false;
  for (size_t i = at; i < digits_end; ++i) {
    if (text[i] == '.') continue;
    const auto digit = static_cast<unsigned>(text[i] - '0');
    if (power >= 0) {
      if (digit != 0) {
        if (power >= kMaxDigits) return DecimalText::kOutOfRange;
        magnitude += static_cast<UInt128>(kPowers[static_cast<size_t>(power)]) * digit;
        if (magnitude >= static_cast<UInt128>(kPowers[kMaxDigits])) return DecimalText::kOutOfRange;
      }
    } else {
      if (power == -1) round_up = digit >= 5;
      lost |= digit != 0;
    }
    --power;
  }
  if (round_up) ++magnitude;
  if (magnitude >= static_cast<UInt128>(kPowers[static_cast<size_t>(precision)])) {
    return DecimalText::kOutOfRange;
  }
  *value = negative ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude);
  return lost ? DecimalText::kRounded : DecimalText::kOk;
}

bool Rescale(Int128 value, int from_scale, int to_scale, Int128* result, bool* exact) {
  *exact = true;
  if (to_scale >= from_scale) {
    const int shift = to_scale - from_scale;
    if (!FitsPrecision(value, kMaxDigits - shift)) return false;
    *result = value * kPowers[static_cast<size_t>(shift)];
    return true;
  }
  const Int128 divisor = kPowers[static_cast<size_t>(from_scale - to_scale)];
  Int128 quotient = value / divisor;
  const Int128 rest = value - quotient * divisor;
  if (rest != 0) {
    *exact = false;
    if (Magnitude(rest) * 2 >= static_cast<UInt128>(divisor)) quotient += value < 0 ? -1 : 1;
  }
  *result = quotient;
  return true;
}

double DecimalToDouble(Int128 value, int scale) {
  // Over text: the way to the nearest double for all 38 digits.
  char buffer[kDecimalTextMax];
  const std::string_view text = WriteDecimal(value, scale, buffer);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace driftless
