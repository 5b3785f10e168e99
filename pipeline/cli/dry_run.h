#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "pipeline/route/router.h"
#include "pipeline/transform/stage.h"
#include "schema/coordinator/table_state.h"
#include "sinks/api/component.h"

namespace driftless {

// What one part of a statement means for one sink table.
struct PlannedSink {
  std::string sink;
  std::string type;
  TablePath table;
  PartDecision decision;
  bool has_statements = false;  // the actions are the sink's very statements, not words about them
};
// Rows that a statement brings, removes or changes without any row event (policy, section 11).
struct RowsWithoutEvent {
  TablePath table;
  std::string what;  // "TRUNCATE PARTITION p1"
  bool is_conversion = false;
  TableSchemaPtr schema;  // as the statement leaves it; null where it is not known
};
struct PlannedChange {
  EventKind event = EventKind::kAddColumn;
  bool is_unseen = false;  // no event: rows change without row events; `detail` says which
  TablePath table;         // at the source
  std::string detail;
  std::vector<PlannedSink> sinks;
};
struct PlannedStatement {
  std::string statement;
  std::vector<PlannedChange> changes;
  bool unseen_by_transforms = false;  // some of it changes no transform's output

  bool fails() const;
  bool rows_may_stop() const;
};

// Plays a pipeline's schema changes through without any connection: what `driftless plan` prints.
// Every sink table starts as the state says (SetState), else as create.table would make it from the
// source tables' schemas (AddTable), and goes on as the statements before leave it.
class DryRun {
 public:
  // Errors: what a sink's options do not allow. `definition` outlives the object.
  static Result<std::unique_ptr<DryRun>> Make(const PipelineDefinition& definition);

  void SetState(const SinkTableKey& key, TableState state);
  // What a sink really has under this name, where somebody looked; none: no such table. Counts as
  // long as no state says what the pipeline made of it.
  void SetActual(const SinkTableKey& key, std::optional<SinkTable> actual);
  // The tables that a source table goes to, per sink.
  Result<std::vector<SinkTableKey>> TargetsOf(const TablePath& table) const;
  // What the names in the transforms' texts mean, as a run recorded it. Before any table.
  Result<void> SetTransforms(std::vector<TransformVersion> versions);
  // A table that is there already at the source; one that a state names is left alone.
  Result<void> AddTable(const TableSchemaPtr& schema);
  // Decides about everything that one statement did; `changes` in the server's order.
  Result<PlannedStatement> Plan(const std::string& statement,
                                const std::vector<StatementChange>& changes,
                                const std::vector<RowsWithoutEvent>& rows = {});

  // What the state remembers of one stream.
  struct StreamState {
    StreamId stream = 0;
    std::vector<TransformVersion> transforms;
    std::optional<Point> from;     // where a start reads it on
    std::optional<Point> covered;  // the furthest point that any sink has
    const SchemaHistoryStore* history = nullptr;
  };
  // What the next start does because tables have other transforms than in the last run: one
  // statement a table.
  Result<std::vector<PlannedStatement>> PlanOtherTransforms(StreamState state);

 private:
  struct SinkRun {
    const SinkDefinition* definition = nullptr;
    const SinkComponent* component = nullptr;
    std::unique_ptr<SchemaPlanner> planner;
    SinkPolicy policy;
    std::unique_ptr<Router> router;
    std::map<TablePath, TableState> tables;
  };

  static LatticeStyle StyleOf(const SinkRun& sink);
  Result<void> PlanChange(StatementChange change, PlannedStatement* planned);
  Result<void> PlanUnseen(const RowsWithoutEvent& rows, PlannedStatement* planned);
  void Create(SinkRun* sink, const TablePath& table, const TableSchemaPtr& schema);
  Result<void> PlanAtSinks(const StatementChange& change, PlannedStatement* planned);
  void PlanAtSink(SinkRun* sink, const TablePath& table, const StatementChange& change,
                  std::vector<PlannedChange>* changes);
  Decision DecideAt(const SinkRun& sink, const TablePath& table, const StatementChange& change,
                    const EvolvedSchema* evolved) const;

  const PipelineDefinition* definition_ = nullptr;
  std::vector<SinkRun> sinks_;
  std::map<SinkTableKey, std::optional<SinkTable>> actual_;
  std::unique_ptr<TransformStore> recorded_;  // outlives the stage
  std::unique_ptr<TransformStage> transforms_;
  uint64_t statements_ = 0;
};

// The interface of `driftless plan --output json`, one line per statement: {"statement", "changes":
// [{"event", "table", "detail", "sinks": [{"sink", "type", "table", "verdict", "reason", "rule",
// "cell", "actions", "rows"}]}]}. "event" is "rows.without.events" for rows that change without row
// events. "rows" is "may-stop" where an ordinary row can stop the pipeline
// later; "rows_detail" then says which.
std::string RenderJson(const PlannedStatement& statement);
std::string RenderText(const PlannedStatement& statement);

}  // namespace driftless
