#pragma once

#include <optional>
#include <span>

#include "schema/policy/decide.h"

namespace driftless {

// A statement as a sink is to be told of it that keeps no schema and carries statements between its
// rows (Kafka): its readers have the columns that the rows have had so far, not the source's, where
// lists or rules keep changes away. `before` and `after` are the rows' columns around the
// statement, `parts` the verdicts. None: it is told as it is. Without parts: there is nothing to
// tell.
std::optional<StatementChange> StatementForReaders(const StatementChange& change,
                                                   const EvolvedSchema& before,
                                                   const EvolvedSchema& after,
                                                   std::span<const PartDecision> parts);

// Whether the verdict keeps the part away from readers. What a sink never does (a column that is
// NOT NULL from now on) is no reason to keep it from them.
bool IsKeptFromReaders(const PartDecision& part, const StatementChange& change);

}  // namespace driftless
