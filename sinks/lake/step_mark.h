#pragma once

#include <string>

#include "schema/plan/schema_plan.h"

namespace driftless::lake {

// What a lake's metadata says of the newest schema change that Driftless made:
// "<change id>#<step>".
std::string StepMark(const std::string& change_id, size_t step);

// Whether a table's marks say that this step, or a later one of the same change, was carried out.
bool HasStepMark(const SchemaPlan& plan, size_t step, const SinkTable& actual);

// Whether this step of the plan was carried out: kNotBegun or kDone, because a schema commit is
// atomic and never half done by us. The mark tells what names and types cannot; it counts only
// where they do not contradict it, because a lost state folder makes change ids begin anew.
// `actual`: the table at the sink; null: there is none.
StepState RecogniseCommit(const SchemaPlan& plan, size_t step, const SinkTable* actual);

}  // namespace driftless::lake
