#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/expr/expr.h"
#include "config/expr/typing.h"
#include "config/relation/relation.h"
#include "schema/base/result.h"
#include "schema/types/time.h"

namespace driftless::flink {

// What expressions see: names of the relation's columns (as many as it has), functions, the clock.
struct EvalContext {
  Scope scope;
  TimeZone zone;
  int64_t now_micros = 0;
};

// The names of a relation's own fields.
EvalContext ContextOf(const Relation& relation);

struct NamedExpr {
  std::string name;
  Expr expr;
  // The type that the column gets; nothing: the expression's own. Text that is longer is cut off.
  std::optional<LogicalType> type;
};

// Errors of all: those of Program::Compile, and kInvalidInput with the place of the expression for
// a value that cannot be worked out.
Result<Relation> Project(const Relation& from, const std::vector<NamedExpr>& items,
                         const EvalContext& context);
Result<Relation> Filter(const Relation& from, const Expr& condition, const EvalContext& context);

enum class JoinKind : uint8_t { kInner, kLeft, kRight, kFull, kCross };
// `context` names the columns of both, the left ones first.
Result<Relation> Join(const Relation& left, const Relation& right, JoinKind kind,
                      const std::optional<Expr>& on, const EvalContext& context);

// COUNT, SUM, AVG, MIN and MAX; the argument is worked out over the input.
struct AggregateCall {
  std::string function;  // in upper case
  bool distinct = false;
  std::optional<Expr> argument;  // none: COUNT(*)
};
bool IsAggregateFunction(std::string_view upper);
// The type of an aggregate as Flink gives it; `argument` of COUNT(*) is of no account.
LogicalType AggregateType(std::string_view function, const LogicalType& argument);

// Takes the aggregates out of a typed tree and puts columns in their place: "$<first>", ..
void TakeAggregates(Expr* expr, size_t first, std::vector<AggregateCall>* calls);

// One row for each value of the keys, in their order, NULL first; one row in all where there are no
// keys. Columns: the keys, then the calls, named "$0", "$1", ..
Result<Relation> Aggregate(const Relation& from, const std::vector<Expr>& keys,
                           const std::vector<AggregateCall>& calls, const EvalContext& context);

struct SortColumn {
  size_t column = 0;
  bool descending = false;
  bool nulls_first = true;
};
// Keeps the order of equal rows.
Relation Sort(const Relation& from, const std::vector<SortColumn>& by);
Relation Distinct(const Relation& from);
Relation Limit(const Relation& from, int64_t offset, std::optional<int64_t> rows);

// Both get the common types of their columns, and the names of the first. Errors: kRefused where
// there is none.
enum class SetOperation : uint8_t { kUnionAll, kUnion, kIntersect, kExcept };
Result<Relation> Combine(const Relation& left, const Relation& right, SetOperation operation);

}  // namespace driftless::flink
