#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schema/audit/audit.h"
#include "schema/base/error.h"
#include "schema/coordinator/table_state.h"
#include "schema/matrix/capability_matrix.h"
#include "schema/plan/schema_plan.h"
#include "schema/policy/policy.h"

// The coordinator is a pure, synchronous state machine: it owns no thread, clock, file or socket.
// The runtime feeds it (pipeline/runtime/control.h), the simulator feeds it too (tests/sim). Per
// sink table it walks:
//
//   arrived -> decided -> [held ->] cutting -> executing (step by step) -> recorded -> released
//                    \-> skipped (divergence) ------------------------------------^
//
// The caller drains its inputs, calls Step for each, writes all Record* actions in ONE transaction,
// and only then carries out the others, in order.
namespace driftless {

// ---- inputs ----------------------------------------------------------------------------------

// The inlet met a schema change of this sink table and parks everything behind it.
struct ChangeArrived {
  SinkTableKey table;
  StatementChangePtr change;  // after routes and transforms; its table is still the source's
  std::string position;       // the source's words for change->point
  int64_t seen_ms = 0;        // when the source read it
};
// Answer to ReadSinkTable.
struct SinkTableRead {
  SinkTableKey table;
  Result<std::optional<SinkTable>> actual;
};
// Answer to CutTable: everything before the change is committed, tokens and intent are recorded.
struct CutCommitted {
  SinkTableKey table;
};
// Answer to ExecuteStep.
struct StepFinished {
  SinkTableKey table;
  uint32_t step = 0;
  Result<void> result;
};
struct ApprovalGiven {
  DecisionId decision = 0;
  // kSkip and kRetry answer a failure: `driftless decide ID`. Given before the change comes again
  // (right after Restart); kRetry of a hold starts its timeout anew.
  enum class Choice : uint8_t { kApprove, kReject, kRetry, kSkip } choice = Choice::kApprove;
  std::string by;  // "cli", "api", "timeout"
};
// At least once a second: timeouts of holds, and steps that are tried again.
struct TimePassed {
  int64_t now_ms = 0;
};
using CoordinatorInput = std::variant<ChangeArrived, SinkTableRead, CutCommitted, StepFinished,
                                      ApprovalGiven, TimePassed>;

// ---- actions ---------------------------------------------------------------------------------

// Recorded: written in the same transaction as all others of this round.
struct RecordAudit {
  AuditRecord record;
};
struct RecordTableState {  // replaces the persisted state of this sink table
  SinkTableKey table;
  std::string state;  // TableState as text; opaque to the store
};
struct RecordDivergence {
  Divergence divergence;
};
struct EndDivergences {  // of this column (0: of the whole table), by that event
  SinkTableKey table;
  ColumnId column = 0;
  std::optional<EventKind> event;  // only those that this kind began; none: all of the column
  std::string ended_by;
};
// Carried out after the transaction.
struct ReadSinkTable {
  SinkTableKey table;
};
// Flush this table's writers, Prepare and Seal, transaction A (cut, tokens, `state` with intent and
// plan), Commit, transaction B; then CutCommitted. A table without open writers is cut all the
// same.
struct CutTable {
  SinkTableKey table;
  Point point;        // of the change: the cut lies just before it
  bool now = false;   // a drop that was approved after its rows went on: the cut lies where the
                      // table stands, and its items are parked from there until Release
  std::string state;  // written with transaction A
};
struct ExecuteStep {
  SinkTableKey table;
  std::shared_ptr<const SchemaPlan> plan;
  uint32_t step = 0;
};
// The DDL at `point` is covered by this table's cut from now on; open writers under `evolved`
// (null: the table is not captured at this sink any more) and let the parked items go on.
struct Release {
  SinkTableKey table;
  EvolvedSchemaPtr evolved;
  Point point;
  bool writers_stay = false;  // nothing changed at the sink: no cut was made, writers go on
  // Many tables into one: `evolved` in the column ids of each source table. Rows of a source are
  // projected by its own entry, or by `evolved` where it has none (one-to-one routes).
  std::map<TablePath, EvolvedSchemaPtr> by_source;
};
struct FailPipeline {  // commit everything before the change in all sinks, then stop
  SinkTableKey table;
  DecisionId decision = 0;
  Error error;
};
struct Notify {  // for the log and metrics: one per verdict and outcome
  AuditRecord record;
  enum class Level : uint8_t { kInfo, kWarn, kError } level = Level::kInfo;
};
using CoordinatorAction =
    std::variant<RecordAudit, RecordTableState, RecordDivergence, EndDivergences, ReadSinkTable,
                 CutTable, ExecuteStep, Release, FailPipeline, Notify>;

// ---- the machine -----------------------------------------------------------------------------

// What the coordinator must know of a sink; the pointers outlive it.
struct CoordinatorSink {
  std::string name;
  std::string type;
  const CapabilityMatrix* matrix = nullptr;
  const SchemaPlanner* planner = nullptr;
  const SinkPolicy* policy = nullptr;
  bool keeps_schema = true;
};

// What the runtime recovered for one sink table at start.
struct RecoveredTable {
  SinkTableKey table;
  std::string state;           // as RecordTableState and CutTable wrote it last
  bool cut_committed = false;  // the schema cut named in `state` is committed
};

class Coordinator {
 public:
  Coordinator(std::string pipeline, std::vector<CoordinatorSink> sinks, DecisionId next_decision);
  ~Coordinator();

  // Takes over what a former process recorded, before any input; returns what must be done to go on
  // (ReadSinkTable for tables with an open intent, Release for others).
  Result<std::vector<CoordinatorAction>> Restart(std::vector<RecoveredTable> tables,
                                                 int64_t now_ms);

  std::vector<CoordinatorAction> Step(CoordinatorInput input, int64_t now_ms);

  // A number for something that is decided elsewhere: a statement that the source does not
  // understand.
  DecisionId NewDecision();

  // The sink table whose hold, late drop or failure this decision belongs to; none: nothing waits
  // for a person under that number (any more).
  std::optional<SinkTableKey> Waiting(DecisionId decision) const;

  // The evolved schema as it stands, null for a table that is not known (yet).
  EvolvedSchemaPtr Evolved(const SinkTableKey& table) const;
  // Whether the table's rows wait for a person: its change is held, or has stopped the pipeline.
  bool WaitsForPerson(const SinkTableKey& table) const;
  // The same in the column ids of each source table, as Release carries it; empty where one feeds
  // it.
  std::map<TablePath, EvolvedSchemaPtr> EvolvedBySource(const SinkTableKey& table) const;
  // The source tables of this one that were renamed, as it was decided, the last one perhaps still
  // under way.
  std::vector<TableRenaming> Renamings(const SinkTableKey& table) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless
