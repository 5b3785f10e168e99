#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// One column of a sink table as the sink itself describes it.
struct SinkColumn {
  std::string name;
  LogicalType type;         // in the sink's normal form, after its own round trip
  std::string native_type;  // the sink's own text, for people
  std::string comment;
  DefaultValue default_value;
  int64_t native_id = -1;  // Paimon and Iceberg field ids; -1 where the sink has none
  friend bool operator==(const SinkColumn&, const SinkColumn&) = default;
};

// A table as it really is at the sink, now.
struct SinkTable {
  TablePath path;
  std::vector<SinkColumn> columns;
  std::vector<std::string> primary_key;  // column names
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> options;
  std::string comment;
  std::string version;  // the sink's own schema version: "schema-3", a metadata file
  // Ids of changes that the sink's metadata says were carried out (lakes put them into the commit's
  // properties); empty where the sink cannot say.
  std::vector<std::string> change_ids;

  const SinkColumn* FindName(std::string_view name) const;
  friend bool operator==(const SinkTable&, const SinkTable&) = default;
};

// Which source column feeds which sink column, and what the sink table looks like: what a verdict
// leaves behind. A sink column whose source is 0 is free: no living identity feeds it.
struct EvolvedColumn {
  SinkColumn sink;
  ColumnId source = 0;
  ColumnId former = 0;  // of a free column: the identity that fed it last; 0: none ever did
  // What a free column receives: see the policy, section 4 (drop.skip).
  enum class Fill : uint8_t { kNull, kKeep, kDefault, kZero };
  Fill fill = Fill::kNull;
  friend bool operator==(const EvolvedColumn&, const EvolvedColumn&) = default;
};
struct EvolvedSchema {
  TablePath path;            // at the sink
  uint64_t incarnation = 0;  // of the source table that feeds it
  std::vector<EvolvedColumn> columns;
  std::vector<std::string> primary_key;
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> options;
  std::string comment;

  const EvolvedColumn* FindSource(ColumnId id) const;
  const EvolvedColumn* FindName(std::string_view name) const;
  SinkTable ToSinkTable() const;
  friend bool operator==(const EvolvedSchema&, const EvolvedSchema&) = default;
};
using EvolvedSchemaPtr = std::shared_ptr<const EvolvedSchema>;

// What a look at the sink says about one step of a plan.
enum class StepState : uint8_t { kNotBegun, kRunning, kDone, kCannotTell };

// One step that is carried out as a whole: one statement, one schema commit.
struct Step {
  std::string action;   // the very statement or commit, for people and the audit log
  std::string payload;  // what ExecuteStep needs beyond `action`; the sink's own encoding
  SinkTable before;     // how the sink table looks before and after, in normal form
  std::optional<SinkTable> after;  // none: the table is gone
  bool creates_table = false;
  bool repeatable = false;  // may be executed twice without harm (TRUNCATE, SET NULL)
};

// Everything that one statement means for one sink table, worked out without sending anything.
// Built by SchemaPlanner::Plan; pure data; persisted with the intent.
struct SchemaPlan {
  std::string change_id;  // identity of the change at the sink: pipeline, sink, table, cut
  TablePath sink_table;
  std::vector<Step> steps;            // empty: nothing need be sent
  EvolvedSchema evolved;              // after all steps
  std::string rows;                   // what happens to rows, in words: "old rows read NULL"
  bool rows_may_stop = false;         // the policy's "rows": "may-stop"
  std::vector<std::string> rewrites;  // "appended at the end", "made nullable", ...
};

// What the coordinator asks of a planner: a change in the sink's own terms. Names, anchors and
// types have been translated to the evolved schema already.
struct PlanRequest {
  const StatementChange* statement = nullptr;  // for its texts and position
  std::span<const SchemaChange> parts;         // the parts to carry out together
  const EvolvedSchema* evolved = nullptr;      // null for create.table on a table unknown to us
  const SinkTable* actual = nullptr;           // what ReadTable returned, where it was asked
  TablePath sink_table;
  bool adapt_constraints = false;  // LENIENT, TRY_EVOLVE: LAST and nullable where need be
  std::string change_id;
  std::map<std::string, std::string> table_options;  // from the sink block and transforms
};

// A sink's planner: pure, without a connection, so that `driftless plan` and `run` share it.
class SchemaPlanner {
 public:
  virtual ~SchemaPlanner() = default;

  // The sink's column type for a logical type, in its normal form. Errors: kUnsupported.
  virtual Result<LogicalType> MapType(const LogicalType& type, bool is_key) const = 0;

  // The steps for the request. Errors with kUnsupported say that this one change is impossible at
  // this sink: the policy counts that as cell `fail` with the error's message as the reason.
  virtual Result<SchemaPlan> Plan(const PlanRequest& request) const = 0;

  // Where the sink stands with one step of a plan, by looking at what ReadTable returned (null: the
  // table is not there).
  virtual StepState Recognise(const SchemaPlan& plan, size_t step,
                              const SinkTable* actual) const = 0;

  // Whether a sink column of type `sink` already holds every value of `wanted`.
  virtual bool Holds(const LogicalType& sink, const LogicalType& wanted) const = 0;
};

// Text for the state database; the inverse gives the same plan.
std::string Serialize(const SchemaPlan& plan);
Result<SchemaPlan> ParseSchemaPlan(std::string_view text);
std::string Serialize(const EvolvedSchema& evolved);
Result<EvolvedSchema> ParseEvolvedSchema(std::string_view text);

}  // namespace driftless
