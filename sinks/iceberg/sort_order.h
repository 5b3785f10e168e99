#pragma once

#include <span>
#include <string>
#include <vector>

#include "sinks/iceberg/partition.h"
#include "sinks/lake/row_ref.h"

namespace driftless::iceberg {

// The order that new data of the table shall have. Errors: kCorrupt.
Result<SortOrder> DefaultSortOrder(const TableMetadata& metadata);

// Parses "name", "day(ts) desc", "id asc nulls last" into a field without source id, whose column
// is named in `source`. Errors: kInvalidConfig.
Result<SortField> ParseSortExpression(std::string_view text, std::string* source);

// Sorts rows by a table's order.
class RowSorter {
 public:
  RowSorter() = default;  // sorts nothing
  // `image_columns`: by field of the schema, where its values stand in a row image; -1: null.
  // Errors: kUnsupported for transforms that are not known, and members of nested columns.
  static Result<RowSorter> Make(const Schema& schema, const SortOrder& order,
                                const std::vector<int>& image_columns);

  bool sorts() const { return !parts_.empty(); }
  // What files say whose rows stand in this order.
  int32_t order_id() const { return order_id_; }
  // Rows that are equal keep their order.
  void Sort(std::span<const lake::RowImage> images, std::vector<lake::RowRef>* rows) const;

  // A row and what is compared of it beyond its own values.
  struct Row {
    lake::RowImage image;
    uint32_t row = 0;
    PartitionTuple transformed;
  };
  Row Of(const lake::RowImage& image, uint32_t row) const;
  int Compare(const Row& a, const Row& b) const;

 private:
  struct Part {
    int column = -1;
    LogicalType type;
    int transformed = -1;  // which of Row::transformed; -1: the column's own values
    bool descending = false;
    bool nulls_first = true;
  };
  int32_t order_id_ = 0;
  std::vector<Part> parts_;
  Partitioner transforms_;  // of the parts that are not the columns themselves
};

}  // namespace driftless::iceberg
