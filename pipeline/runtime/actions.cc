#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/runtime/control.h"
#include "schema/base/check.h"

// What the coordinator is told and what it wants done.
namespace driftless {

void Runtime::Impl::Feed(CoordinatorInput input) {
  CarryOut(coordinator_->Step(std::move(input), parts_.clock->NowMillis()));
}

void Runtime::Impl::CarryOut(std::vector<CoordinatorAction> actions) {
  for (CoordinatorAction& action : actions) CarryOut(action);
}

void Runtime::Impl::CarryOut(CoordinatorAction& action) {
  if (auto* audit = std::get_if<RecordAudit>(&action)) {
    OnAudit(audit->record);
    Record([record = std::move(audit->record)](StateTransaction& t) { return t.PutAudit(record); });
  } else if (auto* state = std::get_if<RecordTableState>(&action)) {
    Record([state = std::move(*state)](StateTransaction& t) {
      return t.PutTableState(state.table, state.state);
    });
  } else if (auto* begun = std::get_if<RecordDivergence>(&action)) {
    Record([divergence = std::move(begun->divergence)](StateTransaction& t) {
      return t.PutDivergence(divergence);
    });
  } else if (auto* ended = std::get_if<EndDivergences>(&action)) {
    Record([ended = std::move(*ended), now = parts_.clock->NowMillis()](StateTransaction& t) {
      return t.EndDivergences(ended.table, ended.column, ended.event, ended.ended_by, now);
    });
  } else if (auto* read = std::get_if<ReadSinkTable>(&action)) {
    Later([this, key = read->table] { ReadTable(key); });
  } else if (auto* cut = std::get_if<CutTable>(&action)) {
    // Of a drop that is held while its rows go on: the cut is under way from now on, or a run that
    // comes to its end now would leave out the rows behind it.
    if (ChangeUnderway* change = FindChange(cut->table); change != nullptr && !cut->now) {
      change->waits_for_person = false;
    }
    Later([this, cut = std::move(*cut)] {
      if (SinkRun* run = FindSink(cut.table.sink)) StartSchemaCut(*run, cut);
    });
  } else if (auto* step = std::get_if<ExecuteStep>(&action)) {
    Later([this, step = std::move(*step)] { Execute(step); });
  } else if (auto* release = std::get_if<driftless::Release>(&action)) {
    OnRelease(*release);
  } else if (auto* fail = std::get_if<FailPipeline>(&action)) {
    if (ChangeUnderway* change = FindChange(fail->table)) change->waits_for_person = true;
    Later([this, fail = std::move(*fail)] { OnFailPipeline(fail); });
  } else {
    const Notify& notify = std::get<Notify>(action);
    parts_.metrics->AddVerdict(notify.record);
    const AuditRecord& r = notify.record;
    const auto level = notify.level == Notify::Level::kError  ? spdlog::level::err
                       : notify.level == Notify::Level::kWarn ? spdlog::level::warn
                                                              : spdlog::level::info;
    spdlog::log(level, "schema change {}: {}: {} at {}: {} ({}){}{}", r.id, r.sink.ToString(),
                r.detail, r.position, ToString(r.verdict.kind), ToString(r.result),
                r.verdict.reason.empty() ? "" : ": " + r.verdict.reason,
                r.message.empty() ? "" : "; " + r.message);
  }
}

ChangeUnderway* Runtime::Impl::FindChange(const SinkTableKey& key) {
  SinkRun* run = FindSink(key.sink);
  if (run == nullptr) return nullptr;
  const auto it = run->changes.find(key.table);
  return it == run->changes.end() ? nullptr : &it->second;
}

void Runtime::Impl::OnArrived(ChangeArrived arrived) {
  SinkRun* run = FindSink(arrived.table.sink);
  if (run->stopped) return;
  ChangeUnderway change;
  change.seen_ms = arrived.seen_ms;
  change.source = arrived.change->table;
  change.arrived_at = arrived.change->point;
  const TablePath table = arrived.table.table;
  run->changes[table] = change;
  const SinkTableKey key = arrived.table;
  std::vector<CoordinatorAction> actions =
      coordinator_->Step(std::move(arrived), parts_.clock->NowMillis());
  // Nothing to do: it is held already, or comes after a late drop.
  if (actions.empty() && !run->late_changes.contains(table)) {
    run->changes[table].waits_for_person = true;
  }
  CarryOut(std::move(actions));
  if (ChangeUnderway* now = FindChange(key); now != nullptr && coordinator_->WaitsForPerson(key)) {
    now->waits_for_person = true;
  }
  const auto early = run->early_cuts.find(table);
  if (early == run->early_cuts.end() || early->second.point != change.arrived_at) return;
  Later([this, run, cut = std::move(early->second)] { StartSchemaCut(*run, cut); });
  run->early_cuts.erase(early);
}

void Runtime::Impl::OnAudit(const AuditRecord& record) {
  ChangeUnderway* change = FindChange(record.sink);
  if (change == nullptr) return;
  if (record.result == AuditResult::kHeld) change->waits_for_person = true;
}

// "released_without_flush" is what the schema change itself costs: its rows would have been flushed
// at the next checkpoint anyway.
void Runtime::Impl::ObservePhase(SinkRun& run, const TablePath& table, std::string_view phase) {
  const auto it = run.changes.find(table);
  if (it == run.changes.end() || it->second.from_former_process || it->second.seen_ms == 0) return;
  ChangeUnderway& change = it->second;
  const auto observe = [&](std::string_view name, int64_t ms) {
    parts_.metrics->ObservePhase(run.name(), name,
                                 static_cast<double>(std::max<int64_t>(ms, 0)) / 1000);
  };
  const int64_t now_ms = parts_.clock->NowMillis();
  observe(phase, now_ms - change.seen_ms);
  if (phase == "planned") change.planned_ms = now_ms;
  if (phase == "flushed") change.flush_ms = now_ms - change.planned_ms;
  if (phase == "released") {
    observe("released_without_flush", now_ms - change.seen_ms - change.flush_ms);
  }
}

// Where a cut was made, everything before the change is committed, so the change itself is covered
// with the outcome, in one transaction. Without a cut, rows before it are still in the writers: the
// next checkpoint moves the position, and a replay meets the recorded verdict.
void Runtime::Impl::OnRelease(const driftless::Release& release) {
  SinkRun* run = FindSink(release.table.sink);
  if (run == nullptr || run->stopped) return;
  const TablePath& table = release.table.table;
  ReleaseTable command;
  command.table = table;
  command.evolved = release.evolved;
  command.by_source = release.by_source;
  command.writers_stay = release.writers_stay;
  command.point = release.point;
  const auto late = run->late_changes.find(table);
  if (late != run->late_changes.end()) {
    // What it did lies behind the table's position already.
    if (late->second.cut_committed) {
      Record([key = release.table](StateTransaction& t) { return t.CloseCut(key); });
    }
    run->late_changes.erase(late);
  } else if (ChangeUnderway* change = FindChange(release.table)) {
    if (change->cut_committed) {
      run->positions.tables[table].feeds[change->source].Extend(release.point);
      run->positions_moved = true;
      Record([key = release.table](StateTransaction& t) { return t.CloseCut(key); });
    }
    if (change->from_former_process) command.source = change->source;
    if (!change->planned) ObservePhase(*run, table, "planned");
    ObservePhase(*run, table, "released");
    run->changes.erase(table);
  }
  // Set here and again with the command: in between, an inlet may be asked whether it is idle, and
  // its answer then does not know of the release.
  settled_releases_ = true;
  Later([this, run, command = std::move(command)] {
    run->inlet->Post(command);
    settled_releases_ = true;
    if (phase_ == Phase::kSettling) MaybeSettled();
  });
}

void Runtime::Impl::OnFailPipeline(const FailPipeline& fail) {
  // A decision that was left for the stopped pipeline has answered it meanwhile.
  if (!coordinator_->Waiting(fail.decision).has_value()) return;
  Error error = fail.error;
  spdlog::error("schema change {}: {}", fail.decision, error.ToString());
  if (!outcome_.error.has_value()) {
    outcome_.error = std::move(error);
    outcome_.kind = RunOutcome::Kind::kFailed;
    failed_ = true;
  }
  BeginDrain();
  MaybeSettled();
}

// ---- calls to the sink -----------------------------------------------------------------------

void Runtime::Impl::ReadTable(const SinkTableKey& key) {
  SinkRun* run = FindSink(key.sink);
  if (run->stopped) return;
  run->io->Submit(EncodeTablePath(key.table), [this, run, key] {
    std::optional<SinkTable> actual;
    Result<void> read = run->io->Retry(
        [&]() -> Result<void> {
          const auto mutex = run->TableMutex(key.table);
          const std::lock_guard<std::mutex> lock(*mutex);
          DRIFTLESS_ASSIGN_OR_RETURN(actual, run->sink()->ReadTable(key.table));
          return {};
        },
        [&](const Error& error) {
          parts_.metrics->AddRetry(run->name(), "read");
          spdlog::warn("{}: reading the table: {}", key.ToString(), error.ToString());
        });
    auto result = std::make_shared<Result<std::optional<SinkTable>>>(std::move(actual));
    if (!read) {
      if (read.error().kind() == ErrorKind::kCancelled) return;
      *result = std::move(read).error();
    }
    mailbox_.Post([this, run, key, result] {
      if (run->stopped) return;
      if (!*result && TakesOut(*run, result->error())) return StopSink(*run, result->error());
      Feed(SinkTableRead{key, std::move(*result)});
    });
  });
}

void Runtime::Impl::Execute(const ExecuteStep& step) {
  SinkRun* run = FindSink(step.table.sink);
  if (run->stopped) return;
  if (ChangeUnderway* change = FindChange(step.table)) change->waits_for_person = false;
  run->io->Submit(EncodeTablePath(step.table.table), [this, run, step] {
    Result<void> executed = run->io->Retry(
        [&] {
          const auto mutex = run->TableMutex(step.table.table);
          const std::lock_guard<std::mutex> lock(*mutex);
          return run->sink()->ExecuteStep(*step.plan, step.step);
        },
        [&](const Error& error) {
          parts_.metrics->AddRetry(run->name(), "execute");
          spdlog::warn("{}: {}: {}", step.table.ToString(), step.plan->steps[step.step].action,
                       error.ToString());
        });
    if (!executed && executed.error().kind() == ErrorKind::kCancelled) return;
    auto result = std::make_shared<Result<void>>(std::move(executed));
    mailbox_.Post([this, run, step, result] {
      if (run->stopped) return;
      if (!*result && TakesOut(*run, result->error())) return StopSink(*run, result->error());
      if (*result && step.step + 1 == step.plan->steps.size()) {
        ObservePhase(*run, step.table.table, "applied");
      }
      Feed(StepFinished{step.table, step.step, std::move(*result)});
    });
  });
}

// ---- decisions of people ---------------------------------------------------------------------

int Runtime::Impl::CountHolds() const {
  const Result<std::vector<DecisionId>> holds = parts_.state->OpenHolds();
  return holds ? static_cast<int>(holds->size()) : 0;
}

void Runtime::Impl::PollRequests() {
  Result<int64_t> version = parts_.state->DataVersion();
  if (!version) return Fail(std::move(version).error());
  if (*version == data_version_) return;
  data_version_ = *version;
  Result<std::vector<StoredRequest>> requests = parts_.state->OpenRequests();
  if (!requests) return Fail(std::move(requests).error());
  for (const StoredRequest& request : *requests) Answer(request);
}

void Runtime::Impl::Answer(const StoredRequest& request) {
  const int64_t now = parts_.clock->NowMillis();
  const auto answer = [&](std::string text) {
    spdlog::info("decision {}: {} by {}: {}", request.decision, request.choice, request.by, text);
    Record([number = request.number, text = std::move(text), now](StateTransaction& t) {
      return t.AnswerRequest(number, text, now);
    });
  };
  if (request.choice == kAcknowledge) return answer(Acknowledge(request));
  AuditQuery query;
  query.decision = request.decision;
  Result<std::vector<AuditRecord>> records = parts_.state->Audit(query);
  if (!records) return Fail(std::move(records).error());
  if (records->empty()) return answer("refused: there is no such decision");
  Result<std::optional<StoredUnclear>> unclear = parts_.state->Unclear(request.decision);
  if (!unclear) return Fail(std::move(unclear).error());
  if (unclear->has_value()) return answer(AnswerUnclear(**unclear, request));
  const std::string_view standing = ToString(records->back().result);
  const std::optional<SinkTableKey> table = coordinator_->Waiting(request.decision);
  if (!table.has_value()) {
    return answer(fmt::format("refused: nothing waits for this decision, it is {}", standing));
  }
  ApprovalGiven given;
  given.decision = request.decision;
  given.by = request.by;
  const bool is_held = records->back().result == AuditResult::kHeld;
  if (request.choice == "approve" || request.choice == "reject") {
    if (!is_held) return answer(fmt::format("refused: it is not held, it is {}", standing));
    given.choice = request.choice == "approve" ? ApprovalGiven::Choice::kApprove
                                               : ApprovalGiven::Choice::kReject;
  } else if (request.choice == "skip" || request.choice == "retry") {
    given.choice =
        request.choice == "skip" ? ApprovalGiven::Choice::kSkip : ApprovalGiven::Choice::kRetry;
  } else {
    return answer(
        "refused: a schema answers a statement that was not understood, and this one was");
  }
  if (ChangeUnderway* change = FindChange(*table)) change->waits_for_person = false;
  answer("taken");
  Feed(std::move(given));
}

// ---- statements that a source does not understand -------------------------------------------

std::vector<AuditRecord> Runtime::Impl::UnclearRecords(DecisionId decision,
                                                       const UnclearStatement& statement) {
  std::vector<AuditRecord> records;
  for (const TablePath& table : statement.tables) {
    AuditRecord& record = records.emplace_back();
    record.id = decision;
    record.time_ms = parts_.clock->NowMillis();
    record.statement = statement.text;
    record.source_table = table;
    record.point = statement.point;
    record.position = statement.position;
    record.part = static_cast<uint32_t>(records.size() - 1);
    record.is_unclear = true;
    record.detail = "a statement that is not understood";
    record.sink = {std::string(kEverySink), table};
    record.behavior = parts_.sinks.front().policy.behavior;
    record.verdict.kind = VerdictKind::kHold;
    record.verdict.reason = statement.why;
    record.verdict.rule = "on-unparsed-ddl: park";
    record.verdict.rows = "wait at the source until `driftless decide`";
    record.result = AuditResult::kHeld;
  }
  return records;
}

// The same statement comes again at every start until somebody decides; it keeps its number.
void Runtime::Impl::OnUnclear(const UnclearStatement& statement) {
  Result<std::optional<StoredUnclear>> known = parts_.state->UnclearAt(statement.point);
  if (!known) return Fail(std::move(known).error());
  const bool is_new = !known->has_value();
  const DecisionId decision = is_new ? coordinator_->NewDecision() : (**known).decision;
  std::vector<AuditRecord> records = UnclearRecords(decision, statement);
  for (const AuditRecord& record : records) {
    spdlog::warn(
        "schema change {}: {} waits at {}: {}; decide with `driftless decide {} skip`, or "
        "`schema FILE`",
        decision, record.source_table.ToString(), record.position, statement.why, decision);
  }
  if (!is_new && (**known).choice.empty() && (**known).statement.why == statement.why) return;
  for (const AuditRecord& record : records) parts_.metrics->AddVerdict(record);
  Record([decision, statement, records = std::move(records)](StateTransaction& t) -> Result<void> {
    DRIFTLESS_TRY(t.PutUnclear(decision, statement));
    for (const AuditRecord& record : records) DRIFTLESS_TRY(t.PutAudit(record));
    return {};
  });
}

// Durable before anybody reads it: a source that begins asks at once. A run that is reading begins
// anew, so that the source comes to the statement again.
std::string Runtime::Impl::AnswerUnclear(const StoredUnclear& unclear,
                                         const StoredRequest& request) {
  const bool again = request.choice == "retry";
  if (!again && request.choice != "skip" && request.choice != "schema") {
    return "refused: the statement was not understood; decide skip, retry or schema FILE";
  }
  if (!unclear.choice.empty()) return "refused: it was decided before: " + unclear.choice;
  std::vector<AuditRecord> records = UnclearRecords(request.decision, unclear.statement);
  Result<void> written = parts_.state->Transact([&](StateTransaction& t) -> Result<void> {
    if (again) return {};
    for (AuditRecord& record : records) {
      record.phase = AuditPhase::kOutcome;
      record.result = request.choice == "skip" ? AuditResult::kSkipped : AuditResult::kDone;
      record.message = request.choice + " by " + request.by;
      DRIFTLESS_TRY(t.PutAudit(record));
    }
    return t.AnswerUnclear(request.decision, request.choice, request.content);
  });
  if (!written) {
    Fail(std::move(written).error());
    return "refused: it could not be recorded";
  }
  if (is_reading_ && phase_ == Phase::kRunning) {
    outcome_.kind = RunOutcome::Kind::kRestart;
    outcome_.error = MakeError(ErrorKind::kUnavailable,
                               fmt::format("decision {} is taken up, and the stream is read again "
                                           "from its statement",
                                           request.decision));
    BeginDrain();
  }
  return "taken";
}

}  // namespace driftless
