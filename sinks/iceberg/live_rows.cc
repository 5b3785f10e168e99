#include "sinks/iceberg/live_rows.h"

#include <algorithm>
#include <utility>

namespace driftless::iceberg {
namespace {

constexpr int64_t kMergedBatchesMax = 48 << 20;
constexpr int64_t kBatchRows = 4096;
constexpr int64_t kInflation = 5;  // a guess: values in memory against bytes in a file

}  // namespace

bool CanMerge(const RowSorter& order, const std::vector<ManifestEntry>& files) {
  if (!order.sorts()) return false;
  int64_t bytes = 0;
  for (const ManifestEntry& entry : files) {
    if (entry.file.sort_order_id != order.order_id()) return false;
    const int64_t rows = std::max<int64_t>(entry.file.record_count, 1);
    bytes += entry.file.size / rows * kInflation * std::min(rows, kBatchRows);
  }
  return bytes <= kMergedBatchesMax;
}

LiveRows::LiveRows(const std::shared_ptr<const LoadedTable>& table,
                   std::vector<ManifestEntry> files,
                   const std::shared_ptr<const DeleteIndex>& deletes,
                   const std::vector<int32_t>& columns, const RowSorter* order)
    : order_(order) {
  if (order_ == nullptr) {
    heads_.push_back({TableScan::OfFiles(table, std::move(files), deletes), {}, {}});
  } else {
    for (ManifestEntry& entry : files) {
      heads_.push_back({TableScan::OfFiles(table, {std::move(entry)}, deletes), {}, {}});
    }
  }
  for (Head& head : heads_) head.scan.ReadColumns(columns);
}

bool LiveRows::IsLater(size_t a, size_t b) const {
  const int order = order_ == nullptr ? 0 : order_->Compare(heads_[a].key, heads_[b].key);
  return order != 0 ? order > 0 : a > b;
}

Result<void> LiveRows::Advance(size_t at) {
  Head& head = heads_[at];
  DRIFTLESS_ASSIGN_OR_RETURN(const bool more, head.scan.Next(&head.row));
  if (!more) return {};
  if (order_ != nullptr) {
    head.key = order_->Of({head.row.row.rows->values->after()}, head.row.row.row);
  }
  heap_.push_back(at);
  std::ranges::push_heap(heap_, [this](size_t a, size_t b) { return IsLater(a, b); });
  return {};
}

Result<bool> LiveRows::Next(lake::MergedRow* row) {
  if (!started_) {
    started_ = true;
    for (size_t at = 0; at < heads_.size(); ++at) DRIFTLESS_TRY(Advance(at));
  } else if (!heap_.empty()) {
    // The head that gave the last row.
    std::ranges::pop_heap(heap_, [this](size_t a, size_t b) { return IsLater(a, b); });
    const size_t last = heap_.back();
    heap_.pop_back();
    DRIFTLESS_TRY(Advance(last));
  }
  if (heap_.empty()) return false;
  *row = heads_[heap_.front()].row.row;
  return true;
}

}  // namespace driftless::iceberg
