#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

// A message carries every type; the topic keeps no schema.
Result<LogicalType> MapType(const LogicalType& type, bool) { return type; }

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Kafka",
      .can = {EventKind::kCreateTable},
      .map_type = MapType,

  };
  return *kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeKafkaPlanner(const OptionValues&) {
  return MakeModelPlanner(&Traits());
}

}  // namespace driftless
