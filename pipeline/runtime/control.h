#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/runtime/mailbox.h"
#include "pipeline/runtime/memory_pressure.h"
#include "pipeline/runtime/parking.h"
#include "pipeline/runtime/runtime.h"
#include "pipeline/runtime/sink_run.h"
#include "pipeline/runtime/source_thread.h"

namespace driftless {

// The control thread: the only one that feeds the coordinator, moves cuts along and writes
// positions. It never waits for a sink: what may block runs on the sinks' I/O pools and answers by
// a letter.
//
// One round of the loop: take all letters; step the coordinator and the cuts; write everything that
// they want recorded in one transaction; then send what they want sent. Split over control.cc (the
// loop, draining), actions.cc (the coordinator), cuts.cc (cuts) and recovery.cc (the start).
class Runtime::Impl {
 public:
  Impl(RuntimeParts parts, RuntimeOptions options);
  ~Impl();

  RunOutcome Run();
  void RequestStop();
  void Abort();
  void RequestCheckpoint();
  bool IsHealthy() const;
  std::string StatusText() const;

 private:
  enum class Phase : uint8_t {
    kRunning,
    kReading,     // draining: the sources are coming to their end
    kSettling,    // draining: inlets empty themselves, schema changes finish
    kCommitting,  // draining: the last checkpoint
    kDone,
  };

  // control.cc
  void Loop();
  void Tick();
  void Flush();
  void Fail(Error error);     // at once: nothing more can be committed
  void Restart(Error error);  // the same, but a new start heals it
  // An error of one sink: it alone is taken out where the user wants that, else the run ends.
  void SinkFailed(SinkRun& run, Error error);
  void StopSink(SinkRun& run, const Error& error);
  // Whether `on-unavailable: stop-sink` says what becomes of this error.
  static bool TakesOut(const SinkRun& run, const Error& error);
  void BeginDrain();
  void OnSourceEnded(Result<void> result);
  void AskIdle();
  void OnIdle(uint64_t round);
  void MaybeSettled();
  void OnCheckpointDone();
  void TearDown();
  void UpdateGauges();
  void UpdateLag();
  void WatchMemory();
  void SetStatus(std::string text);
  void Later(std::function<void()> action) { after_.push_back(std::move(action)); }
  void Record(std::function<Result<void>(StateTransaction&)> write) {
    writes_.push_back(std::move(write));
  }
  SinkRun* FindSink(const std::string& name);

  // actions.cc
  void Feed(CoordinatorInput input);
  void CarryOut(std::vector<CoordinatorAction> actions);
  void CarryOut(CoordinatorAction& action);
  void OnArrived(ChangeArrived arrived);
  void OnRelease(const driftless::Release& release);
  void OnFailPipeline(const FailPipeline& fail);
  void OnUnclear(const UnclearStatement& statement);
  void OnAudit(const AuditRecord& record);
  // unseen_changes.cc
  void OnUnseen(const UnseenChange& change);
  void RecordUnseen(const SinkRun& run, const TablePath& table, const UnseenChange& change);
  std::string Acknowledge(const StoredRequest& request);
  void CountDivergences();
  void ReadTable(const SinkTableKey& key);
  void Execute(const ExecuteStep& step);
  void PollRequests();
  void Answer(const StoredRequest& request);
  std::string AnswerUnclear(const StoredUnclear& unclear, const StoredRequest& request);
  std::vector<AuditRecord> UnclearRecords(DecisionId decision, const UnclearStatement& statement);
  void ObservePhase(SinkRun& run, const TablePath& table, std::string_view phase);
  ChangeUnderway* FindChange(const SinkTableKey& key);
  int CountHolds() const;

