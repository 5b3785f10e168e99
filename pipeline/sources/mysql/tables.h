#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/source_options.h"
#include "schema/ddl/mysql/dialect.h"
#include "schema/model/table.h"

namespace driftless::mysql {

struct ServerFacts;

// The settings with which the server's DDL is read.
ServerSettings SettingsOf(const ServerFacts& facts, const SourceOptions& options);

// The captured base tables that are there now, ordered by name. System databases never match.
Result<std::vector<TablePath>> ListTables(Connection* connection, const SourceOptions& options);

// The server's own SHOW CREATE TABLE. Errors: kNotFound where it is gone.
Result<std::string> ShowCreateTable(Connection* connection, const TablePath& table);

// The schema that the statement describes, as a first version of the given incarnation. Errors:
// kParse, kRefused: the statement is not understood; the text names it.
Result<TableSchemaPtr> SchemaOfStatement(const std::string& statement, const TablePath& table,
                                         const ServerSettings& settings, bool with_comments,
                                         uint64_t incarnation);

// Whether both describe the same columns and key, whatever their ids and versions.
bool SameShape(const TableSchema& a, const TableSchema& b);

}  // namespace driftless::mysql
