#include "sinks/api/accepting_planner.h"
#include "sinks/api/registry.h"

namespace driftless {

constinit const CapabilityMatrix kBlackholeMatrix = {
    .sink = "blackhole",
    .cells = kAcceptingCells,
    .extensions = {},
    .keeps_schema = false,
    .listed = false,
};

}  // namespace driftless
