#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/sql/catalog.h"
#include "config/sql/query.h"
#include "schema/base/result.h"

namespace driftless::flink {

class Session;

// INSERT INTO sink SELECT .. FROM source, where every row of the source makes at most one row of
// the sink: what a pipeline with one transform carries out. Views and subqueries are folded into
// it, computed columns of the source's table too.
struct RowJob {
  ObjectName source;
  TableEntry source_table;
  ObjectName sink;
  TableEntry sink_table;
  // In the language of transforms; every output column has the name and type of the sink's column.
  // Empty: the source's columns as they are, whatever they become.
  std::string projection;
  std::string filter;  // empty: all rows
  // Of rows that are in memory: the script that makes them, as a source of type sql plays it, in a
  // table of the sink's name. There is no source table then.
  std::string script;
};

// `columns`: those that the INSERT names; empty: all, in their order. Errors: those of names and
// types in Flink's words; kUnsupported for a query that keeps state or takes more than one table,
// which names what needs the state and Flink as the engine to run it on.
Result<RowJob> MakeRowJob(const Session& session, const Query& query, const ObjectName& sink,
                          const std::vector<std::string>& columns);

// Whether a query takes rows of a table that is no view and whose rows are not in memory.
bool ReadsConnector(const Session& session, const Query& query);

// Rows of a sink's table, a text for each value and column in the columns' order; nothing: NULL.
using RowTexts = std::vector<std::vector<std::optional<std::string>>>;
// Errors: kUnsupported for values inside of others.
Result<RowJob> MakeRowsJob(const ObjectName& sink, const TableEntry& table, const RowTexts& texts,
                           size_t rows);

// How a sink takes the columns of a query: one cast each, named as the sink's columns.
struct SinkColumn {
  std::string name;
  LogicalType type;
  size_t from = 0;  // which column of the query
};
// Errors: Flink's text for columns that do not match, with both schemas.
Result<std::vector<SinkColumn>> MatchSink(const ObjectName& name, const TableEntry& table,
                                          const std::vector<std::string>& columns,
                                          const std::vector<Column>& query);
// The columns that an INSERT can fill.
std::vector<Column> StoredColumns(const TableEntry& table);

}  // namespace driftless::flink
