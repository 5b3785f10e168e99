#include "config/sql/alter_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/sql/create_table.h"
#include "config/sql/function_names.h"
#include "config/sql/schema_check.h"

namespace driftless::flink {
namespace {

std::string QuotedPath(const Path& path) {
  std::string text;
  for (const auto& part : path) text += (text.empty() ? "" : ".") + QuoteName(part);
  return text;
}

size_t IndexOf(const std::vector<Column>& columns, std::string_view name) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == name; });
  return static_cast<size_t>(found - columns.begin());
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string TableAlteration::Prefix() const {
  return std::string("Failed to execute ALTER ") + (s_.materialized ? "MATERIALIZED " : "") +
         "TABLE statement.\n";
}

Error TableAlteration::Failed(const std::string& message) const {
  return SqlError(kValidationException, Prefix() + message);
}

Result<void> TableAlteration::CheckNotNested(const Path& path) const {
  if (path.size() <= 1) return {};
  return SqlError(
      "java.lang.UnsupportedOperationException",
      Prefix() + "Altering the nested row type " + QuotedPath(path) + " is not supported yet.");
}

Result<void> TableAlteration::Run() {
  DRIFTLESS_TRY(CheckConstraints(s_.schema.keys));
  DRIFTLESS_ASSIGN_OR_RETURN(name_, session_.Qualify(s_.name));
  if (s_.verb == Verb::kAlterTableAddPartitions) return AddPartitions();
  if (s_.verb == Verb::kAlterTableDropPartitions) return DropPartitions();
  TableEntry* table = session_.FindPermanent(name_);
  if (session_.temporary_tables_.contains(name_)) table = nullptr;
  if (table == nullptr) {
    const bool always = s_.verb == Verb::kAlterTableAddDistribution ||
                        s_.verb == Verb::kAlterTableModifyDistribution;
    if (s_.if_exists && !always) return {};
    return SqlError(kValidationException,
                    "Table " + name_.Quoted() + " doesn't exist or is a temporary table.");
  }
  if (table->kind != (s_.materialized ? TableKind::kMaterialized : TableKind::kTable)) {
    return SqlError(kValidationException,
                    "ALTER TABLE for a " + std::string(KindName(table->kind)) + " is not allowed");
  }
  if (s_.verb == Verb::kAlterTableRename) return Rename();
  table_ = *table;
  DRIFTLESS_TRY(Apply());
  if (s_.verb != Verb::kAlterTableSet && s_.verb != Verb::kAlterTableReset) {
    Scope scope;
    scope.user_function = FunctionsOf(session_);
    auto resolved = ResolveTable(scope, &table_);
    if (!resolved && s_.materialized) {
      return SqlError(kTableException, "Could not execute AlterTable in path " + name_.Quoted() +
                                           "\nCaused by: " + resolved.error().message());
    }
    DRIFTLESS_TRY(std::move(resolved));
  }
  *table = std::move(table_);
  return {};
}

Result<void> TableAlteration::Apply() {
  switch (s_.verb) {
    case Verb::kAlterTableRenameColumn: return RenameColumn();
    case Verb::kAlterTableSet:
      for (const auto& [key, value] : s_.options) table_.options[key] = value;
      return {};
    case Verb::kAlterTableReset: return Reset();
    case Verb::kAlterTableAdd:
    case Verb::kAlterTableModify: return AddOrModify(s_.verb == Verb::kAlterTableAdd);
    case Verb::kAlterTableDropColumns: return DropColumns();
    case Verb::kAlterTableDropKey: return DropKey();
    case Verb::kAlterTableDropConstraint: return DropNamedKey();
    case Verb::kAlterTableDropWatermark: return DropWatermark();
    case Verb::kAlterTableAddDistribution:
    case Verb::kAlterTableModifyDistribution:
      return SetDistribution(s_.verb == Verb::kAlterTableAddDistribution);
    case Verb::kAlterTableDropDistribution: return DropDistribution();
    default: return MakeError(ErrorKind::kInternal, "no such ALTER TABLE");
  }
}

