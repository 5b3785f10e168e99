#include "config/sql/schema_check.h"

#include <algorithm>
#include <set>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"

namespace driftless::flink {
namespace {

Error Invalid(std::string message) { return SqlError(kValidationException, std::move(message)); }

Result<void> ResolveColumns(const Scope& functions, TableEntry* table) {
  Scope scope;
  scope.user_function = functions.user_function;
  for (const Column& column : table->columns) {
    if (column.kind != ColumnKind::kComputed) scope.columns.emplace_back(column.name, column.type);
  }
  for (Column& column : table->columns) {
    if (column.kind != ColumnKind::kComputed) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(column.type, InferType(&column.expr, scope));
    column.proctime = column.expr.kind == ExprKind::kCall && column.expr.text == "PROCTIME";
  }
  return {};
}

Result<void> CheckMetadata(const TableEntry& table) {
  std::map<std::string, std::string> keys;
  for (const Column& column : table.columns) {
    if (column.kind != ColumnKind::kMetadata) continue;
    const std::string key = column.metadata_key.value_or(column.name);
    const auto [at, fresh] = keys.emplace(key, column.name);
    if (fresh) continue;
    return Invalid("The column `" + at->second + "` and `" + column.name +
                   "` in the table are both from the same metadata key '" + key +
                   "'. Please specify one of the columns as the metadata column and use the "
                   "computed column syntax to specify the others.");
  }
  return {};
}

bool IsTimeAttributeType(const LogicalType& type) {
  return (type.kind() == TypeKind::kTimestamp || type.kind() == TypeKind::kTimestampLtz) &&
         type.precision() <= 3;
}

std::string TypeWithNullability(const LogicalType& type) { return type.ToString(); }

Result<void> CheckWatermark(const Scope& functions, TableEntry* table) {
  if (!table->watermark) return {};
  Watermark& watermark = *table->watermark;
  std::string name;
  for (const auto& part : watermark.column) name += (name.empty() ? "" : ".") + part;
  const Column* column = watermark.column.size() == 1 ? table->Find(name) : nullptr;
  if (column == nullptr) {
    std::vector<std::string> names;
    for (const Column& each : table->columns) names.push_back(each.name);
    return Invalid("Invalid column name '" + name +
                   "' for rowtime attribute in watermark declaration. Available columns are: [" +
                   Join(names) + "]");
  }
  if (column->proctime) {
    return Invalid("A watermark can not be defined for a processing-time attribute.");
  }
  const std::string wanted =
      " for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the "
      "supported precision 'p' is from 0 to 3, but the ";
  if (!IsTimeAttributeType(column->type)) {
    return Invalid("Invalid data type of time field" + wanted + "time field type is " +
                   TypeWithNullability(column->type));
  }
  Scope scope;
  scope.user_function = functions.user_function;
  for (const Column& each : table->columns) scope.columns.emplace_back(each.name, each.type);
  DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, InferType(&watermark.expr, scope));
  if (!IsTimeAttributeType(type)) {
    return Invalid("Invalid data type of expression" + wanted + "watermark expression type is " +
                   TypeWithNullability(type));
  }
  if (type.kind() != column->type.kind()) {
    return Invalid("The watermark declaration's output data type '" + type.ToString() +
                   "' is different from the time field's data type '" + column->type.ToString() +
                   "'.");
  }
  return {};
}

Result<void> CheckKey(const TableEntry& table) {
  if (!table.key) return {};
  const PrimaryKey& key = *table.key;
  std::set<std::string> seen;
  std::vector<std::string> twice;
  for (const auto& name : key.columns) {
    if (!seen.insert(name).second) twice.push_back(name);
  }
  const std::string start = "Invalid primary key '" + key.name + "'. ";
  if (!twice.empty()) {
    return Invalid(start + "A primary key must not contain duplicate columns. Found: [" +
                   Join(twice) + "]");
  }
  for (const auto& name : key.columns) {
    const Column* column = table.Find(name);
    if (column == nullptr) return Invalid(start + "Column '" + name + "' does not exist.");
    if (column->kind != ColumnKind::kPhysical) {
      return Invalid(start + "Column '" + name + "' is not a physical column.");
    }
    if (column->type.nullable()) return Invalid(start + "Column '" + name + "' is nullable.");
  }
  return {};
}

Result<void> CheckStorage(const TableEntry& table) {
  const std::vector<std::string> physical = PhysicalNames(table);
  const auto is_physical = [&](const std::string& name) {
    return std::find(physical.begin(), physical.end(), name) != physical.end();
  };
  if (table.distribution) {
    for (const auto& key : table.distribution->keys) {
      if (is_physical(key)) continue;
      return Invalid("Invalid bucket key '" + key +
                     "'. A bucket key for a distribution must reference a physical column in the "
                     "schema. Available columns are: [" +
                     Join(physical) + "]");
    }
    if (table.distribution->buckets && *table.distribution->buckets < 1) {
      return Invalid("Invalid bucket count '" + std::to_string(*table.distribution->buckets) +
                     "'. The number of buckets for a distributed table must be at least 1.");
    }
  }
  for (const auto& key : table.partition_keys) {
    if (is_physical(key)) continue;
    return Invalid("Invalid partition key '" + key +
                   "'. A partition key must reference a physical column in the schema. Available "
                   "columns are: [" +
                   Join(physical) + "]");
  }
  return {};
}

}  // namespace

Result<void> ResolveTable(const Scope& functions, TableEntry* table) {
  DRIFTLESS_TRY(CheckMetadata(*table));
  DRIFTLESS_TRY(ResolveColumns(functions, table));
  DRIFTLESS_TRY(CheckWatermark(functions, table));
  DRIFTLESS_TRY(CheckKey(*table));
  return CheckStorage(*table);
}

Result<void> CheckConstraints(const std::vector<KeySpec>& keys) {
  int primary = 0;
  for (const KeySpec& key : keys) primary += key.unique ? 0 : 1;
  if (primary > 1) return SqlError(kSqlValidateException, "Duplicate primary key definition");
  for (const KeySpec& key : keys) {
    if (key.unique) {
      return SqlError(kSqlValidateException, "UNIQUE constraint is not supported yet");
    }
    if (key.enforced.value_or(true)) {
      return SqlError(
          kSqlValidateException,
          "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED "
          "controls if the constraint checks are performed on the incoming/outgoing data. Flink "
          "does not own the data therefore the only supported mode is the NOT ENFORCED mode");
    }
  }
  return {};
}

std::string DistributionText(const Distribution& distribution) {
  std::string text = "DISTRIBUTED";
  if (!distribution.keys.empty()) {
    std::vector<std::string> names;
    for (const auto& key : distribution.keys) names.push_back(QuoteName(key));
    text += " BY " + distribution.kind + "(" + Join(names) + ")";
  }
  if (distribution.buckets) {
    text += " INTO " + std::to_string(*distribution.buckets) + " BUCKETS";
  }
  return text;
}

std::string DefaultKeyName(const std::vector<std::string>& columns) {
  std::string name = "PK";
  for (const auto& column : columns) name += "_" + column;
  return name;
}

std::string Join(const std::vector<std::string>& items, std::string_view quote) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += std::string(quote) + item + std::string(quote);
  }
  return text;
}

std::vector<std::string> PhysicalNames(const TableEntry& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.kind == ColumnKind::kPhysical) names.push_back(column.name);
  }
  return names;
}

}  // namespace driftless::flink
