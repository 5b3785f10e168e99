#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"
#include "schema/types/owned_column.h"

namespace driftless::flink {

struct Field {
  std::string name;
  LogicalType type;
};

// Rows in memory, column by column.
class Relation {
 public:
  explicit Relation(std::vector<Field> fields = {});

  const std::vector<Field>& fields() const { return fields_; }
  std::vector<Field>& fields() { return fields_; }
  int64_t rows() const { return rows_; }
  ColumnView view(size_t column) const { return columns_[column].view(); }
  std::vector<ColumnView> views() const;

  // Takes a column of as many rows as the relation has; of any number where it has no column yet.
  void AddColumn(Field field, OwnedColumn column);
  // For relations without columns: SELECT without FROM has one row of nothing.
  void SetRows(int64_t rows) { rows_ = rows; }
  // Appends a row of a relation of the same types; -1: a row of NULLs.
  void AppendRow(const Relation& from, int64_t row);

  // The rows of these numbers, in this order; -1: a row of NULLs.
  Relation Take(const std::vector<int64_t>& rows) const;
  // Both side by side; they have the same number of rows.
  static Relation Beside(const Relation& left, const Relation& right);
  // A text by which equal rows are equal and NULL is a value of its own.
  std::string KeyOf(int64_t row, const std::vector<size_t>& columns) const;

 private:
  std::vector<Field> fields_;
  std::vector<OwnedColumn> columns_;
  int64_t rows_ = 0;
};

}  // namespace driftless::flink
