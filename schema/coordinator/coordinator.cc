#include "schema/coordinator/coordinator.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "schema/base/check.h"
#include "schema/coordinator/other_stream.h"
#include "schema/coordinator/outcome.h"
#include "schema/coordinator/reconcile.h"
#include "schema/events/table_rename.h"

namespace driftless {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

using Phase = OpenChange::Phase;

// A step that the sink is busy with, or that could not be reached, is looked at again after this
// long; the delay doubles up to the second figure.
constexpr int64_t kFirstRetryMs = 200;
constexpr int64_t kLongestRetryMs = 30'000;
// Others may change a table beside us, but not all the time.
constexpr int kMostConflicts = 20;

int64_t RetryDelayMs(int attempts) {
  const int doublings = std::min(attempts, 10);
  return std::min(kFirstRetryMs << doublings, kLongestRetryMs);
}

}  // namespace

struct Coordinator::Impl {
  std::string pipeline;
  std::map<std::string, CoordinatorSink> sinks;
  DecisionId next_decision = 1;
  std::map<SinkTableKey, TableState> tables;
  std::map<SinkTableKey, std::deque<ChangeArrived>> queued;  // behind a change that is under way
  int64_t now_ms = 0;
  std::vector<CoordinatorAction> actions;

  template <typename Action>
  void Emit(Action action) {
    actions.emplace_back(std::move(action));
  }

  const CoordinatorSink& SinkOf(const SinkTableKey& key) const {
    const auto it = sinks.find(key.sink);
    DRIFTLESS_CHECK(it != sinks.end());
    return it->second;
  }

  static EvolvedSchemaPtr Share(const std::optional<EvolvedSchema>& evolved) {
    return evolved ? std::make_shared<const EvolvedSchema>(*evolved) : nullptr;
  }

  static std::map<TablePath, EvolvedSchemaPtr> BySource(const TableState& state) {
    if (!state.evolved) return {};
    return state.merge.BySource(*state.evolved);
  }

  void RecordState(const SinkTableKey& key) { Emit(RecordTableState{key, Serialize(tables[key])}); }

  // ---- audit ----

  AuditRecord MakeRecord(const SinkTableKey& key, const OpenChange& open, const PartDecision& part,
                         AuditPhase phase, AuditResult result) const {
    AuditRecord record;
    const auto id = open.ids.find(part.part);
    record.id = id != open.ids.end() ? id->second : 0;
    record.time_ms = now_ms;
    record.phase = phase;
    record.statement = TextOf(*open.change);
    record.source_table = open.source;
    record.point = open.change->point;
    record.position = open.position;
    record.part = part.part;
    record.event = part.event;
    record.detail = part.detail;
    record.sink = key;
    record.sink_type = SinkOf(key).type;
    record.behavior = part.behavior;
    record.verdict = part.verdict;
    record.actions = part.actions;
    record.result = result;
    const auto forced = open.forced.find(part.part);
    if (forced != open.forced.end()) record.message = forced->second.message;
    return record;
  }

  void Audit(AuditRecord record) {
    Emit(RecordAudit{record});
    const Notify::Level level = LevelOf(record);
    Emit(Notify{std::move(record), level});
  }

  // Before anything is carried out: every part with its verdict.
  void AuditIntents(const SinkTableKey& key, OpenChange* open) {
    for (const PartDecision& part : open->parts) {
      if (open->ids.count(part.part) == 0) open->ids[part.part] = next_decision++;
      const AuditResult result =
          part.verdict.kind == VerdictKind::kHold ? AuditResult::kHeld : AuditResult::kPending;
      Emit(RecordAudit{MakeRecord(key, *open, part, AuditPhase::kIntent, result)});
    }
  }

  void AuditOutcomes(const SinkTableKey& key, const OpenChange& open) {
    for (const PartDecision& part : open.parts) {
      if (part.verdict.kind == VerdictKind::kHold) continue;  // no outcome yet
      AuditRecord record = MakeRecord(key, open, part, AuditPhase::kOutcome, ResultOf(open, part));
      if (part.satisfied) record.message = "nothing need be sent";
      Audit(std::move(record));
    }
  }

  // What an earlier decision about the same change said is not what happens.
  void Supersede(const SinkTableKey& key, const OpenChange& old) {
    for (const PartDecision& part : old.parts) {
      Emit(RecordAudit{MakeRecord(key, old, part, AuditPhase::kOutcome, AuditResult::kSuperseded)});
    }
  }

