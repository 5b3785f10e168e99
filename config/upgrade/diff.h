#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"

namespace driftless {

// What a changed pipeline file means for a pipeline that runs, or ran, with the old one.
enum class UpgradeEffect : uint8_t {
  kNothing,   // the change has no meaning (an ignored option, a description)
  kHot,       // could be taken over without a stop
  kRestart,   // stop and start; positions and state stay
  kNewState,  // what it concerns begins anew: from the source's start, into the tables there are
  kIncompatible,  // does not fit the tables that the sink has
};
std::string_view ToString(UpgradeEffect effect);

struct ConfigChange {
  UpgradeEffect effect = UpgradeEffect::kNothing;
  std::string where;  // "sink lake", "pipeline", "route"
  std::string what;   // the option's key, "added", "removed"
  std::string from;   // as text, secrets masked; empty: not there
  std::string to;
  std::string meaning;  // in words
};

// Every difference, in the order of the file's blocks. Sources and sinks are compared by name,
// since the name is what the state knows them by.
std::vector<ConfigChange> DiffPipelines(const PipelineDefinition& from,
                                        const PipelineDefinition& to);

// The strongest effect of the changes; kNothing where there are none.
UpgradeEffect StrongestEffect(const std::vector<ConfigChange>& changes);

}  // namespace driftless
