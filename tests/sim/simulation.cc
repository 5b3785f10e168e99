#include "tests/sim/simulation.h"

#include <algorithm>
#include <utility>

#include "sinks/api/component.h"
#include "sinks/api/registry.h"

namespace driftless::sim {
namespace {

constexpr size_t kItems = 60;
constexpr size_t kLogLines = 60;

std::unique_ptr<SchemaPlanner> ModelOf(std::string_view sink) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type != sink || sink == "paimon") continue;
    const OptionValues options(component.options, {});
    if (sink == "hologres") return *MakeHologresPlanner(options);
    if (sink == "fluss") return *MakeFlussPlanner({});
    if (sink == "starrocks") return *MakeStarRocksPlanner({});
    if (sink == "iceberg") return *MakeIcebergPlanner(OptionValues(IcebergOptions(), {}));
    if (sink == "selectdb") return *MakeSelectDbPlanner({});
    if (sink == "maxcompute") return *MakeMaxComputePlanner({});
  }
  return *MakePaimonModelPlanner({});
}

std::string RowText(const ModelSink::Row& row) {
  std::string text;
  for (const auto& [name, value] : row) text += " " + name + "=" + value;
  return text;
}

// What a row of one schema version is at a sink with this evolved schema: by identity, total.
ModelSink::Row Project(const Item& item, const EvolvedSchema& evolved) {
  ModelSink::Row row;
  for (const EvolvedColumn& column : evolved.columns) {
    if (column.source == 0) {
      if (column.fill == EvolvedColumn::Fill::kZero) row[column.sink.name] = "0";
      if (column.fill == EvolvedColumn::Fill::kDefault) row[column.sink.name] = "default";
      continue;
    }
    const auto value = item.values.find(column.source);
    if (value != item.values.end()) {
      row[column.sink.name] = value->second;
    } else if (!column.sink.type.nullable()) {
      row[column.sink.name] = "0";  // pipeline.on-null-violation: default-value
    }
  }
  return row;
}

}  // namespace

struct Simulation::SinkUnderTest {
  std::string name;
  std::string type;
  const CapabilityMatrix* matrix = nullptr;
  std::unique_ptr<SchemaPlanner> planner;
  SinkPolicy policy;
  ModelSink sink;
  std::unique_ptr<PaimonWorld> real;  // in place of the model
  // Steps that took effect and schemas that were released, by the cursor's position.
  struct Event {
    SinkTableKey key;
    size_t position = 0;
    Step step;
  };
  std::vector<Event> executed;
  std::map<std::pair<SinkTableKey, size_t>,
           std::pair<EvolvedSchemaPtr, std::map<TablePath, EvolvedSchemaPtr>>>
      released;
};

