#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/sql/catalog.h"
#include "config/sql/statement.h"

namespace driftless::flink {

class Session;

// One item of a SELECT list.
struct SelectItem {
  Expr expr;          // kStar: all columns, of one table where path names it
  std::string alias;  // empty: not given
};

// One table of FROM; from the second on with how it is joined.
struct TableUse {
  Path name;
  std::string alias;  // empty: the table's own name
  std::string join;   // "INNER JOIN"; empty for the first
  std::optional<Expr> on;
};

// A query without ORDER BY, set operations, windows and subqueries.
struct Query {
  std::vector<std::vector<Expr>> rows;  // VALUES; then all else is empty
  bool distinct = false;
  std::vector<SelectItem> items;
  std::vector<TableUse> from;
  std::optional<Expr> where;
  std::vector<Expr> group_by;
  std::optional<Expr> having;
};

// Parses the query that stands at `s.query_at` of `sql`; positions in errors are those of the whole
// statement. Errors: in Flink's words; kUnsupported for what a Query does not hold.
Result<Query> ParseQuery(const Statement& s, std::string_view sql);

// A query whose names have been looked up.
struct ResolvedQuery {
  std::vector<Column> columns;              // what it gives: names, types, time attributes
  std::vector<std::pair<int, int>> places;  // of the columns: line and column of their items
  std::string text;  // with every name in full, as SHOW CREATE VIEW prints it
};

// Errors: in the words of Flink's validator.
Result<ResolvedQuery> ResolveQuery(const Session& session, const Query& query);

}  // namespace driftless::flink
