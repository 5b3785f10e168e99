#include "pipeline/cli/time_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <ctime>

namespace driftless {

std::string TimeText(int64_t time_ms) {
  if (time_ms == 0) return {};
  const std::time_t seconds = time_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return fmt::format("{}.{:03d}Z", text.data(), time_ms % 1000);
}

std::optional<int64_t> ParseTimeText(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  // YYYY-MM-DD, then maybe hh:mm:ss, then maybe .fff
  std::array<int, 6> parts = {0, 0, 0, 0, 0, 0};
  constexpr std::array<size_t, 6> kDigits = {4, 2, 2, 2, 2, 2};
  constexpr std::array<std::string_view, 6> kBefore = {"", "-", "-", "T ", ":", ":"};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i >= 3 && text.empty()) break;
    if (!kBefore[i].empty()) {
      if (text.empty() || kBefore[i].find(text.front()) == std::string_view::npos) {
        return std::nullopt;
      }
      text.remove_prefix(1);
    }
    const auto parsed = text.size() < kDigits[i]
                            ? std::from_chars_result{text.data(), std::errc::invalid_argument}
                            : std::from_chars(text.data(), text.data() + kDigits[i], parts[i]);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + kDigits[i]) return std::nullopt;
    text.remove_prefix(kDigits[i]);
  }
  int millis = 0;
  if (!text.empty()) {
    if (text.front() != '.' || text.size() > 4) return std::nullopt;
    std::string digits(text.substr(1));
    digits.resize(3, '0');
    const auto parsed = std::from_chars(digits.data(), digits.data() + 3, millis);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + 3) return std::nullopt;
  }
  std::tm utc{};
  utc.tm_year = parts[0] - 1900;
  utc.tm_mon = parts[1] - 1;
  utc.tm_mday = parts[2];
  utc.tm_hour = parts[3];
  utc.tm_min = parts[4];
  utc.tm_sec = parts[5];
  return static_cast<int64_t>(timegm(&utc)) * 1000 + millis;
}

}  // namespace driftless