Simulation::Simulation(uint64_t seed, Sinks which) : random_(seed) {
  static constexpr std::string_view kTypes[] = {"paimon",   "fluss",    "starrocks", "iceberg",
                                                "hologres", "selectdb", "maxcompute"};
  static constexpr Behavior kBehaviors[] = {Behavior::kLenient, Behavior::kLenient,
                                            Behavior::kTryEvolve, Behavior::kEvolve,
                                            Behavior::kIgnore};
  faults_ = Below(5) != 0;
  const bool merges = Chance(40);
  for (size_t i = 0; i < 3; ++i) {
    sources_.push_back(std::make_unique<SourceTable>(
        "shop.t" + std::to_string(i),
        std::vector<std::string>{"k INT NOT NULL", "a INT", "b STRING"},
        std::vector<std::string>{"k"}));
  }
  for (size_t i = 0; i < 2; ++i) {
    auto sink = std::make_unique<SinkUnderTest>();
    sink->type = kTypes[Below(std::size(kTypes))];
    const bool real = which == Sinks::kRealPaimon && i == 0;
    if (real) sink->type = "paimon";
    sink->name = sink->type + std::to_string(i);
    for (const SinkComponent& component : AllSinks()) {
      if (component.type == sink->type) sink->matrix = component.matrix;
    }
    sink->planner = ModelOf(sink->type);
    if (real) {
      sink->real =
          std::make_unique<PaimonWorld>([this](uint32_t limit) { return Below(limit); }, faults_);
    }
    sink->policy.behavior = kBehaviors[Below(std::size(kBehaviors))];
    if (!sink->matrix->supports_try_evolve && sink->policy.behavior == Behavior::kTryEvolve) {
      sink->policy.behavior = Behavior::kLenient;
    }
    if (Chance(15)) sink->policy.lenient_style = LenientStyle::kFlinkCdc;
    if (Chance(20)) sink->policy.rename_skip = RenameSkip::kNull;
    for (const EventKind kind :
         {EventKind::kDropTable, EventKind::kTruncateTable, EventKind::kDropColumn}) {
      if (Chance(15)) sink->policy.approval.insert(kind);
    }
    sink->policy.approval_timeout_ms = 60'000;
    sink->policy.approval_timeout_rejects = Chance(50);
    for (size_t source = 0; source < sources_.size(); ++source) {
      TablePath table = sources_[source]->schema()->path;
      if (merges && source < 2) table.table = "merged";
      const SinkTableKey key{sink->name, table};
      if (FeedOf(key) == nullptr)
        feeds_.push_back(
            Feed{key, {}, 0, "", false, false, {}, 0, false, 0, false, nullptr, {}, {}, nullptr});
      FeedOf(key)->sources.insert(source);
    }
    sinks_.push_back(std::move(sink));
  }
  MakeStream();
}

Simulation::~Simulation() = default;

// ---- the stream ---------------------------------------------------------------------------------

void Simulation::MakeStream() {
  for (size_t source = 0; source < sources_.size(); ++source) {
    auto create = sources_[source]->Create();
    create->point.offset = stream_.size() + 1;
    stream_.push_back({source, std::move(create), nullptr, "", {}});
  }
  while (stream_.size() < kItems) {
    const size_t source = Below(static_cast<uint32_t>(sources_.size()));
    if (Chance(70)) {
      MakeRow(source);
    } else {
      MakeStatement(source);
    }
  }
}

void Simulation::MakeRow(size_t source) {
  Item item;
  item.source = source;
  item.schema = sources_[source]->schema();
  item.key = std::to_string(source * 100 + Below(6));
  for (const Column& column : item.schema->columns) {
    if (column.type.nullable() && Chance(15)) continue;
    item.values[column.id] = item.schema->IsKey(column.id) ? item.key : std::to_string(Below(90));
  }
  stream_.push_back(std::move(item));
}

void Simulation::MakeStatement(size_t source) {
  SourceTable& table = *sources_[source];
  std::vector<std::string> names;  // outside the key
  std::vector<std::string> unused = {"a", "b", "c", "d", "e"};
  for (const Column& column : table.schema()->columns) {
    if (!table.schema()->IsKey(column.id)) names.push_back(column.name);
    std::erase(unused, column.name);
  }
  const auto any = [&](const std::vector<std::string>& all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  };
  static constexpr std::string_view kTypes[] = {"INT", "BIGINT", "STRING"};
  const auto definition = [&](const std::string& name) {
    return name + " " + std::string(kTypes[Below(3)]) + (Chance(20) ? " NOT NULL" : "");
  };
  const auto push = [&](std::shared_ptr<StatementChange> change) {
    if (change->parts.empty()) return;
    change->point.offset = stream_.size() + 1;
    stream_.push_back({source, std::move(change), nullptr, "", {}});
  };
  const uint32_t choice = Below(100);
  if (choice < 6) {
    table.Begin().Truncate();
    return push(table.End());
  }
  if (choice < 12) {
    push(table.DropTable());
    return push(table.CreateAgain({"k INT NOT NULL", definition("a"), "b STRING"}, {"k"}));
  }
  // One to three parts, in the policy's order, each on columns of its own.
  table.Begin();
  const auto take = [&]() -> std::string {
    if (names.empty()) return "";
    const std::string name = any(names);
    std::erase(names, name);
    return name;
  };
  std::string dropped;
  if (Chance(35)) {
    dropped = take();
    if (!dropped.empty()) table.Drop(dropped);
  }
  if (Chance(30)) {
    const std::string name = take();
    if (!name.empty()) table.Type(name, Chance(60) ? "STRING" : "BIGINT");
  }
  if (Chance(10)) {
    const std::string name = take();
    if (!name.empty() && !table.schema()->FindName(name)->type.nullable()) table.Relax(name);
  }
  if (Chance(30) && !names.empty()) {
    const std::string from = take();
    if (Chance(30) && !names.empty()) {
      const std::string other = take();
      table.Rename({{from, other}, {other, from}});
    } else if (!unused.empty()) {
      const std::string to = any(unused);
      std::erase(unused, to);
      table.Rename(from, to);
    }
  }
  if (Chance(45) || names.empty()) {
    if (!dropped.empty() && Chance(40)) {
      table.Add(definition(dropped));
    } else if (!unused.empty()) {
      const std::string name = any(unused);
      if (Chance(30)) {
        table.AddFirst(definition(name));
      } else if (Chance(30) && !names.empty()) {
        table.AddAfter(definition(name), any(names));
      } else {
        table.Add(definition(name));
      }
    }
  }
  push(table.End());
}

