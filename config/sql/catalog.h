#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/sql/statement.h"

namespace driftless::flink {

class Relation;

struct Column {
  std::string name;
  ColumnKind kind = ColumnKind::kPhysical;
  LogicalType type;
  Expr expr;         // kComputed
  std::string text;  // kComputed: as DESCRIBE prints it
  bool proctime = false;
  bool rowtime = false;  // of a view: the column is a table's event time
  std::optional<std::string> metadata_key;
  bool is_virtual = false;
  std::optional<std::string> comment;
};

struct Watermark {
  Path column;
  Expr expr;
  std::string text;
};

struct PrimaryKey {
  std::string name;
  std::vector<std::string> columns;
};

enum class TableKind : uint8_t { kTable, kView, kMaterialized };

struct TableEntry {
  TableKind kind = TableKind::kTable;
  std::vector<Column> columns;
  std::optional<Watermark> watermark;
  std::optional<PrimaryKey> key;
  std::string comment;
  std::map<std::string, std::string> options;
  std::vector<std::string> partition_keys;
  std::optional<Distribution> distribution;
  std::vector<OptionList> partitions;    // in the order of their creation
  std::string query;                     // expanded; empty for a view that the Table API made
  std::string freshness;                 // kMaterialized: as in INTERVAL '30' SECOND
  bool refreshes_fully = false;          // kMaterialized: REFRESH_MODE
  std::shared_ptr<const Relation> rows;  // of a view that the Table API made

  const Column* Find(std::string_view name) const {
    for (const Column& column : columns) {
      if (column.name == name) return &column;
    }
    return nullptr;
  }
};

std::string_view KindName(TableKind kind);     // "table", "view", "materialized table"
std::string_view KindKeyword(TableKind kind);  // the same in upper case

struct FunctionEntry {
  std::string class_name;
  std::string language = "JAVA";
  std::vector<std::string> resources;
};

struct ModelEntry {
  std::vector<Column> input;
  std::vector<Column> output;
  std::string comment;
  std::map<std::string, std::string> options;
};

struct Database {
  std::string comment;
  std::map<std::string, std::string> options;
  std::map<std::string, TableEntry> tables;  // views too
  std::map<std::string, FunctionEntry> functions;
  std::map<std::string, ModelEntry> models;
};

struct Catalog {
  bool has_descriptor = false;
  std::string comment;
  std::map<std::string, std::string> options;
  std::string default_database;
  std::map<std::string, Database> databases;
};

// catalog, database, object
struct ObjectName {
  std::string catalog;
  std::string database;
  std::string object;

  std::string Quoted() const;   // `c`.`d`.`o`
  std::string Summary() const;  // c.d.o
  auto operator<=>(const ObjectName&) const = default;
};

}  // namespace driftless::flink