  // cuts.cc
  void StartCheckpoint(SinkRun& run);
  void StartSchemaCut(SinkRun& run, const CutTable& action);
  void BeginSchemaCut(SinkRun& run, const CutTable& action);
  OpenCut* FindCut(SinkRun& run, CutId cut);
  void OnBarrier(SinkRun& run, BarrierTaken barrier);
  void DeferCheckpoint(SinkRun& run, CutId cut);
  void OnPrepared(SinkRun& run, CutId cut, std::vector<PreparedTable> prepared);
  void MaybeSeal(SinkRun& run, OpenCut& cut);
  void OnSealed(SinkRun& run, CutId cut, Result<CommitToken> token);
  void RecordKeptBack(const SinkRun& run, OpenCut& cut);
  void RecordCut(SinkRun& run, OpenCut& cut);
  void CommitTokens(SinkRun& run, OpenCut& cut);
  void OnCommitted(SinkRun& run, CutId cut, Result<CommitOutcome> outcome);
  void RecordCommitted(SinkRun& run, OpenCut& cut, bool with_cut);
  void FinishCut(SinkRun& run, CutId cut);
  void RecordParked(SinkRun& run, const std::vector<ParkedSnapshot>& snapshots);
  void Acknowledge();
  void SettleLater(SinkRun& run, const PendingCut& pending);

  // recovery.cc
  Result<void> Start();
  Result<void> OrWithout(SinkRun& run, const std::function<Result<void>()>& call);
  Result<void> ConnectSinks();
  Result<void> ResolveCuts(SinkRun& run);
  Result<void> ResolveCut(SinkRun& run, const PendingCut& pending);
  Result<void> CleanUp(SinkRun& run, const std::vector<StoredTableState>& states);
  Result<void> RestartCoordinator(const std::vector<StoredTableState>& states);
  Result<void> StartThreads();
  void MakeWriters(SinkRun& run);
  void MakeInlet(SinkRun& run, const std::vector<ParkedTable>& parked);
  Result<void> MakeSources();
  Result<std::shared_ptr<TransformStage>> MakeTransforms(StreamId stream, const Source& source);
  std::optional<Point> FurthestCovered(StreamId stream) const;
  CutPosition ResumePosition(std::optional<StreamId> having = std::nullopt) const;
  std::vector<SinkPlace> PlacesOf(const TablePath& source) const;
  CutPosition FurthestPosition(const TablePath& source) const;

  const RuntimeOptions options_;
  MemoryBudget budget_;  // outlives the sinks, which charge it on threads of their own
  RuntimeParts parts_;
  MemoryPressure pressure_;
  Mailbox mailbox_;
  std::unique_ptr<ParkingSpace> space_;
  std::unique_ptr<DeadLetters> dead_letters_;
  std::unique_ptr<CoordinatorPort> coordinator_;
  std::vector<std::unique_ptr<SinkRun>> sinks_;
  std::vector<std::unique_ptr<SourceThread>> sources_;
  std::unique_ptr<IoPool> acknowledge_io_;
  CutPosition start_;
  std::vector<ParkedTable> parked_;  // as the last run left it
  CutPosition acknowledged_;

  // Of the round that is running.
  std::vector<std::function<Result<void>(StateTransaction&)>> writes_;
  std::vector<std::function<void()>> after_;

  Phase phase_ = Phase::kRunning;
  size_t sources_left_ = 0;
  uint64_t idle_round_ = 0;
  size_t idle_left_ = 0;
  uint32_t attempt_ = 0;
  CutId next_cut_ = 1;
  RunOutcome outcome_;
  int64_t data_version_ = -1;
  int64_t last_second_us_ = 0;
  int64_t last_poll_us_ = 0;
  int64_t last_trim_us_ = 0;
  int64_t short_since_us_ = 0;
  std::set<SinkTableKey> diverging_;
  bool stop_requested_ = false;
  bool is_reading_ = false;        // the sources have begun
  bool settled_releases_ = false;  // a release was sent since the inlets were asked

  std::atomic<bool> abort_{false};
  std::atomic<bool> failed_{false};
  mutable std::mutex status_mutex_;
  std::string status_ = "starting";
  // What recovery hands to the inlets.
  std::map<std::string, std::vector<InletTableStart>> inlet_tables_;
};

}  // namespace driftless