// ---- the runtime --------------------------------------------------------------------------------

Feed* Simulation::FeedOf(const SinkTableKey& key) {
  for (Feed& feed : feeds_) {
    if (feed.key == key) return &feed;
  }
  return nullptr;
}

ModelSink* Simulation::SinkOf(const SinkTableKey& key) {
  for (auto& sink : sinks_) {
    if (sink->name == key.sink) return &sink->sink;
  }
  return nullptr;
}

int64_t Simulation::compactions() const {
  int64_t count = 0;
  for (const auto& sink : sinks_) count += sink->real == nullptr ? 0 : sink->real->compactions();
  return count;
}

PaimonWorld* Simulation::RealOf(const SinkTableKey& key) {
  for (auto& sink : sinks_) {
    if (sink->name == key.sink) return sink->real.get();
  }
  return nullptr;
}

// How the table really is.
std::optional<SinkTable> Simulation::Look(const SinkTableKey& key) {
  PaimonWorld* real = RealOf(key);
  return real != nullptr ? real->Look(key.table) : SinkOf(key)->Read(key.table);
}

void Simulation::Log(std::string what) {
  log_.push_back(std::move(what));
  if (log_.size() > kLogLines) log_.pop_front();
}

void Simulation::Broken(const std::string& what) {
  if (!broken_.empty()) return;
  broken_ = what + "\n";
  for (const std::string& line : log_) broken_ += "  " + line + "\n";
}

void Simulation::Start() {
  std::vector<CoordinatorSink> sinks;
  for (const auto& sink : sinks_) {
    sinks.push_back({sink->name, sink->type, sink->matrix,
                     sink->real ? &sink->real->planner() : sink->planner.get(), &sink->policy,
                     true});
    if (sink->real) sink->real->Restart();
  }
  ++processes_;
  coordinator_ = std::make_unique<Coordinator>("sim", std::move(sinks), next_decision_);
  pending_.clear();
  std::vector<RecoveredTable> recovered;
  for (Feed& feed : feeds_) {
    // Its tokens are found: committed now, or they had been already.
    if (feed.cut_pending || feed.token) Settle(&feed);
    feed.buffer.clear();
    CleanUp(feed);
    feed.position = feed.committed;
    feed.evolved.reset();
    feed.by_source.clear();
    feed.waits = feed.cut_committed;  // an open schema cut
    if (feed.has_state) recovered.push_back({feed.key, feed.state, feed.cut_committed});
  }
  auto actions = coordinator_->Restart(std::move(recovered), now_ms_);
  if (!actions) return Broken("the state cannot be read: " + actions.error().ToString());
  Take(std::move(*actions));
  // How tables stand is known before the first item is read.
  std::deque<CoordinatorAction> later;
  for (CoordinatorAction& action : pending_) {
    if (auto* release = std::get_if<Release>(&action)) {
      Do(*release);
    } else {
      later.push_back(std::move(action));
    }
  }
  pending_ = std::move(later);
}

