#include "pipeline/cli/dry_run.h"

#include <algorithm>
#include <limits>

#include "pipeline/runtime/unseen_verdict.h"
#include "schema/audit/audit.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

const SinkComponent* FindComponent(std::string_view type) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type == type) return &component;
  }
  return nullptr;
}

template <typename Predicate>
bool AnySink(const PlannedStatement& statement, Predicate predicate) {
  for (const PlannedChange& change : statement.changes) {
    if (std::any_of(change.sinks.begin(), change.sinks.end(), predicate)) return true;
  }
  return false;
}

// The change of this part, made where no sink has named it yet.
PlannedChange* ChangeOf(const StatementChange& statement, const PartDecision& part,
                        std::vector<PlannedChange>* changes) {
  for (PlannedChange& change : *changes) {
    if (change.table == statement.table && change.event == part.event &&
        change.detail == part.detail) {
      return &change;
    }
  }
  changes->push_back({part.event, false, statement.table, part.detail, {}});
  return &changes->back();
}

// What a run recorded, for a play that records nothing.
class RecordedTransforms : public TransformStore {
 public:
  explicit RecordedTransforms(std::vector<TransformVersion> versions)
      : versions_(std::move(versions)) {}
  Result<void> PutTransform(const TransformVersion&) override { return {}; }
  Result<std::vector<TransformVersion>> Transforms(StreamId) const override { return versions_; }

 private:
  std::vector<TransformVersion> versions_;
};

Result<std::unique_ptr<TransformStage>> MakeStage(const PipelineDefinition& definition,
                                                  TransformStore* store,
                                                  TransformStage::Context context = {}) {
  context.definition = &definition;
  context.clock = SystemClock();
  context.store = store;
  DRIFTLESS_ASSIGN_OR_RETURN(context.options.zone,
                             TimeZone::Load(definition.options.local_time_zone));
  return TransformStage::Make(std::move(context));
}

std::shared_ptr<StatementChange> CreationOf(const TableSchemaPtr& schema) {
  auto create = std::make_shared<StatementChange>();
  create->table = schema->path;
  create->parts.push_back({0, CreateTable{}, nullptr, schema});
  return create;
}

}  // namespace

bool PlannedStatement::fails() const {
  return AnySink(*this, [](const PlannedSink& sink) {
    return sink.decision.verdict.kind == VerdictKind::kFail;
  });
}

bool PlannedStatement::rows_may_stop() const {
  return AnySink(*this,
                 [](const PlannedSink& sink) { return sink.decision.verdict.rows_may_stop; });
}

Result<std::unique_ptr<DryRun>> DryRun::Make(const PipelineDefinition& definition) {
  auto run = std::make_unique<DryRun>();
  run->definition_ = &definition;
  DRIFTLESS_ASSIGN_OR_RETURN(run->transforms_, MakeStage(definition, nullptr));
  for (const SinkDefinition& sink : definition.sinks) {
    SinkRun entry;
    entry.definition = &sink;
    entry.component = FindComponent(sink.type);
    if (entry.component == nullptr) {
      return MakeError(ErrorKind::kUnsupported, "this build has no sink " + sink.type);
    }
    auto planner = entry.component->make_planner(sink.options);
    if (!planner) return std::move(planner).error().Context("sink " + sink.name);
    entry.planner = std::move(*planner);
    entry.policy = MakeSinkPolicy(definition, sink);
    entry.router = std::make_unique<Router>(Router::Make(definition, sink.name));
    run->sinks_.push_back(std::move(entry));
  }
  return run;
}

void DryRun::SetState(const SinkTableKey& key, TableState state) {
  for (SinkRun& sink : sinks_) {
    if (sink.definition->name == key.sink) sink.tables[key.table] = std::move(state);
  }
}

void DryRun::SetActual(const SinkTableKey& key, std::optional<SinkTable> actual) {
  actual_[key] = std::move(actual);
}

Result<std::vector<SinkTableKey>> DryRun::TargetsOf(const TablePath& table) const {
  std::vector<SinkTableKey> targets;
  for (const SinkRun& sink : sinks_) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, sink.router->Route(table));
    for (const TablePath& target : tables) targets.push_back({sink.definition->name, target});
  }
  return targets;
}

// Of every table the newest, wherever it was read: there is one stream in a play.
Result<void> DryRun::SetTransforms(std::vector<TransformVersion> versions) {
  std::map<TablePath, TransformVersion> newest;
  for (TransformVersion& version : versions) {
    version.since = Point();
    version.is_first = true;
    newest[version.table] = std::move(version);
  }
  versions.clear();
  for (auto& [table, version] : newest) versions.push_back(std::move(version));
  transforms_.reset();
  recorded_ = std::make_unique<RecordedTransforms>(std::move(versions));
  DRIFTLESS_ASSIGN_OR_RETURN(transforms_, MakeStage(*definition_, recorded_.get()));
  return {};
}

