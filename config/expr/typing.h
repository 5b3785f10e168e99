#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/expr/expr.h"
#include "schema/base/result.h"

namespace driftless::flink {

// What an expression may refer to.
struct Scope {
  std::vector<std::pair<std::string, LogicalType>> columns;
  std::string table;      // the name in front of a qualified column; empty: none allowed
  bool is_query = false;  // words the error of an unknown column
  // Flink runs no query that sets a number equal to a text; transforms compare them by value.
  bool refuses_number_is_text = false;
  // A function that is not built in: its type for these arguments, nothing where it is unknown.
  std::function<Result<std::optional<LogicalType>>(const std::vector<std::string>& path,
                                                   const std::vector<LogicalType>& arguments)>
      user_function;
};

// Fills `result` of `expr` and all below it with Flink's types, and returns the outermost. Errors:
// kRefused in the words of Flink's validator (unknown column or function, arguments that do not
// fit).
Result<LogicalType> InferType(Expr* expr, const Scope& scope);

bool IsBuiltInFunction(std::string_view upper);
const std::vector<std::string_view>& BuiltInFunctions();  // in upper case, sorted

// The type that holds the values of both, as CASE, COALESCE and comparison need it; nothing where
// there is none.
std::optional<LogicalType> LeastRestrictive(const LogicalType& a, const LogicalType& b);

}  // namespace driftless::flink
