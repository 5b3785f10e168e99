#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"

namespace driftless::lake {

// The order of keys in a lake's files: column by column, ascending, null first, text and bytes by
// unsigned bytes, floating point as Java's compare does (-0.0 before 0.0, NaN last).
class KeyOrder {
 public:
  // `columns` index the views that the functions get, in key order; `types` stand beside them. No
  // nested types.
  KeyOrder(std::vector<int> columns, std::vector<LogicalType> types);

  // The key's first 64 bits in a form whose unsigned order is the key's order. Where
  // prefix_is_whole(), equal prefixes mean equal keys (of keys without nulls).
  uint64_t Prefix(std::span<const ColumnView> views, int64_t row) const;
  bool prefix_is_whole() const { return prefix_is_whole_; }

  int Compare(std::span<const ColumnView> a, int64_t a_row, std::span<const ColumnView> b,
              int64_t b_row) const;
  // Whether some key column is null at the row.
  bool HasNull(std::span<const ColumnView> views, int64_t row) const;

  const std::vector<int>& columns() const { return columns_; }
  const std::vector<LogicalType>& types() const { return types_; }

 private:
  std::vector<int> columns_;
  std::vector<LogicalType> types_;
  bool prefix_is_whole_ = false;
};

// One value of one type; as KeyOrder compares. Neither may be null.
int CompareValues(const LogicalType& type, const ColumnView& a, int64_t a_row, const ColumnView& b,
                  int64_t b_row);

}  // namespace driftless::lake
