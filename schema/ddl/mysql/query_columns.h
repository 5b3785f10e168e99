#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "schema/ddl/mysql/statement.h"
#include "schema/model/table.h"

namespace driftless::mysql {

// Gives the schema of a table that a query names.
using TableLookup = std::function<Result<TableSchemaPtr>(const TableName&)>;

// The columns that CREATE TABLE ... AS would give the query's result: names, types, nullability and
// comments as the servers derive them (tried expression by expression on MySQL 9.7.4 and MariaDB
// 10.11.19). Row logs hold no such statement as a rule: the server writes the columns out. Ids of
// the columns are 0. `query` are the tokens of the query in the statement `sql`. `at` of an error
// is the byte offset in the statement.
struct QueryError {
  ErrorKind kind = ErrorKind::kParse;
  size_t at = 0;
  std::string message;
};
bool DeriveQueryColumns(std::string_view sql, std::span<const Token> query,
                        const TableLookup& lookup, const ServerSettings& settings,
                        const Charset& connection_charset, std::vector<Column>* columns,
                        QueryError* error);

}  // namespace driftless::mysql
