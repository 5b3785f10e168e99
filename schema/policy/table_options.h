#pragma once

#include <string_view>

namespace driftless {

// Options of a created table that come from a transform stand in its schema's options under this
// prefix; the planner gets them without it.
inline constexpr std::string_view kTableOptionPrefix = "sink-table.";

}  // namespace driftless
