#pragma once

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

Result<void> ParseShow(TokenCursor* cursor, Statement* statement);      // at SHOW
Result<void> ParseDescribe(TokenCursor* cursor, Statement* statement);  // behind DESCRIBE

}  // namespace driftless::flink
