#pragma once

#include <cstdint>

#include "sinks/api/memory_budget.h"

namespace driftless {

// What one holder of memory has charged to a budget; given back when it goes. One thread.
class MemoryCharge {
 public:
  // `budget` may be null: nothing is charged.
  explicit MemoryCharge(MemoryBudget* budget) : budget_(budget) {}
  ~MemoryCharge() { Set(0); }
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  // What the holder has now, in bytes; the difference is charged or released.
  void Set(int64_t bytes) {
    if (budget_ != nullptr) {
      if (bytes > charged_) budget_->Add(bytes - charged_);
      if (bytes < charged_) budget_->Release(charged_ - bytes);
    }
    charged_ = bytes;
  }

 private:
  MemoryBudget* budget_;
  int64_t charged_ = 0;
};

}  // namespace driftless
