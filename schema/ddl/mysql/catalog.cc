#include "schema/ddl/mysql/catalog.h"

#include <utility>

#include "schema/base/check.h"
#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/parser.h"
#include "schema/ddl/mysql/statement_run.h"
#include "schema/ddl/mysql/table_entry.h"

namespace driftless::mysql {

DdlCatalog::DdlCatalog(ServerSettings settings) : settings_(std::move(settings)) {}
DdlCatalog::~DdlCatalog() = default;
DdlCatalog::DdlCatalog(DdlCatalog&&) noexcept = default;
DdlCatalog& DdlCatalog::operator=(DdlCatalog&&) noexcept = default;

DdlCatalog::TableKey DdlCatalog::KeyOf(std::string_view database, std::string_view table) const {
  if (settings_.table_name_case == TableNameCase::kSensitive) {
    return {std::string(database), std::string(table)};
  }
  return {LowerCase(database), LowerCase(table)};
}

Result<StatementEffect> DdlCatalog::Apply(std::string_view sql, const StatementContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement,
                             ParseStatement(sql, settings_, context.sql_mode));
  StatementRun run(*this, sql, context);
  DRIFTLESS_TRY(run.Run(statement));
  run.Keep(this);
  return run.TakeEffect();
}

Result<StatementEffect> DdlCatalog::Preview(std::string_view sql,
                                            const StatementContext& context) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement,
                             ParseStatement(sql, settings_, context.sql_mode));
  StatementRun run(*this, sql, context);
  DRIFTLESS_TRY(run.Run(statement));
  return run.TakeEffect();
}

TableSchemaPtr DdlCatalog::Find(const TablePath& table) const {
  auto found = tables_.find(KeyOf(table.database, table.table));
  return found == tables_.end() ? nullptr : found->second->schema;
}

std::vector<TableSchemaPtr> DdlCatalog::Tables() const {
  std::vector<TableSchemaPtr> tables;
  for (const auto& [key, entry] : tables_) tables.push_back(entry->schema);
  return tables;
}

void DdlCatalog::Load(TableSchemaPtr table) {
  const TableKey key = KeyOf(table->path.database, table->path.table);
  next_incarnation_ = std::max(next_incarnation_, table->incarnation + 1);
  auto entry = std::make_shared<TableEntry>();
  entry->schema = std::move(table);
  entry->complete = false;
  tables_[key] = std::move(entry);
}

void DdlCatalog::Forget(const TablePath& table) {
  tables_.erase(KeyOf(table.database, table.table));
}

void DdlCatalog::Rebind(TableSchema schema, const std::map<ColumnId, ColumnId>& ids) {
  auto found = tables_.find(KeyOf(schema.path.database, schema.path.table));
  DRIFTLESS_CHECK(found != tables_.end());
  const auto rebind = [&](ColumnId& id) {
    if (auto to = ids.find(id); to != ids.end()) id = to->second;
  };
  const auto rebind_all = [&](std::vector<ColumnId>& list) {
    for (ColumnId& id : list) rebind(id);
  };
  auto entry = std::make_shared<TableEntry>(*found->second);
  for (Column& column : schema.columns) rebind(column.id);
  rebind_all(schema.primary_key);
  rebind_all(schema.partition_keys);
  for (IndexEntry& index : entry->indexes) rebind_all(index.columns);
  for (ForeignKeyEntry& key : entry->foreign_keys) rebind_all(key.columns);
  for (CheckEntry& check : entry->checks) rebind_all(check.columns);
  std::map<ColumnId, std::vector<ColumnId>> generated_from;
  for (auto& [generated, from] : entry->generated_from) {
    ColumnId id = generated;
    rebind(id);
    rebind_all(from);
    generated_from[id] = std::move(from);
  }
  entry->generated_from = std::move(generated_from);
  entry->schema = std::make_shared<const TableSchema>(std::move(schema));
  found->second = std::move(entry);
}

void DdlCatalog::SetDatabase(const std::string& name, const Charset& defaults) {
  databases_[KeyOf(name, "").first] = {name, defaults};
}

std::vector<TablePath> DdlCatalog::TablesNamedIn(std::string_view sql,
                                                 const StatementContext& context) const {
  std::map<std::string, bool> words;  // lower case
  bool readable = true;
  Lexer lexer(sql, settings_, context.sql_mode);
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    if (token.kind == TokenKind::kBad) {
      readable = false;
      break;
    }
    const bool may_name = token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted ||
                          (token.kind == TokenKind::kString && sql[token.begin] == '"');
    if (may_name) words[LowerCase(token.text)] = true;
  }
  const std::string lower = LowerCase(sql);
  std::vector<TablePath> named;
  for (const auto& [key, entry] : tables_) {
    const TablePath& path = entry->schema->path;
    const std::string name = LowerCase(path.table);
    const bool found = readable ? words.contains(name) : lower.find(name) != std::string::npos;
    if (found) named.push_back(path);
  }
  return named;
}

}  // namespace driftless::mysql
