#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/types/logical_type.h"

namespace driftless {

// A table's name. MySQL and MariaDB: (database, table), catalog empty. PostgreSQL: (schema, table),
// catalog the database where the user asks for it. Sinks: (database, table).
struct TablePath {
  std::string catalog;  // may be empty
  std::string database;
  std::string table;

  // "database.table" or "catalog.database.table", unquoted, for people.
  std::string ToString() const;
  friend auto operator<=>(const TablePath&, const TablePath&) = default;
};

// Splits "a.b" or "a.b.c" at its dots. Errors: kInvalidConfig when there are fewer or more parts.
Result<TablePath> ParseTablePath(std::string_view text);

// A column's identity inside one table incarnation. Never reused: rename keeps it, drop and re-add
// makes a new one. 0 is no column.
using ColumnId = uint32_t;

// The three values that a column default can have, and the function that a server evaluates.
struct DefaultValue {
  enum class Kind : uint8_t { kNone, kNull, kLiteral, kExpression };
  Kind kind = Kind::kNone;
  std::string text;  // kLiteral: the value's text, unquoted; kExpression: SQL text
  friend bool operator==(const DefaultValue&, const DefaultValue&) = default;
};

// What a source's server knows of a column beyond its logical type. Sinks do not look at it;
// decoders and DDL do.
struct SourceAttributes {
  std::string type_text;  // as the server prints it: "int(10) unsigned", "enum('a','b')"
  std::string charset;    // "utf8mb4"; empty where the type has none
  std::string collation;
  std::vector<std::string> enum_values;  // ENUM and SET members, UTF-8
  bool is_unsigned = false;
  bool is_auto_increment = false;
  bool is_generated = false;
  bool is_invisible = false;
  std::string on_update;  // "CURRENT_TIMESTAMP(6)" or empty
  friend bool operator==(const SourceAttributes&, const SourceAttributes&) = default;
};

struct Column {
  ColumnId id = 0;
  std::string name;
  LogicalType type;  // nullability included
  std::string comment;
  DefaultValue default_value;
  SourceAttributes source;
  friend bool operator==(const Column&, const Column&) = default;
};

// One version of one table's schema. Immutable once shared.
struct TableSchema {
  TablePath path;
  uint64_t incarnation = 0;  // which table of this name: DROP and CREATE make a new one
  uint32_t version = 0;      // counts up inside an incarnation, from 0
  ColumnId next_column_id = 1;
  std::vector<Column> columns;
  std::vector<ColumnId> primary_key;  // in key order; empty where there is none
  std::vector<ColumnId> partition_keys;
  std::map<std::string, std::string> options;
  std::string comment;
  std::string charset;  // the source's table default, for columns added later without one
  std::string collation;

  // Index into columns, or -1.
  int IndexOf(ColumnId id) const;
  int IndexOfName(std::string_view name) const;              // exact letters
  int IndexOfNameIgnoringCase(std::string_view name) const;  // ASCII and Latin case folding
  const Column* Find(ColumnId id) const;
  const Column* FindName(std::string_view name) const;
  bool IsKey(ColumnId id) const;
  bool IsPartitionKey(ColumnId id) const;

  // Appends a column and gives it the next id.
  Column& AddColumn(std::string name, LogicalType type);

  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

using TableSchemaPtr = std::shared_ptr<const TableSchema>;

}  // namespace driftless
