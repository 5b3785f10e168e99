#pragma once

#include <cstdint>

#include "schema/types/logical_type.h"

namespace driftless::paimon {

// How Paimon stores what our batches hold in another unit: TIME as milliseconds of the day,
// timestamps as milliseconds and the nanoseconds within.

inline int64_t FloorDivide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - static_cast<int64_t>(value % divisor < 0);
}

struct TimestampParts {
  int64_t millis;
  int32_t nanos_of_milli;  // 0..999,999
};

// `value` in the unit of `type` in memory: microseconds, or nanoseconds above precision 6.
inline TimestampParts SplitTimestamp(const LogicalType& type, int64_t value) {
  const int64_t per_milli = type.IsNanos() ? 1000000 : 1000;
  const int64_t millis = FloorDivide(value, per_milli);
  const int64_t rest = value - millis * per_milli;
  return {millis, static_cast<int32_t>(type.IsNanos() ? rest : rest * 1000)};
}

inline int32_t TimeMillis(const LogicalType& type, int64_t value) {
  return static_cast<int32_t>(value / (type.IsNanos() ? 1000000 : 1000));
}

}  // namespace driftless::paimon
