#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/runtime/inlet.h"
#include "pipeline/runtime/io_pool.h"
#include "pipeline/runtime/runtime.h"
#include "pipeline/runtime/writer_thread.h"
#include "pipeline/state/positions.h"

namespace driftless {

// A cut on its way: barrier -> prepared -> sealed -> transaction A -> committed -> transaction B.
struct OpenCut {
  CutId cut = 0;
  std::optional<TablePath> table;  // a schema cut
  bool late = false;               // of a late change
  std::string state;               // of the coordinator, written with transaction A
  int64_t started_us = 0;
  bool barrier_taken = false;
  BarrierTaken barrier;
  size_t threads_left = 0;
  std::map<TablePath, std::vector<PreparedPart>> parts;
  std::map<TablePath, TableEpochPtr> epochs;
  std::map<TablePath, KeptBack> kept_back;
  size_t calls_left = 0;  // seals, then commits
  std::vector<CommitToken> tokens;
};

// A schema change between its arrival and its release.
struct ChangeUnderway {
  int64_t seen_ms = 0;
  int64_t flush_ms = 0;  // how long the rows before it took: from planned to flushed
  int64_t planned_ms = 0;
  TablePath source;
  std::optional<Point> arrived_at;  // in this process
  bool from_former_process = false;
  bool cut_committed = false;
  bool waits_for_person = false;  // held or failed
  bool planned = false;
};

// What the answer to a commit comes down to.
enum class CommitOutcome : uint8_t { kCommitted, kGone };

// One sink of a running pipeline: its threads, and what the control thread knows of it. Members are
// the control thread's alone, except the ones that say otherwise.
class SinkRun {
 public:
  SinkRun(RuntimeSink* sink, std::string pipeline)
      : config(sink), pipeline_name(std::move(pipeline)) {}

  const std::string& name() const { return config->name; }
  Sink* sink() const { return config->sink.get(); }

  // The sink is asked one thing at a time per table. Thread-safe.
  std::shared_ptr<std::mutex> TableMutex(const TablePath& table);

  // On the I/O pool: commits one token, asks where the answer was lost, repeats where that is safe.
  Result<CommitOutcome> CommitOne(const CommitToken& token, Metrics* metrics);
  // On the I/O pool or before it: where a token of a former process stands; asks again while the
  // sink cannot tell, at most `tries` times (0: for ever). kUnknown after the last.
  Result<CommitState> LookUpOne(const CommitToken& token, Metrics* metrics, int tries);

  RuntimeSink* const config;
  const std::string pipeline_name;
  SinkTraits traits;
  SinkInfo info;
  bool stopped = false;  // taken out of this run; its letters are not read any more
  SinkPositions positions;
  std::map<TablePath, CutPosition> parked_through;
  std::map<CutId, OpenCut> cuts;
  bool checkpoint_running = false;
  bool checkpoint_wanted = false;
  int64_t last_checkpoint_us = 0;
  bool has_committed_rows = false;      // by a checkpoint of this run
  int64_t committed_event_time_ms = 0;  // of the newest change that its last checkpoint holds
  std::optional<CutMove> last_move;   // of the last checkpoint; the same again need not be written
  std::deque<CutTable> waiting_cuts;  // behind a checkpoint
  std::map<TablePath, CutTable> early_cuts;  // decided, but the change has not come again yet
  std::map<TablePath, ChangeUnderway> changes;
  // A drop that was approved after its rows went on: another change of the table may wait behind
  // it.
  std::map<TablePath, ChangeUnderway> late_changes;
  std::map<TablePath, PendingCut> unsettled;  // commits of a former process, outcome unknown
  bool positions_moved = false;               // to be written with the next transaction

  // Torn down in reverse: the inlet before its writers, these before the pool.
  std::unique_ptr<IoPool> io;
  std::vector<std::unique_ptr<WriterThread>> writers;
  std::unique_ptr<Inlet> inlet;

 private:
  std::mutex mutexes_guard_;
  std::map<TablePath, std::shared_ptr<std::mutex>> mutexes_;
};

}  // namespace driftless
