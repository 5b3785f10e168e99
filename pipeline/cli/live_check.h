#pragma once

#include <cstddef>

#include <memory>

#include "config/definition/pipeline_definition.h"

namespace driftless {

class Sink;
struct LiveReport;

// What a look at the source's server finds. Errors: it cannot be reached, or this build cannot
// read such a source.
Result<LiveReport> ExamineSource(const PipelineDefinition& definition,
                                 const SourceDefinition& source);
// The sink, connected, for looking at its tables. Errors: likewise.
Result<std::unique_ptr<Sink>> ConnectSink(const PipelineDefinition& definition,
                                          const SinkDefinition& sink);

struct LiveCount {
  size_t errors = 0;
  size_t warnings = 0;
};

// `driftless validate --live`: connects to every source and sink, prints what is wrong and how to
// mend it (errors and warnings to standard error, the rest to standard output), and what
// create.table would do at sink tables that are there. Changes nothing anywhere.
LiveCount CheckLive(const PipelineDefinition& definition);

}  // namespace driftless
