#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/relation/operators.h"
#include "config/relation/relation.h"
#include "config/sql/catalog.h"
#include "config/table_api/api_expr.h"

namespace driftless::table_api {

// A table of a method chain: rows in memory, or only columns where it stands for a connector.
struct Table {
  flink::Relation rows;
  bool has_rows = true;  // false: a table of a connector, which only Flink reads
  // Of tEnv.from(name): what printSchema knows beyond columns.
  std::shared_ptr<const flink::TableEntry> entry;
};

enum class SchemaStyle : uint8_t { kResolved, kTree };
// What printSchema() prints.
std::string SchemaText(const Table& table, SchemaStyle style);

// Operations as Flink's Table has them. Errors: in Flink's words, causes behind "Caused by: ".
Result<Table> Select(const Table& table, const std::vector<ApiExpr>& items);
// `keys`: of groupBy; nothing: one group of all rows.
Result<Table> SelectAggregates(const Table& table, const std::vector<ApiExpr>& keys,
                               const std::vector<ApiExpr>& items);
Result<Table> AddColumns(const Table& table, const std::vector<ApiExpr>& columns, bool replace);
Result<Table> RenameColumns(const Table& table, const std::vector<ApiExpr>& columns);
Result<Table> DropColumns(const Table& table, const std::vector<ApiExpr>& columns);
Result<Table> As(const Table& table, const std::vector<std::string>& names);
Result<Table> Where(const Table& table, const ApiExpr& condition);
Result<Table> OrderBy(const Table& table, const std::vector<ApiExpr>& keys);
Result<Table> JoinTables(const Table& left, const Table& right, flink::JoinKind kind,
                         const std::optional<ApiExpr>& on);
Result<Table> CombineTables(const Table& left, const Table& right, flink::SetOperation operation,
                            std::string_view name);

// One row of values for each of `rows`, in columns of their common types, or of the declared ones.
Result<Table> FromValues(const std::vector<flink::Field>& declared,
                         const std::vector<std::vector<ApiExpr>>& rows);

}  // namespace driftless::table_api
