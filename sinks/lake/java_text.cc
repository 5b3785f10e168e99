#include "sinks/lake/java_text.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace driftless::lake {
namespace {

// Shortest digits of a number in Java's layout.
template <typename Float>
std::string JavaText(Float value) {
  if (value != value) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<size_t>(end.ptr - buffer));
  std::string out;
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const char* number = text.data() + e + 1;
  if (*number == '+') ++number;
  std::from_chars(number, text.data() + text.size(), exponent);
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c != '.') digits += c;
  }
  if (value == 0) return out + "0.0";
  if (exponent >= -3 && exponent < 7) {
    if (exponent < 0) {
      out += "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
      return out;
    }
    const auto whole = static_cast<size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    out += digits.substr(0, whole) + ".";
    out += digits.size() > whole ? digits.substr(whole) : "0";
    return out;
  }
  out += digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0") + "E" +
         std::to_string(exponent);
  return out;
}

}  // namespace

std::string JavaDoubleText(double value) { return JavaText(value); }
std::string JavaFloatText(float value) { return JavaText(value); }

}  // namespace driftless::lake
