#pragma once

#include <cstdint>

namespace driftless {

// SIGTERM and SIGINT of the process, waited for in plain code instead of in a handler. Make it
// before any thread: those inherit the blocked signals.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Blocks until a signal came (its number), `timeout_ms` passed (0) or Wake was called (-1). One
  // caller at a time.
  int Wait(int64_t timeout_ms);
  void Wake();

 private:
  int signal_file_ = -1;
  int wake_file_ = -1;
};

}  // namespace driftless
