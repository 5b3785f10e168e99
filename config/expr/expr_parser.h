#pragma once

#include "config/expr/expr.h"
#include "config/expr/token_cursor.h"
#include "schema/base/result.h"

namespace driftless::flink {

// One expression at the cursor, which is left behind it. Errors are worded as Flink's.
Result<Expr> ParseExpr(TokenCursor* cursor);

// A whole text as one expression.
Result<Expr> ParseExpr(std::string_view text);

// "(PARTITION BY .. ORDER BY .. ROWS ..)" at the cursor.
Result<OverWindow> ParseOverWindow(TokenCursor* cursor);

// A data type at the cursor, as in "DECIMAL(10, 2) NOT NULL" or "ROW<a INT>".
Result<LogicalType> ParseType(TokenCursor* cursor);

}  // namespace driftless::flink
