#include "pipeline/sources/mysql/tables.h"

#include <fmt/format.h>

#include "pipeline/sources/mysql/server_facts.h"
#include "schema/ddl/mysql/catalog.h"

namespace driftless::mysql {

ServerSettings SettingsOf(const ServerFacts& facts, const SourceOptions& options) {
  ServerSettings settings;
  settings.dialect = facts.flavour;
  settings.version = facts.version;
  settings.table_name_case = static_cast<TableNameCase>(facts.lower_case_table_names);
  settings.charset = facts.charset;
  settings.collation = facts.collation;
  settings.explicit_defaults_for_timestamp = facts.explicit_defaults_for_timestamp;
  settings.tinyint1_is_boolean = options.tinyint1_is_boolean;
  settings.without_comments = !options.include_comments;
  return settings;
}

Result<std::vector<TablePath>> ListTables(Connection* connection, const SourceOptions& options) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto rows,
      connection->Query("SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE "
                        "TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN "
                        "('mysql', 'sys', 'information_schema', 'performance_schema') "
                        "ORDER BY TABLE_SCHEMA, TABLE_NAME"));
  std::vector<TablePath> tables;
  for (const TextRow& row : rows) {
    TablePath table{"", row[0].value_or(""), row[1].value_or("")};
    if (options.IsCaptured(table)) tables.push_back(std::move(table));
  }
  return tables;
}

Result<std::string> ShowCreateTable(Connection* connection, const TablePath& table) {
  const std::string sql =
      fmt::format("SHOW CREATE TABLE {}.{}", QuoteName(table.database), QuoteName(table.table));
  auto answer = connection->Query(sql);
  // Beside DDL of others it may be the one that a deadlock (ER_LOCK_DEADLOCK) is ended by.
  for (int again = 0; !answer && connection->last_errno() == 1213 && again < 10; ++again) {
    answer = connection->Query(sql);
  }
  if (!answer) return std::move(answer).error();
  const std::vector<TextRow>& rows = *answer;
  if (rows.empty() || rows[0].size() < 2 || !rows[0][1]) {
    return MakeError(ErrorKind::kNotFound, "the server does not show table " + table.ToString());
  }
  return *rows[0][1];
}

Result<TableSchemaPtr> SchemaOfStatement(const std::string& statement, const TablePath& table,
                                         const ServerSettings& settings, bool with_comments,
                                         uint64_t incarnation) {
  DdlCatalog catalog(settings);
  StatementContext context;
  context.default_database = table.database;
  auto effect = catalog.Apply(statement, context);
  if (!effect) {
    return std::move(effect)
        .error()
        .Context("the definition of " + table.ToString())
        .Hint(
            "The server's SHOW CREATE TABLE is not understood; leave the table out with "
            "tables.exclude, and please report the statement.");
  }
  const TableSchemaPtr found = catalog.Find(table);
  if (found == nullptr) {
    return MakeError(ErrorKind::kInternal, "SHOW CREATE TABLE gave no table " + table.ToString());
  }
  auto schema = std::make_shared<TableSchema>(*found);
  schema->incarnation = incarnation;
  if (!with_comments) {
    schema->comment.clear();
    for (Column& column : schema->columns) column.comment.clear();
  }
  return TableSchemaPtr(std::move(schema));
}

bool SameShape(const TableSchema& a, const TableSchema& b) {
  if (a.columns.size() != b.columns.size() || a.primary_key.size() != b.primary_key.size()) {
    return false;
  }
  for (size_t i = 0; i < a.columns.size(); ++i) {
    if (a.columns[i].name != b.columns[i].name || !(a.columns[i].type == b.columns[i].type) ||
        a.columns[i].source.type_text != b.columns[i].source.type_text) {
      return false;
    }
  }
  for (size_t i = 0; i < a.primary_key.size(); ++i) {
    if (a.IndexOf(a.primary_key[i]) != b.IndexOf(b.primary_key[i])) return false;
  }
  return true;
}

}  // namespace driftless::mysql
