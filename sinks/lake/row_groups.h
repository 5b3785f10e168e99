#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sinks/api/memory_charge.h"
#include "sinks/lake/key_order.h"
#include "sinks/lake/merge_reader.h"
#include "sinks/lake/row_ref.h"

namespace driftless::lake {

// Collects rows that were read from files and hands them on in groups that are small enough to be
// encoded as one row group each. Memory: one group.
class RowGroups {
 public:
  using Take =
      std::function<Result<void>(std::span<const RowImage> images, std::span<const RowRef> rows,
                                 std::span<const int64_t> sequences)>;
  // With an order the rows of a group are sorted by it; their sequences are not handed on then.
  // `bytes_max`: of the batches whose rows make up a group; they are charged to `budget`, which may
  // be null.
  explicit RowGroups(Take take, std::optional<KeyOrder> order = std::nullopt,
                     int64_t bytes_max = 16 << 20, MemoryBudget* budget = nullptr)
      : take_(std::move(take)), order_(std::move(order)), bytes_max_(bytes_max), charge_(budget) {}

  Result<void> Add(const MergedRow& row);
  Result<void> Flush();

 private:
  // Rows of one source come in runs of one batch, whatever comes between them.
  struct LastOfSource {
    const FileRows* rows = nullptr;
    uint32_t image = 0;
  };

  uint32_t AddBatch(const FileRowsPtr& rows);
  void Sort();

  Take take_;
  std::optional<KeyOrder> order_;
  int64_t bytes_max_;
  std::vector<FileRowsPtr> batches_;
  std::vector<RowImage> images_;
  std::unordered_map<const FileRows*, uint32_t> index_;
  std::vector<LastOfSource> last_;  // by source
  std::vector<RowRef> rows_;
  std::vector<int64_t> sequences_;
  int64_t bytes_ = 0;
  MemoryCharge charge_;
};

}  // namespace driftless::lake