LatticeStyle DryRun::StyleOf(const SinkRun& sink) {
  const bool flink_cdc = sink.policy.behavior == Behavior::kLenient &&
                         sink.policy.lenient_style == LenientStyle::kFlinkCdc;
  return flink_cdc ? LatticeStyle::kFlinkCdc : LatticeStyle::kMatrix;
}

void DryRun::Create(SinkRun* sink, const TablePath& table, const TableSchemaPtr& schema) {
  TableState& state = sink->tables[table];
  const MergedStatement merged =
      state.merge.Apply(CreationOf(schema), StyleOf(*sink), sink->policy.behavior);
  if (merged.change->parts.empty()) return;
  const EvolvedSchema* evolved = state.evolved ? &*state.evolved : nullptr;
  state.evolved = DecideAt(*sink, table, *merged.change, evolved).evolved;
}

Result<void> DryRun::AddTable(const TableSchemaPtr& source) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TableSchemaPtr schema, transforms_->OutputOf(source));
  for (SinkRun& sink : sinks_) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, sink.router->Route(schema->path));
    for (const TablePath& table : tables) {
      if (!sink.tables[table].merge.Has(schema->path)) Create(&sink, table, schema);
    }
  }
  return {};
}

Decision DryRun::DecideAt(const SinkRun& sink, const TablePath& table,
                          const StatementChange& change, const EvolvedSchema* evolved) const {
  DecideInput input;
  input.change = &change;
  input.policy = &sink.policy;
  input.matrix = sink.component->matrix;
  input.planner = sink.planner.get();
  input.sink = sink.definition->name;
  input.sink_table = table;
  input.evolved = evolved;
  input.sink_was_read = true;  // without a connection: as recorded, else not there
  std::optional<SinkTable> actual;
  if (evolved != nullptr) {
    actual = evolved->ToSinkTable();
  } else if (const auto found = actual_.find({sink.definition->name, table});
             found != actual_.end()) {
    actual = found->second;
  }
  input.actual = actual ? &*actual : nullptr;
  input.change_id = "plan";
  return Decide(input);
}

void DryRun::PlanAtSink(SinkRun* sink, const TablePath& table, const StatementChange& change,
                        std::vector<PlannedChange>* changes) {
  TableState& state = sink->tables[table];
  if (change.before() != nullptr && !state.merge.Has(change.table)) {
    Create(sink, table, change.before());
  }
  ShardMerge merge = state.merge;
  const MergedStatement merged = merge.Apply(std::make_shared<const StatementChange>(change),
                                             StyleOf(*sink), sink->policy.behavior);
  Decision decision;
  decision.evolved = state.evolved;
  if (!merged.change->parts.empty()) {
    decision = DecideAt(*sink, table, *merged.change, state.evolved ? &*state.evolved : nullptr);
  }
  std::vector<PartDecision> parts = merged.settled;
  parts.insert(parts.end(), decision.parts.begin(), decision.parts.end());
  bool fails = false;
  for (const PartDecision& part : parts) {
    fails = fails || part.verdict.kind == VerdictKind::kFail;
    ChangeOf(change, part, changes)
        ->sinks.push_back({sink->definition->name, std::string(sink->component->type), table, part,
                           sink->component->make_sink != nullptr});
  }
  if (fails || (decision.held && decision.rows_wait)) return;
  state.evolved = decision.evolved;
  state.merge = std::move(merge);
}

Result<void> DryRun::PlanChange(StatementChange change, PlannedStatement* planned) {
  change.statement = std::make_shared<const std::string>(planned->statement);
  change.point.offset = ++statements_;
  DRIFTLESS_ASSIGN_OR_RETURN(
      const StatementChangePtr made,
      transforms_->Apply(std::make_shared<const StatementChange>(std::move(change))));
  if (made == nullptr) {
    planned->unseen_by_transforms = true;
    return {};
  }
  return PlanAtSinks(*made, planned);
}

Result<void> DryRun::PlanAtSinks(const StatementChange& change, PlannedStatement* planned) {
  for (SinkRun& sink : sinks_) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, sink.router->Route(change.table));
    for (const TablePath& table : tables) PlanAtSink(&sink, table, change, &planned->changes);
  }
  return {};
}

Result<std::vector<PlannedStatement>> DryRun::PlanOtherTransforms(StreamState state) {
  RecordedTransforms recorded(std::move(state.transforms));
  TransformStage::Context context;
  context.stream = state.stream;
  context.history = state.history;
  context.from = state.from;
  context.covered = state.covered;
  DRIFTLESS_ASSIGN_OR_RETURN(const auto stage,
                             MakeStage(*definition_, &recorded, std::move(context)));
  std::vector<PlannedStatement> all;
  if (!state.covered) return all;
  Point behind = *state.covered;
  behind.part = std::numeric_limits<uint32_t>::max();
  DRIFTLESS_ASSIGN_OR_RETURN(const auto changes, stage->SwitchesBefore(behind));
  for (const StatementChangePtr& change : changes) {
    PlannedStatement planned;
    planned.statement = "other transforms of table " + change->table.ToString();
    DRIFTLESS_TRY(PlanAtSinks(*change, &planned));
    all.push_back(std::move(planned));
  }
  return all;
}

