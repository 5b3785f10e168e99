#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/expr/eval/node.h"

namespace driftless::flink {

enum class TimeUnit : uint8_t {
  kMilli,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
  kDayOfYear,
  kDayOfWeek,
  kEpoch,
};
// In upper case; none: no unit.
std::optional<TimeUnit> ParseTimeUnit(std::string_view word);

// A distance in time: months have no fixed length.
struct Interval {
  int64_t months = 0;
  int64_t micros = 0;
};
Interval IntervalOf(TimeUnit unit);  // one of it

// A DATE, TIME or TIMESTAMP plus an interval (`amount`, BIGINT: so many times). A day that the
// month lacks becomes its last; a date takes whole days only.
NodePtr MakeAddInterval(NodePtr value, const Interval& interval);
NodePtr MakeAddInterval(NodePtr value, NodePtr amount, const Interval& interval);

}  // namespace driftless::flink
