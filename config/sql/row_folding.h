#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/expr/expr.h"
#include "config/sql/catalog.h"
#include "config/sql/query.h"
#include "schema/base/result.h"

namespace driftless::flink {

class Session;

// What a query makes of the rows of one table: expressions over the table's stored columns.
struct FoldedTable {
  ObjectName name;
  const TableEntry* table = nullptr;                  // the session's
  std::vector<std::pair<std::string, Expr>> columns;  // what the query gives
  std::vector<Expr> filters;                          // a row passes all of them
};

struct FoldedQuery {
  std::vector<FoldedTable> tables;  // more than one: of a UNION ALL
  std::set<ObjectName> names;       // the tables and views that the query names, down to the tables
};

// Puts views, subqueries and computed columns into a query that takes rows one by one. Errors:
// kUnsupported for everything else, with Flink as the engine to run it on.
Result<FoldedQuery> FoldQuery(const Session& session, const Query& query);

// "The query ..", and where it runs.
Error RunsOnFlink(std::string text);

Expr CastTo(const LogicalType& type, Expr value);

}  // namespace driftless::flink
