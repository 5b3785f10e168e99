#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/model/table.h"
#include "sinks/formats/debezium_json/decode.h"

namespace driftless::debezium {

// A schema-change record of Debezium: its statement, and the whole tables that it says are there
// afterwards. tableChanges has no list of what changed, no old name of a renamed table, and is
// empty for indexes, for CREATE TABLE IF NOT EXISTS of a table that is there and for the middle
// steps of a multi-table rename.
struct SchemaChangeRecord {
  struct TableChange {
    std::string type;  // CREATE, ALTER, DROP
    TablePath table;
    std::vector<std::string> columns;  // in order; empty for DROP
    // The table as a CREATE TABLE statement, from the record's own column descriptions.
    std::string create;
  };
  std::string ddl;
  std::string database;  // databaseName: the statement's default database
  std::vector<TableChange> tables;
  std::string log_position;  // source.file and source.pos: one statement's records share it
  int tables_named = 1;      // in source.table: how many tables the statement concerns
  // Canal: it did not understand the statement, and gives no default database. Rows tell.
  bool names_no_database = false;

  // Debezium tells `RENAME TABLE a TO t, b TO a, t TO b` as one record for each pair, and names all
  // the new names in each.
  bool IsPartOfRename() const;
};
// Errors: kInvalidInput.
Result<SchemaChangeRecord> ParseSchemaChange(const Record& record);
// Canal's: the text alone. `database` is empty where Canal did not understand the statement.
Result<SchemaChangeRecord> ParseCanalStatement(const Record& record);
// Maxwell's: the text and, in `def`, the table's columns behind it. Their types are given without
// lengths, so that `create` has types that hold all values.
Result<SchemaChangeRecord> ParseMaxwellStatement(const Record& record);

}  // namespace driftless::debezium
