#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/runtime/control.h"
#include "schema/base/check.h"

// Checkpoints and schema cuts: one protocol.
//   barrier -> prepared -> sealed -> transaction A -> committed -> transaction B
// A sink without transactions has committed before A, so A and B are one.
namespace driftless {

// ---- starting --------------------------------------------------------------------------------

void Runtime::Impl::StartCheckpoint(SinkRun& run) {
  if (run.stopped) return;
  if (run.checkpoint_running) {
    run.checkpoint_wanted = true;
    return;
  }
  run.checkpoint_wanted = false;
  run.checkpoint_running = true;
  run.last_checkpoint_us = parts_.clock->MonotonicMicros();
  OpenCut& cut = run.cuts[next_cut_];
  cut.cut = next_cut_++;
  cut.started_us = run.last_checkpoint_us;
  cut.threads_left = run.writers.size();
  run.inlet->Post(TakeCut{cut.cut, std::nullopt, false});
}

// Commits of one table come strictly in the order of its cuts, so a schema cut waits for the
// checkpoint that is under way. The other way round there is nothing to wait for: a checkpoint
// leaves a table that is being cut behind.
void Runtime::Impl::StartSchemaCut(SinkRun& run, const CutTable& action) {
  if (run.stopped) return;
  const TablePath& table = action.table.table;
  const auto known = run.changes.find(table);
  const bool is_there = known != run.changes.end() && known->second.arrived_at == action.point;
  if (!action.now && !is_there) {
    // Decided in a former process: rows before the change are still on their way.
    run.early_cuts[table] = action;
    return;
  }
  ChangeUnderway& change = action.now ? run.late_changes[table] : run.changes[table];
  change.waits_for_person = false;
  if (!change.planned) {
    change.planned = true;
    ObservePhase(run, table, "planned");
  }
  if (run.checkpoint_running) {
    run.waiting_cuts.push_back(action);
  } else {
    BeginSchemaCut(run, action);
  }
}

void Runtime::Impl::BeginSchemaCut(SinkRun& run, const CutTable& action) {
  OpenCut& cut = run.cuts[next_cut_];
  cut.cut = next_cut_++;
  cut.table = action.table.table;
  cut.late = action.now;
  cut.state = action.state;
  cut.started_us = parts_.clock->MonotonicMicros();
  cut.threads_left = run.writers.size();
  run.inlet->Post(TakeCut{cut.cut, cut.table, action.now});
}

OpenCut* Runtime::Impl::FindCut(SinkRun& run, CutId cut) {
  const auto it = run.cuts.find(cut);
  return it == run.cuts.end() ? nullptr : &it->second;
}

// ---- prepared and sealed ---------------------------------------------------------------------

void Runtime::Impl::OnBarrier(SinkRun& run, BarrierTaken barrier) {
  if (run.stopped) return;
  OpenCut* cut = FindCut(run, barrier.cut);
  DRIFTLESS_CHECK(cut != nullptr);
  if (barrier.deferred) return DeferCheckpoint(run, barrier.cut);
  cut->barrier_taken = true;
  cut->barrier = std::move(barrier);
  MaybeSeal(run, *cut);
}

// Nothing has heard of it but the inlet, which says when it can be taken. Where the sources have
// ended within what they sent as a whole, it never can: the last checkpoint stays the last.
void Runtime::Impl::DeferCheckpoint(SinkRun& run, CutId id) {
  run.cuts.erase(id);
  run.checkpoint_running = false;
  for (const CutTable& action : std::exchange(run.waiting_cuts, {})) BeginSchemaCut(run, action);
  if (phase_ == Phase::kCommitting) {
    run.checkpoint_wanted = false;
    Later([this] { OnCheckpointDone(); });
  } else if (phase_ == Phase::kSettling) {
    Later([this] { MaybeSettled(); });
  }
}

void Runtime::Impl::OnPrepared(SinkRun& run, CutId id, std::vector<PreparedTable> prepared) {
  if (run.stopped) return;
  OpenCut* cut = FindCut(run, id);
  DRIFTLESS_CHECK(cut != nullptr);
  for (PreparedTable& table : prepared) {
    const TablePath& path = table.epoch->key().table;
    cut->epochs[path] = table.epoch;
    auto& parts = cut->parts[path];
    std::move(table.parts.begin(), table.parts.end(), std::back_inserter(parts));
    for (const auto& [column, rows] : table.kept_back) cut->kept_back[path][column] += rows;
  }
  --cut->threads_left;
  MaybeSeal(run, *cut);
}

void Runtime::Impl::MaybeSeal(SinkRun& run, OpenCut& cut) {
  if (!cut.barrier_taken || cut.threads_left > 0) return;
  if (cut.parts.empty()) return RecordCut(run, cut);
  cut.calls_left = cut.parts.size();
  for (auto& [path, parts] : cut.parts) {
    CommitIdentity identity{parts_.pipeline, run.name(), path, cut.cut, attempt_};
    run.io->Submit(EncodeTablePath(path), [this, &run, identity, epoch = cut.epochs[path],
                                           parts = std::move(parts)] {
      auto token = std::make_shared<Result<CommitToken>>(CommitToken{});
      Result<void> sealed = run.io->Retry(
          [&]() -> Result<void> {
            const auto mutex = run.TableMutex(identity.table);
            const std::lock_guard<std::mutex> lock(*mutex);
            DRIFTLESS_ASSIGN_OR_RETURN(**token,
                                       run.sink()->Seal(identity, epoch->evolved(), parts));
            return {};
          },
          [&](const Error& error) {
            parts_.metrics->AddRetry(run.name(), "seal");
            spdlog::warn("sink {}: table {}: sealing cut {}: {}", run.name(),
                         identity.table.ToString(), identity.cut, error.ToString());
          });
      if (!sealed) *token = std::move(sealed).error().Context("table " + identity.table.ToString());
      mailbox_.Post(
          [this, &run, cut_id = identity.cut, token] { OnSealed(run, cut_id, std::move(*token)); });
    });
  }
  cut.parts.clear();
}

void Runtime::Impl::OnSealed(SinkRun& run, CutId id, Result<CommitToken> token) {
  if (run.stopped) return;
  if (!token) {
    if (token.error().kind() == ErrorKind::kCancelled) return;
    return SinkFailed(run, std::move(token).error().Context("sink " + run.name()));
  }
  OpenCut* cut = FindCut(run, id);
  cut->tokens.push_back(std::move(*token));
  if (--cut->calls_left == 0) RecordCut(run, *cut);
}

// ---- transactions A and B --------------------------------------------------------------------

// With the first transaction that names the cut: its rows are in the sink then, or will be. Only a
// cut that turns out void counts rows that come once more.
void Runtime::Impl::RecordKeptBack(const SinkRun& run, OpenCut& cut) {
  for (auto& [table, rows] : std::exchange(cut.kept_back, {})) {
    Record([key = SinkTableKey{run.name(), table},
            rows = std::move(rows)](StateTransaction& t) -> Result<void> {
      for (const auto& [column, count] : rows) {
        DRIFTLESS_TRY(t.CountDivergenceRows(key, column.column, column.name, count));
      }
      return {};
    });
  }
}

void Runtime::Impl::RecordCut(SinkRun& run, OpenCut& cut) {
  if (cut.tokens.empty()) {
    // Nothing to commit. A checkpoint that moves nothing is not written at all: an idle pipeline
    // leaves the disk alone.
    const bool is_idle =
        !cut.table.has_value() && cut.barrier.parked.empty() && run.last_move == cut.barrier.move;
    if (!is_idle) return RecordCommitted(run, cut, /*with_cut=*/true);
    return Later([this, &run, id = cut.cut] { FinishCut(run, id); });
  }
  if (!cut.table.has_value()) run.has_committed_rows = true;
  if (!run.traits.transactional) return CommitTokens(run, cut);
  PendingCut pending;
  pending.cut = cut.cut;
  pending.table = cut.table;
  pending.move = cut.barrier.move;
  pending.tokens = cut.tokens;
  RecordKeptBack(run, cut);
  Record([name = run.name(), pending = std::move(pending), state = cut.state,
          source = cut.barrier.source](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutCut(name, pending));
    if (!pending.table.has_value()) return {};
    return t.PutCutState({name, *pending.table}, state, pending.cut, source);
  });
  Later([this, &run, id = cut.cut] { CommitTokens(run, *FindCut(run, id)); });
}

