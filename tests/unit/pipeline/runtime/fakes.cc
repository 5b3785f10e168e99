#include "tests/unit/pipeline/runtime/fakes.h"

#include <chrono>
#include <thread>

#include "schema/base/check.h"
#include "schema/events/change_batch_builder.h"
#include "sinks/api/projected_batch.h"

namespace driftless {
namespace {

std::string TokenOf(const CommitIdentity& identity) {
  return identity.sink + "/" + identity.table.ToString() + "/" + std::to_string(identity.cut) +
         "/" + std::to_string(identity.attempt);
}

// "id=1,a=v1" of the projected row, or "-id=1" of a delete.
std::string RowText(const ChangeBatch& batch, const Projection& projection, uint32_t row) {
  std::string text = batch.ops()[row] == Op::kDelete ? "-" : "";
  const auto views = batch.ops()[row] == Op::kDelete ? batch.before() : batch.after();
  for (const ProjectedColumn& column : projection.columns()) {
    if (text.size() > 1) text += ",";
    text += column.name + "=";
    if (column.from != ProjectedColumn::From::kSource) {
      text += "NULL";
      continue;
    }
    const ColumnView& view = views[static_cast<size_t>(column.source_index)];
    if (view.IsNull(row)) {
      text += "NULL";
    } else if (column.source_type.kind() == TypeKind::kBigInt) {
      text += std::to_string(view.Fixed<int64_t>(row));
    } else {
      text += view.Bytes(row);
    }
  }
  return text;
}

class FakeWriter : public TableWriter {
 public:
  FakeWriter(FakeSink* sink, TablePath table, RowReporter* reporter)
      : sink_(sink), table_(std::move(table)), reporter_(reporter) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    return sink_->With("write", [&]() -> Result<void> {
      for (const uint32_t row : rows) {
        std::string text = RowText(*batch, projection, row);
        if (sink_->warehouse()->refused.contains(text)) {
          reporter_->DeadLetter(*batch, row, MakeError(ErrorKind::kInvalidInput, "does not fit"));
          reporter_->Count(table_, "a", RowReporter::Loss::kMisfit, 1);
        } else {
          rows_.push_back(std::move(text));
        }
      }
      kept_.push_back(batch);
      bytes_ += static_cast<int64_t>(batch->charged_bytes());
      return {};
    });
  }
  Result<void> Roll() override {
    ++sink_->warehouse()->rolls;
    kept_.clear();
    bytes_ = 0;
    return {};
  }
  Result<PreparedPart> Prepare(CutId) override {
    PreparedPart part;
    DRIFTLESS_TRY(sink_->With("prepare", [&]() -> Result<void> {
      FakeWarehouse& warehouse = *sink_->warehouse();
      const std::lock_guard<std::mutex> lock(warehouse.mutex);
      part.payload = "part-" + std::to_string(warehouse.next_part++);
      part.rows = static_cast<int64_t>(rows_.size());
      warehouse.prepared[part.payload] = {table_, std::exchange(rows_, {})};
      kept_.clear();
      bytes_ = 0;
      return {};
    }));
    return part;
  }
  int64_t buffered_bytes() const override { return bytes_; }

 private:
  FakeSink* const sink_;
  const TablePath table_;
  RowReporter* const reporter_;
  std::vector<std::string> rows_;
  std::vector<ChangeBatchPtr> kept_;
  int64_t bytes_ = 0;
};

EvolvedSchemaPtr EvolvedOf(const TableSchema& source, const TablePath& path) {
  auto evolved = std::make_shared<EvolvedSchema>();
  evolved->path = path;
  evolved->incarnation = source.incarnation;
  for (const Column& column : source.columns) {
    SinkColumn sink;
    sink.name = column.name;
    sink.type = column.type;
    EvolvedColumn own;
    own.sink = sink;
    own.source = column.id;
    evolved->columns.push_back(own);
  }
  return evolved;
}

}  // namespace

// ---- the sink ----------------------------------------------------------------------------------

std::vector<std::string> FakeWarehouse::Rows(const TablePath& table) {
  const std::lock_guard<std::mutex> lock(mutex);
  return tables[table].rows;
}

