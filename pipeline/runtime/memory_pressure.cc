#include "pipeline/runtime/memory_pressure.h"

#include <algorithm>

namespace driftless {

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
  if (!budget_->IsOver()) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (rolling_ != nullptr) return true;
  const auto largest = std::max_element(holders_.begin(), holders_.end(),
                                        [](const MemoryHolder* a, const MemoryHolder* b) {
                                          return a->RollableBytes() < b->RollableBytes();
                                        });
  if (largest == holders_.end() || (*largest)->RollableBytes() == 0) return false;
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
