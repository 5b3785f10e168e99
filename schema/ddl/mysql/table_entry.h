#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/statement.h"

namespace driftless::mysql {

struct IndexEntry {
  std::string name;
  KeySpec::Kind kind = KeySpec::Kind::kIndex;
  std::vector<ColumnId> columns;  // 0: an expression
};

struct ForeignKeyEntry {
  std::string name;
  std::vector<ColumnId> columns;
  TablePath references;
};

struct CheckEntry {
  std::string name;
  std::vector<ColumnId> columns;
};

// A tracked table: its schema, and what else statements may name.
struct DdlCatalog::TableEntry {
  TableSchemaPtr schema;
  // False for a table that was loaded: only the schema is known. Statements about indexes and
  // constraints are then believed without a check.
  bool complete = true;
  std::vector<IndexEntry> indexes;  // without the primary key
  std::vector<ForeignKeyEntry> foreign_keys;
  std::vector<CheckEntry> checks;
  std::map<ColumnId, std::vector<ColumnId>> generated_from;
  bool partitioned = false;
  std::vector<std::string> partitions;  // empty where they have no names of their own

  // Index by name, ignoring case; or -1.
  int FindIndex(std::string_view name) const;
};

}  // namespace driftless::mysql
