#include "pipeline/runtime/control.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace driftless {

Runtime::Runtime(RuntimeParts parts, RuntimeOptions options)
    : impl_(std::make_unique<Impl>(std::move(parts), options)) {}
Runtime::~Runtime() = default;
RunOutcome Runtime::Run() { return impl_->Run(); }
void Runtime::RequestStop() { impl_->RequestStop(); }
void Runtime::Abort() { impl_->Abort(); }
void Runtime::RequestCheckpoint() { impl_->RequestCheckpoint(); }
bool Runtime::IsHealthy() const { return impl_->IsHealthy(); }
std::string Runtime::StatusText() const { return impl_->StatusText(); }

Runtime::Impl::Impl(RuntimeParts parts, RuntimeOptions options)
    : options_(std::move(options)),
      budget_(options_.memory_bytes_max),
      parts_(std::move(parts)),
      pressure_(&budget_) {}

Runtime::Impl::~Impl() { TearDown(); }

RunOutcome Runtime::Impl::Run() {
  Result<void> started = Start();
  if (!started) {
    Error error = std::move(started).error();
    error.IsRetryable() ? Restart(std::move(error)) : Fail(std::move(error));
  } else {
    SetStatus("running");
    Loop();
  }
  UpdateGauges();  // the last word on a run that ends
  TearDown();
  outcome_.open_holds = CountHolds();
  return std::move(outcome_);
}

void Runtime::Impl::RequestStop() {
  mailbox_.Post([this] {
    stop_requested_ = true;
    BeginDrain();
  });
}

void Runtime::Impl::Abort() {
  abort_ = true;
  mailbox_.Post([] {});
}

void Runtime::Impl::RequestCheckpoint() {
  mailbox_.Post([this] {
    for (auto& run : sinks_) StartCheckpoint(*run);
  });
}

bool Runtime::Impl::IsHealthy() const { return !failed_; }

std::string Runtime::Impl::StatusText() const {
  const std::lock_guard<std::mutex> lock(status_mutex_);
  return status_;
}

void Runtime::Impl::SetStatus(std::string text) {
  const std::lock_guard<std::mutex> lock(status_mutex_);
  status_ = std::move(text);
}

SinkRun* Runtime::Impl::FindSink(const std::string& name) {
  for (auto& run : sinks_) {
    if (run->name() == name) return run.get();
  }
  return nullptr;
}

// ---- the loop --------------------------------------------------------------------------------

void Runtime::Impl::Loop() {
  Flush();  // what recovery left to do
  while (phase_ != Phase::kDone) {
    for (Mailbox::Letter& letter : mailbox_.TakeAll(std::chrono::milliseconds(100))) {
      if (phase_ == Phase::kDone || abort_) break;
      letter();
    }
    if (abort_ && phase_ != Phase::kDone) {
      outcome_.kind = RunOutcome::Kind::kAborted;
      phase_ = Phase::kDone;
      return;
    }
    if (phase_ != Phase::kDone) Tick();
    MaybeSettled();  // whatever this round ended
    Flush();
  }
}

// One transaction for everything that this round wants recorded, then what it wants done. Doing it
// may want more recorded, at once.
void Runtime::Impl::Flush() {
  while (phase_ != Phase::kDone) {
    const bool moved = std::any_of(sinks_.begin(), sinks_.end(),
                                   [](const auto& run) { return run->positions_moved; });
    if (writes_.empty() && after_.empty() && !moved) return;
    const auto writes = std::exchange(writes_, {});
    auto after = std::exchange(after_, {});
    if (!writes.empty() || moved) {
      Result<void> written = parts_.state->Transact([&](StateTransaction& t) -> Result<void> {
        for (const auto& write : writes) DRIFTLESS_TRY(write(t));
        for (auto& run : sinks_) {
          if (run->positions_moved) DRIFTLESS_TRY(t.PutPositions(run->name(), run->positions));
        }
        return {};
      });
      if (!written) return Fail(std::move(written).error().Context("recording the state"));
      for (auto& run : sinks_) run->positions_moved = false;
    }
    for (auto& action : after) {
      if (phase_ == Phase::kDone || abort_) return;
      action();
    }
  }
}

void Runtime::Impl::Tick() {
  const int64_t now_us = parts_.clock->MonotonicMicros();
  if (now_us - last_poll_us_ >= 200'000) {
    last_poll_us_ = now_us;
    PollRequests();
  }
  WatchMemory();
  for (auto& run : sinks_) {
    int64_t interval_ms = options_.checkpoint_interval_ms;
    if (!run->has_committed_rows) interval_ms = std::min(interval_ms, options_.first_checkpoint_ms);
    if (phase_ == Phase::kRunning && now_us - run->last_checkpoint_us >= interval_ms * 1000) {
      StartCheckpoint(*run);
    }
  }
  if (now_us - last_second_us_ < 1'000'000) return;
  last_second_us_ = now_us;
  Feed(TimePassed{parts_.clock->NowMillis()});
  UpdateGauges();
  constexpr int64_t kTrimEveryUs = int64_t{3600} * 1'000'000;
  if (now_us - last_trim_us_ >= kTrimEveryUs) {
    last_trim_us_ = now_us;
    Result<void> trimmed =
        parts_.state->TrimAudit(parts_.clock->NowMillis() - options_.audit_retention_ms);
    if (!trimmed) Fail(std::move(trimmed).error());
  }
}

// Writers roll and parked items spill on their own as soon as they see that memory is short. What
// is left is memory that nobody is touching: parked items of idle inlets, and writers that cannot
// roll.
void Runtime::Impl::WatchMemory() {
  if (!budget_.IsOver()) {
    short_since_us_ = 0;
    return;
  }
  const int64_t now_us = parts_.clock->MonotonicMicros();
  if (short_since_us_ == 0) short_since_us_ = now_us;
  for (auto& run : sinks_) {
    if (!run->stopped) run->inlet->Post(SpillParked{});
  }
  if (pressure_.Relieve() && now_us - short_since_us_ < 1'000'000) return;
  short_since_us_ = now_us;
  for (auto& run : sinks_) run->inlet->Post(BreakUnbroken{});
  for (auto& run : sinks_) StartCheckpoint(*run);
}

void Runtime::Impl::UpdateGauges() {
  for (auto& run : sinks_) {
    if (run->stopped || run->inlet == nullptr) continue;
    parts_.metrics->SetQueueBytes(run->name(), "inlet", run->inlet->queue_bytes());
    int64_t bytes = 0;
    for (const auto& writer : run->writers) bytes += writer->queue_bytes();
    parts_.metrics->SetQueueBytes(run->name(), "writers", bytes);
  }
  parts_.metrics->SetMemory(budget_.used_bytes(), budget_.limit_bytes(), budget_.most_bytes());
  if (space_ == nullptr) return;  // the start failed
  parts_.metrics->SetParkingDisk(space_->disk_bytes(), space_->disk_bytes_max());
  parts_.metrics->SetHolds(CountHolds());
  UpdateLag();
  CountDivergences();
}

// Ages grow while nothing comes, whatever the reason is.
void Runtime::Impl::UpdateLag() {
  const auto age = [now = parts_.clock->NowMillis()](int64_t event_time_ms) {
    return static_cast<double>(std::max<int64_t>(now - event_time_ms, 0)) / 1000;
  };
  for (const auto& source : sources_) {
    const int64_t newest = source->event_time_ms();
    if (newest > 0) parts_.metrics->SetLag(source->stream_name(), age(newest));
  }
  for (const auto& run : sinks_) {
    const int64_t newest = run->committed_event_time_ms;
    if (newest > 0) parts_.metrics->SetSinkLag(run->name(), age(newest));
  }
}

// ---- ending ----------------------------------------------------------------------------------

void Runtime::Impl::Fail(Error error) {
  if (phase_ == Phase::kDone) return;
  failed_ = true;
  SetStatus("failed: " + error.ToString());
  outcome_.kind = RunOutcome::Kind::kFailed;
  if (!outcome_.error.has_value()) outcome_.error = std::move(error);
  phase_ = Phase::kDone;
}

void Runtime::Impl::Restart(Error error) {
  if (phase_ == Phase::kDone) return;
  // What failed first is what the user must hear of.
  if (outcome_.error.has_value()) return Fail(std::move(error));
  SetStatus("restarting: " + error.ToString());
  outcome_.kind = RunOutcome::Kind::kRestart;
  outcome_.error = std::move(error);
  phase_ = Phase::kDone;
}

bool Runtime::Impl::TakesOut(const SinkRun& run, const Error& error) {
  return run.config->stops_when_unavailable &&
         (error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kTimedOut);
}

void Runtime::Impl::SinkFailed(SinkRun& run, Error error) {
  if (run.stopped) return;
  if (TakesOut(run, error)) return StopSink(run, error);
  error.IsRetryable() ? Restart(std::move(error)) : Fail(std::move(error));
}

