#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "schema/plan/schema_plan.h"

namespace driftless {

// What one kind of sink can do with its tables, as far as that is known before anything is sent.
// Data beside each sink; the planner below turns it into plans.
struct ModelTraits {
  std::string_view sink;
  std::set<EventKind> can;  // what the server can do at all, extensions included
  // The sink's column type in its normal form, as a Flink type. Errors: kUnsupported.
  Result<LogicalType> (*map_type)(const LogicalType& type, bool is_key) = nullptr;
  // Why a column cannot be changed from one normal form to another; empty: it can.
  std::string (*type_change_problem)(const LogicalType& from, const LogicalType& to) = nullptr;
  bool adds_last_only = false;
  bool never_adds_first = false;  // in front of the key columns
  bool adds_not_null = false;     // a NOT NULL column without default, to a table with rows
  bool adds_not_null_with_default = false;
  bool drops_key_columns = false;
  bool renames_key_columns = true;
  bool changes_key_types = false;
  bool needs_key = false;              // a table must have a primary key
  bool creates_nullable = false;       // NOT NULL of columns outside the key is not kept
  bool one_commit = false;             // all parts of a statement become one metadata commit
  bool old_rows_read_default = false;  // rows from before ADD COLUMN ... DEFAULT v read v
};

// Plans in terms of the model alone: right verdicts, evolved schemas and rows for a sink whose own
// statements do not exist in this build. Its steps say in words what will be sent; executing them
// is up to tests (tests/sim) and never to a pipeline.
std::unique_ptr<SchemaPlanner> MakeModelPlanner(const ModelTraits* traits);

}  // namespace driftless
