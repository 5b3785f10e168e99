#pragma once

#include "schema/plan/schema_plan.h"

namespace driftless {

// Where a sink table stands with one step, from what the step changes: every difference between
// `before` and `after` (a column gone, added, renamed, of another type, a comment) is looked for in
// `actual` (null: there is no such table). Differences that somebody else made elsewhere do not
// matter. A step that changes nothing visible can be recognised only when it is repeatable
// (kCannotTell); half of a step's differences is kRunning.
StepState RecogniseStep(const Step& step, const SinkTable* actual);

}  // namespace driftless
