#include "config/sql/session.h"

#include <algorithm>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/alter_table.h"
#include "config/sql/create_table.h"
#include "config/sql/listing.h"
#include "config/sql/schema_check.h"
#include "config/sql/statement_parser.h"

namespace driftless::flink {

std::string ObjectName::Quoted() const {
  return QuoteName(catalog) + "." + QuoteName(database) + "." + QuoteName(object);
}

std::string ObjectName::Summary() const { return catalog + "." + database + "." + object; }

std::string_view KindName(TableKind kind) {
  switch (kind) {
    case TableKind::kTable: return "table";
    case TableKind::kView: return "view";
    case TableKind::kMaterialized: return "materialized table";
  }
  return "table";
}

std::string_view KindKeyword(TableKind kind) {
  switch (kind) {
    case TableKind::kTable: return "TABLE";
    case TableKind::kView: return "VIEW";
    case TableKind::kMaterialized: return "MATERIALIZED TABLE";
  }
  return "TABLE";
}

Session::Session(FunctionLoader loader, Front front) : loader_(std::move(loader)), front_(front) {
  Catalog& catalog = catalogs_[catalog_];
  catalog.default_database = database_;
  catalog.databases[database_];
}

Result<std::string> Session::Execute(std::string_view sql) {
  const auto statement = ParseStatement(sql);
  if (!statement) return AsFrontSays(statement.error());
  auto text = running_.empty() ? Run(*statement, sql) : RunBesidePipelines(*statement, sql);
  if (text && front_ == Front::kTableEnvironment && text->starts_with("[INFO]")) *text = "OK\n";
  return text;
}

// The environment puts the parser's error into others.
Error Session::AsFrontSays(const Error& error) const {
  const std::string& text = error.message();
  if (front_ == Front::kClient || !text.starts_with(kParseException)) return error;
  const std::string cause = text.substr(kParseException.size() + 2);
  return SqlError("org.apache.flink.table.api.SqlParserException",
                  "SQL parse failed. " + cause +
                      "\nCaused by: org.apache.calcite.sql.parser.SqlParseException: " + cause +
                      "\nCaused by: " + text)
      .At(error.line(), error.column());
}

Result<std::string> Session::Run(const Statement& s, std::string_view sql) {
  if (in_statement_set_ && s.verb != Verb::kInsert && s.verb != Verb::kEndStatementSet &&
      !(s.verb == Verb::kCreateTable && !s.query.empty())) {
    return SqlError("org.apache.flink.table.gateway.service.utils.SqlExecutionException",
                    "Only 'INSERT/CREATE TABLE AS' statement is allowed in Statement Set or use "
                    "'END' statement to submit Statement Set.");
  }
  if (s.materialized) return RunMaterialized(s, sql);
  switch (s.verb) {
    case Verb::kShow:
    case Verb::kShowCreate:
    case Verb::kDescribeTable:
    case Verb::kDescribeCatalog:
    case Verb::kDescribeFunction:
    case Verb::kDescribeModel: return Listing(*this, s).Print();
    case Verb::kSet:
    case Verb::kReset:
    case Verb::kUseModules:
    case Verb::kLoadModule:
    case Verb::kUnloadModule: return RunSettings(s);
    case Verb::kCreateFunction:
    case Verb::kDropFunction:
    case Verb::kAlterFunction: return RunFunctions(s);
    case Verb::kCreateMaterialized:
    case Verb::kAlterMaterialized:
    case Verb::kDropMaterialized: return RunMaterialized(s, sql);
    case Verb::kCreateModel:
    case Verb::kDropModel:
    case Verb::kAlterModelSet:
    case Verb::kAlterModelReset:
    case Verb::kAlterModelRename: return RunModels(s);
    case Verb::kCreateDatabase:
    case Verb::kDropDatabase:
    case Verb::kAlterDatabase:
    case Verb::kCreateCatalog:
    case Verb::kDropCatalog:
    case Verb::kAlterCatalogSet:
    case Verb::kAlterCatalogReset:
    case Verb::kAlterCatalogComment:
    case Verb::kUseCatalog:
    case Verb::kUseDatabase: return RunCatalogs(s);
    case Verb::kQuery:
    case Verb::kInsert:
    case Verb::kChangeRows: return RunRows(s, sql);
    case Verb::kExplain: return Explain(s, sql);
    case Verb::kStatementSet:
    case Verb::kBeginStatementSet:
    case Verb::kEndStatementSet: return RunStatementSet(s);
    default: return RunTables(s, sql);
  }
}

Result<std::string> Session::RunTables(const Statement& s, std::string_view sql) {
  switch (s.verb) {
    case Verb::kCreateTable:
      if (!s.query.empty()) return CreateTableAs(s, sql);
      DRIFTLESS_TRY(TableCreation(this, s).Run());
      break;
    case Verb::kDropTable:
    case Verb::kDropView: DRIFTLESS_TRY(DropTableOrView(s)); break;
    case Verb::kTruncate: DRIFTLESS_TRY(Truncate(s)); break;
    case Verb::kCreateView: DRIFTLESS_TRY(CreateView(s, sql)); break;
    case Verb::kAlterViewAs:
    case Verb::kAlterViewRename: DRIFTLESS_TRY(AlterView(s, sql)); break;
    case Verb::kOther:
      if (s.word == "ANALYZE" && !IsBatch()) {
        return SqlError(kTableException, "ANALYZE TABLE is not supported for streaming mode now");
      }
      if (s.word == "CALL") {
        return SqlError("java.lang.UnsupportedOperationException",
                        "getProcedure is not implemented for class "
                        "org.apache.flink.table.catalog.GenericInMemoryCatalog.");
      }
      return MakeError(ErrorKind::kUnsupported, s.word + " is not supported yet");
    default: DRIFTLESS_TRY(TableAlteration(this, s).Run());
  }
  ++changes_;
  return std::string("[INFO] Execute statement succeeded.\n");
}

Result<ObjectName> Session::Qualify(const Path& name) const {
  if (name.empty() || name.size() > 3) {
    return SqlError(kValidationException, "Object identifier must consist of 1 to 3 parts.");
  }
  ObjectName full{catalog_, database_, name.back()};
  if (name.size() > 1) full.database = name[name.size() - 2];
  if (name.size() > 2) full.catalog = name[0];
  return full;
}

const Database* Session::FindDatabase(const ObjectName& name) const {
  const auto catalog = catalogs_.find(name.catalog);
  if (catalog == catalogs_.end()) return nullptr;
  const auto database = catalog->second.databases.find(name.database);
  return database == catalog->second.databases.end() ? nullptr : &database->second;
}

Database* Session::FindDatabase(const ObjectName& name) {
  const auto catalog = catalogs_.find(name.catalog);
  if (catalog == catalogs_.end()) return nullptr;
  const auto database = catalog->second.databases.find(name.database);
  return database == catalog->second.databases.end() ? nullptr : &database->second;
}

TableEntry* Session::FindPermanent(const ObjectName& name) {
  Database* database = FindDatabase(name);
  if (database == nullptr) return nullptr;
  const auto table = database->tables.find(name.object);
  return table == database->tables.end() ? nullptr : &table->second;
}

const TableEntry* Session::FindAny(const ObjectName& name, bool* temporary) const {
  const auto found = temporary_tables_.find(name);
  if (temporary != nullptr) *temporary = found != temporary_tables_.end();
  if (found != temporary_tables_.end()) return &found->second;
  const Database* database = FindDatabase(name);
  if (database == nullptr) return nullptr;
  const auto table = database->tables.find(name.object);
  return table == database->tables.end() ? nullptr : &table->second;
}

const TableEntry* Session::FindTable(const Path& name) const {
  const auto full = Qualify(name);
  return full ? FindAny(*full) : nullptr;
}

std::map<ObjectName, const TableEntry*> Session::Tables() const {
  std::map<ObjectName, const TableEntry*> tables;
  for (const auto& [catalog_name, catalog] : catalogs_) {
    for (const auto& [database_name, database] : catalog.databases) {
      for (const auto& [name, table] : database.tables) {
        tables[{catalog_name, database_name, name}] = &table;
      }
    }
  }
  for (const auto& [name, table] : temporary_tables_) tables[name] = &table;
  std::erase_if(tables, [](const auto& entry) { return entry.second->kind != TableKind::kTable; });
  return tables;
}

std::string Session::CatalogNames() const {
  std::vector<std::string> names;
  for (const auto& [name, catalog] : catalogs_) names.push_back(name);
  return Join(names);
}

bool Session::IsBatch() const {
  const auto mode = settings_.find("execution.runtime-mode");
  return mode != settings_.end() && (mode->second == "batch" || mode->second == "BATCH");
}

Result<void> Session::DropTableOrView(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableKind kind = s.verb == Verb::kDropView ? TableKind::kView : TableKind::kTable;
  const auto temporary = temporary_tables_.find(name);
  if (s.temporary) {
    const bool right_kind = temporary != temporary_tables_.end() && temporary->second.kind == kind;
    if (right_kind) {
      temporary_tables_.erase(temporary);
    } else if (!s.if_exists) {
      return SqlError(kValidationException, "Temporary table or view with identifier '" +
                                                name.Summary() + "' does not exist.");
    }
    return {};
  }
  if (temporary != temporary_tables_.end()) {
    const std::string word(KindName(kind));
    return SqlError(kValidationException, "Temporary " + word + " with identifier '" +
                                              name.Quoted() +
                                              "' exists. Drop it first before removing the "
                                              "permanent " +
                                              word + ".");
  }
  TableEntry* table = FindPermanent(name);
  if (table == nullptr || table->kind != kind) {
    if (s.if_exists) return {};
    return SqlError(kValidationException, std::string(kind == TableKind::kView ? "View" : "Table") +
                                              " with identifier '" + name.Summary() +
                                              "' does not exist.");
  }
  FindDatabase(name)->tables.erase(name.object);
  return {};
}

Result<void> Session::Truncate(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry* table = FindAny(name);
  if (table == nullptr) {
    return SqlError(kValidationException, "Cannot find table '" + name.Quoted() +
                                              "' in any of the catalogs [" + CatalogNames() +
                                              "], nor as a temporary table.");
  }
  if (table->kind != TableKind::kTable) {
    return SqlError(
        kValidationException,
        "TRUNCATE TABLE for a " + std::string(KindName(table->kind)) + " is not allowed");
  }
  if (!IsBatch()) {
    return SqlError(kTableException,
                    "TRUNCATE TABLE statement is not supported in streaming mode.");
  }
  return MakeError(ErrorKind::kUnsupported, "TRUNCATE TABLE needs a connector");
}

}  // namespace driftless::flink
