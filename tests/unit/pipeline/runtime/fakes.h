#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/runtime/runtime.h"

// A sink, a source and a coordinator whose every move a test decides. The warehouse and the state
// folder outlive the runtime, so that throwing the runtime away is a crash.
namespace driftless {

// What survives a crash.
struct FakeWarehouse {
  struct Table {
    SinkTable schema;
    std::vector<std::string> rows;  // in commit order; an append table: twice is a duplicate
  };
  std::mutex mutex;
  std::map<TablePath, Table> tables;
  std::map<std::string, std::pair<TablePath, std::vector<std::string>>> prepared;  // by token
  std::set<std::string> committed;                                                 // tokens
  uint64_t next_part = 1;
  int commits = 0;
  int cleanups = 0;
  std::atomic<int> rolls{0};
  std::set<std::string> refused;  // rows that its writers hand to the reporter; set before a run
  std::vector<std::string> executed;  // actions of steps, in order

  std::vector<std::string> Rows(const TablePath& table);
  std::vector<std::string> Columns(const TablePath& table);
};

// Decides what happens at a call to the sink: nothing (nullopt), an error before the effect, or an
// error after it.
struct Fault {
  bool after = false;
  Error error;
};
using FaultHook = std::function<std::optional<Fault>(const std::string& call)>;

class FakePlanner : public SchemaPlanner {
 public:
  Result<LogicalType> MapType(const LogicalType& type, bool) const override { return type; }
  Result<SchemaPlan> Plan(const PlanRequest&) const override;
  StepState Recognise(const SchemaPlan&, size_t, const SinkTable*) const override;
  bool Holds(const LogicalType&, const LogicalType&) const override { return true; }
};

class FakeSink : public Sink {
 public:
  FakeSink(std::shared_ptr<FakeWarehouse> warehouse, FaultHook fault, SinkTraits traits)
      : warehouse_(std::move(warehouse)), fault_(std::move(fault)), traits_(traits) {}

  const CapabilityMatrix& matrix() const override;
  const SchemaPlanner& planner() const override { return planner_; }
  SinkTraits traits() const override { return traits_; }
  Result<SinkInfo> Connect() override;
  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) override;
  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override;
  WriterIndex WriterCount(const EvolvedSchema&) const override { return 2; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema& table, const Projection& projection,
              WriterRows* out) override;
  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex index,
                                    const WriterContext& context) override;
  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema& table,
                           std::span<const PreparedPart> parts) override;
  Result<CommitState> LookUp(const CommitToken& token) override;
  Result<void> Commit(std::span<const CommitToken> tokens) override;
  Result<void> Abort(std::span<const CommitToken>) override { return {}; }
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) override;

  // Runs `effect` between the two places where a fault can strike.
  Result<void> With(const std::string& call, const std::function<Result<void>()>& effect);
  const std::shared_ptr<FakeWarehouse>& warehouse() const { return warehouse_; }

 private:
  const std::shared_ptr<FakeWarehouse> warehouse_;
  const FaultHook fault_;
  const SinkTraits traits_;
  FakePlanner planner_;
};

// One event of a scripted stream; its point's offset is its place in the script, from 1.
struct ScriptEvent {
  enum class Kind : uint8_t {
    kRows,
    kSchema,
    kUnseen,
    kProgress,
    kWait,
    kUnbroken,
  } kind = Kind::kProgress;
  TableSchemaPtr schema;            // kRows
  std::vector<std::string> values;  // kRows: one row each; all share the event's offset
  StatementChange change;           // kSchema; the point is filled in
  UnseenChange unseen;              // kUnseen; the same
  int gate = 0;                     // kWait: until the test opens it
  bool begins = false;              // kUnbroken
  SinkChoice sinks;                 // whom rows and statements are for
};

class Gates {
 public:
  void Open(int gate);
  bool IsOpen(int gate);

 private:
  std::mutex mutex_;
  std::set<int> open_;
};

// Replays a script from just behind the position it is given.
class ScriptedSource : public Source {
 public:
  // `look` sees what the runtime gives the source, at the beginning of a run; may be empty.
  using Look = std::function<void(const SourceContext& context, StreamId stream)>;
  ScriptedSource(std::vector<ScriptEvent> script, std::shared_ptr<Gates> gates,
                 std::shared_ptr<std::vector<uint64_t>> starts, Look look = {})
      : script_(std::move(script)),
        gates_(std::move(gates)),
        starts_(std::move(starts)),
        look_(std::move(look)) {}
  Result<void> Connect(const SourceContext& context) override {
    context_ = context;
    return {};
  }
  std::vector<std::string> streams() const override { return {"script"}; }
  Result<void> Run(StreamId stream, size_t index, const CutPosition& from,
                   SourceOutput* output) override;

