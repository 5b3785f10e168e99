#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "config/definition/pipeline_options.h"
#include "pipeline/runtime/control.h"
#include "sinks/api/server_version.h"

// The start of a run: what a former process left is settled, row by row of the table in
// architecture.md 7, before any row is read.
namespace driftless {

Result<void> Runtime::Impl::Start() {
  DRIFTLESS_ASSIGN_OR_RETURN(attempt_, parts_.state->NextAttempt());
  DRIFTLESS_ASSIGN_OR_RETURN(next_cut_, parts_.state->NextCut());
  DRIFTLESS_ASSIGN_OR_RETURN(parked_, parts_.state->Parked());
  DRIFTLESS_ASSIGN_OR_RETURN(const uint64_t next_segment, parts_.state->NextSegment());
  space_ = std::make_unique<ParkingSpace>(parts_.state->folder(), next_segment,
                                          options_.parking_memory_bytes_max,
                                          options_.parking_disk_bytes_max, &budget_);
  space_->RemoveStrangers(parked_);
  dead_letters_ =
      std::make_unique<DeadLetters>(parts_.state->folder() + "/dead-letters.jsonl", parts_.clock);
  acknowledge_io_ = std::make_unique<IoPool>(1);
  DRIFTLESS_TRY(ConnectSinks());
  for (auto& run : sinks_) DRIFTLESS_TRY(OrWithout(*run, [&] { return ResolveCuts(*run); }));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<StoredTableState> states,
                             parts_.state->TableStates());
  for (auto& run : sinks_) DRIFTLESS_TRY(OrWithout(*run, [&] { return CleanUp(*run, states); }));
  // Only now: an attempt that could not clean up has written nothing, and the next one has to look
  // for what the same one left.
  DRIFTLESS_ASSIGN_OR_RETURN(attempt_, parts_.state->BeginAttempt());
  DRIFTLESS_TRY(RestartCoordinator(states));
  for (const ParkedTable& table : parked_) {
    if (SinkRun* run = FindSink(table.table.sink)) {
      run->parked_through[table.table.table] = table.through;
    }
  }
  start_ = ResumePosition();
  for (auto& run : sinks_) {
    if (run->stopped) continue;
    MakeWriters(*run);
    MakeInlet(*run, parked_);
  }
  DRIFTLESS_TRY(MakeSources());
  // Decisions that were left for a stopped pipeline come before the statements that they are about.
  PollRequests();
  const int64_t now_us = parts_.clock->MonotonicMicros();
  for (auto& run : sinks_) {
    if (run->stopped) continue;
    run->last_checkpoint_us = now_us;
    parts_.metrics->SetSinkRunning(run->name());
    for (auto& writer : run->writers) writer->Start();
    run->inlet->Start();
    for (const auto& [table, pending] : run->unsettled) SettleLater(*run, pending);
  }
  is_reading_ = true;
  for (auto& source : sources_) source->Start();
  return {};
}

// A sink that cannot be reached at the start is left out where the user wants that; the last one
// cannot be.
Result<void> Runtime::Impl::OrWithout(SinkRun& run, const std::function<Result<void>()>& call) {
  if (run.stopped) return {};
  Result<void> result = call();
  if (result || !TakesOut(run, result.error())) return result;
  if (outcome_.stopped_sinks.size() + 1 == parts_.sinks.size()) return result;
  StopSink(run, result.error());
  return {};
}

