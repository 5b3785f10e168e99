#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "schema/model/table.h"

namespace driftless::lake {

// What a compaction did to the newest snapshot of a table.
struct CompactionReport {
  int64_t files_removed = 0;
  int64_t files_added = 0;
  int64_t runs_left = 0;  // of the bucket with the most, where the format has sorted runs
};

// Compacts tables one at a time on a thread of its own, at low priority, so that no cut waits for
// it. Whoever must wait for it all the same (a pause, the end) gives it the priority that it needs:
// on a busy machine a thread of low priority may get no time at all. Thread-safe.
class Compactor {
 public:
  // `compact` does one table and looks at `stop` between batches: when it is set, it returns soon
  // and has changed nothing.
  using Compact = std::function<void(const TablePath& table, const std::atomic<bool>& stop)>;
  explicit Compactor(Compact compact);
  ~Compactor();  // stops what runs
  Compactor(const Compactor&) = delete;
  Compactor& operator=(const Compactor&) = delete;

  // Does nothing for a table that waits already or is paused.
  void Enqueue(const TablePath& table);
  // Compacts the table before all others and at the caller's priority; returns when that has ended,
  // or at once where the table is paused. For who writes faster than files can be merged.
  void Finish(const TablePath& table);

  // While it lives, nothing of the table is compacted: a running compaction has been stopped.
  class Pause {
   public:
    Pause(Compactor* compactor, const TablePath& table);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Compactor* compactor_;  // null: nothing is compacted at all
    TablePath table_;
  };

 private:
  void Run();
  void Hurry();  // locked; whoever calls it waits for what runs

  Compact compact_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TablePath> waiting_;
  std::multiset<TablePath> paused_;
  std::map<TablePath, uint64_t> ended_;  // how often
  int hurried_ = 0;                      // who waits in Finish
  const TablePath* running_ = nullptr;
  int thread_id_ = 0;              // while something runs
  std::atomic<bool> stop_{false};  // of what runs
  bool closed_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace driftless::lake
