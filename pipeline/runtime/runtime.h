#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/runtime/coordinator_port.h"
#include "pipeline/runtime/inlet.h"
#include "pipeline/runtime/metrics.h"
#include "pipeline/sources/source.h"
#include "pipeline/state/state_store.h"
#include "schema/policy/policy.h"
#include "sinks/api/sink.h"

namespace driftless {

struct PipelineDefinition;
enum class RowsWithoutEvents : uint8_t;  // config/definition/pipeline_options.h

struct RuntimeOptions {
  int64_t checkpoint_interval_ms = 10'000;
  // The interval until a sink has committed rows in this run, where that is shorter: people wait
  // for the first ones.
  int64_t first_checkpoint_ms = std::numeric_limits<int64_t>::max();
  int64_t memory_bytes_max = int64_t{256} << 20;
  int64_t queue_bytes_max = int64_t{16} << 20;         // per inlet
  int64_t writer_queue_bytes_max = int64_t{32} << 20;  // per sink; its writers share it
  int64_t parking_memory_bytes_max = int64_t{32} << 20;
  int64_t parking_disk_bytes_max = int64_t{10} << 30;
  // A sink that does not answer for so long is taken out, where the user wants that.
  int64_t unavailable_after_ms = 30'000;
  bool full_parking_fails = false;  // parking.on-full: fail; else block
  int writer_threads = 0;           // per sink; 0: one per core
  int64_t audit_retention_ms = int64_t{90} * 24 * 3600 * 1000;
  bool until_end = false;  // stop when every source has ended, even if a decision is still open
  OnUnparsedDdl on_unparsed_ddl{};
  RowsWithoutEvents rows_without_events{};
  std::string local_time_zone = "UTC";
  TimeZone local_zone;  // the same
  OnAbsent on_absent = OnAbsent::kFail;
};

struct RuntimeSink {
  std::string name;
  std::string type;
  std::unique_ptr<Sink> sink;
  SinkPolicy policy;
  RouteFunction route;
  bool stops_when_unavailable = false;  // on-unavailable: stop-sink
};

// Everything that a pipeline is made of. `state` and `clock` outlive the runtime.
struct RuntimeParts {
  std::string pipeline;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<RuntimeSink> sinks;
  StateStore* state = nullptr;
  std::shared_ptr<const PipelineDefinition> definition;  // whose transforms run; null: none do
  const Clock* clock = nullptr;
  Metrics* metrics = nullptr;
  // Called once, when the sinks are connected.
  std::function<std::unique_ptr<CoordinatorPort>(std::vector<CoordinatorSink>, DecisionId)>
      make_coordinator;
};

// How a run ended.
struct RunOutcome {
  enum class Kind : uint8_t {
    kFinished,  // every source came to its end, all is committed
    kStopped,   // asked to stop; all that was read is committed
    kFailed,    // `error`; a new start goes on from the last commit
    kRestart,   // something passed that a new start heals (`error` says what): start again
    kAborted,   // told to stop at once
  };
  Kind kind = Kind::kFinished;
  std::optional<Error> error;
  std::vector<std::string> stopped_sinks;  // taken out: what they lack is read at the next start
  int open_holds = 0;                      // schema changes that still wait for a decision
};

// One run of one pipeline, from recovery to the last commit. Run once, then throw it away; a second
// run is a second Runtime on the same state.
class Runtime {
 public:
  Runtime(RuntimeParts parts, RuntimeOptions options);
  ~Runtime();

  // Blocks; the calling thread is the control thread.
  RunOutcome Run();

  // Any thread. Drains to a checkpoint, then Run returns.
  void RequestStop();
  // Any thread. Drops everything that is not committed, as a crash would; Run returns.
  void Abort();
  // Any thread. A checkpoint of every sink now.
  void RequestCheckpoint();
  // Any thread: no failure so far, and the control thread is alive.
  bool IsHealthy() const;
  std::string StatusText() const;  // one line for /healthz: "running", "stopping", "failed: ..."

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless
