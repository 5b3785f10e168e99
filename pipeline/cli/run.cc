#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/log_format.h"
#include "pipeline/cli/stop_signals.h"
#include "pipeline/runtime/assemble.h"
#include "pipeline/runtime/process_memory.h"
#include "pipeline/server/http_server.h"

namespace driftless {
namespace {

struct RunFlags {
  std::string file;
  std::string state;
  bool until_end = false;
};

// One pipeline from its file to its end: starts the runtime again where a new start heals, and
// minds signals, memory and the progress line beside it.
class PipelineProcess {
 public:
  PipelineProcess(PipelineDefinition definition, RuntimeOptions options, StateStore* state)
      : definition_(std::move(definition)), options_(std::move(options)), state_(state) {}

  int Run(StopSignals* signals);

 private:
  enum class Stop : uint8_t { kNo, kClean, kNow };
  static constexpr int64_t kProgressMs = 10'000;
  static constexpr int64_t kIdleMs = 1000;
  static constexpr int64_t kBusyMs = 200;
  static constexpr int64_t kLongestPauseMs = 60'000;
  // A bounded run is somebody waiting: it does not try for ever.
  static constexpr int kBoundedRestarts = 5;

  RunOutcome RunOnce();
  void Mind(StopSignals* signals);
  void OnSignal();
  void Progress(int64_t now_us);
  void MindMemory(int64_t now_us);
  bool Pause(int64_t pause_ms);
  int Report(const RunOutcome& outcome);
  std::unique_ptr<HttpServer> Serve();

  const PipelineDefinition definition_;
  const RuntimeOptions options_;
  StateStore* const state_;
  const Clock* const clock_ = SystemClock();
  Metrics metrics_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Runtime* runtime_ = nullptr;  // guarded, as the next three
  Stop stop_ = Stop::kNo;
  bool ended_ = false;
  std::string last_status_ = "starting";
  int64_t stop_since_us_ = 0;  // minder thread, as the rest
  int64_t last_progress_us_ = 0;
  int64_t last_changes_ = 0;
  int64_t minded_changes_ = 0;
  int64_t busy_us_ = 0;        // when it was last seen that rows move
  int64_t trimmed_bytes_ = 0;  // what was left at rest; 0: not at rest
};

int PipelineProcess::Run(StopSignals* signals) {
  std::thread minder([this, signals] { Mind(signals); });
  KeepFreeMemory(options_.memory_bytes_max);
  const std::unique_ptr<HttpServer> server = Serve();
  const int64_t began_us = clock_->MonotonicMicros();
  RunOutcome outcome;
  int64_t pause_ms = 1000;
  for (int restarts = 0;; ++restarts) {
    const int64_t start_us = clock_->MonotonicMicros();
    outcome = RunOnce();
    if (outcome.kind != RunOutcome::Kind::kRestart) break;
    if (options_.until_end && restarts == kBoundedRestarts) {
      outcome.kind = RunOutcome::Kind::kFailed;
      break;
    }
    if (clock_->MonotonicMicros() - start_us > 60'000'000) pause_ms = 1000;
    spdlog::warn("{}; starting again in {} s", outcome.error->ToString(), pause_ms / 1000);
    if (!Pause(pause_ms)) {
      outcome.kind = RunOutcome::Kind::kStopped;
      break;
    }
    pause_ms = std::min(pause_ms * 2, kLongestPauseMs);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
  }
  signals->Wake();
  minder.join();
  spdlog::debug("ran for {} ms", (clock_->MonotonicMicros() - began_us) / 1000);
  return Report(outcome);
}

RunOutcome PipelineProcess::RunOnce() {
  Result<RuntimeParts> parts = AssembleParts(definition_, state_, clock_, &metrics_);
  if (!parts) {
    RunOutcome outcome;
    outcome.kind = RunOutcome::Kind::kFailed;
    outcome.error = std::move(parts).error();
    return outcome;
  }
  ReleaseFilePages();  // what the start has touched
  Runtime runtime(std::move(*parts), options_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stop_ != Stop::kNo) {
      RunOutcome outcome;
      outcome.kind = RunOutcome::Kind::kStopped;
      return outcome;
    }
    runtime_ = &runtime;
  }
  RunOutcome outcome = runtime.Run();
  const std::lock_guard<std::mutex> lock(mutex_);
  last_status_ = runtime.StatusText();
  runtime_ = nullptr;
  return outcome;
}

// False: told to stop meanwhile.
bool PipelineProcess::Pause(int64_t pause_ms) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::milliseconds(pause_ms),
                            [this] { return stop_ != Stop::kNo; });
}

std::unique_ptr<HttpServer> PipelineProcess::Serve() {
  if (definition_.options.http_address.empty()) return nullptr;
  HttpServer::Handlers handlers;
  handlers.metrics = [this] { return metrics_.Text(); };
  handlers.is_healthy = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return runtime_ == nullptr || runtime_->IsHealthy();
  };
  handlers.status = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return runtime_ == nullptr ? last_status_ : runtime_->StatusText();
  };
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(definition_.options.http_address, std::move(handlers));
  if (!server) {
    spdlog::warn("{}", server.error().ToString());
    return nullptr;
  }
  spdlog::info("serving /metrics and /healthz at {}", definition_.options.http_address);
  return std::move(*server);
}

// ---- beside the runtime ----------------------------------------------------------------------

