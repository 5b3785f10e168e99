#pragma once

#include "schema/events/change_batch.h"
#include "schema/plan/schema_plan.h"

namespace driftless {

// Updates that change the sink's key or partition, as delete and insert in that order: an upsert
// under the new key would leave the old row behind. Returns the batch itself where no row does.
// The new batch keeps points, times and transactions; a row that splits gives both halves its
// point.
ChangeBatchPtr SplitKeyChanges(const ChangeBatchPtr& batch, const EvolvedSchema& sink_table);

}  // namespace driftless
