#pragma once

#include <string_view>

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// What follows ALTER.
Result<void> ParseAlter(TokenCursor* cursor, std::string_view sql, Statement* statement);
// [LANGUAGE JAVA|SCALA|SQL|PYTHON]
Result<void> ParseLanguage(TokenCursor* cursor, Statement* statement);

}  // namespace driftless::flink