void Simulation::Crash(const char* where) {
  if (!pending_.empty() || log_.empty() || log_.back().rfind("crash", 0) != 0) {
    Log(std::string("crash ") + where);
  }
  coordinator_.reset();
  Start();
}

// One transaction, then the rest of the actions in order.
void Simulation::Take(std::vector<CoordinatorAction> actions) {
  Record(actions);
  for (CoordinatorAction& action : actions) {
    const bool recorded = std::holds_alternative<RecordAudit>(action) ||
                          std::holds_alternative<RecordTableState>(action) ||
                          std::holds_alternative<RecordDivergence>(action) ||
                          std::holds_alternative<EndDivergences>(action) ||
                          std::holds_alternative<Notify>(action);
    if (!recorded) pending_.push_back(std::move(action));
  }
}

void Simulation::Record(const std::vector<CoordinatorAction>& actions) {
  for (const CoordinatorAction& action : actions) {
    if (const auto* audit = std::get_if<RecordAudit>(&action)) {
      next_decision_ = std::max(next_decision_, audit->record.id + 1);
      audit_.push_back(audit->record);
      if (audit->record.result == AuditResult::kHeld) {
        held_.insert(audit->record.id);
      } else if (audit->record.phase == AuditPhase::kOutcome) {
        held_.erase(audit->record.id);
      }
    } else if (const auto* state = std::get_if<RecordTableState>(&action)) {
      Feed* feed = FeedOf(state->table);
      feed->state = state->state;
      feed->has_state = true;
    } else if (const auto* release = std::get_if<Release>(&action)) {
      Feed* feed = FeedOf(release->table);
      // The statement is covered with its outcome, where everything before it is committed.
      const size_t behind = static_cast<size_t>(release->point.offset);
      if (feed->buffer.empty() && feed->committed < behind && feed->position + 1 >= behind &&
          feed->waits) {
        feed->committed = behind;
      }
      feed->cut_committed = false;
    }
  }
}

void Simulation::Advance(Feed* feed) {
  while (feed->position < stream_.size() &&
         feed->sources.count(stream_[feed->position].source) == 0) {
    ++feed->position;
  }
  if (feed->position >= stream_.size()) return;
  const Item& item = stream_[feed->position];
  if (item.change == nullptr) {
    WriteRow(feed, item);
    ++feed->position;
    return;
  }
  feed->waits = true;
  Log(feed->key.ToString() + " meets " + std::to_string(feed->position) + ": " +
      Describe(item.change->parts.front()) + " (" + std::to_string(item.change->parts.size()) +
      " parts)");
  Take(coordinator_->Step(ChangeArrived{feed->key, item.change, "", now_ms_}, now_ms_));
}

void Simulation::WriteRow(Feed* feed, const Item& item) {
  EvolvedSchemaPtr evolved = feed->evolved;
  const auto own = feed->by_source.find(item.schema->path);
  if (own != feed->by_source.end()) evolved = own->second;
  if (evolved == nullptr) return;  // the table is not fed
  feed->buffer.emplace_back(item.key, Project(item, *evolved));
  Log(feed->key.ToString() + " row " + std::to_string(feed->position) + ": " + item.key +
      RowText(feed->buffer.back().second));
  feed->buffer_schema = feed->evolved;
}

// Up to transaction A.
bool Simulation::Seal(Feed* feed) {
  PaimonWorld* real = RealOf(feed->key);
  feed->cut_position = feed->position;
  if (real == nullptr || feed->buffer.empty()) return true;
  auto token = real->Seal(*feed->buffer_schema, feed->buffer);
  if (token) {
    feed->token = std::move(*token);
    return true;
  }
  Log(feed->key.ToString() + " cannot seal: " + token.error().ToString());
  if (real->crashed()) Crash("in a seal");
  return false;
}

