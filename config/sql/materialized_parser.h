#pragma once

#include <string_view>

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// CREATE, ALTER and DROP MATERIALIZED TABLE, behind the word TABLE. Errors: in Flink's words.
Result<void> ParseCreateMaterialized(TokenCursor* cursor, std::string_view sql, Statement* s);
Result<void> ParseAlterMaterialized(TokenCursor* cursor, std::string_view sql, Statement* s);
Result<void> ParseDropMaterialized(TokenCursor* cursor, Statement* s);

}  // namespace driftless::flink
