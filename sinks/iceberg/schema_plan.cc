#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "Iceberg has no type for " + type.ToStringIgnoringNullability());
}

Result<LogicalType> MapType(const LogicalType& type, bool is_key) {
  switch (type.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt: return LogicalType::Int();
    case TypeKind::kChar:
    case TypeKind::kVarChar: return LogicalType::String();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return LogicalType::Bytes();
    case TypeKind::kTime: return LogicalType::Time(6);
    case TypeKind::kTimestamp: return LogicalType::Timestamp(6);
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return LogicalType::TimestampLtz(6);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      // Identifier fields must not be floating point (Iceberg specification, identifier field ids).
      if (is_key) return Unsupported(type);
      return type;
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

// The promotions of the specification's schema evolution, format versions 1 and 2.
std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  const bool promotes = (from.kind() == TypeKind::kInt && to.kind() == TypeKind::kBigInt) ||
                        (from.kind() == TypeKind::kFloat && to.kind() == TypeKind::kDouble) ||
                        (from.kind() == TypeKind::kDecimal && to.kind() == TypeKind::kDecimal &&
                         from.scale() == to.scale() && to.precision() >= from.precision());
  if (promotes || from.EqualsIgnoringNullability(to)) return "";
  return "Iceberg cannot promote " + from.ToStringIgnoringNullability() + " to " +
         to.ToStringIgnoringNullability();
}

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Iceberg",
      .can = {EventKind::kCreateTable, EventKind::kAddColumn, EventKind::kDropColumn,
              EventKind::kRenameColumn, EventKind::kAlterColumnType, EventKind::kRelaxNullability,
              EventKind::kAlterColumnComment, EventKind::kAlterColumnPosition},
      .map_type = MapType,
      .type_change_problem = TypeChangeProblem,
      .changes_key_types = true,
      .one_commit = true,

  };
  return *kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeIcebergPlanner(const OptionValues&) {
  return MakeModelPlanner(&Traits());
}

}  // namespace driftless
