#include "sinks/api/accepting_planner.h"
#include "sinks/api/registry.h"

namespace driftless {

Result<std::unique_ptr<SchemaPlanner>> MakePrintPlanner(const OptionValues&) {
  return MakeAcceptingPlanner("print");
}

}  // namespace driftless
