#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace driftless {

// The one bound on a pipeline's memory: open batches, queues, parking, writer buffers, key maps and
// prepared parts are all charged to it. Thread-safe. Reserving never fails: whoever is over the
// limit is told so and must roll, spill or wait; a hard limit here could stop the very flush that
// would free memory.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void Add(int64_t bytes) {
    const int64_t now = used_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t most = most_bytes_.load(std::memory_order_relaxed);
    while (now > most && !most_bytes_.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  void Release(int64_t bytes);
  int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  int64_t most_bytes() const { return most_bytes_.load(std::memory_order_relaxed); }  // ever used
  int64_t limit_bytes() const { return limit_bytes_; }
  bool IsOver() const { return used_bytes() > limit_bytes_; }
  // More than half is used: time to give memory back, so that the sources need not wait meanwhile.
  bool IsTight() const { return used_bytes() > limit_bytes_ / 2; }

  // Blocks until the budget is no longer over its limit or Close was called.
  void WaitUntilBelow();
  void Close();

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_bytes_{0};
  std::atomic<int64_t> most_bytes_{0};
  std::mutex mutex_;
  std::condition_variable below_;
  bool closed_ = false;
};

}  // namespace driftless
