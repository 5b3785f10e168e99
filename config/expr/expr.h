#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schema/types/logical_type.h"

namespace driftless::flink {

enum class ExprKind : uint8_t {
  kColumn,    // path: a, t.a, `a b`
  kNumber,    // text as written
  kString,    // text decoded
  kKeyword,   // TRUE, FALSE, NULL, CURRENT_TIMESTAMP: text in upper case
  kTyped,     // DATE '..', TIMESTAMP '..', TIME '..': text is the type word, path[0] the value
  kInterval,  // INTERVAL '1' HOUR: text is the value, path[0] the unit
  kCall,      // f(args): path is the name as written; text the name in upper case
  kUnary,     // text + - NOT
  kPostfix,   // IS NULL, IS NOT NULL, IS TRUE, ...
  kBinary,    // text + - * / % || = <> < <= > >= AND OR LIKE, NOT LIKE
  kBetween,   // args: value, low, high; text BETWEEN or NOT BETWEEN
  kIn,        // args: value, then the list; text IN or NOT IN
  kCast,      // CAST and TRY_CAST: text; type
  kCase,      // args: when, then, ..., else; `simple` has the value in args[0]
  kArray,     // ARRAY[..]
  kMap,       // MAP[k, v, ..]
  kRow,       // ROW(..) and (a, b)
  kItem,      // args[0][args[1]]
  kStar,      // * and t.*
};

struct OverWindow;

struct Expr {
  ExprKind kind = ExprKind::kKeyword;
  std::string text;
  std::vector<std::string> path;
  std::vector<Expr> args;
  LogicalType type;                        // kCast: the target
  LogicalType result;                      // what InferType found
  bool simple = false;                     // kCase with a value; kCall without parentheses
  bool quoted = false;                     // kCall: the name was back-ticked
  bool distinct = false;                   // kCall: COUNT(DISTINCT a)
  std::shared_ptr<const OverWindow> over;  // kCall: SUM(a) OVER (..)
  int line = 0;                            // of the first token
  int column = 0;
};

// PARTITION BY a ORDER BY b DESC ROWS ..
struct OverWindow {
  std::string name;  // of the query's WINDOW clause; then all else is empty
  std::vector<Expr> partition;
  std::vector<Expr> order;
  std::vector<bool> descending;  // one per `order`
  std::string frame;             // its words, one blank between; empty: none
};

// The columns that `expr` names, first parts only, each once, in order of appearance.
std::vector<std::string> ReferencedColumns(const Expr& expr);

}  // namespace driftless::flink
