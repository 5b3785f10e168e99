#include "sinks/lake/merge_memory.h"

#include <gtest/gtest.h>

#include "sinks/api/memory_budget.h"

namespace driftless::lake {
namespace {

TEST(MergeMemoryTest, TakesAThirdOfTheBudgetWhateverTheTable) {
  for (const int64_t mib : {16, 24, 64, 192, 1024, 8192}) {
    MemoryBudget budget(mib << 20);
    const MergeMemory memory(&budget);
    for (const size_t columns : {3, 13, 60, 400}) {
      const size_t files = memory.open_files_max(columns);
      ASSERT_GE(files, MergeMemory::kOpenFilesMin);
      if (files == MergeMemory::kOpenFilesMin) continue;  // a merge needs some
      EXPECT_LE(
          memory.group_bytes() + static_cast<int64_t>(files) * memory.open_file_bytes(columns),
          budget.limit_bytes() / 3)
          << mib << " MiB, " << columns << " columns";
    }
  }
}

TEST(MergeMemoryTest, GrowsWithTheBudget) {
  MemoryBudget small(16 << 20);
  MemoryBudget large(192 << 20);
  EXPECT_LT(MergeMemory(&small).open_files_max(13), MergeMemory(&large).open_files_max(13));
  EXPECT_LT(MergeMemory(&small).group_bytes(), MergeMemory(&large).group_bytes());
  EXPECT_EQ(MergeMemory(nullptr).group_bytes(), MergeMemory(&large).group_bytes());
}

}  // namespace
}  // namespace driftless::lake
