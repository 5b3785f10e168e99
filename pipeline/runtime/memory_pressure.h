#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "sinks/api/memory_budget.h"

namespace driftless {

// Somebody who can give memory back: a writer thread.
class MemoryHolder {
 public:
  virtual ~MemoryHolder() = default;
  // Bytes that a roll would free. Any thread.
  virtual int64_t RollableBytes() const = 0;
  virtual void RequestRoll() = 0;  // never blocks; ends in MemoryPressure::RollDone
};

// When the budget is tight, the largest writer rolls, beside the sources that go on reading; one at
// a time, until there is room again. A small buffer is not rolled before the budget is over its
// limit: its file would be small, too, and others hold the memory. Thread-safe.
class MemoryPressure {
 public:
  explicit MemoryPressure(MemoryBudget* budget) : budget_(budget) {}

  void Register(MemoryHolder* holder);
  // A roll that it was asked for counts as done. May be called twice.
  void Unregister(MemoryHolder* holder);
  // To be called by whoever waits for memory or has just taken some. False: the budget is over
  // its limit, and no writer holds anything that a roll could free.
  bool Relieve();
  void RollDone();

 private:
  MemoryBudget* const budget_;
  std::mutex mutex_;
  std::vector<MemoryHolder*> holders_;
  MemoryHolder* rolling_ = nullptr;  // the one that was asked
};

}  // namespace driftless