std::vector<std::string> FakeWarehouse::Columns(const TablePath& table) {
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> names;
  for (const SinkColumn& column : tables[table].schema.columns) names.push_back(column.name);
  return names;
}

Result<SchemaPlan> FakePlanner::Plan(const PlanRequest&) const {
  return MakeError(ErrorKind::kUnsupported, "the fake coordinator plans itself");
}

StepState FakePlanner::Recognise(const SchemaPlan&, size_t, const SinkTable*) const {
  return StepState::kNotBegun;
}

const CapabilityMatrix& FakeSink::matrix() const {
  static const CapabilityMatrix kMatrix{};
  return kMatrix;
}

Result<void> FakeSink::With(const std::string& call, const std::function<Result<void>()>& effect) {
  std::optional<Fault> fault = fault_ ? fault_(call) : std::nullopt;
  if (fault.has_value() && !fault->after) return fault->error;
  DRIFTLESS_TRY(effect());
  if (fault.has_value()) return fault->error;
  return {};
}

Result<SinkInfo> FakeSink::Connect() {
  DRIFTLESS_TRY(With("connect", [] { return Result<void>(); }));
  return SinkInfo{"Fake", "1", "the fake warehouse"};
}

Result<std::optional<SinkTable>> FakeSink::ReadTable(const TablePath& table) {
  std::optional<SinkTable> actual;
  DRIFTLESS_TRY(With("read", [&]() -> Result<void> {
    const std::lock_guard<std::mutex> lock(warehouse_->mutex);
    const auto it = warehouse_->tables.find(table);
    if (it != warehouse_->tables.end()) actual = it->second.schema;
    return {};
  }));
  return actual;
}

Result<void> FakeSink::ExecuteStep(const SchemaPlan& plan, StepIndex step) {
  return With("execute", [&]() -> Result<void> {
    const std::lock_guard<std::mutex> lock(warehouse_->mutex);
    FakeWarehouse::Table& table = warehouse_->tables[plan.sink_table];
    warehouse_->executed.push_back(plan.steps[step].action);
    std::vector<std::string> done = table.schema.change_ids;
    done.push_back(plan.change_id);
    if (plan.steps[step].after.has_value()) {
      if (plan.steps[step].creates_table) table.rows.clear();
      table.schema = *plan.steps[step].after;
    } else {
      table.schema = SinkTable{};
    }
    table.schema.change_ids = std::move(done);
    return {};
  });
}

void FakeSink::Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
                      WriterRows* out) {
  // All rows of a table to one writer, so that a test can compare orders; the other one stays idle.
  out->Reset(2);
  for (uint32_t row = 0; row < batch.size(); ++row) out->Add(0, row);
}

Result<TableWriterPtr> FakeSink::OpenWriter(const EvolvedSchema& table, WriterIndex,
                                            const WriterContext& context) {
  DRIFTLESS_TRY(With("open", [] { return Result<void>(); }));
  return TableWriterPtr(std::make_unique<FakeWriter>(this, table.path, context.reporter));
}

Result<CommitToken> FakeSink::Seal(const CommitIdentity& identity, const EvolvedSchema&,
                                   std::span<const PreparedPart> parts) {
  CommitToken token;
  DRIFTLESS_TRY(With("seal", [&]() -> Result<void> {
    const std::lock_guard<std::mutex> lock(warehouse_->mutex);
    token.identity = identity;
    token.payload = TokenOf(identity);
    std::vector<std::string> rows;
    for (const PreparedPart& part : parts) {
      auto& prepared = warehouse_->prepared[part.payload].second;
      rows.insert(rows.end(), prepared.begin(), prepared.end());
      warehouse_->prepared.erase(part.payload);
    }
    warehouse_->prepared[token.payload] = {identity.table, std::move(rows)};
    return {};
  }));
  return token;
}

Result<CommitState> FakeSink::LookUp(const CommitToken& token) {
  CommitState state = CommitState::kUnknown;
  Result<void> asked = With("lookup", [&]() -> Result<void> {
    const std::lock_guard<std::mutex> lock(warehouse_->mutex);
    state = warehouse_->committed.contains(token.payload)  ? CommitState::kCommitted
            : warehouse_->prepared.contains(token.payload) ? CommitState::kPrepared
                                                           : CommitState::kGone;
    return {};
  });
  // A fault of kind kRefused makes the sink unable to tell.
  if (!asked && asked.error().kind() == ErrorKind::kRefused) return CommitState::kUnknown;
  if (!asked) return std::move(asked).error();
  return state;
}

