#pragma once

#include <string_view>

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// What follows ALTER.
Result<void> ParseAlter(TokenCursor* cursor, std::string_view sql, Statement* statement);
// What follows ADD and MODIFY, and what follows DROP.
Result<void> ParseAddOrModify(TokenCursor* cursor, bool add, Statement* statement);
Result<void> ParseDropPart(TokenCursor* cursor, Statement* statement);
// [LANGUAGE JAVA|SCALA|SQL|PYTHON]
Result<void> ParseLanguage(TokenCursor* cursor, Statement* statement);

}  // namespace driftless::flink