void Runtime::Impl::CommitTokens(SinkRun& run, OpenCut& cut) {
  if (run.stopped) return;
  cut.calls_left = cut.tokens.size();
  for (const CommitToken& token : cut.tokens) {
    run.io->Submit(EncodeTablePath(token.identity.table), [this, &run, token] {
      auto outcome = std::make_shared<Result<CommitOutcome>>([&] {
        const auto mutex = run.TableMutex(token.identity.table);
        const std::lock_guard<std::mutex> lock(*mutex);
        return run.CommitOne(token, parts_.metrics);
      }());
      if (!*outcome) outcome->error().Context("table " + token.identity.table.ToString());
      mailbox_.Post([this, &run, id = token.identity.cut, outcome] {
        OnCommitted(run, id, std::move(*outcome));
      });
    });
  }
}

void Runtime::Impl::OnCommitted(SinkRun& run, CutId id, Result<CommitOutcome> outcome) {
  if (run.stopped) return;
  if (!outcome) {
    if (outcome.error().kind() == ErrorKind::kCancelled) return;
    return SinkFailed(run, std::move(outcome).error().Context("sink " + run.name()));
  }
  if (*outcome == CommitOutcome::kGone) {
    // The rows of the void cut are no longer in memory; a new start reads them again.
    parts_.metrics->CountCheckpoint(run.name(), "void");
    return Restart(
        MakeError(ErrorKind::kUnavailable, "sink " + run.name() + " can no longer commit cut " +
                                               std::to_string(id) + "; its rows are read again"));
  }
  OpenCut* cut = FindCut(run, id);
  if (--cut->calls_left == 0) RecordCommitted(run, *cut, !run.traits.transactional);
}

