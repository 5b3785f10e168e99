#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/expr/expr.h"
#include "config/expr/typing.h"
#include "schema/base/result.h"

namespace driftless::table_api {

// An expression of a method chain.
struct ApiExpr {
  flink::Expr sql;            // what is worked out; concat has its type only when it is resolved
  std::string summary;        // as Flink's messages print it: plus(id, 1)
  std::string alias;          // without .as(..): empty
  bool is_bare = false;       // a Java literal that stands without lit(..)
  bool is_aggregate = false;  // one is in it
  bool descending = false;    // .desc()
  std::optional<std::string> field() const {  // of a plain $("name")
    if (sql.kind != flink::ExprKind::kColumn) return std::nullopt;
    return sql.path[0];
  }
};

// A method of an expression, as in $("a").plus(1): `args` begin with what stands in front of the
// dot. Errors: kRefused for unknown methods (with a suggestion) and wrong numbers of arguments.
Result<ApiExpr> CallMethod(std::string_view method, std::vector<ApiExpr> args, int line,
                           int column);
// .cast(type) and .tryCast(type)
ApiExpr CastExpr(const ApiExpr& value, const LogicalType& type, bool is_try);
ApiExpr FieldExpr(std::string name);
// A constant whose SQL text is a literal of this kind.
ApiExpr LiteralExpr(flink::ExprKind kind, std::string text, std::string summary);

// Checks that the fields are there and gives the parts of the tree their types as the Table API has
// them. Errors: in Flink's words, causes behind "Caused by: ".
Result<void> ResolveExpr(flink::Expr* expr, const flink::Scope& scope);

}  // namespace driftless::table_api