// Up to transaction B.
bool Simulation::Commit(Feed* feed) {
  PaimonWorld* real = RealOf(feed->key);
  while (real != nullptr && feed->token) {
    const auto done = real->Commit(*feed->token);
    if (done && !real->crashed()) break;
    Log(feed->key.ToString() + " does not hear of its commit" +
        (done ? "" : ": " + done.error().ToString()));
    if (!real->crashed()) continue;
    Crash("in a commit");
    return false;
  }
  for (const auto& [key, row] : feed->buffer) {
    if (real != nullptr) break;
    const std::string wrong =
        SinkOf(feed->key)->Write(feed->key.table, *feed->buffer_schema, key, row);
    if (!wrong.empty()) Broken(feed->key.ToString() + ": " + wrong);
  }
  Log(feed->key.ToString() + " commits " + std::to_string(feed->buffer.size()));
  feed->buffer.clear();
  feed->token.reset();
  feed->committed = feed->cut_position;
  return true;
}

// A cut that a former process recorded and did not see committed.
void Simulation::Settle(Feed* feed) {
  PaimonWorld* real = RealOf(feed->key);
  while (real != nullptr && feed->token && broken_.empty()) {
    const auto state = real->LookUp(*feed->token);
    if (state && *state == CommitState::kCommitted) break;
    if (state && *state == CommitState::kGone) Broken(feed->key.ToString() + ": a token is gone");
    if (state && *state == CommitState::kPrepared) (void)real->Commit(*feed->token);
    if (real->crashed()) real->Restart();
  }
  feed->token.reset();
  feed->cut_committed = std::exchange(feed->cut_pending, false);
  Commit(feed);
}

void Simulation::CleanUp(const Feed& feed) {
  PaimonWorld* real = RealOf(feed.key);
  while (real != nullptr) {
    const bool done = real->CleanUp(feed.key.table, {}).has_value();
    if (!real->crashed() && done) return;
    if (real->crashed()) real->Restart();
  }
}

void Simulation::Checkpoint(Feed* feed) {
  if (feed->waits) return;  // its cut is the schema cut
  if (!Seal(feed)) return;
  if (feed->token && faults_ && Chance(2)) return Crash("between A and B of a checkpoint");
  Commit(feed);
}

void Simulation::Perform() {
  if (pending_.empty()) return;
  CoordinatorAction action = std::move(pending_.front());
  pending_.pop_front();
  std::visit([&](auto& value) { Do(value); }, action);
}

void Simulation::Do(ReadSinkTable& read) {
  if (faults_ && Chance(5)) {
    Take(coordinator_->Step(
        SinkTableRead{read.table, MakeError(ErrorKind::kUnavailable, "no answer")}, now_ms_));
    return;
  }
  PaimonWorld* real = RealOf(read.table);
  auto actual = real != nullptr ? real->Read(read.table.table) : Look(read.table);
  if (real != nullptr && real->crashed()) return Crash("in a read");
  Take(coordinator_->Step(SinkTableRead{read.table, std::move(actual)}, now_ms_));
}

void Simulation::Do(CutTable& cut) {
  Feed* feed = FeedOf(cut.table);
  Log(cut.table.ToString() + " is cut at " + std::to_string(feed->position));
  feed->waits = true;
  if (faults_ && Chance(4)) return Crash("before transaction A");
  const int64_t process = processes_;
  if (!Seal(feed)) {
    if (process == processes_) pending_.push_back(std::move(cut));  // tried again
    return;
  }
  feed->state = cut.state;
  feed->has_state = true;
  feed->cut_pending = true;
  if (faults_ && Chance(4)) return Crash("between A and B");
  if (!Commit(feed)) return;
  feed->cut_pending = false;
  feed->cut_committed = true;
  if (faults_ && Chance(4)) return Crash("after B");
  Take(coordinator_->Step(CutCommitted{cut.table}, now_ms_));
}

