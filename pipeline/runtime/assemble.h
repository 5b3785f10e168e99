#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "pipeline/runtime/runtime.h"

namespace driftless {

// The runtime's options as the pipeline file sets them.
Result<RuntimeOptions> MakeRuntimeOptions(const PipelineDefinition& definition);

// Builds the sources and sinks of a definition, fresh and unconnected; `state`, `clock` and
// `metrics` outlive the parts. Errors: kUnsupported for what this build cannot run (a source or
// sink of which it has only the options, transforms), kInvalidConfig.
Result<RuntimeParts> AssembleParts(const PipelineDefinition& definition, StateStore* state,
                                   const Clock* clock, Metrics* metrics);

// A sink with its policy and its routes as the definition says; `sink` is what writes.
RuntimeSink BindSink(const PipelineDefinition& definition, const SinkDefinition& sink_definition,
                     std::unique_ptr<Sink> sink);

// Where the state of a pipeline lies unless --state says otherwise: `state.dir` of the file, else
// ./driftless-state/NAME.
std::string StateFolder(const PipelineDefinition& definition, const std::string& flag);

}  // namespace driftless
