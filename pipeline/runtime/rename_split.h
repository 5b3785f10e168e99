#pragma once

#include "pipeline/runtime/items.h"
#include "schema/events/table_rename.h"

namespace driftless {

// A renamed table as two changes (`table.rename: new-table`, policy section 9): its old name is
// left, and a table of the new name appears, with the columns that it has after the whole
// statement.
struct RenameSplit {
  StatementChangePtr left;
  StatementChangePtr appears;
};

// `rename` is a part of `change`.
RenameSplit SplitRename(const StatementChange& change, const RenameTable& rename);

}  // namespace driftless
