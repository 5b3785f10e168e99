#pragma once

#include <cstdint>

namespace driftless {

// The clock seam: everything that asks for the time takes one of these, so that the simulator and
// the tests own time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t NowMillis() const = 0;        // wall clock, milliseconds since 1970-01-01 UTC
  virtual int64_t MonotonicMicros() const = 0;  // never goes back; for durations only
};

// The machine's clocks. Lives as long as the process.
const Clock* SystemClock();

}  // namespace driftless
