#include "schema/base/clock.h"

#include <chrono>

namespace driftless {
namespace {

class MachineClock final : public Clock {
 public:
  int64_t NowMillis() const override {
    using std::chrono::system_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               system_clock::now().time_since_epoch())
        .count();
  }
  int64_t MonotonicMicros() const override {
    using std::chrono::steady_clock;
    return std::chrono::duration_cast<std::chrono::microseconds>(
               steady_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

const Clock* SystemClock() {
  static const MachineClock clock;
  return &clock;
}

}  // namespace driftless
