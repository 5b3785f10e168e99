#pragma once

#include "schema/plan/schema_plan.h"

namespace driftless {

// Binds what a sink table really has when a plan stopped in its middle. `evolved` is the schema
// before the plan, `intended` the one after it. A column found under a name of `evolved` or
// `intended` keeps that binding; one under another name (a temporary name of a swap) is known by
// its native id, else by its place. What nobody knows is free.
EvolvedSchema Reconcile(const EvolvedSchema& evolved, const SinkTable& actual,
                        const EvolvedSchema& intended);

}  // namespace driftless