void Simulation::Do(ExecuteStep& execute) {
  Feed* feed = FeedOf(execute.table);
  const Step& step = execute.plan->steps[execute.step];
  const auto take_effect = [&] {
    const std::string wrong = SinkOf(execute.table)->Execute(execute.table.table, step);
    if (!wrong.empty()) return Broken(execute.table.ToString() + ": " + wrong);
    Log(execute.table.ToString() + " has done: " + step.action);
    for (auto& sink : sinks_) {
      if (sink->name != execute.table.sink) continue;
      // TRUNCATE may be repeated; the reference plays it once more, which changes nothing.
      sink->executed.push_back({execute.table, feed->position, step});
    }
  };
  const auto answer = [&](Result<void> result) {
    Take(coordinator_->Step(StepFinished{execute.table, execute.step, std::move(result)}, now_ms_));
  };
  const uint32_t dice = faults_ ? Below(100) : 99;
  if (PaimonWorld* real = RealOf(execute.table)) return ExecuteAtReal(execute, feed, real, dice);
  if (dice < 4) return Crash("before a step");
  if (dice < 8) {
    take_effect();
    return Crash("after a step");
  }
  if (dice < 12) return answer(MakeError(ErrorKind::kUnavailable, "no answer"));
  if (dice < 16) return answer(MakeError(ErrorKind::kCommitUnknown, "the answer was lost"));
  if (dice < 20) {
    take_effect();
    return answer(MakeError(ErrorKind::kCommitUnknown, "the answer was lost"));
  }
  if (dice < 26 && !step.creates_table) {
    Log(execute.table.ToString() + " refuses: " + step.action);
    return answer(MakeError(ErrorKind::kRefused, "refused"));
  }
  take_effect();
  answer({});
}

// The real sink says by itself what it could not do; what took effect is looked at.
void Simulation::ExecuteAtReal(ExecuteStep& execute, Feed* feed, PaimonWorld* real, uint32_t dice) {
  const Step& planned = execute.plan->steps[execute.step];
  const auto before = real->Look(execute.table.table);
  if (dice < 4) return Crash("before a step");
  Result<void> result = real->Execute(*execute.plan, execute.step);
  const bool crashed = real->crashed();
  if (crashed) real->Restart();  // what it left behind is seen by the next process
  const auto after = real->Look(execute.table.table);
  const bool took_effect = before != after || (planned.repeatable && after &&
                                               real->Contents(execute.table.table).empty());
  Log(execute.table.ToString() + (took_effect ? " has done: " : " has not done: ") +
      planned.action + (result ? "" : ": " + result.error().ToString()));
  if (took_effect) {
    Step step;
    step.action = planned.action;
    if (before) step.before = *before;
    step.after = after;
    step.creates_table = !before;
    step.repeatable = planned.repeatable;
    for (auto& sink : sinks_) {
      if (sink->name == execute.table.sink) {
        sink->executed.push_back({execute.table, feed->position, std::move(step)});
      }
    }
  }
  if (crashed) return Crash("in a step");
  if (dice < 8) return Crash("after a step");
  if (dice < 12) result = MakeError(ErrorKind::kCommitUnknown, "the answer was lost");
  if (result && !took_effect && !planned.repeatable) {
    Broken(execute.table.ToString() + ": said to be done and is not: " + planned.action);
  }
  if (!result && !result.error().IsRetryable() &&
      result.error().kind() != ErrorKind::kCommitUnknown) {
    Broken(execute.table.ToString() + ": the sink gives up: " + result.error().ToString());
  }
  Take(coordinator_->Step(StepFinished{execute.table, execute.step, std::move(result)}, now_ms_));
}

void Simulation::Do(Release& release) {
  Feed* feed = FeedOf(release.table);
  if (release.writers_stay && feed->evolved != nullptr && release.evolved != nullptr &&
      feed->evolved->ToSinkTable() != release.evolved->ToSinkTable()) {
    Broken(release.table.ToString() + ": writers stay although the table changed");
  }
  if (!feed->buffer.empty() && !release.writers_stay) {
    Broken(release.table.ToString() + ": writers were replaced with rows in them");
  }
  Log(release.table.ToString() + " is released at " + release.point.ToString());
  feed->evolved = release.evolved;
  feed->by_source = release.by_source;
  feed->waits = false;
  const size_t behind = static_cast<size_t>(release.point.offset);
  if (feed->position + 1 == behind) feed->position = behind;
  for (auto& sink : sinks_) {
    if (sink->name == release.table.sink) {
      sink->released[{release.table, feed->position}] = {release.evolved, release.by_source};
    }
  }
  CheckTable(*feed);
}