Result<void> TableAlteration::Rename() {
  // Only the last part of the new name counts: the table stays in its database.
  Database* database = session_.FindDatabase(name_);
  const std::string& target = s_.new_name.back();
  if (database->tables.contains(target)) {
    return SqlError("org.apache.flink.table.catalog.exceptions.TableAlreadyExistException",
                    "Table (or view) " + name_.database + "." + target +
                        " already exists in Catalog " + name_.catalog + ".");
  }
  auto node = database->tables.extract(name_.object);
  node.key() = target;
  database->tables.insert(std::move(node));
  return {};
}

Result<void> TableAlteration::CheckUnused(const std::string& column,
                                          const std::vector<std::string>& leaving,
                                          bool key_too) const {
  std::set<std::string> users;
  for (const Column& each : table_.columns) {
    if (each.kind != ColumnKind::kComputed || Contains(leaving, each.name)) continue;
    if (Contains(ReferencedColumns(each.expr), column)) users.insert(QuoteName(each.name));
  }
  if (!users.empty()) {
    return Failed("The column `" + column + "` is referenced by computed column " +
                  Join({users.begin(), users.end()}) + ".");
  }
  if (Contains(table_.partition_keys, column)) {
    return Failed("The column `" + column + "` is used as the partition keys.");
  }
  if (table_.watermark && (table_.watermark->column[0] == column ||
                           Contains(ReferencedColumns(table_.watermark->expr), column))) {
    return Failed("The column `" + column + "` is referenced by watermark expression.");
  }
  if (table_.distribution && Contains(table_.distribution->keys, column)) {
    return Failed("The column `" + column + "` is used as a distribution key.");
  }
  if (key_too && table_.key && Contains(table_.key->columns, column)) {
    return Failed("The column `" + column + "` is used as the primary key.");
  }
  return {};
}

Result<void> TableAlteration::RenameColumn() {
  DRIFTLESS_TRY(CheckNotNested(s_.columns[0]));
  DRIFTLESS_TRY(CheckNotNested(s_.new_name));
  const std::string& from = s_.columns[0][0];
  const std::string& to = s_.new_name[0];
  const size_t at = IndexOf(table_.columns, from);
  if (at == table_.columns.size()) {
    return Failed("The column `" + from + "` does not exist in the base table.");
  }
  DRIFTLESS_TRY(CheckUnused(from, {}, false));
  if (table_.Find(to) != nullptr) {
    return Failed("The column `" + to + "` already existed in table schema.");
  }
  table_.columns[at].name = to;
  if (table_.key) {
    std::replace(table_.key->columns.begin(), table_.key->columns.end(), from, to);
  }
  return {};
}

Result<void> TableAlteration::Reset() {
  if (s_.keys.empty()) {
    return SqlError(kValidationException, "ALTER TABLE RESET does not support empty key");
  }
  if (Contains(s_.keys, "connector")) {
    return SqlError(kValidationException,
                    "ALTER TABLE RESET does not support changing 'connector'");
  }
  for (const auto& key : s_.keys) table_.options.erase(key);
  return {};
}

Result<void> TableAlteration::AddOrModify(bool add) {
  DRIFTLESS_TRY(PlaceColumns(add));
  DRIFTLESS_TRY(SetWatermark(add));
  return SetKey(add);
}

