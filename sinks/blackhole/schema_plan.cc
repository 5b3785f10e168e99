#include "sinks/api/accepting_planner.h"
#include "sinks/api/registry.h"

namespace driftless {

Result<std::unique_ptr<SchemaPlanner>> MakeBlackholePlanner(const OptionValues&) {
  return MakeAcceptingPlanner("blackhole");
}

}  // namespace driftless