Result<void> Runtime::Impl::ConnectSinks() {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<StoredSink> stored, parts_.state->Sinks());
  for (RuntimeSink& config : parts_.sinks) {
    auto run = std::make_unique<SinkRun>(&config, parts_.pipeline);
    run->traits = config.sink->traits();
    DRIFTLESS_ASSIGN_OR_RETURN(run->positions, parts_.state->Positions(config.name));
    Result<SinkInfo> info = config.sink->Connect();
    if (!info) {
      sinks_.push_back(std::move(run));
      const auto failed = [&]() -> Result<void> {
        return std::move(info).error().Context("sink " + config.name);
      };
      DRIFTLESS_TRY(OrWithout(*sinks_.back(), failed));
      continue;
    }
    run->info = std::move(*info);
    DRIFTLESS_TRY(CheckExtensions(config.sink->matrix(), config.policy.extensions, run->info));
    const auto known = std::find_if(stored.begin(), stored.end(), [&](const StoredSink& sink) {
      return sink.name == config.name;
    });
    if (known != stored.end() && known->identity != run->info.identity) {
      return MakeError(ErrorKind::kInvalidConfig,
                       fmt::format("sink {} was \"{}\" and is now \"{}\"", config.name,
                                   known->identity, run->info.identity))
          .Hint(
              "Positions and schemas of one warehouse do not hold for another. Give the sink a "
              "new name, or start on a new state folder.");
    }
    const int64_t give_up_ms = config.stops_when_unavailable ? options_.unavailable_after_ms : -1;
    run->io = std::make_unique<IoPool>(run->traits.io_threads, give_up_ms);
    spdlog::info("sink {}: {}{}", config.name, run->info.product,
                 run->info.version.empty() ? "" : " " + run->info.version);
    sinks_.push_back(std::move(run));
  }
  return parts_.state->Transact([&](StateTransaction& t) -> Result<void> {
    for (const auto& run : sinks_) {
      if (run->stopped) continue;
      DRIFTLESS_TRY(t.PutSink({run->name(), run->config->type, run->info.identity}));
    }
    return {};
  });
}

// ---- cuts between A and B --------------------------------------------------------------------

Result<void> Runtime::Impl::ResolveCuts(SinkRun& run) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<PendingCut> pending,
                             parts_.state->PendingCuts(run.name(), parts_.pipeline));
  for (const PendingCut& cut : pending) {
    Result<void> resolved = ResolveCut(run, cut);
    if (!resolved) {
      return std::move(resolved).error().Context(
          fmt::format("sink {}: cut {} of the last run", run.name(), cut.cut));
    }
  }
  return {};
}

Result<void> Runtime::Impl::ResolveCut(SinkRun& run, const PendingCut& pending) {
  constexpr int kTries = 3;
  std::set<TablePath> voided;
  PendingCut unknown;
  unknown.cut = pending.cut;
  for (const CommitToken& token : pending.tokens) {
    const TablePath& table = token.identity.table;
    DRIFTLESS_ASSIGN_OR_RETURN(CommitState state, run.LookUpOne(token, parts_.metrics, kTries));
    // The coordinator must know whether a schema cut is committed before anything goes on.
    while (state == CommitState::kUnknown && pending.table.has_value() && !abort_) {
      DRIFTLESS_ASSIGN_OR_RETURN(state, run.LookUpOne(token, parts_.metrics, kTries));
    }
    if (abort_) return MakeError(ErrorKind::kCancelled, "told to stop");
    if (state == CommitState::kPrepared) {
      DRIFTLESS_ASSIGN_OR_RETURN(const CommitOutcome outcome, run.CommitOne(token, parts_.metrics));
      state = outcome == CommitOutcome::kCommitted ? CommitState::kCommitted : CommitState::kGone;
    }
    if (state == CommitState::kGone) {
      spdlog::warn("sink {}: table {}: cut {} is void, its rows are read again", run.name(),
                   table.ToString(), pending.cut);
      parts_.metrics->CountCheckpoint(run.name(), "void");
      voided.insert(table);
    } else if (state == CommitState::kUnknown) {
      spdlog::warn(
          "sink {}: table {}: the sink cannot tell yet whether cut {} is committed; the "
          "table waits",
          run.name(), table.ToString(), pending.cut);
      voided.insert(table);
      const auto own = pending.move.tables.find(table);
      TablePosition position = own == pending.move.tables.end() ? TablePosition{} : own->second;
      if (!position.base.has_value()) position.base = pending.move.base;
      PendingCut one;
      one.cut = pending.cut;
      one.move.tables[table] = position;
      one.tokens = {token};
      unknown.move.tables[table] = std::move(position);
      unknown.tokens.push_back(token);
      run.unsettled[table] = std::move(one);
    }
  }
  Apply(pending.move, voided, &run.positions);
  return parts_.state->Transact([&](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.DropCut(run.name(), pending.cut));
    if (!unknown.tokens.empty()) DRIFTLESS_TRY(t.PutCut(run.name(), unknown));
    if (pending.table.has_value()) {
      const SinkTableKey key{run.name(), *pending.table};
      DRIFTLESS_TRY(voided.empty() ? t.MarkCutCommitted(key, pending.cut) : t.CloseCut(key));
    }
    return t.PutPositions(run.name(), run.positions);
  });
}

