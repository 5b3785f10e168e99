#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "Fluss has no type for " + type.ToStringIgnoringNullability());
}

// Fluss has no VARCHAR and no VARBINARY, and no timestamp that keeps its zone.
Result<LogicalType> MapType(const LogicalType& type, bool is_key) {
  switch (type.kind()) {
    case TypeKind::kVarChar: return LogicalType::String();
    case TypeKind::kVarBinary: return LogicalType::Bytes();
    case TypeKind::kTimestampTz: return LogicalType::TimestampLtz(type.precision());
    case TypeKind::kMultiset:
    case TypeKind::kVariant: return Unsupported(type);
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kRow:
      if (is_key) return Unsupported(type);
      return type;
    default: return type;
  }
}

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Fluss",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kAddColumn},
      .map_type = MapType,
      .adds_last_only = true,

  };
  return *kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeFlussPlanner(const OptionValues&) {
  return MakeModelPlanner(&Traits());
}

}  // namespace driftless
