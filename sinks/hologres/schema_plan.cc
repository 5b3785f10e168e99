#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "Hologres has no type for " + type.ToStringIgnoringNullability());
}

Result<LogicalType> ArrayOf(const LogicalType& type) {
  const LogicalType& element = type.children().front().type;
  switch (element.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kChar:
    case TypeKind::kVarChar: return type;
    default: return Unsupported(type);
  }
}

// sink.type-normalize-strategy STANDARD.
Result<LogicalType> MapStandard(const LogicalType& type, bool is_key) {
  switch (type.kind()) {
    case TypeKind::kTinyInt: return LogicalType::SmallInt();
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      if (is_key) return Unsupported(type);
      return type;
    case TypeKind::kDecimal:
      if (!is_key) return type;
      return LogicalType::VarChar(type.precision() + (type.scale() > 0 ? 2 : 1) +
                                  (type.scale() == type.precision() ? 1 : 0));
    case TypeKind::kVarChar: return type.length() <= 10485760 ? type : LogicalType::String();
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return LogicalType::Bytes();
    case TypeKind::kTime: return LogicalType::Time(6);
    case TypeKind::kTimestamp: return LogicalType::Timestamp(6);
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return LogicalType::TimestampLtz(3);
    case TypeKind::kArray: return ArrayOf(type);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

// BROADEN: the widest of every class, so that most type changes need no statement.
Result<LogicalType> MapBroaden(const LogicalType& type, bool is_key) {
  if (type.IsInteger()) return LogicalType::BigInt();
  if (type.IsCharacter()) return LogicalType::String();
  if (type.kind() == TypeKind::kFloat && !is_key) return LogicalType::Double();
  return MapStandard(type, is_key);
}

Result<LogicalType> MapBigIntOrText(const LogicalType& type, bool) {
  if (type.IsInteger()) return LogicalType::BigInt();
  if (type.kind() == TypeKind::kArray) return ArrayOf(type);
  if (type.IsNested() || type.kind() == TypeKind::kVariant) return Unsupported(type);
  return LogicalType::String();
}

// ALTER COLUMN ... TYPE, from Hologres 3.0 on: CHAR and VARCHAR grow, nothing else.
std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  if (from.IsCharacter() && to.IsCharacter() && to.length() >= from.length() &&
      (from.kind() == to.kind() || to.kind() == TypeKind::kVarChar)) {
    return "";
  }
  return "Hologres cannot turn " + from.ToStringIgnoringNullability() + " into " +
         to.ToStringIgnoringNullability() + "; sink.type-normalize-strategy survives such changes";
}

ModelTraits TraitsWith(Result<LogicalType> (*map_type)(const LogicalType&, bool)) {
  return ModelTraits{
      .sink = "Hologres",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kTruncateTable,
              EventKind::kAddColumn, EventKind::kRenameColumn, EventKind::kAlterColumnType},
      .map_type = map_type,
      .type_change_problem = TypeChangeProblem,
      .adds_last_only = true,

  };
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeHologresPlanner(const OptionValues& options) {
  static const ModelTraits* const kStandard = new ModelTraits(TraitsWith(MapStandard));
  static const ModelTraits* const kBroaden = new ModelTraits(TraitsWith(MapBroaden));
  static const ModelTraits* const kBigIntOrText = new ModelTraits(TraitsWith(MapBigIntOrText));
  const std::string strategy = options.Enum("sink.type-normalize-strategy").value_or("STANDARD");
  if (strategy == "BROADEN") return MakeModelPlanner(kBroaden);
  if (strategy == "ONLY_BIGINT_OR_TEXT") return MakeModelPlanner(kBigIntOrText);
  return MakeModelPlanner(kStandard);
}

}  // namespace driftless