Result<void> FakeSink::Commit(std::span<const CommitToken> tokens) {
  return With("commit", [&]() -> Result<void> {
    const std::lock_guard<std::mutex> lock(warehouse_->mutex);
    for (const CommitToken& token : tokens) {
      if (!warehouse_->committed.insert(token.payload).second) continue;
      const auto it = warehouse_->prepared.find(token.payload);
      if (it == warehouse_->prepared.end()) {
        warehouse_->committed.erase(token.payload);
        return MakeError(ErrorKind::kCommitUnknown, "no such token");
      }
      auto& rows = warehouse_->tables[it->second.first].rows;
      rows.insert(rows.end(), it->second.second.begin(), it->second.second.end());
      warehouse_->prepared.erase(it);
      ++warehouse_->commits;
    }
    return {};
  });
}

Result<void> FakeSink::CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) {
  const std::lock_guard<std::mutex> lock(warehouse_->mutex);
  ++warehouse_->cleanups;
  std::set<std::string> keep;
  for (const CommitToken& token : recorded) keep.insert(token.payload);
  std::erase_if(warehouse_->prepared, [&](const auto& entry) {
    return entry.second.first == next.table && !keep.contains(entry.first);
  });
  return {};
}

// ---- the source --------------------------------------------------------------------------------

void Gates::Open(int gate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_.insert(gate);
}

bool Gates::IsOpen(int gate) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return open_.contains(gate);
}

