#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/snapshot_progress.h"
#include "pipeline/sources/source.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// What the log's thread asks the snapshot's thread to do. One of the two works at a time, so that
// their streams go out in one order: a cut holds a beginning of it.
struct SnapshotRequest {
  enum class Step : uint8_t {
    kResume,  // say where the snapshot's stream goes on from a position
    kReport,  // make `progress` the position of the snapshot's stream
    kOpen,    // begin views for a round of reading
    kRead,    // read chunks in them, send them, report
    kDone,    // all tables are read; some may be read again later
    kEnd,     // nothing more will come
  };
  Step step = Step::kResume;
  CutPosition from;  // kResume: that position
  StreamId log_stream = 0;
  SnapshotProgress progress;
  std::map<TablePath, TableSchemaPtr> tables;  // as of the log's place
  LogPosition log;                             // kOpen: where the log is read to
};

struct SnapshotAnswer {
  StreamId stream = 0;        // of the snapshot
  SnapshotProgress progress;  // kResume: of the position; kRead: with the chunks that were read
  LogPosition first_view;     // kOpen: no view is before it
  bool advanced = false;      // kRead: some chunk was read
};

// How the threads of the two streams of one source talk: the log's asks, the snapshot's answers.
class Handover {
 public:
  // Asks and waits. None: the other side is gone, or the pipeline stops.
  std::optional<SnapshotAnswer> Ask(SnapshotRequest request, const SourceOutput& output) {
    std::unique_lock<std::mutex> lock(mutex_);
    request_ = std::move(request);
    changed_.notify_all();
    if (!Wait(&lock, output, [&] { return answer_.has_value(); })) return std::nullopt;
    return std::exchange(answer_, std::nullopt);
  }
  // The next request. None: nothing more will come.
  std::optional<SnapshotRequest> Next(const SourceOutput& output) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!Wait(&lock, output, [&] { return request_.has_value(); })) return std::nullopt;
    return std::exchange(request_, std::nullopt);
  }
  void Answer(SnapshotAnswer answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answer_ = std::move(answer);
    changed_.notify_all();
  }
  // One side is gone.
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  template <typename Ready>
  bool Wait(std::unique_lock<std::mutex>* lock, const SourceOutput& output, Ready ready) {
    while (!ready() && !ended_ && !output.stopping()) {
      changed_.wait_for(*lock, std::chrono::milliseconds(100));
    }
    return ready();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SnapshotRequest> request_;
  std::optional<SnapshotAnswer> answer_;
  bool ended_ = false;
};

}  // namespace driftless::mysql
