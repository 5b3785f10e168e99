#pragma once

#include "schema/events/schema_change.h"

namespace driftless {

// A source tells a rename to a table that is not captured by an empty `to`: no rows come any more.
inline bool IsToCapturedName(const RenameTable& rename) { return !rename.to.table.empty(); }

// The part that gives the table another captured name; null where none does.
const RenameTable* FindRename(const StatementChange& change);

}  // namespace driftless
