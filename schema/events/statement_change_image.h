#pragma once

#include <string>
#include <string_view>

#include "schema/events/schema_change.h"

namespace driftless {

// A statement with its parts and schemas as bytes and back, beside change_batch_image.h: what a
// parked schema change looks like on disk. Parsing gives an equal statement.
std::string StatementChangeImage(const StatementChange& change);
// Errors: kCorrupt.
Result<StatementChange> ParseStatementChangeImage(std::string_view bytes);

}  // namespace driftless
