#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/ddl/mysql/statement_run.h"

namespace driftless::mysql {

// What CREATE TABLE and ALTER TABLE have in common: columns from their definitions, keys over
// columns, and the rules that hold for a table as a whole.
class TableBuilder {
 public:
  // `entry` is the table to begin with: empty, or as it was.
  TableBuilder(const StatementRun& run, DdlCatalog::TableEntry entry);

  TableSchema& schema() { return schema_; }
  DdlCatalog::TableEntry& entry() { return entry_; }

  // Table options onto the schema. `database_defaults` is what CHARACTER SET DEFAULT means.
  Result<void> SetOptions(const TableOptions& options, const Charset& database_defaults);

  // A column as defined; `id` is an old column's, or 0 for the next new one.
  Result<Column> MakeColumn(const ColumnSpec& spec, ColumnId id);
  // Default of a column, checked against its type. `nullable`: without DEFAULT it is NULL.
  Result<void> SetDefault(const ColumnDefault& value, std::string_view name, BaseType base,
                          bool has_implied_null, Column* column);
  // Remembers the inline keys, checks and generation of a column that is in the schema already.
  Result<void> AddInlineKeys(const ColumnSpec& spec, ColumnId id);
  Result<void> AddKey(const KeySpec& key);
  // Columns that a period names become NOT NULL.
  Result<void> AddPeriod(const std::vector<Name>& columns);

  // Rules about the whole table, after all columns and keys. Makes the key's columns NOT NULL.
  Result<void> Finish(size_t at);
  DdlCatalog::TableEntry Take();

 private:
  Result<ColumnId> ColumnOf(const Name& name) const;
  std::string FreeIndexName(const std::string& base) const;
  Result<void> FinishPrimaryKey(size_t at);
  Result<void> CheckKeyParts(const KeySpec& key) const;
  void CoverForeignKey(const KeySpec& key, const std::vector<ColumnId>& columns);
  Result<void> CheckColumns(size_t at) const;
  Result<void> CheckAutoIncrement(size_t at) const;

  const StatementRun& run_;
  DdlCatalog::TableEntry entry_;
  TableSchema schema_;
  std::set<ColumnId> explicitly_null_;  // NULL was written: no part of a primary key in MySQL
  std::set<ColumnId> default_null_;     // DEFAULT NULL was written
};

}  // namespace driftless::mysql
