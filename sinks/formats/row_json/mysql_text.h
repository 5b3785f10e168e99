#pragma once

#include <optional>
#include <string>

#include "schema/events/schema_change.h"

namespace driftless {

// A column's type in MySQL's words: the source's own text where it has one. `source` may be null.
std::string MySqlTypeText(const LogicalType& type, const Column* source);

// java.sql.Types of a logical type.
int JdbcTypeOf(const LogicalType& type);

// `CREATE TABLE ... ` in MySQL's words.
std::string CreateTableText(const TableSchema& schema);

// `ALTER TABLE ...` in MySQL's words: what makes one of the other, by the columns' identities.
std::string AlterTableText(const TableSchema& before, const TableSchema& after);

// The SQL text of one table's part of a statement. Statements that may concern several tables
// (DROP, RENAME, TRUNCATE, CREATE) are written anew for this one; ALTER is the source's own text
// where that says what becomes of this table. None where no column has a MySQL type.
std::optional<std::string> StatementText(const StatementChange& change);

}  // namespace driftless
