#pragma once

#include "config/definition/pipeline_definition.h"

namespace driftless {

// What concerns more than one block: names that must exist, what a sink cannot do, and warnings for
// what will surprise.
void CheckDefinition(const PipelineDefinition& definition, Problems* problems);

}  // namespace driftless
