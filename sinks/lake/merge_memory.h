#pragma once

#include <cstddef>
#include <cstdint>

namespace driftless {
class MemoryBudget;
}

namespace driftless::lake {

// What a rewrite of files (a compaction) may hold at one time: a third of the pipeline's budget,
// whatever the table has. It is charged to the budget while it is held, so that writers roll
// earlier meanwhile instead of the rewrite coming on top of them.
class MergeMemory {
 public:
  // `budget` may be null: nothing is charged, and the bounds are those of a large budget.
  explicit MergeMemory(MemoryBudget* budget = nullptr);

  MemoryBudget* budget() const { return budget_; }
  // Of the batches whose rows are collected for one row group.
  int64_t group_bytes() const { return group_bytes_; }
  // How many rows are read from a file at once.
  int64_t batch_rows() const { return batch_rows_; }
  // What a file of so many columns costs while it is open for reading.
  int64_t open_file_bytes(size_t columns) const;
  // How many such files may be open at one time; at least kOpenFilesMin.
  size_t open_files_max(size_t columns) const;

  static constexpr size_t kOpenFilesMin = 4;

 private:
  MemoryBudget* budget_;
  int64_t share_;
  int64_t group_bytes_;
  int64_t batch_rows_;
};

}  // namespace driftless::lake