  // ---- deciding ----

  DecideInput MakeInput(const SinkTableKey& key, const TableState& state,
                        const OpenChange& open) const {
    const CoordinatorSink& sink = SinkOf(key);
    DecideInput input;
    input.change = open.change.get();
    input.policy = sink.policy;
    input.matrix = sink.matrix;
    input.planner = sink.planner;
    input.sink = sink.name;
    input.sink_table = key.table;
    input.evolved = state.evolved ? &*state.evolved : nullptr;
    input.sink_was_read = open.was_read;
    input.actual = open.actual ? &*open.actual : nullptr;
    input.change_id = pipeline + "/" + key.sink + "/" + key.table.ToString() + "/" +
                      std::to_string(open.change->point.stream) + "/" +
                      open.change->point.ToString();
    input.forced = open.forced;
    input.approved = open.approved;
    input.late_drop = open.late;
    input.one_by_one = open.one_by_one;
    return input;
  }

  void TakeOver(const SinkTableKey& key, Decision decision, OpenChange* open) {
    std::vector<PartDecision> parts = open->settled;
    parts.insert(parts.end(), decision.parts.begin(), decision.parts.end());
    // An add that was to be planned again, since its name came free, is not where the drop is
    // refused.
    for (const PartDecision& old : open->parts) {
      const bool stays = std::any_of(parts.begin(), parts.end(), [&](const PartDecision& part) {
        return part.part == old.part;
      });
      if (stays || open->ids.count(old.part) == 0) continue;
      Emit(
          RecordAudit{MakeRecord(key, *open, old, AuditPhase::kOutcome, AuditResult::kSuperseded)});
      open->ids.erase(old.part);
    }
    open->parts = std::move(parts);
    open->plan = std::move(decision.plan);
    open->step_parts = std::move(decision.step_parts);
    open->evolved = std::move(decision.evolved);
    open->begun = open->settled_begun;
    open->begun.insert(open->begun.end(), decision.begun.begin(), decision.begun.end());
    open->ended = open->settled_ended;
    open->ended.insert(open->ended.end(), decision.ended.begin(), decision.ended.end());
  }

  void DecideOpen(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    Decision decision = DecideParts(key, state, open);
    if (decision.needs_sink_table && !open.was_read) {
      open.phase = Phase::kReading;
      return Emit(ReadSinkTable{key});
    }
    const bool fails = decision.fails;
    const bool held = decision.held;
    const bool rows_wait = decision.rows_wait;
    TakeOver(key, std::move(decision), &open);
    AuditIntents(key, &open);
    if (fails) return Fail(key);
    if (held && rows_wait) return Hold(key);
    if (held) return HoldLate(key);
    if (NeedsCut(state, open)) return Cut(key);
    Finish(key, /*was_cut=*/false);
  }

  // A shard's statement may leave nothing to decide about the merged table.
  Decision DecideParts(const SinkTableKey& key, const TableState& state,
                       const OpenChange& open) const {
    Decision decision;
    decision.evolved = state.evolved;
    if (!open.change->parts.empty()) decision = Decide(MakeInput(key, state, open));
    for (const PartDecision& part : open.settled) {
      decision.fails = decision.fails || part.verdict.kind == VerdictKind::kFail;
    }
    if (decision.fails) decision.plan = SchemaPlan();
    return decision;
  }

  // Rows from before the change must be durable before the schema that they are written under can
  // change: writers are closed for steps at the sink, and what a skip binds otherwise must not
  // reach rows that are read again after a crash.
  static bool NeedsCut(const TableState& state, const OpenChange& open) {
    if (!open.plan.steps.empty() || open.late) return true;
    if (!state.evolved || !open.evolved) return false;
    if (*state.evolved != *open.evolved) return true;
    const auto before = state.merge.BySource(*state.evolved);
    const auto after = open.merge ? open.merge->BySource(*open.evolved) : before;
    for (const auto& [source, evolved] : before) {
      // Rows of a shard that goes away are projected by its own binding to the last.
      const auto it = after.find(source);
      if (it == after.end() || *it->second != *evolved) return true;
    }
    return false;
  }

  void Cut(const SinkTableKey& key) {
    TableState& state = tables[key];
    state.open->phase = Phase::kCutting;
    state.open->step = 0;
    std::string text = Serialize(state);
    Emit(RecordTableState{key, text});
    Emit(CutTable{key, state.open->change->point, state.open->late, std::move(text)});
  }

