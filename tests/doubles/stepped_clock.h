#pragma once

#include "schema/base/clock.h"

namespace driftless::testing {

// Time that stands still until it is told to go on.
class SteppedClock : public Clock {
 public:
  int64_t NowMillis() const override { return now_ms; }
  int64_t MonotonicMicros() const override { return now_ms * 1000; }
  int64_t now_ms = 1'700'000'000'000;
};

}  // namespace driftless::testing
