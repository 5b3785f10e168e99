#pragma once

#include <optional>

#include "schema/coordinator/table_state.h"

namespace driftless {

// Each stream counts a table's columns for itself. Where two show the same table with different
// ones (two topics of a pattern), the rows of the one would be read by the identities of the other:
// the statement of the later one that shows it, its create.table or an ALTER, fails with this
// decision. Statements that both streams carry show the same. Null: nothing contradicts `change`.
std::optional<PartDecision> RefuseOtherStream(const TableState& state,
                                              const StatementChange& change, Behavior behavior);

}  // namespace driftless
