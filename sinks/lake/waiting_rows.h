#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/api/memory_charge.h"
#include "sinks/api/projected_batch.h"
#include "sinks/api/sink.h"
#include "sinks/lake/key_order.h"
#include "sinks/lake/row_ref.h"

namespace driftless::lake {

// The batches whose rows wait in a writer until they are written, and what they cost. A writer
// keeps references to rows (KeyedRows, or plain ones); the values stay where they came.
class WaitingRows {
 public:
  // `budget` and `reporter` may be null.
  WaitingRows(MemoryBudget* budget, RowReporter* reporter) : reporter_(reporter), charge_(budget) {}

  // Keeps the batch. The rows' new values are image `image`, the old ones the next. Several writers
  // may hold one batch: each counts its share.
  struct Added {
    std::shared_ptr<const ProjectedBatch> batch;
    uint32_t image = 0;
  };
  Result<Added> Add(const ChangeBatchPtr& batch, const Projection& projection,
                    std::span<const uint32_t> rows);
  void CountRow() { ++row_count_; }

  std::span<const RowImage> images() const { return images_; }
  // The batches', and what is kept for each row.
  int64_t bytes() const { return batch_bytes_ + row_count_ * kBytesPerRow; }
  // What is to be charged: the batches are charged already, by whoever read them.
  int64_t own_bytes() const { return projected_bytes_ + row_count_ * kBytesPerRow; }
  int64_t bytes_per_row() const { return row_count_ == 0 ? 100 : batch_bytes_ / row_count_ + 1; }

  // Tells the budget what the writer has in memory now beside the batches.
  void Charge(int64_t bytes) { charge_.Set(bytes); }
  void Clear();

 private:
  // A reference and a sort entry, in arrays that grow by doubling.
  static constexpr int64_t kBytesPerRow = 36;

  RowReporter* reporter_;
  std::vector<RowImage> images_;  // after and before of every batch, in this order
  std::vector<std::shared_ptr<const ProjectedBatch>> batches_;
  int64_t batch_bytes_ = 0;      // this writer's share of the batches
  int64_t projected_bytes_ = 0;  // beside them
  int64_t row_count_ = 0;
  MemoryCharge charge_;
};

// References to rows with a key. `images` are always those of the WaitingRows.
class KeyedRows {
 public:
  // Sorting moves these, not references: the key's first 64 bits decide nearly always.
  struct Entry {
    uint64_t prefix;
    uint32_t index;  // in the order of arrival
  };

  void Add(const KeyOrder& order, std::span<const ColumnView> views, RowRef row) {
    entries_.push_back({order.Prefix(views, row.row), static_cast<uint32_t>(rows_.size())});
    rows_.push_back(row);
  }
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }

  // By key, and inside a key by arrival.
  void Sort(const KeyOrder& order, std::span<const RowImage> images);
  // Sorted after Sort.
  std::span<const Entry> entries() const { return entries_; }
  RowRef row(const Entry& entry) const { return rows_[entry.index]; }
  // After Sort: whether the entry at `i` is its key's newest.
  bool IsNewest(size_t i, const KeyOrder& order, std::span<const RowImage> images) const {
    return i + 1 == entries_.size() || !SameKey(entries_[i], entries_[i + 1], order, images);
  }

 private:
  int Compare(const Entry& a, const Entry& b, const KeyOrder& order,
              std::span<const RowImage> images) const {
    const RowRef x = rows_[a.index];
    const RowRef y = rows_[b.index];
    return order.Compare(images[x.image].columns, x.row, images[y.image].columns, y.row);
  }
  bool SameKey(const Entry& a, const Entry& b, const KeyOrder& order,
               std::span<const RowImage> images) const {
    if (a.prefix != b.prefix) return false;
    return order.prefix_is_whole() || Compare(a, b, order, images) == 0;
  }

  std::vector<RowRef> rows_;
  std::vector<Entry> entries_;
};

// Errors of writers, all kInvalidInput. A row that says nothing of its key.
Error NoKey();
// A row that is to go, and whose old values did not come.
Error NoBeforeImage();
// The same in a table without key, where a row is known by all of its values. `missing`: what was
// not sent; `or_else`: what else would help, empty or ", or ...".
Error NoWholeBeforeImage(const std::string& missing, const Point& at,
                         std::string_view or_else = "");

}  // namespace driftless::lake