void PipelineProcess::Mind(StopSignals* signals) {
  last_progress_us_ = clock_->MonotonicMicros();
  while (true) {
    const int signal = signals->Wait(trimmed_bytes_ > 0 ? kIdleMs : kBusyMs);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ended_) return;
    }
    if (signal > 0) OnSignal();
    const int64_t now_us = clock_->MonotonicMicros();
    if (stop_since_us_ > 0 && definition_.options.stop_timeout_ms > 0 &&
        now_us - stop_since_us_ > definition_.options.stop_timeout_ms * 1000) {
      spdlog::warn(
          "no clean stop within stop.timeout; what is not committed is read again at the "
          "next start");
      stop_since_us_ = 0;
      OnSignal();
    }
    Progress(now_us);
    MindMemory(now_us);
  }
}

// The first one drains to a checkpoint, the second one stops at once.
void PipelineProcess::OnSignal() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stop_ == Stop::kNo) {
    spdlog::info("stopping: committing what has been read");
    stop_ = Stop::kClean;
    stop_since_us_ = clock_->MonotonicMicros();
    if (runtime_ != nullptr) runtime_->RequestStop();
  } else {
    stop_ = Stop::kNow;
    if (runtime_ != nullptr) runtime_->Abort();
  }
  changed_.notify_all();
}

void PipelineProcess::Progress(int64_t now_us) {
  const int64_t changes = metrics_.total_changes();
  if (now_us - last_progress_us_ < kProgressMs * 1000 || changes == last_changes_) return;
  const double seconds = static_cast<double>(now_us - last_progress_us_) / 1e6;
  spdlog::info("{} changes written, {:.0f} per second, {} MiB of memory", changes,
               static_cast<double>(changes - last_changes_) / seconds, ResidentBytes() >> 20);
  last_progress_us_ = now_us;
  last_changes_ = changes;
}

// While rows move, pages of program files that are not used again go; at rest all that is free,
// and once more when something (a compaction) has grown beside it.
void PipelineProcess::MindMemory(int64_t now_us) {
  constexpr int64_t kGrownBytes = 4 << 20;
  const int64_t changes = metrics_.total_changes();
  if (changes != minded_changes_ || busy_us_ == 0) {
    minded_changes_ = changes;
    busy_us_ = now_us;
    trimmed_bytes_ = 0;
  }
  if (now_us - busy_us_ < kIdleMs * 1000) return ReleaseFilePages();
  if (ResidentBytes() < trimmed_bytes_ + kGrownBytes) return;
  ReleaseFreeMemory();
  trimmed_bytes_ = ResidentBytes();
}

int PipelineProcess::Report(const RunOutcome& outcome) {
  spdlog::default_logger()->flush();
  if (outcome.open_holds > 0) {
    const Result<std::vector<DecisionId>> holds = state_->OpenHolds();
    std::string ids;
    for (const DecisionId id : holds ? *holds : std::vector<DecisionId>{}) {
      ids += fmt::format(" {}", id);
    }
    fmt::print(
        stderr,
        "{} schema change(s) wait for a decision:{}\n"
        "hint: `driftless audit --state {}` shows them; answer with approve, reject or decide\n",
        outcome.open_holds, ids, state_->folder());
  }
  for (const std::string& sink : outcome.stopped_sinks) {
    fmt::print(stderr,
               "sink {} did not answer and was taken out; what it lacks is read at the next "
               "start\n",
               sink);
  }
  switch (outcome.kind) {
    case RunOutcome::Kind::kFinished:
      fmt::print(stderr, "finished: {} changes written and committed\n", metrics_.total_changes());
      return outcome.stopped_sinks.empty() ? 0 : 1;
    case RunOutcome::Kind::kStopped:
      fmt::print(stderr, "stopped: {} changes written and committed\n", metrics_.total_changes());
      return 0;
    case RunOutcome::Kind::kAborted:
      fmt::print(stderr,
                 "stopped at once; what was not committed is read again at the next start\n");
      return 1;
    case RunOutcome::Kind::kFailed:
    case RunOutcome::Kind::kRestart: break;
  }
  fmt::print(stderr, "error: {}\n", outcome.error->ToString());
  return 1;
}

int RunPipeline(const RunFlags& flags) {
  StopSignals signals;
  Problems problems;
  Result<PipelineDefinition> definition = LoadPipeline(flags.file, AllComponents(), &problems);
  if (!definition) {
    fmt::print(stderr, "{}\n", definition.error().ToString());
    return 1;
  }
  for (const Problem& problem : problems.Sorted()) {
    fmt::print(stderr, "{}\n", problem.ToString(flags.file));
  }
  SetUpLogging(definition->options.log_format, definition->options.log_level);
  Result<RuntimeOptions> options = MakeRuntimeOptions(*definition);
  if (!options) {
    fmt::print(stderr, "error: {}\n", options.error().ToString());
    return 1;
  }
  options->until_end |= flags.until_end;
  Result<std::unique_ptr<StateStore>> state = StateStore::Open(
      StateFolder(*definition, flags.state), definition->options.name, *SystemClock());
  if (!state) {
    fmt::print(stderr, "error: {}\n", state.error().ToString());
    return 1;
  }
  spdlog::info("pipeline {}: state in {}", definition->options.name, (*state)->folder());
  PipelineProcess process(std::move(*definition), std::move(*options), state->get());
  return process.Run(&signals);
}

}  // namespace

void AddRunCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "run",
      "Run a pipeline. SIGTERM or SIGINT commits what has been read and stops; a second one stops "
      "at once. Exit code 1 when a schema change or an error stopped it.");
  auto flags = std::make_shared<RunFlags>();
  command->add_option("pipeline", flags->file, "Pipeline file")->required();
  command->add_option("--state", flags->state,
                      "Folder of the pipeline's state; default: state.dir of the file, else "
                      "driftless-state/NAME");
  command->add_flag("--until-end", flags->until_end,
                    "Stop when the sources have come to their end and all is committed");
  command->callback([flags, exit_code] { *exit_code = RunPipeline(*flags); });
}

}  // namespace driftless
