#include "pipeline/runtime/memory_pressure.h"

#include <algorithm>

namespace driftless {
namespace {

// A buffer of this part of the budget is rolled before memory is short.
constexpr int64_t kWorthRolling = 8;

}  // namespace

void MemoryPressure::Register(MemoryHolder* holder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  holders_.push_back(holder);
}

void MemoryPressure::Unregister(MemoryHolder* holder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase(holders_, holder);
  if (rolling_ == holder) rolling_ = nullptr;
}

bool MemoryPressure::Relieve() {
  if (!budget_->IsTight()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rolling_ != nullptr) return true;
  const auto largest = std::max_element(holders_.begin(), holders_.end(),
                                        [](const MemoryHolder* a, const MemoryHolder* b) {
                                          return a->RollableBytes() < b->RollableBytes();
                                        });
  const int64_t bytes = largest == holders_.end() ? 0 : (*largest)->RollableBytes();
  if (budget_->IsOver()) {
    if (bytes == 0) return false;
  } else if (bytes < budget_->limit_bytes() / kWorthRolling) {
    return true;
  }
  rolling_ = *largest;
  (*largest)->RequestRoll();
  return true;
}

void MemoryPressure::RollDone() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rolling_ = nullptr;
  }
  Relieve();
}

}  // namespace driftless
