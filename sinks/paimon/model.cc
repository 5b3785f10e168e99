#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"

namespace driftless {
namespace {

Result<LogicalType> MapType(const LogicalType& type, bool) {
  if (type.kind() == TypeKind::kTimestampTz) return LogicalType::TimestampLtz(type.precision());
  return type;
}

bool IsNumeric(TypeKind kind) { return kind >= TypeKind::kTinyInt && kind <= TypeKind::kDecimal; }

// The cast table of Java's SchemaManager: what an existing column may become.
bool Casts(const LogicalType& from, const LogicalType& to) {
  const TypeKind f = from.kind();
  const TypeKind t = to.kind();
  if (from.IsNested() || f == TypeKind::kVariant) return to.IsCharacter();
  if (IsNumeric(f)) return IsNumeric(t) || to.IsCharacter() || t == TypeKind::kBoolean;
  if (f == TypeKind::kBoolean) return IsNumeric(t) || to.IsCharacter();
  if (from.IsCharacter()) return !to.IsNested() && t != TypeKind::kVariant;
  if (from.IsBytes()) return to.IsBytes() || to.IsCharacter();
  if (f == TypeKind::kDate || f == TypeKind::kTime) return to.IsTimestamp() || to.IsCharacter();
  if (from.IsTimestamp()) {
    return to.IsTimestamp() || t == TypeKind::kDate || t == TypeKind::kTime ||
           t == TypeKind::kInt || t == TypeKind::kBigInt || to.IsCharacter();
  }
  return false;
}

std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  if (Casts(from, to)) return "";
  return "Paimon cannot turn " + from.ToStringIgnoringNullability() + " into " +
         to.ToStringIgnoringNullability();
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakePaimonModelPlanner(const OptionValues&) {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Paimon",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kTruncateTable,
              EventKind::kAddColumn, EventKind::kDropColumn, EventKind::kRenameColumn,
              EventKind::kAlterColumnType, EventKind::kRelaxNullability,
              EventKind::kAlterColumnComment, EventKind::kAlterTableComment,
              EventKind::kAlterColumnPosition},
      .map_type = MapType,
      .type_change_problem = TypeChangeProblem,
      .one_commit = true,
  };
  return MakeModelPlanner(kTraits);
}

}  // namespace driftless