Result<void> ScriptedSource::Run(StreamId stream, size_t, const CutPosition& from,
                                 SourceOutput* output) {
  const std::optional<Point> last = from.Last(stream);
  if (last.has_value() && from.Resume(stream) != "resume-" + std::to_string(last->offset)) {
    return MakeError(ErrorKind::kInternal, "a position lost its resume text");
  }
  if (look_) look_(context_, stream);
  if (starts_ != nullptr) starts_->push_back(last.has_value() ? last->offset + 1 : 1);
  for (uint64_t offset = last.has_value() ? last->offset + 1 : 1; offset <= script_.size();
       ++offset) {
    const ScriptEvent& event = script_[offset - 1];
    const Point point{stream, 0, offset, 0, 0};
    bool more = !output->stopping();
    output->SendTo(event.sinks);
    switch (event.kind) {
      case ScriptEvent::Kind::kRows: {
        ChangeBatchBuilder builder(event.schema, stream);
        uint32_t row = 0;
        for (const std::string& value : event.values) {
          Point at = point;
          at.row = row++;
          builder.BeginRow(Op::kInsert, at, 1);
          builder.after(0).AppendInt(std::stoll(value));
          for (int i = 1; i < static_cast<int>(event.schema->columns.size()); ++i) {
            builder.after(i).AppendBytes(event.schema->columns[static_cast<size_t>(i)].name +
                                         value);
          }
          builder.EndRow();
        }
        more = more && output->Changes(builder.Seal());
        break;
      }
      case ScriptEvent::Kind::kSchema: {
        auto change = std::make_shared<StatementChange>(event.change);
        change->point = point;
        more = more && output->Schema(change, "offset " + std::to_string(offset));
        break;
      }
      case ScriptEvent::Kind::kUnseen: {
        UnseenChange unseen = event.unseen;
        unseen.point = point;
        unseen.position = "offset " + std::to_string(offset);
        more = more && output->Unseen(unseen);
        break;
      }
      case ScriptEvent::Kind::kWait:
        while (!gates_->IsOpen(event.gate) && !output->stopping()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        more = more && !output->stopping();
        break;
      case ScriptEvent::Kind::kUnbroken: more = more && output->Unbroken(event.begins); break;
      case ScriptEvent::Kind::kProgress: {
        Point end = point;
        end.row = 1'000'000;
        more = more && output->Progress(end, "resume-" + std::to_string(offset), 1);
        break;
      }
    }
    if (!more) return {};
  }
  return {};
}

// ---- the coordinator ---------------------------------------------------------------------------

std::string FakeCoordinator::Text(const Table& table) const {
  const auto schema = [](const EvolvedSchemaPtr& evolved) {
    return evolved == nullptr ? std::string("-") : Serialize(*evolved);
  };
  return std::to_string(static_cast<int>(table.phase)) + "\n" + std::to_string(table.offset) +
         "\n" + std::to_string(table.stream) + "\n" + std::to_string(table.decision) + "\n" +
         (table.approved ? "1" : "0") + "\n" + schema(table.evolved) + "\n" + schema(table.next) +
         "\n" + (table.plan == nullptr ? "-" : Serialize(*table.plan)) + "\n";
}

FakeCoordinator::Table FakeCoordinator::Parse(const std::string& text) const {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  DRIFTLESS_CHECK(lines.size() == 8);
  const auto schema = [](const std::string& line) -> EvolvedSchemaPtr {
    if (line == "-") return nullptr;
    return std::make_shared<const EvolvedSchema>(*ParseEvolvedSchema(line));
  };
  Table table;
  table.phase = static_cast<Phase>(std::stoi(lines[0]));
  table.offset = std::stoull(lines[1]);
  table.stream = static_cast<StreamId>(std::stoul(lines[2]));
  table.decision = std::stoull(lines[3]);
  table.approved = lines[4] == "1";
  table.evolved = schema(lines[5]);
  table.next = schema(lines[6]);
  if (lines[7] != "-") table.plan = std::make_shared<const SchemaPlan>(*ParseSchemaPlan(lines[7]));
  return table;
}

AuditRecord FakeCoordinator::Audit(const SinkTableKey& key, const Table& table, VerdictKind verdict,
                                   AuditResult result) const {
  AuditRecord record;
  record.id = table.decision;
  record.time_ms = SystemClock()->NowMillis();
  record.phase = result == AuditResult::kPending || result == AuditResult::kHeld
                     ? AuditPhase::kIntent
                     : AuditPhase::kOutcome;
  record.source_table = key.table;
  record.point.offset = table.offset;
  record.sink = key;
  record.verdict.kind = verdict;
  record.result = result;
  return record;
}

void FakeCoordinator::Begin(const SinkTableKey& key, Table& table,
                            std::vector<CoordinatorAction>* out) {
  table.phase = Phase::kIntent;
  out->push_back(RecordAudit{Audit(key, table, VerdictKind::kApply, AuditResult::kPending)});
  Table before = table;
  before.phase = Phase::kIdle;
  before.offset = 0;
  out->push_back(RecordTableState{key, Text(before)});
  CutTable cut;
  cut.table = key;
  cut.point = Point{table.stream, 0, table.offset, 0, 0};
  cut.state = Text(table);
  out->push_back(cut);
}

void FakeCoordinator::Finish(const SinkTableKey& key, Table& table,
                             std::vector<CoordinatorAction>* out) {
  table.phase = Phase::kIdle;
  table.evolved = table.next;
  out->push_back(RecordAudit{Audit(key, table, VerdictKind::kApply, AuditResult::kDone)});
  out->push_back(RecordTableState{key, Text(table)});
  driftless::Release release;
  release.table = key;
  release.evolved = table.evolved;
  release.point = Point{table.stream, 0, table.offset, 0, 0};
  out->push_back(release);
}

Result<std::vector<CoordinatorAction>> FakeCoordinator::Restart(std::vector<RecoveredTable> tables,
                                                                int64_t) {
  std::vector<CoordinatorAction> out;
  for (const RecoveredTable& recovered : tables) {
    Table table = Parse(recovered.state);
    if (table.phase == Phase::kIntent && !recovered.cut_committed) {
      table.phase = Phase::kIdle;
      table.offset = 0;
    }
    if (table.phase == Phase::kIntent) out.push_back(ReadSinkTable{recovered.table});
    tables_[recovered.table] = table;
  }
  return out;
}

std::vector<CoordinatorAction> FakeCoordinator::Step(CoordinatorInput input, int64_t) {
  std::vector<CoordinatorAction> out;
  if (auto* arrived = std::get_if<ChangeArrived>(&input)) {
    Table& table = tables_[arrived->table];
    const uint64_t offset = arrived->change->point.offset;
    if (policy_.read.contains(offset) && was_read_.insert({arrived->table, offset}).second) {
      out.push_back(ReadSinkTable{arrived->table});
      reading_[arrived->table] = std::move(*arrived);
      return out;
    }
    const bool known = table.offset == offset;
    table.arrived = true;
    if (known && table.phase == Phase::kHeld && !table.approved) return out;
    if (known && table.phase == Phase::kSkip) {
      driftless::Release release{arrived->table, table.evolved, arrived->change->point, true, {}};
      out.push_back(release);
      return out;
    }
    table.offset = offset;
    table.stream = arrived->change->point.stream;
    if (!known) table.decision = next_++;
    const TableSchemaPtr after = arrived->change->after();
    table.next = after == nullptr ? nullptr : EvolvedOf(*after, arrived->table.table);
    auto plan = std::make_shared<SchemaPlan>();
    plan->change_id = "change-" + std::to_string(offset);
    plan->sink_table = arrived->table.table;
    driftless::Step step;
    step.action = Describe(arrived->change->parts.front()) + " @" + std::to_string(offset);
    step.creates_table = arrived->change->before() == nullptr;
    if (table.next != nullptr) step.after = table.next->ToSinkTable();
    plan->steps = {step};
    table.plan = plan;
    if (policy_.fail.contains(offset)) {
      out.push_back(
          RecordAudit{Audit(arrived->table, table, VerdictKind::kFail, AuditResult::kFailed)});
      table.offset = 0;
      table.failed = true;
      out.push_back(FailPipeline{arrived->table, table.decision,
                                 MakeError(ErrorKind::kRefused, "the policy says fail")});
    } else if (policy_.skip.contains(offset)) {
      table.phase = Phase::kSkip;
      table.plan = nullptr;
      table.next = nullptr;
      out.push_back(
          RecordAudit{Audit(arrived->table, table, VerdictKind::kSkip, AuditResult::kSkipped)});
      out.push_back(RecordTableState{arrived->table, Text(table)});
      out.push_back(
          driftless::Release{arrived->table, table.evolved, arrived->change->point, true, {}});
    } else if (policy_.hold.contains(offset) && !table.approved) {
      table.phase = Phase::kHeld;
      out.push_back(
          RecordAudit{Audit(arrived->table, table, VerdictKind::kHold, AuditResult::kHeld)});
      out.push_back(RecordTableState{arrived->table, Text(table)});
    } else {
      table.approved = false;
      Begin(arrived->table, table, &out);
    }
  } else if (auto* cut = std::get_if<CutCommitted>(&input)) {
    Table& table = tables_[cut->table];
    out.push_back(driftless::ExecuteStep{cut->table, table.plan, 0});
  } else if (auto* read = std::get_if<SinkTableRead>(&input)) {
    Table& table = tables_[read->table];
    DRIFTLESS_CHECK(read->actual.has_value());
    if (auto waiting = reading_.extract(read->table)) return Step(std::move(waiting.mapped()), 0);
    bool done = false;
    if (read->actual->has_value()) {
      for (const std::string& id : (*read->actual)->change_ids) done |= id == table.plan->change_id;
    }
    if (done) {
      Finish(read->table, table, &out);
    } else {
      out.push_back(driftless::ExecuteStep{read->table, table.plan, 0});
    }
  } else if (auto* step = std::get_if<StepFinished>(&input)) {
    Table& table = tables_[step->table];
    if (step->result) {
      Finish(step->table, table, &out);
    } else if (step->result.error().kind() == ErrorKind::kCommitUnknown) {
      out.push_back(ReadSinkTable{step->table});
    } else {
      table.failed = true;
      out.push_back(FailPipeline{step->table, table.decision, step->result.error()});
    }
  } else if (auto* given = std::get_if<ApprovalGiven>(&input)) {
    for (auto& [key, table] : tables_) {
      if (table.phase != Phase::kHeld || table.decision != given->decision) continue;
      if (table.arrived) {
        Begin(key, table, &out);
      } else {
        table.approved = true;
        out.push_back(RecordTableState{key, Text(table)});
      }
    }
  }
  return out;
}

std::optional<SinkTableKey> FakeCoordinator::Waiting(DecisionId decision) const {
  for (const auto& [key, table] : tables_) {
    if (table.decision == decision && (table.phase == Phase::kHeld || table.failed)) return key;
  }
  return std::nullopt;
}

EvolvedSchemaPtr FakeCoordinator::Evolved(const SinkTableKey& table) const {
  const auto it = tables_.find(table);
  return it == tables_.end() ? nullptr : it->second.evolved;
}

// ---- scripts -----------------------------------------------------------------------------------

TablePath ShopTable(const std::string& name) { return {"", "shop", name}; }

ScriptEvent& ScriptBuilder::Add(ScriptEvent::Kind kind) {
  ScriptEvent event;
  event.kind = kind;
  events_.push_back(event);
  return events_.back();
}

void ScriptBuilder::Change(const std::string& table, ChangeDetail detail, TableSchemaPtr before,
                           TableSchemaPtr after) {
  StatementChange change;
  change.table = ShopTable(table);
  change.parts.push_back({0, std::move(detail), std::move(before), after});
  Add(ScriptEvent::Kind::kSchema).change = std::move(change);
  tables_[table] = std::move(after);
  Progress();
}

ScriptBuilder& ScriptBuilder::Unbroken(bool begins) {
  Add(ScriptEvent::Kind::kUnbroken).begins = begins;
  return *this;
}

ScriptBuilder& ScriptBuilder::For(SinkChoice sinks) {
  events_[events_.size() - 2].sinks = std::move(sinks);
  return *this;
}

ScriptBuilder& ScriptBuilder::Create(const std::string& table) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = ShopTable(table);
  schema->incarnation = events_.size() + 1;
  schema->AddColumn("id", LogicalType::BigInt());
  schema->AddColumn("a", LogicalType::String());
  expected_[table].clear();
  Change(table, CreateTable{}, nullptr, schema);
  return *this;
}

