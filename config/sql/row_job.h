#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/sql/catalog.h"
#include "config/sql/query.h"
#include "schema/base/result.h"

namespace driftless::flink {

class Session;

// A table whose rows a job takes, and what becomes of them.
struct RowInput {
  ObjectName name;
  TableEntry table;
  // In the language of transforms; every output column has the name and type of the sink's column.
  // Empty: the table's columns as they are, whatever they become.
  std::string projection;
  std::string filter;  // empty: all rows
};

// INSERT INTO sink SELECT .. FROM source, where every row of a source makes at most one row of the
// sink: what a pipeline with transforms carries out. Views and subqueries are folded into it,
// computed columns of the source's table too.
struct RowJob {
  uint64_t number = 0;           // of the session's jobs, from 1 on
  std::vector<RowInput> inputs;  // more than one: of a UNION ALL
  ObjectName sink;
  TableEntry sink_table;
  // Of rows that are in memory: the script that makes them, as a source of type sql plays it, in a
  // table of the sink's name. There are no inputs then.
  std::string script;
};

// How a sink takes the columns of a query: one cast each, named as the sink's columns.
struct SinkColumn {
  std::string name;
  LogicalType type;
  size_t from = 0;  // which column of the query
};

// An INSERT, its job, and what it takes to make the job again when a table has changed.
struct RowInsert {
  RowJob job;
  std::string query;                // names in full; empty: of rows in memory
  std::vector<SinkColumn> columns;  // empty: the sink has none of its own and takes the query's
  std::set<ObjectName> reads;       // tables and views
};

// `columns`: those that the INSERT names; empty: all, in their order. Errors: those of names and
// types in Flink's words; kUnsupported for a query that keeps state or joins tables, which names
// what needs the state and Flink as the engine to run it on.
Result<RowInsert> MakeRowInsert(const Session& session, const Query& query, const ObjectName& sink,
                                const std::vector<std::string>& columns);

// The same INSERT behind `statement`, which has changed a table or view that it names. A column
// that the sink has got since is NULL, one that it has lost is left out, one that was renamed goes
// on under its new name. Errors: as MakeRowInsert's; kConflict where the sink's table cannot be
// followed.
Result<RowInsert> MakeAgain(const Session& session, const RowInsert& insert,
                            const Statement& statement);

// Whether a query takes rows of a table that is no view and whose rows are not in memory.
bool ReadsConnector(const Session& session, const Query& query);

// Rows of a sink's table, a text for each value and column in the columns' order; nothing: NULL.
using RowTexts = std::vector<std::vector<std::optional<std::string>>>;
// Errors: kUnsupported for values inside of others.
Result<RowJob> MakeRowsJob(const ObjectName& sink, const TableEntry& table, const RowTexts& texts,
                           size_t rows);

// Errors: Flink's text for columns that do not match, with both schemas.
Result<std::vector<SinkColumn>> MatchSink(const ObjectName& name, const TableEntry& table,
                                          const std::vector<std::string>& columns,
                                          const std::vector<Column>& query);
// The columns that an INSERT can fill.
std::vector<Column> StoredColumns(const TableEntry& table);

}  // namespace driftless::flink