  void Hold(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    open.phase = Phase::kHeld;
    open.answered = false;  // where one of several parts was answered, the others still wait
    if (open.held_since_ms == 0) open.held_since_ms = now_ms;
    for (const PartDecision& part : open.parts) {
      if (part.verdict.kind != VerdictKind::kHold) continue;
      Emit(Notify{MakeRecord(key, open, part, AuditPhase::kIntent, AuditResult::kHeld),
                  Notify::Level::kWarn});
    }
    RecordState(key);
  }

  // A drop.column waits, its rows go on as after a skip.
  void HoldLate(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange late = *state.open;
    late.answered = false;
    late.phase = Phase::kHeld;
    late.late = true;
    late.held_since_ms = now_ms;
    auto held_only = std::make_shared<StatementChange>(*late.change);
    std::erase_if(held_only->parts,
                  [&](const SchemaChange& part) { return !IsHeld(late, part.part); });
    late.change = std::move(held_only);
    std::erase_if(late.parts,
                  [](const PartDecision& part) { return part.verdict.kind != VerdictKind::kHold; });
    for (const PartDecision& part : late.parts) {
      Emit(Notify{MakeRecord(key, late, part, AuditPhase::kIntent, AuditResult::kHeld),
                  Notify::Level::kWarn});
    }
    late.begun.clear();
    late.ended.clear();
    late.settled.clear();
    late.settled_begun.clear();
    late.settled_ended.clear();
    state.late.push_back(std::move(late));
    if (NeedsCut(state, *state.open)) {
      // Its rows go on as after a skip, which binds the column otherwise: that is cut too.
      state.open->plan.steps.clear();
      return Cut(key);
    }
    Finish(key, /*was_cut=*/false);
  }

  void Fail(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    open.phase = Phase::kFailed;
    const PartDecision* failed = &open.parts.front();
    for (const PartDecision& part : open.parts) {
      if (part.verdict.kind == VerdictKind::kFail && failed->verdict.kind != VerdictKind::kFail) {
        failed = &part;
      }
    }
    for (const PartDecision& part : open.parts) {
      if (part.verdict.kind != VerdictKind::kFail) continue;
      Audit(MakeRecord(key, open, part, AuditPhase::kOutcome, AuditResult::kFailed));
    }
    Stop(key, *failed, failed->verdict.reason);
  }

  void Stop(const SinkTableKey& key, const PartDecision& part, const std::string& why) {
    TableState& state = tables[key];
    const OpenChange& open = *state.open;
    RecordState(key);
    const DecisionId id = open.ids.at(part.part);
    std::string text = std::string(Tag(part.event)) + " (" + part.detail + ") at sink " + key.sink +
                       ", table " + key.table.ToString() + ": " + why + " [" + part.verdict.rule +
                       (part.verdict.cell.empty() ? "" : "; " + part.verdict.cell) + "]";
    Error error = MakeError(ErrorKind::kRefused, std::move(text))
                      .Position(open.position)
                      .Hint(
                          "Change the policy or the sink and start again, or run: driftless "
                          "decide " +
                          std::to_string(id) + " skip");
    Emit(FailPipeline{key, id, std::move(error)});
  }

  // ---- carrying out ----

