#pragma once

#include <string_view>

#include "config/sql/statement.h"
#include "schema/base/result.h"

namespace driftless::flink {

// Parses one statement with an optional final ";". Errors are worded as Flink 2.3 words them, with
// line and column.
Result<Statement> ParseStatement(std::string_view sql);

}  // namespace driftless::flink
