#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

struct Query;

// One table of FROM; from the second on with how it is joined.
struct TableUse {
  Path name;                           // empty: a subquery
  std::shared_ptr<const Query> query;  // (SELECT ..)
  // TABLE(TUMBLE(TABLE name, DESCRIPTOR(time), ..)): the function, its time column and the rest.
  std::string window_function;
  std::string window_time;
  std::vector<Expr> window_sizes;
  bool at_time = false;              // FOR SYSTEM_TIME AS OF ..
  std::string alias;                 // empty: the table's own name
  std::vector<std::string> columns;  // AS t (a, b)
  std::string join;                  // "INNER JOIN"; empty for the first
  std::optional<Expr> on;
};

struct OrderItem {
  Expr expr;  // a number: the place of an item
  bool descending = false;
  std::optional<bool> nulls_first;
};

// A query without windows.
struct Query {
  std::vector<std::pair<std::string, std::shared_ptr<const Query>>> with;
  // "UNION ALL", "UNION", "INTERSECT" or "EXCEPT" of two queries; then all up to order_by is empty.
  std::string set_operation;
  std::shared_ptr<const Query> left;
  std::shared_ptr<const Query> right;
  std::vector<std::vector<Expr>> rows;  // VALUES; then all up to order_by is empty
  bool distinct = false;
  std::vector<SelectItem> items;
  std::vector<TableUse> from;
  std::optional<Expr> where;
  std::vector<Expr> group_by;
  std::optional<Expr> having;
  std::vector<OrderItem> order_by;
  int64_t offset = 0;
  std::optional<int64_t> limit;
};

// Parses the query that stands at `s.query_at` of `sql`; positions in errors are those of the whole
// statement. Errors: in Flink's words; kUnsupported for what a Query does not hold.
Result<Query> ParseQuery(const Statement& s, std::string_view sql);
// The query that is all of a text.
Result<Query> ParseQuery(std::string_view text);

// A query whose names have been looked up.
struct ResolvedQuery {
  std::vector<Column> columns;              // what it gives: names, types, time attributes
  std::vector<std::pair<int, int>> places;  // of the columns: line and column of their items
  std::string text;  // with every name in full, as SHOW CREATE VIEW prints it
};

// Errors: in the words of Flink's validator.
Result<ResolvedQuery> ResolveQuery(const Session& session, const Query& query);

}  // namespace driftless::flink