// `with_cut`: transaction A is this one too.
void Runtime::Impl::RecordCommitted(SinkRun& run, OpenCut& cut, bool with_cut) {
  Apply(cut.barrier.move, {}, &run.positions);
  run.positions_moved = true;
  RecordKeptBack(run, cut);
  Record([name = run.name(), id = cut.cut, table = cut.table, state = cut.state,
          source = cut.barrier.source, with_cut](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(with_cut ? t.KeepCutNumber(id) : t.DropCut(name, id));
    if (!table.has_value()) return {};
    if (with_cut) DRIFTLESS_TRY(t.PutCutState({name, *table}, state, id, source));
    return t.MarkCutCommitted({name, *table}, id);
  });
  if (cut.table.has_value()) {
    ChangeUnderway& change = cut.late ? run.late_changes[*cut.table] : run.changes[*cut.table];
    change.cut_committed = true;
    change.source = cut.barrier.source;
    ObservePhase(run, *cut.table, "flushed");
    // The coordinator's next record (the number of its first step) joins this transaction.
    Feed(CutCommitted{SinkTableKey{run.name(), *cut.table}});
  } else {
    run.last_move = cut.barrier.move;
    RecordParked(run, cut.barrier.parked);
  }
  Later([this, &run, id = cut.cut] { FinishCut(run, id); });
}

void Runtime::Impl::RecordParked(SinkRun& run, const std::vector<ParkedSnapshot>& snapshots) {
  for (const ParkedSnapshot& snapshot : snapshots) {
    const TablePath& table = snapshot.parked.table.table;
    if (snapshot.parked.segments.empty()) {
      run.parked_through.erase(table);
      Record([key = snapshot.parked.table](StateTransaction& t) { return t.DropParked(key); });
    } else {
      run.parked_through[table] = snapshot.parked.through;
      Record([parked = snapshot.parked](StateTransaction& t) { return t.PutParked(parked); });
    }
    Later([this, retired = snapshot.retired] {
      for (const ParkedSegment& segment : retired) space_->Remove(segment);
      // The room on the disk is that of all sinks.
      for (auto& other : sinks_) {
        if (!other->stopped) other->inlet->Post(Wake{});
      }
    });
  }
}

void Runtime::Impl::FinishCut(SinkRun& run, CutId id) {
  if (run.stopped) return;
  const auto it = run.cuts.find(id);
  const OpenCut cut = std::move(it->second);
  run.cuts.erase(it);
  Acknowledge();
  if (cut.table.has_value()) return;
  run.checkpoint_running = false;
  run.committed_event_time_ms = std::max(run.committed_event_time_ms, cut.barrier.event_time_ms);
  parts_.metrics->ObserveCheckpoint(
      run.name(), static_cast<double>(parts_.clock->MonotonicMicros() - cut.started_us) / 1e6);
  parts_.metrics->CountCheckpoint(run.name(), "committed");
  for (const CutTable& action : std::exchange(run.waiting_cuts, {})) BeginSchemaCut(run, action);
  if (run.checkpoint_wanted) return StartCheckpoint(run);
  OnCheckpointDone();
}

// ---- positions for the sources ---------------------------------------------------------------

// Where the sources must be able to go on: what every table of every sink has committed, or has
// durably parked. `having`: only of those that have a position in that stream.
CutPosition Runtime::Impl::ResumePosition(std::optional<StreamId> having) const {
  std::optional<CutPosition> meet;
  const auto with = [&](const CutPosition& position) {
    if (having.has_value() && !position.Last(*having).has_value()) return;
    meet = meet.has_value() ? CutPosition::Meet(*meet, position) : position;
  };
  for (const auto& run : sinks_) {
    with(run->positions.base);
    for (const auto& [table, position] : run->positions.tables) {
      if (!position.base.has_value()) continue;
      const auto parked = run->parked_through.find(table);
      with(parked == run->parked_through.end() ? *position.base
                                               : CutPosition::Join(*position.base, parked->second));
    }
  }
  return meet.value_or(CutPosition{});
}