// Everything before the event is committed everywhere, the pipeline stops, an operator decides.
void Simulation::Do(FailPipeline& fail) {
  Log("stopped: " + fail.error.ToString());
  for (Feed& feed : feeds_) {
    if (!feed.waits) Checkpoint(&feed);
  }
  coordinator_.reset();
  Start();
  if (Chance(70)) {
    const auto choice = Chance(50) ? ApprovalGiven::Choice::kSkip : ApprovalGiven::Choice::kReject;
    Take(coordinator_->Step(ApprovalGiven{fail.decision, choice, "operator"}, now_ms_));
  }
}

void Simulation::Answer() {
  if (held_.empty()) return;
  auto it = held_.begin();
  std::advance(it, Below(static_cast<uint32_t>(held_.size())));
  const DecisionId id = *it;
  const auto choice = Chance(60) ? ApprovalGiven::Choice::kApprove : ApprovalGiven::Choice::kReject;
  if (!coordinator_->Waiting(id)) return;
  Log("answer " + std::to_string(id) +
      (choice == ApprovalGiven::Choice::kApprove ? ": approve" : ": reject"));
  Take(coordinator_->Step(ApprovalGiven{id, choice, "operator"}, now_ms_));
}

bool Simulation::Finished() const {
  if (!pending_.empty()) return false;
  for (const Feed& feed : feeds_) {
    if (feed.waits || feed.position < stream_.size()) return false;
  }
  return true;
}

std::string Simulation::Run() {
  Start();
  int quiet = 0;
  for (int step = 0; step < 40'000 && broken_.empty(); ++step) {
    if (Finished() && ++quiet > 20) break;
    const uint32_t dice = Below(100);
    if (!pending_.empty() && dice < 50) {
      Perform();
    } else if (dice < 90) {
      Feed& feed = feeds_[Below(static_cast<uint32_t>(feeds_.size()))];
      if (!feed.waits) Advance(&feed);
    } else if (dice < 94) {
      Checkpoint(&feeds_[Below(static_cast<uint32_t>(feeds_.size()))]);
    } else if (dice < 97) {
      now_ms_ += 1'000;
      Take(coordinator_->Step(TimePassed{now_ms_}, now_ms_));
    } else if (dice < 99) {
      Answer();
    } else if (faults_ && Chance(30)) {
      Crash("somewhere");
    }
  }
  if (broken_.empty() && !Finished()) {
    for (const Feed& feed : feeds_) {
      if (!feed.waits && feed.position >= stream_.size()) continue;
      Log(feed.key.ToString() + (feed.waits ? " waits at " : " stands at ") +
          std::to_string(feed.position) + " of " + std::to_string(stream_.size()) + ": " +
          feed.state);
    }
    Broken("the pipeline does not come to its end");
  }
  if (broken_.empty()) CheckEnd();
  return broken_;
}

// ---- the promises -------------------------------------------------------------------------------

void Simulation::CheckTable(const Feed& feed) {
  const std::optional<SinkTable> actual = Look(feed.key);
  if (feed.evolved == nullptr) return;
  if (!actual) return Broken(feed.key.ToString() + ": released without a table at the sink");
  std::set<std::string> names;
  for (const EvolvedColumn& column : feed.evolved->columns) {
    if (!names.insert(column.sink.name).second) {
      Broken(feed.key.ToString() + ": two columns named " + column.sink.name);
    }
    const SinkColumn* there = actual->FindName(column.sink.name);
    if (there == nullptr || there->type != column.sink.type) {
      Broken(feed.key.ToString() + ": the evolved schema is not the table's at " +
             column.sink.name);
    }
  }
  if (names.size() != actual->columns.size()) {
    Broken(feed.key.ToString() + ": the table has columns that the evolved schema lacks");
  }
}