  void SendStep(const SinkTableKey& key, uint32_t step) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    if (step >= open.plan.steps.size()) return Finish(key, /*was_cut=*/true);
    open.phase = Phase::kExecuting;
    open.step = step;
    RecordState(key);
    Emit(ExecuteStep{key, std::make_shared<const SchemaPlan>(open.plan), step});
  }

  // Looks where the sink stands with step `open.step` before anything is sent again.
  void LookFirst(const SinkTableKey& key) {
    OpenChange& open = *tables[key].open;
    open.phase = Phase::kExecuting;
    open.recovering = true;
    Emit(ReadSinkTable{key});
  }

  void RetryLater(OpenChange* open) { open->retry_at_ms = now_ms + RetryDelayMs(open->attempts++); }

  void Finish(const SinkTableKey& key, bool was_cut) {
    TableState& state = tables[key];
    OpenChange open = std::move(*state.open);
    state.open.reset();
    AuditOutcomes(key, open);
    for (const EndedDivergence& ended : open.ended) {
      Emit(EndDivergences{key, ended.column, ended.event, ended.by});
    }
    for (const BegunDivergence& begun : open.begun) Diverge(key, open, begun);
    const bool had_writers = state.evolved.has_value();
    state.evolved = open.evolved;
    state.known = true;
    if (!open.late) {
      if (open.merge) state.merge = *open.merge;
      state.decided[{open.source, open.change->point.stream}] = open.change->point;
      if (open.renaming) state.renamings.push_back(*open.renaming);
      EndRenamings(&state);
    }
    RecordState(key);
    Emit(Release{key, Share(state.evolved), open.change->point, had_writers && !was_cut,
                 BySource(state)});
    GoOn(key);
  }

  // What no shard is any more was dropped.
  static void EndRenamings(TableState* state) {
    for (TableRenaming& renaming : state->renamings) {
      if (!state->merge.HasIncarnation(renaming.incarnation)) renaming.ended = true;
    }
  }

  void Diverge(const SinkTableKey& key, const OpenChange& open, const BegunDivergence& begun) {
    Divergence divergence;
    divergence.sink = key;
    divergence.column = begun.column;
    divergence.column_name = begun.column_name;
    divergence.event = begun.event;
    divergence.text = begun.text;
    divergence.of_old_rows = begun.of_old_rows;
    const auto id = open.ids.find(begun.part);
    divergence.cause = id != open.ids.end() ? id->second : 0;
    divergence.since_ms = now_ms;
    Emit(RecordDivergence{std::move(divergence)});
  }

  // The table is idle: a drop that was approved meanwhile, then what arrived meanwhile.
  void GoOn(const SinkTableKey& key) {
    TableState& state = tables[key];
    if (state.open) return;
    const auto ready = std::find_if(state.late.begin(), state.late.end(),
                                    [](const OpenChange& o) { return o.answered; });
    if (ready != state.late.end()) {
      state.open = std::move(*ready);
      state.late.erase(ready);
      return StartLate(key);
    }
    auto& queue = queued[key];
    if (queue.empty()) return;
    ChangeArrived next = std::move(queue.front());
    queue.pop_front();
    Arrive(std::move(next));
  }

  void StartLate(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    const SchemaChange& drop = open.change->parts.front();
    if (!state.evolved || drop.before->incarnation != state.evolved->incarnation) {
      // The table is another one by now: there is nothing left to drop.
      for (PartDecision& part : open.parts) {
        part.verdict.kind = VerdictKind::kSkip;
        part.verdict.reason = "the table has gone since";
      }
      open.evolved = state.evolved;
      open.plan = SchemaPlan();
      return Finish(key, /*was_cut=*/false);
    }
    Decision decision = Decide(MakeInput(key, state, open));
    if (decision.held) {  // one of several drops was answered: the others still wait
      open.answered = false;
      state.late.push_back(std::move(open));
      state.open.reset();
      RecordState(key);
      return GoOn(key);
    }
    const bool fails = decision.fails;
    TakeOver(key, std::move(decision), &open);
    AuditIntents(key, &open);
    if (fails) return Fail(key);
    Cut(key);
  }

  // ---- refusals ----

  void Refused(const SinkTableKey& key, const Error& error) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    const uint32_t owner = open.step_parts[open.step];
    const auto part = std::find_if(open.parts.begin(), open.parts.end(),
                                   [&](const PartDecision& p) { return p.part == owner; });
    DRIFTLESS_CHECK(part != open.parts.end());
    if (part->behavior != Behavior::kTryEvolve) return RefusedForGood(key, *part, error);
    const bool shared = !open.one_by_one && SharesSteps(open);
    Audit(RefusalRecord(key, open, *part, error));
    if (shared) {
      open.one_by_one = true;
    } else {
      open.forced[owner] = {ForcedVerdict::By::kRefused, error.message()};
      open.one_by_one = true;
    }
    const uint32_t sent = open.step;  // steps before this one are done
    const bool inside_part = sent > 0 && open.step_parts[sent - 1] == owner;
    if (inside_part || (shared && sent > 0)) {
      // The sink stands in the middle of a part: what it has is taken as it is.
      open.actual.reset();
      open.recovering = false;
      open.phase = Phase::kReading;
      return Emit(ReadSinkTable{key});
    }
    TakeOver(key, DecideParts(key, state, open), &open);
    AuditIntents(key, &open);
    SendStep(key, sent);
  }

  static bool SharesSteps(const OpenChange& open) {
    int sent = 0;
    for (const PartDecision& part : open.parts) sent += IsSent(part) ? 1 : 0;
    const std::set<uint32_t> owners(open.step_parts.begin(), open.step_parts.end());
    return static_cast<size_t>(sent) > owners.size();
  }

  AuditRecord RefusalRecord(const SinkTableKey& key, const OpenChange& open,
                            const PartDecision& part, const Error& error) const {
    AuditRecord record = MakeRecord(key, open, part, AuditPhase::kOutcome, AuditResult::kRefused);
    record.message = error.ToString();
    return record;
  }

  void RefusedForGood(const SinkTableKey& key, const PartDecision& part, const Error& error) {
    OpenChange& open = *tables[key].open;
    Audit(RefusalRecord(key, open, part, error));
    open.phase = Phase::kFailed;
    TableState& state = tables[key];
    if (open.step > 0 && state.evolved && open.plan.steps[open.step - 1].after) {
      // The steps before this one stay done.
      state.evolved =
          Reconcile(*state.evolved, *open.plan.steps[open.step - 1].after, open.plan.evolved);
    }
    Stop(key, part, "the sink refused: " + error.ToString());
  }

  // ---- inputs ----

  void Arrive(ChangeArrived arrived) {
    const SinkTableKey key = arrived.table;
    TableState& state = tables[key];
    const Point& point = arrived.change->point;
    const TablePath source = arrived.change->table;
    const auto decided = state.decided.find({source, point.stream});
    if (decided != state.decided.end() &&
        (decided->second == point || point.Precedes(decided->second))) {
      // Known with an outcome: it comes again by replay and meets what was decided.
      return Emit(Release{key, Share(state.evolved), point, true, BySource(state)});
    }
    const bool same =
        state.open && state.open->source == source && state.open->change->point == point;
    if (state.open && state.open->phase != Phase::kFailed) {
      if (!same) {
        queued[key].push_back(std::move(arrived));
      } else if (!state.open->arrived) {  // held by a former process
        state.open->arrived = true;
        if (state.open->answered) DecideOpen(key);
      }
      return;
    }
    OpenChange open;
    open.arrived = true;
    if (state.open) {  // it stopped the pipeline and is decided anew
      Supersede(key, *state.open);
      if (same) {
        open.forced = state.open->forced;
        open.approved = state.open->approved;
        ReconcileLater(&open, *state.open);
      }
    }
    MergeInto(key, arrived.change, &open);
    open.source = source;
    open.position = std::move(arrived.position);
    open.seen_ms = arrived.seen_ms;
    state.open = std::move(open);
    if (state.open->recovering) {
      state.open->recovering = false;
      state.open->phase = Phase::kReading;
      return Emit(ReadSinkTable{key});
    }
    DecideOpen(key);
  }

  // The statement as the sink table sees it: its own, or what it means for a table that several
  // source tables feed.
  void MergeInto(const SinkTableKey& key, const StatementChangePtr& change, OpenChange* open) {
    const SinkPolicy& policy = *SinkOf(key).policy;
    const bool flink_cdc =
        policy.behavior == Behavior::kLenient && policy.lenient_style == LenientStyle::kFlinkCdc;
    open->merge = tables[key].merge;
    MergedStatement merged =
        open->merge->Apply(change, flink_cdc ? LatticeStyle::kFlinkCdc : LatticeStyle::kMatrix,
                           policy.behavior, policy.table_rename);
    if (const RenameTable* rename = FindRename(*change)) {
      open->renaming = TableRenaming{change->table, rename->to, change->after()->incarnation,
                                     policy.table_rename == TableRename::kFollow, false};
    }
    open->change = std::move(merged.change);
    open->settled = std::move(merged.settled);
    if (auto refused = RefuseOtherStream(tables[key], *change, policy.behavior)) {
      auto nothing = std::make_shared<StatementChange>(*open->change);
      nothing->parts.clear();
      open->change = std::move(nothing);
      open->settled = {std::move(*refused)};
    }
    open->settled_begun = std::move(merged.begun);
    open->settled_ended = std::move(merged.ended);
  }

  // Steps of the failed plan may have been carried out: the sink is looked at, and what it has is
  // bound as that plan would have bound it.
  static void ReconcileLater(OpenChange* open, const OpenChange& failed) {
    if (failed.plan.steps.empty()) return;
    open->recovering = true;
    open->plan = failed.plan;
  }

  void Handle(ChangeArrived arrived) { Arrive(std::move(arrived)); }

  void Handle(SinkTableRead read) {
    TableState& state = tables[read.table];
    if (!state.open) return;
    OpenChange& open = *state.open;
    if (!read.actual) {
      if (read.actual.error().IsRetryable()) return RetryLater(&open);
      return CannotRead(read.table, read.actual.error());
    }
    open.actual = std::move(*read.actual);
    open.was_read = true;
    open.attempts = 0;
    if (open.phase == Phase::kReading) return DecideAfterRead(read.table);
    if (open.phase == Phase::kExecuting && open.recovering) Recover(read.table);
  }

  void DecideAfterRead(const SinkTableKey& key) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    if (!open.plan.steps.empty() && state.evolved && open.actual) {
      // A plan of this change was begun before.
      state.evolved = Reconcile(*state.evolved, *open.actual, open.plan.evolved);
    }
    const bool executing = open.one_by_one && !open.parts.empty();
    open.plan = SchemaPlan();
    if (!executing) return DecideOpen(key);
    TakeOver(key, DecideParts(key, state, open), &open);
    AuditIntents(key, &open);
    SendStep(key, 0);
  }

  void CannotRead(const SinkTableKey& key, const Error& error) {
    TableState& state = tables[key];
    OpenChange& open = *state.open;
    if (open.parts.empty()) {  // not decided yet
      PartDecision part;
      part.part = open.change->parts.front().part;
      part.event = open.change->parts.front().kind();
      part.detail = Describe(open.change->parts.front());
      part.behavior = SinkOf(key).policy->behavior;
      part.verdict.kind = VerdictKind::kFail;
      part.verdict.reason = "the sink table cannot be read";
      open.parts.push_back(std::move(part));
      AuditIntents(key, &open);
    }
    open.phase = Phase::kFailed;
    const PartDecision part = open.parts.front();
    Audit(RefusalRecord(key, open, part, error));
    Stop(key, part, "the sink table cannot be read: " + error.ToString());
  }

  void Recover(const SinkTableKey& key) {
    OpenChange& open = *tables[key].open;
    const SinkTable* actual = open.actual ? &*open.actual : nullptr;
    if (open.step >= open.plan.steps.size()) return Finish(key, /*was_cut=*/true);
    switch (SinkOf(key).planner->Recognise(open.plan, open.step, actual)) {
      case StepState::kDone: open.recovering = false; return SendStep(key, open.step + 1);
      case StepState::kNotBegun: open.recovering = false; return SendStep(key, open.step);
      case StepState::kRunning: return RetryLater(&open);
      case StepState::kCannotTell: break;
    }
    open.recovering = false;
    if (open.plan.steps[open.step].repeatable) return SendStep(key, open.step);
    open.phase = Phase::kFailed;
    const uint32_t owner = open.step_parts[open.step];
    for (const PartDecision& part : open.parts) {
      if (part.part != owner) continue;
      const PartDecision copy = part;
      return Stop(key, copy,
                  "it cannot be told whether the sink has carried out \"" +
                      open.plan.steps[open.step].action + "\"");
    }
  }

  void Handle(const CutCommitted& cut) {
    TableState& state = tables[cut.table];
    if (!state.open || state.open->phase != Phase::kCutting) return;
    SendStep(cut.table, 0);
  }

  void Handle(StepFinished finished) {
    TableState& state = tables[finished.table];
    if (!state.open || state.open->phase != Phase::kExecuting ||
        state.open->step != finished.step || state.open->recovering) {
      return;
    }
    OpenChange& open = *state.open;
    if (finished.result) {
      open.attempts = 0;
      open.conflicts = 0;
      return SendStep(finished.table, finished.step + 1);
    }
    const Error& error = finished.result.error();
    if (error.kind() == ErrorKind::kCommitUnknown) return LookFirst(finished.table);
    if (error.kind() == ErrorKind::kConflict && open.conflicts++ < kMostConflicts) {
      return LookFirst(finished.table);
    }
    if (error.IsRetryable()) return RetryLater(&open);
    Refused(finished.table, error);
  }

  struct Found {
    SinkTableKey key;
    OpenChange* change = nullptr;
    bool late = false;
    uint32_t part = 0;
  };

  std::optional<Found> FindDecision(DecisionId id) {
    // A hold answers to the numbers of its held parts only: the others have their verdicts.
    const auto holds = [&](const OpenChange& open) -> std::optional<uint32_t> {
      for (const auto& [part, decision] : open.ids) {
        if (decision == id && (open.phase == Phase::kFailed || IsHeld(open, part))) return part;
      }
      return std::nullopt;
    };
    for (auto& [key, state] : tables) {
      if (state.open &&
          (state.open->phase == Phase::kHeld || state.open->phase == Phase::kFailed)) {
        if (const auto part = holds(*state.open)) return Found{key, &*state.open, false, *part};
      }
      for (OpenChange& late : state.late) {
        if (late.answered) continue;
        if (const auto part = holds(late)) return Found{key, &late, true, *part};
      }
    }
    return std::nullopt;
  }

  void Handle(const ApprovalGiven& given) {
    using Choice = ApprovalGiven::Choice;
    const auto found = FindDecision(given.decision);
    if (!found) return;
    OpenChange& open = *found->change;
    // Whatever is said now, it is not the silence that ran out.
    std::erase_if(open.forced,
                  [](const auto& entry) { return entry.second.by == ForcedVerdict::By::kTimeout; });
    switch (given.choice) {
      case Choice::kApprove:
        open.approved = true;
        open.was_read = false;  // the sink may have changed while it waited
        break;
      case Choice::kReject:
        open.forced[found->part] = {ForcedVerdict::By::kReject, given.by};
        break;
      case Choice::kSkip: open.forced[found->part] = {ForcedVerdict::By::kSkip, given.by}; break;
      case Choice::kRetry:
        open.answered = false;
        open.held_since_ms = now_ms;
        break;
    }
    open.answered = open.answered || given.choice != Choice::kRetry;
    const SinkTableKey key = found->key;
    RecordState(key);
    if (found->late) {
      if (given.choice != Choice::kRetry) GoOn(key);
      return;
    }
    // What a former process held or failed at comes again first: the rows before it do, too.
    if (open.phase == Phase::kHeld && open.arrived && given.choice != Choice::kRetry) {
      DecideOpen(key);
    }
  }

  void Handle(TimePassed) {
    std::vector<SinkTableKey> keys;
    keys.reserve(tables.size());
    for (const auto& [key, state] : tables) keys.push_back(key);
    for (const SinkTableKey& key : keys) {
      TryAgain(key);
      TimeOut(key);
      GoOn(key);
    }
  }

  void TryAgain(const SinkTableKey& key) {
    TableState& state = tables[key];
    if (!state.open || state.open->retry_at_ms == 0 || state.open->retry_at_ms > now_ms) return;
    OpenChange& open = *state.open;
    open.retry_at_ms = 0;
    if (open.phase == Phase::kReading || open.recovering) return Emit(ReadSinkTable{key});
    if (open.phase == Phase::kExecuting) SendStep(key, open.step);
  }

  void TimeOut(const SinkTableKey& key) {
    TableState& state = tables[key];
    const SinkPolicy& policy = *SinkOf(key).policy;
    const auto by =
        policy.approval_timeout_rejects ? ForcedVerdict::By::kReject : ForcedVerdict::By::kTimeout;
    const auto expire = [&](OpenChange* open) {
      if (open->answered || now_ms - open->held_since_ms < policy.approval_timeout_ms) return false;
      for (const PartDecision& part : open->parts) {
        if (part.verdict.kind == VerdictKind::kHold) open->forced[part.part] = {by, "timeout"};
      }
      open->answered = true;
      return true;
    };
    if (state.open && state.open->phase == Phase::kHeld && state.open->arrived &&
        expire(&*state.open)) {
      DecideOpen(key);
      return;
    }
    bool expired = false;
    for (OpenChange& late : state.late) {
      if (expire(&late)) expired = true;
    }
    if (expired) GoOn(key);
  }

  // ---- restart ----

  void Resume(const RecoveredTable& recovered) {
    TableState& state = tables[recovered.table];
    const SinkTableKey& key = recovered.table;
    if (!state.open) return ReleaseAsBefore(key);
    OpenChange& open = *state.open;
    if (recovered.cut_committed &&
        (open.phase == Phase::kCutting || open.phase == Phase::kExecuting)) {
      return LookFirst(key);
    }
    // Before transaction A: nothing was sent, and the statement comes again, from the source or
    // from where its rows were parked.
    if (open.late) {
      open.phase = Phase::kHeld;
      state.late.push_back(std::move(open));
      state.open.reset();
    } else if (open.phase == Phase::kCutting || open.phase == Phase::kReading) {
      // A drop that it left behind to wait is not there yet either.
      std::erase_if(state.late, [&](const OpenChange& late) {
        return late.source == open.source && late.change->point == open.change->point;
      });
      if (open.answered) {
        open.phase = Phase::kHeld;
      } else {
        Supersede(key, open);
        state.open.reset();
      }
      RecordState(key);
    }
    ReleaseAsBefore(key);
  }

  void ReleaseAsBefore(const SinkTableKey& key) {
    const TableState& state = tables[key];
    if (!state.known) return;
    const Point point = state.decided.empty() ? Point() : state.decided.begin()->second;
    Emit(Release{key, Share(state.evolved), point, false, BySource(state)});
  }
};