ScriptBuilder& ScriptBuilder::AddColumn(const std::string& table, const std::string& column) {
  const TableSchemaPtr before = tables_[table];
  auto after = std::make_shared<TableSchema>(*before);
  ++after->version;
  const Column added = after->AddColumn(column, LogicalType::String());
  Change(table, AddColumns{{{added, {}}}}, before, after);
  return *this;
}

ScriptBuilder& ScriptBuilder::Drop(const std::string& table) {
  Change(table, DropTable{}, tables_[table], nullptr);
  return *this;
}

ScriptBuilder& ScriptBuilder::Unseen(const std::string& table, const std::string& what,
                                     bool is_read_again) {
  UnseenChange& unseen = Add(ScriptEvent::Kind::kUnseen).unseen;
  unseen.is_read_again = is_read_again;
  unseen.table = ShopTable(table);
  unseen.what = what;
  return *this;
}

ScriptBuilder& ScriptBuilder::Rows(const std::string& table, int count) {
  ScriptEvent& event = Add(ScriptEvent::Kind::kRows);
  event.schema = tables_[table];
  for (int i = 0; i < count; ++i) {
    const std::string value = std::to_string(next_value_++);
    event.values.push_back(value);
    std::string row;
    for (const Column& column : event.schema->columns) {
      row +=
          row.empty() ? column.name + "=" + value : "," + column.name + "=" + column.name + value;
    }
    expected_[table].push_back(row);
  }
  return Progress();
}

ScriptBuilder& ScriptBuilder::Progress() {
  Add(ScriptEvent::Kind::kProgress);
  return *this;
}

ScriptBuilder& ScriptBuilder::Wait(int gate) {
  Add(ScriptEvent::Kind::kWait).gate = gate;
  return *this;
}

std::vector<std::string> ScriptBuilder::Columns(const std::string& table) const {
  std::vector<std::string> names;
  const TableSchemaPtr& schema = tables_.at(table);
  if (schema == nullptr) return names;
  for (const Column& column : schema->columns) names.push_back(column.name);
  return names;
}

}  // namespace driftless
