#pragma once

#include "config/expr/token_cursor.h"
#include "config/sql/statement.h"

namespace driftless::flink {

// The parts that CREATE TABLE and ALTER TABLE share, each at the cursor.

// "(a INT, WATERMARK FOR ..)", the brackets included; with `places`, FIRST and AFTER are allowed.
Result<SchemaSpec> ParseSchema(TokenCursor* cursor, bool places);
// One column, constraint or watermark of such a list.
Result<void> ParseSchemaPart(TokenCursor* cursor, bool places, SchemaSpec* into);
// "BY HASH(a) INTO 3 BUCKETS"
Result<Distribution> ParseDistribution(TokenCursor* cursor);
// "('k' = 'v', ..)"
Result<OptionList> ParseOptions(TokenCursor* cursor);
// "('k', ..)"
Result<std::vector<std::string>> ParseKeys(TokenCursor* cursor);
// "(a, b)"
Result<std::vector<std::string>> ParseNames(TokenCursor* cursor);
// "PARTITION (a = 1, ..)"
Result<PartitionSpec> ParsePartition(TokenCursor* cursor);

}  // namespace driftless::flink
