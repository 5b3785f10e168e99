#include "config/definition/time_zone.h"

#include <absl/time/time.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

constexpr std::string_view kZoneExample = "Write an IANA name such as Asia/Shanghai or UTC.";

// The name behind /etc/localtime, which is a link into the time zone database; TZ wins.
std::string SystemTimeZone() {
  if (const char* tz = std::getenv("TZ"); tz != nullptr && *tz != '\0') {
    std::string name = *tz == ':' ? tz + 1 : tz;
    absl::TimeZone zone;
    if (absl::LoadTimeZone(name, &zone)) return name;
  }
  std::error_code error;
  const std::string target = std::filesystem::canonical("/etc/localtime", error).string();
  constexpr std::string_view kFolder = "zoneinfo/";
  const size_t folder = target.find(kFolder);
  if (error || folder == std::string::npos) return "UTC";
  return target.substr(folder + kFolder.size());
}

// "+08:00", "GMT+8", "UTC-05:00" in hours; nullopt: no offset. Errors: offsets without a zone name.
Result<std::optional<int>> ParseOffset(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("GMT") || rest.starts_with("UTC")) rest.remove_prefix(3);
  if (rest.size() < 2 || (rest[0] != '+' && rest[0] != '-')) return std::optional<int>();
  const bool negative = rest[0] == '-';
  rest.remove_prefix(1);
  std::string digits;
  for (char c : rest) {
    if (c == ':') continue;
    if (c < '0' || c > '9') return std::optional<int>();
    digits += c;
  }
  if (digits.size() <= 2) digits += "00";
  if (digits.size() == 3) digits = "0" + digits;
  if (digits.size() != 4) return std::optional<int>();
  const int hours = std::stoi(digits.substr(0, 2));
  const int minutes = std::stoi(digits.substr(2));
  // Etc/GMT-14 to Etc/GMT+12 are all that the time zone database has.
  if (minutes != 0 || hours > (negative ? 12 : 14)) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("no time zone has the name \"{}\"", text))
        .Hint("Write the place instead, such as Asia/Kolkata.");
  }
  return std::optional<int>(negative ? -hours : hours);
}

}  // namespace

Result<std::string> ResolveTimeZone(std::string_view text) {
  if (EqualsIgnoringCase(text, "systemDefault")) return SystemTimeZone();
  constexpr std::array<std::string_view, 14> kAmbiguous = {"ACT", "AET", "AGT", "ART", "AST",
                                                           "BET", "BST", "CAT", "CNT", "CST",
                                                           "CTT", "EAT", "ECT", "IST"};
  for (std::string_view id : kAmbiguous) {
    if (!EqualsIgnoringCase(id, text)) continue;
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("\"{}\" means different time zones to different programs", text))
        .Hint(std::string(kZoneExample));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<int> offset, ParseOffset(text));
  if (offset) {
    if (*offset == 0) return std::string("UTC");
    // The database's sign is the opposite one: Etc/GMT-8 is eight hours east of Greenwich.
    return fmt::format("Etc/GMT{}{}", *offset > 0 ? '-' : '+', std::abs(*offset));
  }
  absl::TimeZone zone;
  if (!text.empty() && text.find("..") == std::string_view::npos && text[0] != '/' &&
      absl::LoadTimeZone(std::string(text), &zone)) {
    return std::string(text);
  }
  return MakeError(ErrorKind::kInvalidConfig, fmt::format("unknown time zone \"{}\"", text))
      .Hint(std::string(kZoneExample));
}

}  // namespace driftless
