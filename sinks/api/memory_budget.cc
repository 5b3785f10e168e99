#include "sinks/api/memory_budget.h"

#include "schema/base/check.h"

namespace driftless {

void MemoryBudget::Release(int64_t bytes) {
  const int64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  DRIFTLESS_CHECK(before >= bytes);
  if (before > limit_bytes_ && before - bytes <= limit_bytes_) {
    // The lock orders this wake-up behind a waiter's check of IsOver.
    const std::lock_guard<std::mutex> lock(mutex_);
    below_.notify_all();
  }
}

void MemoryBudget::WaitUntilBelow() {
  std::unique_lock<std::mutex> lock(mutex_);
  below_.wait(lock, [this] { return closed_ || !IsOver(); });
}

void MemoryBudget::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  below_.notify_all();
}

}  // namespace driftless
