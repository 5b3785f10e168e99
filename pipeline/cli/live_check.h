#pragma once

#include <cstddef>

#include "config/definition/pipeline_definition.h"

namespace driftless {

struct LiveCount {
  size_t errors = 0;
  size_t warnings = 0;
};

// `driftless validate --live`: connects to every source and sink, prints what is wrong and how to
// mend it (errors and warnings to standard error, the rest to standard output), and what
// create.table would do at sink tables that are there. Changes nothing anywhere.
LiveCount CheckLive(const PipelineDefinition& definition);

}  // namespace driftless