Result<void> DryRun::PlanUnseen(const RowsWithoutEvent& rows, PlannedStatement* planned) {
  RowsWithoutEvents choice = definition_->options.rows_without_events;
  const bool is_keyless = rows.schema != nullptr && rows.schema->primary_key.empty();
  if (choice == RowsWithoutEvents::kResync && is_keyless) choice = RowsWithoutEvents::kWarn;
  PlannedChange change;
  change.is_unseen = true;
  change.table = rows.table;
  change.detail = rows.what;
  for (const SinkRun& sink : sinks_) {
    PartDecision decision;
    decision.detail = rows.what;
    decision.behavior = sink.policy.behavior;
    decision.verdict = VerdictOfUnseen(rows.is_conversion, choice);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, sink.router->Route(rows.table));
    for (const TablePath& table : tables) {
      change.sinks.push_back({sink.definition->name, std::string(sink.component->type), table,
                              decision, sink.component->make_sink != nullptr});
    }
  }
  planned->changes.push_back(std::move(change));
  const bool is_read_again = choice == RowsWithoutEvents::kResync && !rows.is_conversion;
  if (!is_read_again || rows.schema == nullptr) return {};
  StatementChange empty;
  empty.table = rows.table;
  empty.parts.push_back({0, TruncateTable{}, rows.schema, rows.schema});
  return PlanChange(std::move(empty), planned);
}

Result<PlannedStatement> DryRun::Plan(const std::string& statement,
                                      const std::vector<StatementChange>& changes,
                                      const std::vector<RowsWithoutEvent>& rows) {
  PlannedStatement planned;
  planned.statement = statement;
  for (const StatementChange& change : changes) DRIFTLESS_TRY(PlanChange(change, &planned));
  for (const RowsWithoutEvent& moved : rows) DRIFTLESS_TRY(PlanUnseen(moved, &planned));
  return planned;
}

namespace {

std::string_view EventText(const PlannedChange& change) {
  return change.is_unseen ? kUnseenTag : Tag(change.event);
}

}  // namespace

std::string RenderJson(const PlannedStatement& statement) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("statement").String(statement.statement).Key("changes").BeginArray();
  for (const PlannedChange& change : statement.changes) {
    json.BeginObject().Key("event").String(EventText(change));
    json.Key("table").String(change.table.ToString()).Key("detail").String(change.detail);
    json.Key("sinks").BeginArray();
    for (const PlannedSink& sink : change.sinks) {
      const Verdict& verdict = sink.decision.verdict;
      json.BeginObject().Key("sink").String(sink.sink).Key("type").String(sink.type);
      json.Key("table").String(sink.table.ToString());
      json.Key("verdict").String(ToString(verdict.kind)).Key("reason").String(verdict.reason);
      json.Key("rule").String(verdict.rule).Key("cell").String(verdict.cell);
      json.Key("actions").BeginArray();
      for (const std::string& action : sink.decision.actions) json.String(action);
      json.EndArray();
      json.Key("rows").String(verdict.rows_may_stop ? "may-stop" : verdict.rows);
      if (verdict.rows_may_stop) json.Key("rows_detail").String(verdict.rows);
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return text + "\n";
}

std::string RenderText(const PlannedStatement& statement) {
  std::string text = statement.statement + "\n";
  if (statement.changes.empty()) {
    text += statement.unseen_by_transforms ? "  changes nothing that the transforms let through\n"
                                           : "  changes no captured table\n";
  }
  for (const PlannedChange& change : statement.changes) {
    text += "  " + std::string(EventText(change)) + " on " + change.table.ToString() + ": " +
            change.detail + "\n";
    for (const PlannedSink& sink : change.sinks) {
      const Verdict& verdict = sink.decision.verdict;
      std::string kind(ToString(verdict.kind));
      kind.resize(std::max<size_t>(kind.size(), 8), ' ');
      const std::string name =
          sink.sink == sink.type ? sink.sink : sink.sink + " (" + sink.type + ")";
      text += "    " + kind + name + ": " + sink.table.ToString() + "\n";
      text += "            because " + verdict.reason + "\n";
      text += "            decided by " + verdict.rule +
              (verdict.cell.empty() ? "" : "; " + verdict.cell) + "\n";
      for (const std::string& action : sink.decision.actions) {
        text += (sink.has_statements ? "            sends " : "            will send, in words: ") +
                action + "\n";
      }
      if (!verdict.rows.empty()) {
        text += "            rows: " + verdict.rows +
                (verdict.rows_may_stop ? " [rows may stop later]" : "") + "\n";
      }
    }
  }
  return text;
}

}  // namespace driftless
