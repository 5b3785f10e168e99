#include "schema/plan/model_planner.h"
#include "schema/plan/type_fit.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "MaxCompute has no type for " + type.ToStringIgnoringNullability());
}

Result<LogicalType> MapType(const LogicalType& type, bool) {
  switch (type.kind()) {
    case TypeKind::kDecimal:
      if (type.scale() > 18) return Unsupported(type);
      return type;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kTime: return LogicalType::String();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return LogicalType::Bytes();
    case TypeKind::kTimestamp: return LogicalType::Timestamp(9);
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return LogicalType::TimestampLtz(9);
    case TypeKind::kMultiset:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

// The manual names widening conversions only; what else the server may take, it must say itself.
std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  const bool narrows = (from.IsInteger() && to.IsInteger()) ||
                       (from.kind() == TypeKind::kDouble && to.kind() == TypeKind::kFloat) ||
                       (from.kind() == TypeKind::kDecimal && to.kind() == TypeKind::kDecimal);
  if (!narrows || HoldsEveryValue(to, from)) return "";
  return "MaxCompute cannot narrow " + from.ToStringIgnoringNullability() + " to " +
         to.ToStringIgnoringNullability();
}

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "MaxCompute",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kTruncateTable,
              EventKind::kAddColumn, EventKind::kDropColumn, EventKind::kRenameColumn,
              EventKind::kAlterColumnType, EventKind::kRelaxNullability,
              EventKind::kAlterColumnComment, EventKind::kAlterTableComment},
      .map_type = MapType,
      .type_change_problem = TypeChangeProblem,
      .adds_last_only = true,
      .renames_key_columns = false,

  };
  return *kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeMaxComputePlanner(const OptionValues&) {
  return MakeModelPlanner(&Traits());
}

}  // namespace driftless