// At the start of a run. What is durably parked counts as committed.
std::vector<SinkPlace> Runtime::Impl::PlacesOf(const TablePath& source) const {
  std::vector<SinkPlace> places;
  for (const auto& run : sinks_) {
    const Result<std::vector<TablePath>> tables = run->config->route(source);
    if (!tables || tables->empty()) continue;  // the inlet says so when a row comes
    SinkPlace& place = places.emplace_back();
    place.sink = run->name();
    for (const TablePath& table : *tables) {
      const auto own = run->positions.tables.find(table);
      const bool has_own = own != run->positions.tables.end();
      const bool has_base = has_own && own->second.base.has_value();
      CutPosition from = has_base ? *own->second.base : run->positions.base;
      const auto parked = run->parked_through.find(table);
      if (parked != run->parked_through.end()) from = CutPosition::Join(from, parked->second);
      place.furthest = CutPosition::Join(place.furthest, from);
      if (has_own && own->second.feeds.contains(source)) {
        place.own = CutPosition::Join(place.own, own->second.feeds.at(source));
      }
      const bool is_first = &table == &tables->front();
      place.from = is_first ? std::move(from) : CutPosition::Meet(place.from, from);
    }
    place.furthest = CutPosition::Join(place.furthest, place.own);
  }
  return places;
}

// What some sink table that the source table goes to has.
CutPosition Runtime::Impl::FurthestPosition(const TablePath& source) const {
  CutPosition furthest;
  for (const SinkPlace& place : PlacesOf(source)) {
    furthest = CutPosition::Join(furthest, place.furthest);
  }
  return furthest;
}

void Runtime::Impl::Acknowledge() {
  CutPosition position = ResumePosition();
  if (position == acknowledged_) return;
  acknowledged_ = position;
  acknowledge_io_->Submit("", [this, position = std::move(position)] {
    for (const auto& source : parts_.sources) source->Acknowledge(position);
  });
}

// ---- commits of a former process whose outcome the sink could not tell -------------------------

void Runtime::Impl::SettleLater(SinkRun& run, const PendingCut& pending) {
  const CommitToken& token = pending.tokens.front();
  run.io->Submit(EncodeTablePath(token.identity.table), [this, &run, token] {
    auto outcome = std::make_shared<Result<CommitOutcome>>([&]() -> Result<CommitOutcome> {
      DRIFTLESS_ASSIGN_OR_RETURN(const CommitState state, run.LookUpOne(token, parts_.metrics, 0));
      if (state == CommitState::kCommitted) return CommitOutcome::kCommitted;
      if (state == CommitState::kGone) return CommitOutcome::kGone;
      return run.CommitOne(token, parts_.metrics);
    }());
    mailbox_.Post([this, &run, table = token.identity.table, outcome] {
      if (run.stopped) return;
      if (!*outcome) {
        if (outcome->error().kind() == ErrorKind::kCancelled) return;
        return SinkFailed(run, std::move(*outcome).error().Context("sink " + run.name()));
      }
      const auto it = run.unsettled.find(table);
      const PendingCut settled = std::move(it->second);
      run.unsettled.erase(it);
      std::set<TablePath> voided;
      if (**outcome == CommitOutcome::kGone) voided.insert(table);
      Apply(settled.move, voided, &run.positions);
      run.positions_moved = true;
      // The row of the cut stays for its tables that are still unsettled.
      PendingCut rest;
      rest.cut = settled.cut;
      for (const auto& [other, pending_cut] : run.unsettled) {
        if (pending_cut.cut != settled.cut) continue;
        rest.move.tables.insert(pending_cut.move.tables.begin(), pending_cut.move.tables.end());
        rest.tokens.push_back(pending_cut.tokens.front());
      }
      Record([name = run.name(), rest = std::move(rest)](StateTransaction& t) -> Result<void> {
        DRIFTLESS_TRY(t.DropCut(name, rest.cut));
        return rest.tokens.empty() ? Result<void>() : t.PutCut(name, rest);
      });
      Later([this, &run, table] {
        run.inlet->Post(SettleTable{table, run.positions.tables[table]});
        settled_releases_ = true;
        MaybeSettled();
      });
    });
  });
}

}  // namespace driftless
