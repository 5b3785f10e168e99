#include "sinks/lake/merge_memory.h"

#include <algorithm>

#include "sinks/api/memory_budget.h"
#include "sinks/lake/parquet_encoder.h"

namespace driftless::lake {
namespace {

constexpr int64_t kShare = 3;  // one part of so many of the budget
constexpr int64_t kLargeBudget = 192 << 20;
constexpr int64_t kLargeShare = 32 << 20;

// Of one open column: the reader's input buffer, and what its values take in Arrow's form, in a
// builder and in a batch. Few columns fill a page: most are delta-encoded to a byte or two a value.
constexpr int64_t kColumnBuffer = 16 << 10;
constexpr int64_t kPagesFilled = 4;  // one of so many
constexpr int64_t kValueBytes = 36;

}  // namespace

MergeMemory::MergeMemory(MemoryBudget* budget)
    : budget_(budget),
      share_((budget == nullptr ? kLargeBudget : budget->limit_bytes()) / kShare),
      group_bytes_(std::clamp<int64_t>(share_ / 5, 1 << 20, 16 << 20)),
      batch_rows_(share_ >= kLargeShare ? 1024 : 256) {}

int64_t MergeMemory::open_file_bytes(size_t columns) const {
  return static_cast<int64_t>(columns) *
         (kColumnBuffer + kParquetPageBytes / kPagesFilled + batch_rows_ * kValueBytes);
}

size_t MergeMemory::open_files_max(size_t columns) const {
  const int64_t files = (share_ - group_bytes_) / std::max<int64_t>(open_file_bytes(columns), 1);
  return std::max(kOpenFilesMin, static_cast<size_t>(std::max<int64_t>(files, 0)));
}

}  // namespace driftless::lake
