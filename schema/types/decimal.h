#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace driftless {

// Decimals are unscaled 128-bit integers with a scale of the type (Arrow's decimal128).
using Int128 = __int128;
using UInt128 = unsigned __int128;

// 10^exponent for 0..38.
Int128 PowerOfTen(int exponent);

// True where |value| has at most `precision` digits.
bool FitsPrecision(Int128 value, int precision);

// "-12.30" with all `scale` digits.
void AppendDecimal(Int128 value, int scale, std::string* out);
// The same into `buffer`; the view lies in it.
inline constexpr int kDecimalTextMax = 48;
std::string_view WriteDecimal(Int128 value, int scale, char (&buffer)[kDecimalTextMax]);

enum class DecimalText : uint8_t {
  kOk,
  kRounded,     // the value is rounded half away from zero: digits behind the scale were lost
  kOutOfRange,  // does not fit the precision
  kInvalid,     // no number ("NaN" too)
};
// Reads "-12.3", ".5", "1e-3", "+7", blanks around. The value is set for kOk and kRounded.
DecimalText ParseDecimal(std::string_view text, int precision, int scale, Int128* value);

// Changes the scale. False where digits would overflow 38; `*exact` says that no digit was lost
// (else rounded half away from zero).
bool Rescale(Int128 value, int from_scale, int to_scale, Int128* result, bool* exact);

double DecimalToDouble(Int128 value, int scale);

}  // namespace driftless
