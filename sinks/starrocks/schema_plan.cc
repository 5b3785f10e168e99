#include "schema/plan/model_planner.h"
#include "schema/plan/type_fit.h"
#include "sinks/api/registry.h"
#include "sinks/olap/planner.h"
#include "sinks/starrocks/starrocks.h"

namespace driftless {
namespace {

Error Unsupported(const LogicalType& type) {
  return MakeError(ErrorKind::kUnsupported,
                   "StarRocks has no type for " + type.ToStringIgnoringNullability());
}

// Lengths count bytes there: kBytes for a character (`unicode-char.max-bytes`).
template <int kBytes>
LogicalType Text(int64_t characters) {
  const int64_t bytes = characters * kBytes;
  return LogicalType::VarChar(static_cast<int32_t>(bytes > 1048576 ? 1048576 : bytes));
}

template <int kBytes>
Result<LogicalType> MapType(const LogicalType& type, bool is_key) {
  switch (type.kind()) {
    case TypeKind::kDecimal:
      if (!is_key) return type;
      // Sign, digits, point, and the zero before the point where all digits stand behind it.
      return LogicalType::VarChar(type.precision() + (type.scale() > 0 ? 2 : 1) +
                                  (type.scale() == type.precision() ? 1 : 0));
    case TypeKind::kChar:
      if (!is_key && type.length() * kBytes <= 255) {
        return LogicalType::Char(type.length() * kBytes);
      }
      return Text<kBytes>(type.length());
    case TypeKind::kVarChar: return Text<kBytes>(type.length());
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      if (is_key) return Unsupported(type);
      return LogicalType::VarBinary(1048576);
    // MySQL's reaches from -838:59:59 to 838:59:59.
    case TypeKind::kTime:
      return LogicalType::VarChar(10 + (type.precision() > 0 ? 1 + type.precision() : 0));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return LogicalType::Timestamp(6);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      if (is_key) return Unsupported(type);
      return type;
    // As JSON texts, so that a SET of MySQL does not stop its table.
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kRow:
      if (is_key) return Unsupported(type);
      return LogicalType::VarChar(1048576);
    case TypeKind::kTimestampTz:
    case TypeKind::kMultiset:
    case TypeKind::kVariant: return Unsupported(type);
    default: return type;
  }
}

// SchemaChangeTypeCompatibility.java of StarRocks: what MODIFY COLUMN converts.
bool Converts(const LogicalType& from, const LogicalType& to) {
  const TypeKind kind = to.kind();
  if (from.IsInteger()) {
    if (to.IsInteger()) return kind > from.kind();
    return kind == TypeKind::kDouble || kind == TypeKind::kVarChar ||
           (from.kind() == TypeKind::kInt && kind == TypeKind::kDate);
  }
  switch (from.kind()) {
    case TypeKind::kFloat: return kind == TypeKind::kDouble || kind == TypeKind::kVarChar;
    case TypeKind::kDouble: return kind == TypeKind::kVarChar;
    case TypeKind::kDecimal: return HoldsEveryValue(to, from);
    case TypeKind::kVarChar:
      if (kind == TypeKind::kVarChar) return to.length() >= from.length();
      return to.IsInteger() || kind == TypeKind::kFloat || kind == TypeKind::kDouble ||
             kind == TypeKind::kDate || kind == TypeKind::kDecimal;
    case TypeKind::kChar: return to.IsCharacter() && to.length() >= from.length();
    case TypeKind::kDate: return kind == TypeKind::kTimestamp;
    case TypeKind::kTimestamp: return kind == TypeKind::kDate || kind == TypeKind::kTimestamp;
    default: return false;
  }
}

std::string TypeChangeProblem(const LogicalType& from, const LogicalType& to) {
  if (Converts(from, to)) return "";
  return "StarRocks cannot turn " + from.ToStringIgnoringNullability() + " into " +
         to.ToStringIgnoringNullability();
}

template <int kBytes>
const ModelTraits* Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "StarRocks",
      .can = {EventKind::kCreateTable, EventKind::kDropTable, EventKind::kTruncateTable,
              EventKind::kAddColumn, EventKind::kDropColumn, EventKind::kRenameColumn,
              EventKind::kAlterColumnType, EventKind::kAlterTableComment},
      .map_type = MapType<kBytes>,
      .type_change_problem = TypeChangeProblem,
      .never_adds_first = true,
      .adds_not_null_with_default = true,
      .needs_key = true,
      .old_rows_read_default = true,

  };
  return kTraits;
}

}  // namespace

Result<std::unique_ptr<SchemaPlanner>> MakeStarRocksPlanner(const OptionValues& values) {
  if (values.specs().empty() || !values.String("jdbc-url")) {
    return MakeModelPlanner(Traits<3>());  // nothing is configured
  }
  DRIFTLESS_ASSIGN_OR_RETURN(olap::OlapOptions options, starrocks::ReadOptions(values));
  const ModelTraits* traits = nullptr;
  switch (values.Int("unicode-char.max-bytes").value_or(3)) {
    case 1: traits = Traits<1>(); break;
    case 2: traits = Traits<2>(); break;
    case 4: traits = Traits<4>(); break;
    default: traits = Traits<3>();
  }
  return olap::MakePlanner(traits, &starrocks::SqlDialect(), std::move(options.create),
                           options.job_timeout_ms);
}

}  // namespace driftless