// Its positions stay where they are: the next start reads again from there, and the other sinks
// drop what they have. What it was about to do is left as a crash would leave it.
void Runtime::Impl::StopSink(SinkRun& run, const Error& error) {
  if (run.stopped || phase_ == Phase::kDone) return;
  spdlog::error("sink {} is taken out until the next start: {}", run.name(), error.ToString());
  run.stopped = true;
  outcome_.stopped_sinks.push_back(run.name());
  parts_.metrics->SetSinkStopped(run.name());
  parts_.metrics->SetQueueBytes(run.name(), "inlet", 0);
  parts_.metrics->SetQueueBytes(run.name(), "writers", 0);
  if (run.io != nullptr) run.io->Stop();
  if (run.inlet != nullptr) run.inlet->Discard();
  for (auto& writer : run.writers) writer->Abort();
  run.waiting_cuts.clear();
  run.early_cuts.clear();
  run.changes.clear();
  run.late_changes.clear();
  run.unsettled.clear();
  run.checkpoint_running = false;
  run.checkpoint_wanted = false;
  if (outcome_.stopped_sinks.size() == parts_.sinks.size()) return Restart(error);
  SetStatus("running without sink " + run.name() + ": " + error.message());
  if (phase_ == Phase::kSettling) return AskIdle();
  if (phase_ == Phase::kCommitting) OnCheckpointDone();
}

// Everything that the sources have sent is still written and committed; schema changes finish,
// except those that wait for a person.
void Runtime::Impl::BeginDrain() {
  if (phase_ != Phase::kRunning) return;
  phase_ = Phase::kReading;
  SetStatus(outcome_.error.has_value() ? "failed: " + outcome_.error->ToString() : "stopping");
  for (auto& source : sources_) source->Stop();
  for (auto& run : sinks_) {
    if (!run->stopped) run->inlet->CloseItems();
  }
  budget_.Close();
  if (sources_left_ == 0) AskIdle();
}

void Runtime::Impl::OnSourceEnded(Result<void> result) {
  --sources_left_;
  if (!result && result.error().kind() != ErrorKind::kCancelled && phase_ == Phase::kRunning) {
    // What came before is good: commit it, then stop with the source's words.
    if (result.error().IsRetryable()) {
      outcome_.kind = RunOutcome::Kind::kRestart;
    } else {
      outcome_.kind = RunOutcome::Kind::kFailed;
      failed_ = true;
    }
    outcome_.error = std::move(result).error();
    spdlog::error("{}", outcome_.error->ToString());
    BeginDrain();
    return;
  }
  if (sources_left_ > 0) return;
  if (phase_ == Phase::kReading) return AskIdle();
  // A bounded source that came to its end. Without --until-end the pipeline stays for decisions.
  if (phase_ == Phase::kRunning && options_.until_end) BeginDrain();
}

void Runtime::Impl::AskIdle() {
  phase_ = Phase::kSettling;
  ++idle_round_;
  idle_left_ = 0;
  settled_releases_ = false;
  for (auto& run : sinks_) {
    if (run->stopped) continue;
    ++idle_left_;
    run->inlet->Post(ReportIdle{idle_round_});
  }
}

void Runtime::Impl::OnIdle(uint64_t round) {
  if (round != idle_round_ || phase_ != Phase::kSettling) return;
  if (--idle_left_ == 0) MaybeSettled();
}

// An inlet's letters come before its report, so what they began is known here: when nothing is
// under way and nothing was released since the question, nothing can move any more.
void Runtime::Impl::MaybeSettled() {
  if (phase_ != Phase::kSettling || idle_left_ > 0) return;
  for (const auto& run : sinks_) {
    if (!run->waiting_cuts.empty() || !run->unsettled.empty() || run->checkpoint_running ||
        !run->late_changes.empty()) {
      return;
    }
    for (const auto& [table, change] : run->changes) {
      if (!change.waits_for_person) return;
    }
  }
  if (settled_releases_) return AskIdle();
  phase_ = Phase::kCommitting;
  for (auto& run : sinks_) {
    if (run->stopped) continue;
    run->checkpoint_wanted = true;
    StartCheckpoint(*run);
  }
}

void Runtime::Impl::OnCheckpointDone() {
  if (phase_ == Phase::kSettling) return MaybeSettled();
  if (phase_ != Phase::kCommitting) return;
  for (const auto& run : sinks_) {
    if (run->checkpoint_wanted || run->checkpoint_running) return;
  }
  if (!outcome_.error.has_value()) {
    outcome_.kind = stop_requested_ ? RunOutcome::Kind::kStopped : RunOutcome::Kind::kFinished;
  }
  phase_ = Phase::kDone;
}

void Runtime::Impl::TearDown() {
  budget_.Close();
  for (auto& source : sources_) source->Stop();
  for (auto& run : sinks_) {
    if (run->io != nullptr) run->io->Stop();
    if (run->inlet != nullptr) run->inlet->Abort();
    for (auto& writer : run->writers) writer->Abort();
  }
  sources_.clear();  // joins; nobody blocks them any more
  for (auto& run : sinks_) {
    run->inlet.reset();
    run->writers.clear();
    if (run->io == nullptr) continue;
    run->io->Join();  // its tasks reach the pool through the run
    run->io.reset();
  }
  acknowledge_io_.reset();
}

}  // namespace driftless
