#include "schema/plan/model_planner.h"
#include "schema/plan/type_fit.h"
#include "sinks/api/registry.h"
#include "sinks/olap/planner.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "SelectDB has no type for " + type.ToStringIgnoringNullability());
}

// Lengths count bytes there. A character of utf8mb4 takes up to four: with three, as the reference
// sink has it, texts of such characters are refused.
constexpr int64_t kBytesPerCharacter = 4;

Result<LogicalType> MapType(const LogicalType& type, bool is_key) {
  switch (type.kind()) {
    case TypeKind::kChar:
      if (type.length() * kBytesPerCharacter <= 255) {
        return LogicalType::Char(static_cast<int32_t>(type.length() * kBytesPerCharacter));
      }
      [[fallthrough]];
    case TypeKind::kVarChar: {
      const int64_t bytes = type.length() * kBytesPerCharacter;
      if (bytes < 65533) return LogicalType::VarChar(static_cast<int32_t>(bytes));
      return is_key ? LogicalType::VarChar(65533) : LogicalType::String();
    }
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      if (is_key) return Unsupported(type);
      return type;
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kTime:
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kRow: return is_key ? LogicalType::VarChar(65533) : LogicalType::String();
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz:
      return LogicalType::Timestamp(type.precision() > 6 ? 6 : type.precision());
    case TypeKind::kMultiset:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

// ColumnType.java of Apache Doris: what MODIFY COLUMN converts.
bool Converts(const LogicalType& from, const LogicalType& to) {
  const TypeKind kind = to.kind();
  const bool is_string = kind == TypeKind::kVarChar;
  if (from.IsInteger()) {
    if (to.IsInteger()) return kind > from.kind();
    return kind == TypeKind::kFloat || kind == TypeKind::kDouble || is_string ||
           (from.kind() == TypeKind::kInt && kind == TypeKind::kDate);
  }
  switch (from.kind()) {
    case TypeKind::kFloat: return kind == TypeKind::kDouble || is_string;
    case TypeKind::kDouble: return is_string;
    case TypeKind::kDecimal:
      return kind == TypeKind::kDecimal ? HoldsEveryValue(to, from) : is_string;
    case TypeKind::kVarChar:
      // STRING stays what it is; VARCHAR may grow and become a number or a date.
      if (from.length() == LogicalType::kMaxLength) return false;
      if (is_string) return to.length() >= from.length();
      return to.IsInteger() || kind == TypeKind::kFloat || kind == TypeKind::kDouble ||
             kind == TypeKind::kDate;
    case TypeKind::kChar:
      if (to.IsCharacter()) return to.length() >= from.length();
      return to.IsInteger() || kind == TypeKind::kFloat || kind == TypeKind::kDouble ||
             kind == TypeKind::kDate;
    case TypeKind::kDate:
    case TypeKind::kTimestamp: return kind == TypeKind::kDate || kind == TypeKind::kTimestamp;
    default: return false;
  }
}

std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  if (Converts(from, to)) return "";
  return "SelectDB cannot turn " + from.ToStringIgnoringNullability() + " into " +
         to.ToStringIgnoringNullability();
}

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "SelectDB",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kTruncateTable,
              EventKind::kAddColumn, EventKind::kDropColumn, EventKind::kRenameColumn,
              EventKind::kAlterColumnType, EventKind::kRelaxNullability,
              EventKind::kAlterColumnComment, EventKind::kAlterTableComment},
      .map_type = MapType,
      .type_change_problem = TypeChangeProblem,
      .never_adds_first = true,
      .adds_not_null_with_default = true,
      .old_rows_read_default = true,

  };
  return *kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeSelectDbPlanner(const OptionValues& values) {
  if (values.specs().empty() || !values.String("fenodes")) {
    return MakeModelPlanner(&Traits());  // nothing is configured
  }
  DRIFTLESS_ASSIGN_OR_RETURN(olap::OlapOptions options, selectdb::ReadOptions(values));
  return olap::MakePlanner(&Traits(), &selectdb::SqlDialect(), std::move(options.create),
                           options.job_timeout_ms);
}

}  // namespace driftless