Coordinator::Coordinator(std::string pipeline, std::vector<CoordinatorSink> sinks,
                         DecisionId next_decision)
    : impl_(std::make_unique<Impl>()) {
  impl_->pipeline = std::move(pipeline);
  impl_->next_decision = std::max<DecisionId>(next_decision, 1);
  for (CoordinatorSink& sink : sinks) {
    DRIFTLESS_CHECK(sink.matrix != nullptr && sink.planner != nullptr && sink.policy != nullptr);
    std::string name = sink.name;
    impl_->sinks.emplace(std::move(name), std::move(sink));
  }
}

Coordinator::~Coordinator() = default;

Result<std::vector<CoordinatorAction>> Coordinator::Restart(std::vector<RecoveredTable> tables,
                                                            int64_t now_ms) {
  impl_->now_ms = now_ms;
  for (const RecoveredTable& recovered : tables) {
    if (impl_->sinks.count(recovered.table.sink) == 0) continue;  // the sink left the pipeline
    auto state = ParseTableState(recovered.state);
    if (!state) {
      return std::move(state.error().Context("state of " + recovered.table.ToString()));
    }
    impl_->tables[recovered.table] = std::move(*state);
  }
  for (const RecoveredTable& recovered : tables) {
    if (impl_->tables.count(recovered.table) > 0) impl_->Resume(recovered);
  }
  return std::exchange(impl_->actions, {});
}