// Plays the stream once more, without any fault, with the steps that took effect at their places:
// the sinks must hold exactly the same rows.
void Simulation::CheckEnd() {
  faults_ = false;
  for (auto& sink : sinks_) {
    if (sink->real) sink->real->NoMoreFaults();
  }
  for (Feed& feed : feeds_) Checkpoint(&feed);
  for (const auto& sink : sinks_) {
    for (const Feed& feed : feeds_) {
      if (feed.key.sink != sink->name) continue;
      ModelSink reference;
      EvolvedSchemaPtr evolved;
      std::map<TablePath, EvolvedSchemaPtr> by_source;
      for (size_t i = 0; i <= stream_.size(); ++i) {
        for (const auto& event : sink->executed) {
          if (event.key != feed.key || event.position != i) continue;
          const std::string wrong = reference.Execute(feed.key.table, event.step);
          if (!wrong.empty()) return Broken("reference of " + feed.key.ToString() + ": " + wrong);
        }
        for (const size_t at : {i, i + 1}) {
          if (at == i + 1 && (i == stream_.size() || stream_[i].change == nullptr)) continue;
          const auto released = sink->released.find({feed.key, at});
          if (released == sink->released.end()) continue;
          std::tie(evolved, by_source) = released->second;
        }
        if (i == stream_.size() || stream_[i].change != nullptr) continue;
        const Item& item = stream_[i];
        if (feed.sources.count(item.source) == 0) continue;
        const auto own = by_source.find(item.schema->path);
        const EvolvedSchemaPtr& schema = own != by_source.end() ? own->second : evolved;
        if (schema == nullptr) continue;
        const std::string wrong =
            reference.Write(feed.key.table, *evolved, item.key, Project(item, *schema));
        if (!wrong.empty()) return Broken("reference of " + feed.key.ToString() + ": " + wrong);
      }
      const auto* expected = reference.Find(feed.key.table);
      if (sink->real) {
        const auto there = sink->real->Look(feed.key.table);
        if (there.has_value() != (expected != nullptr)) {
          return Broken(feed.key.ToString() + ": the real table is there in one of both only");
        }
        if (!there) continue;
        const auto rows = sink->real->Contents(feed.key.table);
        const auto wanted = PaimonWorld::Render(*there, *expected);
        if (rows == wanted) continue;
        std::string text = feed.key.ToString() + ": real rows differ: is";
        for (const std::string& row : rows) text += " " + row;
        text += ", not";
        for (const std::string& row : wanted) text += " " + row;
        return Broken(text);
      }
      const auto* actual = sink->sink.Find(feed.key.table);
      if ((expected == nullptr) != (actual == nullptr)) {
        return Broken(feed.key.ToString() + ": the table is there in one of both only");
      }
      if (expected == nullptr || expected->rows == actual->rows) continue;
      std::string difference;
      for (const auto& [key, row] : expected->rows) {
        const auto it = actual->rows.find(key);
        const std::string is = it == actual->rows.end() ? " (none)" : RowText(it->second);
        if (is != RowText(row)) difference += key + " is" + is + ", not" + RowText(row) + "; ";
      }
      return Broken(feed.key.ToString() + ": rows differ: " + difference);
    }
  }
  // Every part has exactly one standing outcome per sink table.
  std::map<std::tuple<SinkTableKey, uint64_t, uint32_t>, int> outcomes;
  std::set<DecisionId> superseded;
  for (const AuditRecord& record : audit_) {
    if (record.result == AuditResult::kSuperseded) superseded.insert(record.id);
  }
  std::map<DecisionId, AuditResult> last;
  std::map<DecisionId, std::tuple<SinkTableKey, uint64_t, uint32_t>> parts;
  for (const AuditRecord& record : audit_) {
    if (record.phase == AuditPhase::kOutcome) last[record.id] = record.result;
    parts[record.id] = {record.sink, record.point.offset, record.part};
  }
  for (const auto& [id, part] : parts) {
    if (superseded.count(id) > 0) continue;
    if (last.count(id) == 0 && held_.count(id) == 0) {
      return Broken("decision " + std::to_string(id) + " has no outcome");
    }
    if (++outcomes[part] > 1) return Broken("two standing verdicts for one part");
  }
}

}  // namespace driftless::sim
