#pragma once

#include <memory>
#include <vector>

#include "sinks/iceberg/sort_order.h"
#include "sinks/iceberg/table_scan.h"

namespace driftless::iceberg {

// Whether each of the files stands in this order, and a batch of each fits into memory.
bool CanMerge(const RowSorter& order, const std::vector<ManifestEntry>& files);

// The rows of data files that deletes leave.
class LiveRows {
 public:
  // One file after the other; with an order, in which every file stands, as one sorted run: equal
  // rows in the order of the files. `columns`: by id, as the order's image columns count them.
  LiveRows(const std::shared_ptr<const LoadedTable>& table, std::vector<ManifestEntry> files,
           const std::shared_ptr<const DeleteIndex>& deletes, const std::vector<int32_t>& columns,
           const RowSorter* order);

  // False at the end.
  Result<bool> Next(lake::MergedRow* row);

 private:
  struct Head {
    TableScan scan;
    ScannedRow row;
    RowSorter::Row key;
  };
  Result<void> Advance(size_t head);
  bool IsLater(size_t a, size_t b) const;

  const RowSorter* order_;
  std::vector<Head> heads_;
  std::vector<size_t> heap_;  // heads that have a row; the first one is in front
  bool started_ = false;
};

}  // namespace driftless::iceberg
