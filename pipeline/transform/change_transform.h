#pragma once

#include "pipeline/transform/table_transform.h"
#include "schema/coordinator/table_state.h"
#include "schema/events/schema_change.h"

namespace driftless {

// What a statement on the source table means for the output: the difference of the outputs before
// and after it (policy, section 12). `before` is null for a table that appears, `after` for one
// that goes. Null: the output does not change (an unprojected column).
StatementChangePtr TransformChange(const StatementChange& change, const TableTransform* before,
                                   const TableTransform* after);

// A table that goes on under another captured name: the difference of what its transforms under the
// old and the new name make of it, the name itself included. A null transform: none, the output is
// the table as it is.
StatementChangePtr RenameChange(const StatementChange& change, const TableTransform* before,
                                const TableSchemaPtr& output_before, const TableTransform* after,
                                const TableSchemaPtr& output_after);

// The statement of a table whose transforms are others now: from `before` to `after` at `point`.
// Null: both outputs are the same.
StatementChangePtr SwitchChange(const TableSchemaPtr& before, const TableSchemaPtr& after,
                                const Point& point);

}  // namespace driftless