std::vector<CoordinatorAction> Coordinator::Step(CoordinatorInput input, int64_t now_ms) {
  impl_->now_ms = now_ms;
  std::visit([&](auto&& value) { impl_->Handle(std::forward<decltype(value)>(value)); },
             std::move(input));
  return std::exchange(impl_->actions, {});
}

DecisionId Coordinator::NewDecision() { return impl_->next_decision++; }

std::optional<SinkTableKey> Coordinator::Waiting(DecisionId decision) const {
  const auto found = impl_->FindDecision(decision);
  if (!found) return std::nullopt;
  return found->key;
}

bool Coordinator::WaitsForPerson(const SinkTableKey& table) const {
  const auto it = impl_->tables.find(table);
  if (it == impl_->tables.end() || !it->second.open) return false;
  const OpenChange::Phase phase = it->second.open->phase;
  return phase == OpenChange::Phase::kHeld || phase == OpenChange::Phase::kFailed;
}

std::map<TablePath, EvolvedSchemaPtr> Coordinator::EvolvedBySource(
    const SinkTableKey& table) const {
  const auto it = impl_->tables.find(table);
  return it == impl_->tables.end() ? std::map<TablePath, EvolvedSchemaPtr>()
                                   : Impl::BySource(it->second);
}

std::vector<TableRenaming> Coordinator::Renamings(const SinkTableKey& table) const {
  const auto it = impl_->tables.find(table);
  if (it == impl_->tables.end()) return {};
  std::vector<TableRenaming> renamings = it->second.renamings;
  const auto& open = it->second.open;
  if (open && open->renaming && open->phase != Phase::kFailed) {
    renamings.push_back(*open->renaming);
  }
  return renamings;
}

EvolvedSchemaPtr Coordinator::Evolved(const SinkTableKey& table) const {
  const auto it = impl_->tables.find(table);
  return it == impl_->tables.end() ? nullptr : Impl::Share(it->second.evolved);
}

}  // namespace driftless
