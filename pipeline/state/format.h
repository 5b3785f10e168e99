#pragma once

#include <string>
#include <string_view>

#include "schema/events/point.h"

namespace driftless {

// The database's tables, as FORMAT.md describes them (format 1).
extern const char kCreateTables[];

// A point as text that sorts as points do: hexadecimal, fixed width. The stream is not in it.
std::string PointSortKey(const Point& point);
Result<Point> ParsePointSortKey(std::string_view text, StreamId stream);

}  // namespace driftless
