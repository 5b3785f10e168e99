#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "pipeline/sources/mysql/snapshot_progress.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// What the threads of the two streams of one source tell each other. The log's thread owns the
// tables' schemas; while a snapshot is read it stands still, but for reading up to a statement that
// a chunk has seen already.
class Handover {
 public:
  // The state under the lock; every change wakes both sides.
  struct State {
    bool planned = false;    // `tables`, `progress` are set
    bool announced = false;  // the snapshot's stream has told what is left
    bool released = false;   // every table has been announced: rows may come
    bool ended = false;      // one side is gone: nothing more will come of it
    uint64_t advance_wanted = 0;
    uint64_t advance_done = 0;
    std::map<TablePath, TableSchemaPtr> tables;  // as of the log's present place
    SnapshotProgress progress;
    std::optional<TablePath> reading;  // rows of the first of progress.left have been sent
  };

  template <typename Change>
  void Update(Change change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    change(state_);
    changed_.notify_all();
  }
  // A copy of what `read` returns.
  template <typename Read>
  auto Look(Read read) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return read(state_);
  }
  // Waits until `ready`, for a short time; whether it is.
  template <typename Ready>
  bool WaitShortly(Ready ready) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return ready(state_); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_;
};

}  // namespace driftless::mysql
