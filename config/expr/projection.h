#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/expr/expr.h"
#include "schema/base/result.h"

namespace driftless::flink {

// One item of a SELECT list: *, a column, or an expression with its name.
struct ProjectionItem {
  bool is_star = false;
  std::vector<std::string> excluded;                         // * EXCLUDE (a, b)
  std::vector<std::pair<std::string, std::string>> renamed;  // * RENAME (a AS b)
  bool is_column = false;  // a plain reference: its value is a column as it is
  std::string name;        // of the output column
  Expr expr;
  std::string text;  // as written, without the name
};

// The list of a projection. Errors: with line and column of the text: what does not parse, an
// expression without a name, functions that are not known (with a suggestion) or aggregate rows.
Result<std::vector<ProjectionItem>> ParseProjection(std::string_view text);

// A condition. Errors as above.
Result<Expr> ParseCondition(std::string_view text);

}  // namespace driftless::flink
