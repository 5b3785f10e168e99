#include "config/sql/create_table.h"

#include <algorithm>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/function_names.h"
#include "config/sql/schema_check.h"

namespace driftless::flink {
namespace {

Error Invalid(std::string message) { return SqlError(kValidationException, std::move(message)); }

std::string At(int line, int column) {
  return "at line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

std::string TableCreation::Mode(const std::string& feature) const {
  const auto found = modes_.find(feature);
  if (found != modes_.end()) return found->second;
  const auto all = modes_.find("ALL");
  if (all != modes_.end()) return all->second;
  return feature == "OPTIONS" ? "OVERWRITING" : "INCLUDING";
}

Result<void> TableCreation::Run() {
  DRIFTLESS_TRY(CheckConstraints(s_.schema.keys));
  for (const LikeOption& option : s_.like_options) {
    if (!modes_.emplace(option.feature, option.mode).second) {
      return SqlError(kSqlValidateException, "Each like option feature can be declared only once.");
    }
    if (option.mode == "OVERWRITING" &&
        (option.feature == "ALL" || option.feature == "CONSTRAINTS" ||
         option.feature == "DISTRIBUTION" || option.feature == "PARTITIONS")) {
      return SqlError(kSqlValidateException, "Illegal merging strategy 'OVERWRITING' for '" +
                                                 option.feature + "' option.");
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(s_.name));
  if (!s_.like_table.empty()) DRIFTLESS_TRY(TakeBase());
  DRIFTLESS_TRY(AddColumns());
  DRIFTLESS_TRY(AddKey());
  DRIFTLESS_TRY(AddWatermark());
  DRIFTLESS_TRY(AddStorage());
  Scope scope;
  scope.user_function = FunctionsOf(session_);
  DRIFTLESS_TRY(ResolveTable(scope, &table_));
  return Store(name);
}

Result<void> TableCreation::TakeBase() {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName base_name, session_.Qualify(s_.like_table));
  const TableEntry* base = session_.FindAny(base_name);
  if (base == nullptr) {
    return Invalid("Source table '" + base_name.Quoted() +
                   "' of the LIKE clause not found in the catalog, at line 1, column 1");
  }
  const bool generated = Mode("GENERATED") != "EXCLUDING";
  const bool metadata = Mode("METADATA") != "EXCLUDING";
  for (const Column& column : base->columns) {
    if (column.kind == ColumnKind::kComputed && !generated) continue;
    if (column.kind == ColumnKind::kMetadata && !metadata) continue;
    table_.columns.push_back(column);
  }
  if (Mode("WATERMARKS") != "EXCLUDING") table_.watermark = base->watermark;
  if (Mode("CONSTRAINTS") != "EXCLUDING") table_.key = base->key;
  if (Mode("OPTIONS") != "EXCLUDING") table_.options = base->options;
  if (Mode("PARTITIONS") != "EXCLUDING") table_.partition_keys = base->partition_keys;
  if (Mode("DISTRIBUTION") != "EXCLUDING") table_.distribution = base->distribution;
  table_.comment = base->comment;
  base_columns_ = table_.columns.size();
  return {};
}

Result<void> TableCreation::AddColumns() {
  for (const ColumnSpec& spec : s_.schema.columns) {
    if (spec.name.size() > 1) {
      return SqlError("java.lang.UnsupportedOperationException",
                      "Creating nested row type columns is not supported yet.");
    }
    const std::string& name = spec.name[0];
    const auto same = std::find_if(table_.columns.begin(), table_.columns.end(),
                                   [&](const Column& column) { return column.name == name; });
    if (same != table_.columns.end()) {
      const bool in_base = static_cast<size_t>(same - table_.columns.begin()) < base_columns_;
      const bool computed = spec.kind == ColumnKind::kComputed;
      const bool metadata = spec.kind == ColumnKind::kMetadata;
      if (!in_base) {
        if (computed || metadata || same->kind != ColumnKind::kPhysical) {
          return Invalid(
              "A column named '" + name +
              "' already exists in the table. Duplicate columns exist in the " +
              (computed || same->kind == ColumnKind::kComputed ? "compute" : "metadata") +
              " column and regular column. ");
        }
        return Invalid("A regular Column named '" + name + "' already exists in the table.");
      }
      const std::string taken = "A column named '" + name + "' already exists in the base table.";
      if (computed && same->kind != ColumnKind::kComputed) {
        return Invalid(taken + " Computed columns can only overwrite other computed columns.");
      }
      if (metadata && same->kind != ColumnKind::kMetadata) {
        return Invalid(taken + " Metadata columns can only overwrite other metadata columns.");
      }
      if (!computed && !metadata) return Invalid(taken);
      const std::string feature = computed ? "GENERATED" : "METADATA";
      if (Mode(feature) != "OVERWRITING") {
        return Invalid("A " + std::string(computed ? "generated" : "metadata") + " column named '" +
                       name +
                       "' already exists in the base table. You might want to specify EXCLUDING " +
                       feature + " or OVERWRITING " + feature + ".");
      }
      *same = MakeColumn(spec, true, session_);
      continue;
    }
    table_.columns.push_back(MakeColumn(spec, true, session_));
  }
  return {};
}

Result<void> TableCreation::AddKey() {
  if (s_.schema.keys.empty()) return {};
  if (table_.key) {
    return Invalid(
        "The base table already has a primary key. You might want to specify EXCLUDING "
        "CONSTRAINTS.");
  }
  const KeySpec& spec = s_.schema.keys[0];
  PrimaryKey key;
  for (const NameAt& at : spec.columns) {
    const auto column = std::find_if(table_.columns.begin(), table_.columns.end(),
                                     [&](const Column& each) { return each.name == at.name; });
    if (column == table_.columns.end()) {
      return Invalid("Primary key column '" + at.name + "' is not defined in the schema " +
                     At(at.line, at.column));
    }
    if (column->kind != ColumnKind::kPhysical) {
      return Invalid("Could not create a PRIMARY KEY with column '" + at.name + "' " +
                     At(at.line, at.column) +
                     ".\nA PRIMARY KEY constraint must be declared on physical columns.");
    }
    const bool own = static_cast<size_t>(column - table_.columns.begin()) >= base_columns_;
    if (own) column->type = column->type.NotNull();
    key.columns.push_back(at.name);
  }
  key.name = spec.name.empty() ? DefaultKeyName(key.columns) : spec.name;
  table_.key = std::move(key);
  return {};
}

Result<void> TableCreation::AddWatermark() {
  if (s_.schema.watermarks.empty()) return {};
  const WatermarkSpec& spec = s_.schema.watermarks[0];
  if (table_.watermark && Mode("WATERMARKS") != "OVERWRITING") {
    return Invalid("There already exists a watermark spec for column '" +
                   table_.watermark->column[0] +
                   "' in the base table. You might want to specify EXCLUDING WATERMARKS or "
                   "OVERWRITING WATERMARKS.");
  }
  if (table_.Find(spec.column[0]) == nullptr) {
    std::vector<std::string> names;
    for (const Column& column : table_.columns) names.push_back(column.name);
    return Invalid("The rowtime attribute field '" + spec.column[0] +
                   "' is not defined in the table schema, " + At(spec.line, spec.column_number) +
                   "\nAvailable fields: [" + Join(names, "'") + "]");
  }
  Watermark watermark;
  watermark.column = spec.column;
  watermark.expr = spec.expr;
  watermark.text = PrintExpr(spec.expr, PrintStyle::kValidated);
  table_.watermark = std::move(watermark);
  return {};
}

Result<void> TableCreation::AddStorage() {
  if (!s_.partition_keys.empty()) {
    if (!table_.partition_keys.empty()) {
      return Invalid(
          "The base table already has partitions defined. You might want to specify EXCLUDING "
          "PARTITIONS.");
    }
    for (const auto& key : s_.partition_keys) {
      if (table_.Find(key) != nullptr) continue;
      std::vector<std::string> names;
      for (const Column& column : table_.columns) names.push_back(column.name);
      return Invalid("Partition column '" + key +
                     "' not defined in the table schema. Available columns: [" + Join(names, "'") +
                     "]");
    }
    table_.partition_keys = s_.partition_keys;
  }
  if (s_.distribution) {
    if (table_.distribution) {
      return Invalid(
          "The base table already has a distribution defined. You might want to specify EXCLUDING "
          "DISTRIBUTION.");
    }
    table_.distribution = s_.distribution;
  }
  const std::map<std::string, std::string> base = table_.options;
  for (const auto& [key, value] : s_.options) {
    const auto taken = base.find(key);
    if (taken != base.end() && Mode("OPTIONS") == "INCLUDING") {
      return Invalid("There already exists an option ['" + key + "' -> '" + taken->second +
                     "']  in the base table. You might want to specify EXCLUDING OPTIONS or "
                     "OVERWRITING OPTIONS.");
    }
    table_.options[key] = value;
  }
  if (s_.comment) table_.comment = *s_.comment;
  return {};
}

Result<void> TableCreation::Store(const ObjectName& name) {
  if (s_.temporary) {
    const bool fresh = session_.temporary_tables_.emplace(name, table_).second;
    if (!fresh && !s_.if_exists) {
      return Invalid("Temporary table '" + name.Quoted() + "' already exists");
    }
    return {};
  }
  const auto catalog = session_.catalogs_.find(name.catalog);
  if (catalog == session_.catalogs_.end()) {
    return Invalid("Catalog " + name.catalog + " does not exist.");
  }
  Database* database = session_.FindDatabase(name);
  if (database == nullptr) {
    return SqlError(
        "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException",
        "Database " + name.database + " does not exist in Catalog " + name.catalog + ".");
  }
  const bool fresh = database->tables.emplace(name.object, table_).second;
  if (!fresh && !s_.if_exists) {
    return SqlError("org.apache.flink.table.catalog.exceptions.TableAlreadyExistException",
                    "Table (or view) " + name.database + "." + name.object +
                        " already exists in Catalog " + name.catalog + ".");
  }
  return {};
}

Column MakeColumn(const ColumnSpec& spec, bool validated, const Session& session) {
  Column column;
  column.name = spec.name[0];
  column.kind = spec.kind;
  column.type = spec.type;
  column.metadata_key = spec.metadata_key;
  column.is_virtual = spec.is_virtual;
  column.comment = spec.comment;
  if (spec.kind == ColumnKind::kComputed) {
    column.expr = spec.expr;
    Expr printed = spec.expr;
    if (validated) QualifyFunctions(session, &printed);
    column.text = PrintExpr(printed, validated ? PrintStyle::kValidated : PrintStyle::kAsWritten);
  }
  return column;
}

}  // namespace driftless::flink
