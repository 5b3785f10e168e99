#pragma once

#include <span>
#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// Where a statement says that a column goes, in the statement's order.
struct StatedPlace {
  ColumnId column = 0;
  ColumnPlace place;
};

// Splits the difference between two versions of one table, by column identity, into parts in the
// order of the policy's section 1: drop, type, nullability, default, rename, add, move, comment,
// key, rename of the table. Replaying the parts one by one on `before` gives `after`; each part's
// schema has the next version number.
//
// `stated` are the places that the statement names. They are kept where the parts then arrive at
// the order of `after`; else places are derived from it (a column goes after its left neighbour).
// An added column without a stated place goes last.
//
// A change of attributes that no sink looks at (default, charset, AUTO_INCREMENT, visibility, table
// options) is a DefaultChange, whose columns are those concerned; none where it is the table's
// alone.
std::vector<SchemaChange> SplitIntoParts(const TableSchemaPtr& before, const TableSchema& after,
                                         std::span<const StatedPlace> stated);

}  // namespace driftless