 private:
  const std::vector<ScriptEvent> script_;
  const std::shared_ptr<Gates> gates_;
  const std::shared_ptr<std::vector<uint64_t>> starts_;  // the first offset of each run
  const Look look_;
  SourceContext context_;
};

// A coordinator that follows every change in one step, unless the test says hold, skip or fail for
// its point's offset. It keeps the contract of schema/coordinator/coordinator.h.
struct FakePolicy {
  std::set<uint64_t> hold;
  std::set<uint64_t> skip;
  std::set<uint64_t> fail;
  std::set<uint64_t> read;  // these look at the sink's table first
};

class FakeCoordinator : public CoordinatorPort {
 public:
  FakeCoordinator(FakePolicy policy, DecisionId next) : policy_(std::move(policy)), next_(next) {}
  Result<std::vector<CoordinatorAction>> Restart(std::vector<RecoveredTable> tables,
                                                 int64_t now_ms) override;
  std::vector<CoordinatorAction> Step(CoordinatorInput input, int64_t now_ms) override;
  DecisionId NewDecision() override { return next_++; }
  std::optional<SinkTableKey> Waiting(DecisionId decision) const override;
  EvolvedSchemaPtr Evolved(const SinkTableKey& table) const override;

 private:
  enum class Phase : uint8_t { kIdle, kHeld, kIntent, kSkip };
  struct Table {
    Phase phase = Phase::kIdle;
    uint64_t offset = 0;  // of the change that is open, or was last
    StreamId stream = 0;
    DecisionId decision = 0;
    EvolvedSchemaPtr evolved;  // as it stands
    EvolvedSchemaPtr next;     // after the open change
    std::shared_ptr<const SchemaPlan> plan;
    bool approved = false;
    bool arrived = false;  // in this process
    bool failed = false;
  };
  std::string Text(const Table& table) const;
  Table Parse(const std::string& text) const;
  AuditRecord Audit(const SinkTableKey& key, const Table& table, VerdictKind verdict,
                    AuditResult result) const;
  void Begin(const SinkTableKey& key, Table& table, std::vector<CoordinatorAction>* out);
  void Finish(const SinkTableKey& key, Table& table, std::vector<CoordinatorAction>* out);

  const FakePolicy policy_;
  DecisionId next_;
  std::map<SinkTableKey, Table> tables_;
  std::map<SinkTableKey, ChangeArrived> reading_;
  std::set<std::pair<SinkTableKey, uint64_t>> was_read_;
};

// ---- building scripts --------------------------------------------------------------------------

class ScriptBuilder {
 public:
  // A table `id BIGINT, a STRING`; incarnations count up by themselves.
  ScriptBuilder& Create(const std::string& table);
  ScriptBuilder& AddColumn(const std::string& table, const std::string& column);
  ScriptBuilder& Drop(const std::string& table);
  ScriptBuilder& Unseen(const std::string& table, const std::string& what,
                        bool is_read_again = false);
  // `count` rows in one batch, each with a value of its own in every column.
  ScriptBuilder& Rows(const std::string& table, int count);
  ScriptBuilder& Progress();
  ScriptBuilder& Wait(int gate);
  ScriptBuilder& Unbroken(bool begins);
  // What was added last, before its progress item, is for these alone.
  ScriptBuilder& For(SinkChoice sinks);
  // Each event followed by a progress item.
  std::vector<ScriptEvent> Script() const { return events_; }
  // What a sink table must hold in the end: every row once, in order, under the columns that the
  // table had when it was written.
  const std::vector<std::string>& Expected(const std::string& table) { return expected_[table]; }
  std::vector<std::string> Columns(const std::string& table) const;
  uint64_t last_offset() const { return events_.size(); }

 private:
  ScriptEvent& Add(ScriptEvent::Kind kind);
  void Change(const std::string& table, ChangeDetail detail, TableSchemaPtr before,
              TableSchemaPtr after);

  std::vector<ScriptEvent> events_;
  std::map<std::string, TableSchemaPtr> tables_;
  std::map<std::string, std::vector<std::string>> expected_;
  int next_value_ = 0;
};

TablePath ShopTable(const std::string& name);

}  // namespace driftless