Result<void> TableAlteration::PlaceColumns(bool add) {
  std::set<std::string> seen;
  for (const ColumnSpec& spec : s_.schema.columns) {
    DRIFTLESS_TRY(CheckNotNested(spec.name));
    const std::string& name = spec.name[0];
    if (!seen.insert(name).second) return Failed("Encounter duplicate column `" + name + "`.");
    Column column = MakeColumn(spec, false, session_);
    size_t at = IndexOf(table_.columns, name);
    if (add) {
      if (at < table_.columns.size()) {
        return Failed("Column `" + name + "` already exists in the " +
                      std::string(KindName(table_.kind)) + ".");
      }
      DRIFTLESS_TRY(CheckInQuery(column));
    } else {
      if (at == table_.columns.size()) {
        return Failed("Column `" + name + "` does not exist in the " +
                      std::string(KindName(table_.kind)) + ".");
      }
      DRIFTLESS_TRY(CheckWidened(table_.columns[at], column));
      if (!column.comment) column.comment = table_.columns[at].comment;
      const bool key = s_.schema.keys.empty() && table_.key && Contains(table_.key->columns, name);
      if (key && column.kind == ColumnKind::kPhysical) column.type = column.type.NotNull();
      if (spec.place == ColumnSpec::Place::kNone) {
        table_.columns[at] = std::move(column);
        continue;
      }
    }
    size_t target = table_.columns.size();
    if (spec.place == ColumnSpec::Place::kFirst) target = 0;
    if (spec.place == ColumnSpec::Place::kAfter) {
      DRIFTLESS_TRY(CheckNotNested(spec.after));
      target = IndexOf(table_.columns, spec.after[0]);
      if (target == table_.columns.size()) {
        return Failed("Referenced column `" + spec.after[0] +
                      "` by 'AFTER' does not exist in the table.");
      }
      ++target;
    }
    if (!add) {
      table_.columns.erase(table_.columns.begin() + static_cast<ptrdiff_t>(at));
      // Flink looks up AFTER when the column is already gone, so behind itself means first.
      if (spec.place == ColumnSpec::Place::kAfter) {
        const size_t behind = IndexOf(table_.columns, spec.after[0]);
        target = behind == table_.columns.size() ? 0 : behind + 1;
      }
    }
    table_.columns.insert(table_.columns.begin() + static_cast<ptrdiff_t>(target),
                          std::move(column));
  }
  return {};
}

// What a materialized table stores comes from its query.
Result<void> TableAlteration::CheckInQuery(const Column& column) const {
  if (!s_.materialized || column.kind == ColumnKind::kComputed) return {};
  return Failed(
      "Invalid schema change. All persisted (physical and metadata) columns in the schema part "
      "need to be present in the query part.\nHowever, " +
      std::string(column.kind == ColumnKind::kPhysical ? "physical" : "metadata") + " column " +
      QuoteName(column.name) + " could not be found in the query.");
}

Result<void> TableAlteration::CheckWidened(const Column& from, const Column& to) const {
  if (!s_.materialized || from.kind == ColumnKind::kComputed || to.kind == ColumnKind::kComputed) {
    return {};
  }
  const auto both = LeastRestrictive(from.type, to.type);
  if (both && both->EqualsIgnoringNullability(to.type)) return {};
  return Failed("Column '" + from.name + "' with type " + from.type.ToString() +
                " can not be changed to type " + to.type.ToString() + ".");
}

Result<void> TableAlteration::SetWatermark(bool add) {
  if (s_.schema.watermarks.empty()) return {};
  const WatermarkSpec& spec = s_.schema.watermarks[0];
  if (add && table_.watermark) {
    return Failed("The current table has already defined the watermark strategy " +
                  QuotedPath(table_.watermark->column) + " AS " + table_.watermark->text +
                  ". You might want to drop it before adding a new one.");
  }
  if (!add && !table_.watermark) {
    return Failed(
        "The current table does not define any watermark. You might want to add a new one.");
  }
  if (spec.column.size() > 1) {
    return Failed("Watermark strategy on nested column is not supported yet.");
  }
  Watermark watermark;
  watermark.column = spec.column;
  watermark.expr = spec.expr;
  watermark.text = PrintExpr(spec.expr, PrintStyle::kAsWritten);
  table_.watermark = std::move(watermark);
  return {};
}

Result<void> TableAlteration::SetKey(bool add) {
  if (s_.schema.keys.empty()) return {};
  if (add && table_.key) {
    return Failed("The current table has already defined the primary key constraint [" +
                  Join(table_.key->columns, "`") +
                  "]. You might want to drop it before adding a new one.");
  }
  if (!add && !table_.key) {
    return Failed(
        "The current table does not define any primary key constraint. You might want to add a "
        "new one.");
  }
  const KeySpec& spec = s_.schema.keys[0];
  PrimaryKey key;
  for (const NameAt& column : spec.columns) {
    key.columns.push_back(column.name);
    const size_t at = IndexOf(table_.columns, column.name);
    // The types of a materialized table are those of its query.
    if (!s_.materialized && at < table_.columns.size() &&
        table_.columns[at].kind == ColumnKind::kPhysical) {
      table_.columns[at].type = table_.columns[at].type.NotNull();
    }
  }
  key.name = spec.name.empty() ? DefaultKeyName(key.columns) : spec.name;
  table_.key = std::move(key);
  return {};
}

Result<void> TableAlteration::DropColumns() {
  std::vector<std::string> names;
  for (const Path& path : s_.columns) {
    DRIFTLESS_TRY(CheckNotNested(path));
    if (Contains(names, path[0])) return Failed("Duplicate column `" + path[0] + "`.");
    names.push_back(path[0]);
  }
  for (const auto& name : names) {
    if (table_.Find(name) == nullptr) {
      return Failed("The column `" + name + "` does not exist in the base table.");
    }
  }
  // What has more dependencies goes first, so that the order written does not matter.
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& name : names) {
    const Column* column = table_.Find(name);
    const size_t count =
        column->kind == ColumnKind::kComputed ? ReferencedColumns(column->expr).size() : 0;
    order.emplace_back(count, name);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> gone;
  for (const auto& [count, name] : order) {
    DRIFTLESS_TRY(CheckUnused(name, gone, true));
    gone.push_back(name);
  }
  std::string in_query;
  for (const std::string& name : names) {
    if (!s_.materialized || table_.Find(name)->kind == ColumnKind::kComputed) continue;
    in_query += (in_query.empty() ? "'" : ", '") + name + "'";
  }
  if (!in_query.empty()) return Failed("Column(s) (" + in_query + ") are used in query.");
  std::erase_if(table_.columns, [&](const Column& column) { return Contains(gone, column.name); });
  return {};
}

Result<void> TableAlteration::DropKey() {
  if (!table_.key) return Failed("The current table does not define any primary key.");
  table_.key.reset();
  return {};
}

Result<void> TableAlteration::DropNamedKey() {
  if (table_.key && table_.key->name != s_.new_name[0]) {
    return Failed("The current table does not define a primary key constraint named '" +
                  s_.new_name[0] + "'. Available constraint name: ['" + table_.key->name + "'].");
  }
  return DropKey();
}

Result<void> TableAlteration::DropWatermark() {
  if (!table_.watermark) {
    return Failed("The current table does not define any watermark strategy.");
  }
  table_.watermark.reset();
  return {};
}

Result<void> TableAlteration::SetDistribution(bool add) {
  if (add && table_.distribution) {
    return Failed("The current table has already defined the distribution '" +
                  DistributionText(*table_.distribution) +
                  "'. You can modify it or drop it before adding a new one.");
  }
  if (!add && !table_.distribution) {
    return Failed(
        "The base table does not define any distribution. You might want to add a new one.");
  }
  table_.distribution = s_.distribution;
  return {};
}

Result<void> TableAlteration::DropDistribution() {
  if (!table_.distribution) {
    return SqlError(kValidationException,
                    std::string(s_.materialized ? "Materialized table " : "Table ") +
                        name_.Quoted() + " does not have a distribution to drop.");
  }
  table_.distribution.reset();
  return {};
}

}  // namespace driftless::flink