Result<void> Runtime::Impl::CleanUp(SinkRun& run, const std::vector<StoredTableState>& states) {
  std::set<TablePath> tables;
  for (const StoredTableState& state : states) {
    if (state.table.sink == run.name()) tables.insert(state.table.table);
  }
  for (const TablePath& table : tables) {
    std::vector<CommitToken> recorded;
    const auto pending = run.unsettled.find(table);
    if (pending != run.unsettled.end()) recorded = pending->second.tokens;
    Result<void> cleaned =
        run.sink()->CleanUp({parts_.pipeline, run.name(), table, next_cut_, attempt_}, recorded);
    if (!cleaned) {
      return std::move(cleaned).error().Context(
          fmt::format("sink {}: table {}: removing leftovers", run.name(), table.ToString()));
    }
  }
  return {};
}

// ---- the coordinator -------------------------------------------------------------------------

Result<void> Runtime::Impl::RestartCoordinator(const std::vector<StoredTableState>& states) {
  std::vector<CoordinatorSink> sinks;
  for (const auto& run : sinks_) {
    sinks.push_back({run->name(), run->config->type, &run->sink()->matrix(),
                     &run->sink()->planner(), &run->config->policy, run->traits.keeps_schema});
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const DecisionId next_decision, parts_.state->NextDecision());
  coordinator_ = parts_.make_coordinator(std::move(sinks), next_decision);

  std::vector<RecoveredTable> recovered;
  std::map<SinkTableKey, InletTableStart> starts;
  const int64_t now_ms = parts_.clock->NowMillis();
  for (const StoredTableState& state : states) {
    SinkRun* run = FindSink(state.table.sink);
    if (run == nullptr) continue;  // a sink that is no longer configured
    recovered.push_back({state.table, state.state, state.cut_committed});
    InletTableStart& start = starts[state.table];
    start.table = state.table.table;
    start.waits = state.cut_committed || run->unsettled.contains(state.table.table);
    if (state.cut_committed) {
      const bool is_late = state.source.table.empty();
      ChangeUnderway& change =
          is_late ? run->late_changes[state.table.table] : run->changes[state.table.table];
      change.seen_ms = now_ms;
      change.source = state.source;
      change.from_former_process = true;
      change.cut_committed = true;
      change.planned = true;
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<CoordinatorAction> actions,
                             coordinator_->Restart(std::move(recovered), now_ms));
  for (CoordinatorAction& action : actions) {
    const auto* release = std::get_if<driftless::Release>(&action);
    const auto start = release == nullptr ? starts.end() : starts.find(release->table);
    if (start == starts.end() || start->second.waits) {
      CarryOut(action);
      continue;
    }
    start->second.is_known = true;
    start->second.evolved = release->evolved;
    start->second.by_source = release->by_source;
  }
  for (auto& [key, start] : starts) {
    if (!start.is_known && !start.waits) {
      start.evolved = coordinator_->Evolved(key);
      start.by_source = coordinator_->EvolvedBySource(key);
      start.is_known = start.evolved != nullptr;
    }
    start.renamings = coordinator_->Renamings(key);
    inlet_tables_[key.sink].push_back(std::move(start));
  }
  return {};
}

// ---- threads ---------------------------------------------------------------------------------

void Runtime::Impl::MakeWriters(SinkRun& run) {
  const int cores = std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
  const int threads = options_.writer_threads > 0 ? options_.writer_threads : cores;
  for (int i = 0; i < threads; ++i) {
    WriterThread::Context context;
    context.pipeline = parts_.pipeline;
    context.sink_name = run.name();
    context.sink = run.sink();
    context.attempt = attempt_;
    context.last_cut = next_cut_ - 1;
    context.clock = parts_.clock;
    context.budget = &budget_;
    context.pressure = &pressure_;
    context.dead_letters = dead_letters_.get();
    context.metrics = parts_.metrics;
    context.queue_bytes_max = options_.writer_queue_bytes_max / threads;
    context.table_mutex = [&run](const TablePath& table) { return run.TableMutex(table); };
    context.prepared = [this, &run](CutId cut, std::vector<PreparedTable> prepared) {
      auto shared = std::make_shared<std::vector<PreparedTable>>(std::move(prepared));
      mailbox_.Post([this, &run, cut, shared] { OnPrepared(run, cut, std::move(*shared)); });
    };
    context.failed = [this, &run](Error error) {
      mailbox_.Post([this, &run, error] { SinkFailed(run, error); });
    };
    run.writers.push_back(std::make_unique<WriterThread>(std::move(context)));
  }
}

void Runtime::Impl::MakeInlet(SinkRun& run, const std::vector<ParkedTable>& parked) {
  Inlet::Context context;
  context.sink_name = run.name();
  context.sink = run.sink();
  context.route = run.config->route;
  const SinkPolicy& policy = run.config->policy;
  context.table_rename = policy.table_rename;
  context.projection.on_cast_failure = CastFailure(policy, policy.behavior);
  context.projection.on_null_violation = NullViolation(policy, policy.behavior);
  context.projection.on_absent = options_.on_absent;
  context.projection.partial_update = run.traits.partial_update;
  context.projection.local_zone = options_.local_zone;
  for (auto& writer : run.writers) context.writers.push_back(writer.get());
  context.queue_bytes_max = options_.queue_bytes_max;
  context.space = space_.get();
  context.full_parking_fails = options_.full_parking_fails;
  context.metrics = parts_.metrics;
  context.committed = run.positions;
  context.start = start_;
  context.tables = std::move(inlet_tables_[run.name()]);
  for (const ParkedTable& table : parked) {
    if (table.table.sink != run.name() || table.segments.empty()) continue;
    auto start = std::find_if(context.tables.begin(), context.tables.end(),
                              [&](const auto& t) { return t.table == table.table.table; });
    if (start == context.tables.end()) {
      start = context.tables.insert(context.tables.end(), InletTableStart{});
      start->table = table.table.table;
    }
    start->parked = table;
  }
  context.arrived = [this](ChangeArrived arrived) {
    auto shared = std::make_shared<ChangeArrived>(std::move(arrived));
    mailbox_.Post([this, shared] { OnArrived(std::move(*shared)); });
  };
  context.barrier = [this, &run](BarrierTaken barrier) {
    auto shared = std::make_shared<BarrierTaken>(std::move(barrier));
    mailbox_.Post([this, &run, shared] { OnBarrier(run, std::move(*shared)); });
  };
  context.checkpoint_possible = [this, &run] {
    mailbox_.Post([this, &run] { StartCheckpoint(run); });
  };
  context.idle = [this](uint64_t round) { mailbox_.Post([this, round] { OnIdle(round); }); };
  context.failed = [this, &run](Error error) {
    mailbox_.Post([this, &run, error] { SinkFailed(run, error); });
  };
  run.inlet = std::make_unique<Inlet>(std::move(context));
}

// The furthest point of a stream that any sink table has: nobody will ask for what lies before it
// under other transforms than it had.
std::optional<Point> Runtime::Impl::FurthestCovered(StreamId stream) const {
  std::optional<Point> furthest;
  const auto look = [&](const CutPosition& position) {
    const std::optional<Point> last = position.Last(stream);
    if (last && (!furthest || furthest->Precedes(*last))) furthest = last;
  };
  for (const auto& run : sinks_) {
    look(run->positions.base);
    for (const auto& [table, position] : run->positions.tables) {
      if (position.base) look(*position.base);
      for (const auto& [source, feed] : position.feeds) look(feed);
    }
    for (const auto& [table, pending] : run->unsettled) {
      for (const auto& [path, position] : pending.move.tables) {
        if (position.base) look(*position.base);
        for (const auto& [source, feed] : position.feeds) look(feed);
      }
    }
  }
  for (const ParkedTable& parked : parked_) {
    look(parked.through);
    for (const auto& [source, feed] : parked.feeds) look(feed);
  }
  return furthest;
}

Result<std::shared_ptr<TransformStage>> Runtime::Impl::MakeTransforms(StreamId stream,
                                                                      const Source& source) {
  std::shared_ptr<TransformStage> none;
  if (parts_.definition == nullptr) return none;
  if (parts_.definition->transforms.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto stored, parts_.state->Transforms(stream));
    if (stored.empty()) return none;
  }
  TransformStage::Context context;
  context.definition = parts_.definition.get();
  context.options.zone = options_.local_zone;
  context.options.on_failure =
      parts_.definition->options.on_cast_failure.value_or(OnCastFailure::kFail);
  context.stream = stream;
  context.clock = parts_.clock;
  context.store = parts_.state;
  context.history = parts_.state;
  context.from = start_.Last(stream);
  if (!context.from && source.GoesOnForOthers()) context.from = ResumePosition(stream).Last(stream);
  context.covered = FurthestCovered(stream);
  context.warn = [](const std::string& text) { spdlog::warn("{}", text); };
  for (const auto& run : sinks_) {
    for (const auto& [table, change] : run->changes) {
      context.may_change = context.may_change && !change.cut_committed;
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(std::unique_ptr<TransformStage> made,
                             TransformStage::Make(std::move(context)));
  return std::shared_ptr<TransformStage>(std::move(made));
}

Result<void> Runtime::Impl::MakeSources() {
  SourceContext context;
  context.pipeline_name = parts_.pipeline;
  context.local_time_zone = options_.local_time_zone;
  context.clock = parts_.clock;
  context.history = parts_.state;
  context.answers = parts_.state;
  context.metrics = parts_.metrics;
  context.furthest = [this](const TablePath& source) { return FurthestPosition(source); };
  context.from_of_others = [this](StreamId stream) { return ResumePosition(stream); };
  context.places = [this](const TablePath& source) { return PlacesOf(source); };
  context.on_unparsed_ddl = options_.on_unparsed_ddl;
  context.reads_tables_again = options_.rows_without_events == RowsWithoutEvents::kResync;
  for (const auto& run : sinks_) {
    context.wants_before_images |= run->traits.wants_before_images;
    // A filter compares an update's old row with its new one.
    context.wants_before_images |=
        parts_.definition != nullptr && !parts_.definition->transforms.empty();
    context.max_wait_ms = std::min(context.max_wait_ms, run->traits.max_wait_ms);
  }
  for (size_t i = 0; i < parts_.sources.size(); ++i) {
    Source* source = parts_.sources[i].get();
    DRIFTLESS_TRY(source->Connect(context));
    const std::vector<std::string> names = source->streams();
    for (size_t index = 0; index < names.size(); ++index) {
      SourceThread::Context stream;
      stream.source = source;
      stream.stream_index = index;
      stream.stream_name =
          parts_.sources.size() == 1 ? names[index] : fmt::format("{}/{}", i, names[index]);
      DRIFTLESS_ASSIGN_OR_RETURN(stream.stream, parts_.state->InternStream(stream.stream_name));
      stream.from = start_;
      DRIFTLESS_ASSIGN_OR_RETURN(stream.transforms, MakeTransforms(stream.stream, *source));
      for (auto& run : sinks_) {
        if (!run->stopped) stream.inlets.push_back(run->inlet.get());
      }
      stream.budget = &budget_;
      stream.pressure = &pressure_;
      stream.dead_letters = dead_letters_.get();
      stream.metrics = parts_.metrics;
      stream.clock = parts_.clock;
      stream.unclear = [this](UnclearStatement statement) {
        mailbox_.Post([this, statement = std::move(statement)] { OnUnclear(statement); });
      };
      stream.fails_on_unseen = options_.rows_without_events == RowsWithoutEvents::kFail;
      stream.unseen = [this](UnseenChange change) {
        mailbox_.Post([this, change = std::move(change)] { OnUnseen(change); });
      };
      stream.ended = [this](Result<void> result) {
        auto shared = std::make_shared<Result<void>>(std::move(result));
        mailbox_.Post([this, shared] { OnSourceEnded(std::move(*shared)); });
      };
      sources_.push_back(std::make_unique<SourceThread>(std::move(stream)));
    }
  }
  sources_left_ = sources_.size();
  return {};
}

}  // namespace driftless
