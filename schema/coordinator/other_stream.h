#pragma once

#include <optional>

#include "schema/coordinator/table_state.h"

namespace driftless {

// Each stream counts a table's columns for itself. Where two show the same table with different
// ones (two topics of a pattern), the rows of the one would be read by the identities of the other:
// the create.table of the later one fails, with this decision. Null: nothing contradicts `change`.
std::optional<PartDecision> RefuseOtherStream(const TableState& state,
                                              const StatementChange& change, Behavior behavior);

}  // namespace driftless
