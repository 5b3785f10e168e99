#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace driftless {

// "2026-01-31T10:00:00.123Z"; empty for 0.
std::string TimeText(int64_t time_ms);
// The inverse, also with a blank for the T, without the fraction, the Z or the time of day.
std::optional<int64_t> ParseTimeText(std::string_view text);

}  // namespace driftless
