#pragma once

#include <memory>

#include "schema/plan/schema_plan.h"
#include "sinks/paimon/options.h"

namespace driftless::paimon {

// Plans schema changes for Paimon: one statement becomes one schema commit wherever before and
// after can be told apart (policy, section 5.3).
std::unique_ptr<SchemaPlanner> MakePaimonPlanner(PaimonOptions options);

}  // namespace driftless::paimon
