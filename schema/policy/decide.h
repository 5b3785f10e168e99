#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/matrix/capability_matrix.h"
#include "schema/plan/schema_plan.h"
#include "schema/policy/policy.h"

// What the policy says about one statement at one sink table. A pure function: `driftless plan` and
// the coordinator call the same one, so that what `plan` prints is what `run` does.
namespace driftless {

// A verdict that was given from outside for one part: a person's decision, or what the sink said.
struct ForcedVerdict {
  enum class By : uint8_t {
    kReject,   // `driftless reject`, or a hold that timed out so
    kSkip,     // `driftless decide ID skip`
    kRefused,  // TRY_EVOLVE: the sink refused this part when it was tried alone
    kTimeout,  // a hold that timed out, and on-timeout is `fail`
    kWaiting,  // a drop.column that waits for approval while its rows go on
  };
  By by = By::kSkip;
  std::string message;  // the sink's words, or who decided
};

// Everything that a decision depends on.
struct DecideInput {
  const StatementChange* change = nullptr;
  const SinkPolicy* policy = nullptr;
  const CapabilityMatrix* matrix = nullptr;
  const SchemaPlanner* planner = nullptr;
  std::string sink;  // its name in the pipeline: rules match it
  TablePath sink_table;
  const EvolvedSchema* evolved = nullptr;  // recorded; null: none
  bool sink_was_read = false;              // `actual` is what ReadTable returned
  const SinkTable* actual = nullptr;       // null after a read: no such table
  std::string change_id;
  std::map<std::string, std::string> table_options;
  std::map<uint32_t, ForcedVerdict> forced;  // by part
  bool approved = false;                     // the hold was approved: nothing is held again
  bool late_drop = false;   // the hold let rows go on: its columns are free, and are dropped now
  bool one_by_one = false;  // the combined statement was refused: every part becomes its own steps
};

struct BegunDivergence {
  ColumnId column = 0;      // 0: the table as a whole
  std::string column_name;  // at the source
  EventKind event = EventKind::kAddColumn;
  std::string text;
  uint32_t part = 0;
  bool of_old_rows = false;  // Divergence::of_old_rows
};
struct EndedDivergence {
  ColumnId column = 0;
  std::optional<EventKind> event;  // only divergences that this kind began; none: all of the column
  std::string by;                  // "drop.column of qty"
};

struct PartDecision {
  uint32_t part = 0;  // of the statement; from `parts.size()` on: planned again, see below
  EventKind event = EventKind::kCreateTable;
  std::string detail;                      // Describe(change)
  Behavior behavior = Behavior::kLenient;  // after rules
  Verdict verdict;
  VerdictKind held = VerdictKind::kHold;  // kHold: what will be done after approval
  // An add that was skipped because its name was taken and whose name this statement frees.
  bool planned_again = false;
  bool satisfied = false;            // apply, and nothing need be sent
  std::vector<std::string> actions;  // of the steps that belong to this part
};

struct Decision {
  // create.table: the sink must be read first; then decide again. `parts` is empty.
  bool needs_sink_table = false;

  std::vector<PartDecision> parts;
  bool fails = false;      // some part is `fail`: nothing is sent, no state changes
  bool held = false;       // some part is held, so all that would be sent are
  bool rows_wait = false;  // while held: this table's rows are parked (not for drop.column alone)

  // All apply and rewrite parts together; no steps: nothing need be sent. Filled for held decisions
  // too, for people to look at; carry it out only after a new decision with `approved`.
  SchemaPlan plan;
  std::vector<uint32_t> step_parts;  // per step of the plan: a part that it belongs to
  // After all steps; none: the table is not fed any more (a carried-out drop.table). While held
  // without waiting rows: as after a skip.
  std::optional<EvolvedSchema> evolved;
  std::vector<BegunDivergence> begun;  // take effect with the outcome
  std::vector<EndedDivergence> ended;
};

Decision Decide(const DecideInput& input);

// Which rule decides about an event, for `driftless explain`; null: the pipeline's behaviour.
// `column` may be empty (a table event, or any column).
const PolicyRule* MatchRule(const SinkPolicy& policy, const std::string& sink,
                            const TablePath& sink_table, EventKind event,
                            const std::string& column);

// What the policy says about an event before any table is looked at: the matrix, the lists, the
// rules and the behaviour, in their order. What the planner knows about one change can only lower
// it.
Verdict Explain(const SinkPolicy& policy, const CapabilityMatrix& matrix, const std::string& sink,
                const TablePath& sink_table, EventKind event, const std::string& column,
                bool not_null_column, Behavior* behavior);

}  // namespace driftless
