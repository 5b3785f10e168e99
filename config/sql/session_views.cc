#include <algorithm>
#include <utility>

#include "config/expr/lexer.h"
#include "config/sql/interval_columns.h"
#include "config/sql/query.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

constexpr std::string_view kTableExists =
    "org.apache.flink.table.catalog.exceptions.TableAlreadyExistException";

Error Invalid(std::string text) { return SqlError(kValidationException, std::move(text)); }

Error Exists(const ObjectName& name) {
  return SqlError(kTableExists, "Table (or view) " + name.database + "." + name.object +
                                    " already exists in Catalog " + name.catalog + ".");
}

// The names that CREATE VIEW v (a, b) gives to the query's columns.
Result<void> NameColumns(const std::vector<std::string>& names, std::vector<Column>* columns) {
  if (names.size() != columns->size()) {
    std::vector<std::string> given;
    for (const Column& column : *columns) given.push_back(column.name);
    return Invalid("VIEW definition and input fields not match:\n\tDef fields: [" + Join(names) +
                   "].\n\tInput fields: [" + Join(given) + "].");
  }
  for (size_t i = 0; i < names.size(); ++i) (*columns)[i].name = names[i];
  return {};
}

Result<void> CheckNames(const ResolvedQuery& query) {
  for (size_t i = 0; i < query.columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (query.columns[j].name != query.columns[i].name) continue;
      return SqlError(kSqlValidateException,
                      "A column with the same name `" + query.columns[i].name +
                          "` has been defined at line " + std::to_string(query.places[j].first) +
                          ", column " + std::to_string(query.places[j].second) + ".");
    }
  }
  return {};
}

}  // namespace

std::string Session::FullName(const Path& name) const {
  const auto full = Qualify(name);
  return full ? full->Quoted() : "";
}

Result<TableEntry> Session::ViewOf(const Statement& s, std::string_view sql) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(s, sql));
  DRIFTLESS_ASSIGN_OR_RETURN(ResolvedQuery resolved, ResolveQuery(*this, query));
  DRIFTLESS_TRY(CheckNoIntervals(query));
  TableEntry view;
  view.kind = TableKind::kView;
  if (s.keys.empty()) {
    DRIFTLESS_TRY(CheckNames(resolved));
  } else {
    DRIFTLESS_TRY(NameColumns(s.keys, &resolved.columns));
  }
  view.columns = std::move(resolved.columns);
  view.query = std::move(resolved.text);
  view.comment = s.comment.value_or("");
  return view;
}

Result<void> Session::CreateView(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  DRIFTLESS_ASSIGN_OR_RETURN(TableEntry view, ViewOf(s, sql));
  if (s.temporary) {
    const bool fresh = temporary_tables_.emplace(name, std::move(view)).second;
    if (!fresh && !s.if_exists) {
      return Invalid("Temporary table '" + name.Quoted() + "' already exists");
    }
    return {};
  }
  if (!catalogs_.contains(name.catalog)) {
    return Invalid("Catalog " + name.catalog + " does not exist.");
  }
  Database* database = FindDatabase(name);
  if (database == nullptr) {
    return SqlError(
        "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException",
        "Database " + name.database + " does not exist in Catalog " + name.catalog + ".");
  }
  const bool fresh = database->tables.emplace(name.object, std::move(view)).second;
  if (!fresh && !s.if_exists) return Exists(name);
  return {};
}

Result<void> Session::AlterView(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  TableEntry* view = FindPermanent(name);
  if (view == nullptr || temporary_tables_.contains(name)) {
    return Invalid("View " + name.Quoted() + " doesn't exist or is a temporary view.");
  }
  if (view->kind != TableKind::kView) {
    return Invalid("ALTER VIEW for a " + std::string(KindName(view->kind)) + " is not allowed");
  }
  if (s.verb == Verb::kAlterViewAs) {
    DRIFTLESS_ASSIGN_OR_RETURN(TableEntry changed, ViewOf(s, sql));
    view->columns = std::move(changed.columns);
    view->query = std::move(changed.query);
    return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName to, Qualify(s.new_name));
  if (to.catalog != name.catalog) {
    return Invalid("The catalog name of the new view name '" + to.Summary() +
                   "' must be the same as the old view name '" + name.Summary() + "'.");
  }
  Database* database = FindDatabase(name);
  if (database->tables.contains(to.object)) return Exists({name.catalog, name.database, to.object});
  auto node = database->tables.extract(name.object);
  node.key() = to.object;
  database->tables.insert(std::move(node));
  return {};
}

// Statements on rows: what is wrong with them is said; INSERT runs where all is in memory.
Result<std::string> Session::RunRows(const Statement& s, std::string_view sql) {
  if (s.verb == Verb::kQuery) return RunQuery(s, sql);
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry* table = FindAny(name);
  if (table == nullptr) {
    return Invalid("Cannot find table '" + name.Quoted() + "' in any of the catalogs [" +
                   CatalogNames() + "], nor as a temporary table.");
  }
  if (table->kind == TableKind::kTable && !table->options.contains("connector")) {
    return Invalid(
        "Table options do not contain an option key 'connector' for discovering a connector.");
  }
  if (s.verb == Verb::kInsert) return RunInsert(s, sql);
  return MakeError(ErrorKind::kUnsupported, "UPDATE and DELETE need a table that keeps rows")
      .Hint("Run it on Flink, or play it as a change stream: source: type: sql.");
}

}  // namespace driftless::flink
