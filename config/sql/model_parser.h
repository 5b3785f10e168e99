#pragma once

#include <string_view>

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// CREATE, ALTER and DROP MODEL, behind the word MODEL. Errors: in Flink's words.
Result<void> ParseCreateModel(TokenCursor* cursor, std::string_view sql, Statement* statement);
Result<void> ParseAlterModel(TokenCursor* cursor, Statement* statement);
Result<void> ParseDropModel(TokenCursor* cursor, Statement* statement);

}  // namespace driftless::flink
