#include "pipeline/runtime/process_memory.h"

#include <arrow/memory_pool.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace driftless {
namespace {

// Writable segments (data, relocated constants) are left alone: their pages are not in any file.
int TrimObject(dl_phdr_info* info, size_t, void*) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = (info->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const uintptr_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_filesz) & ~(page - 1);
    if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void PrepareProcessMemory() {
  setenv("ARROW_DEFAULT_MEMORY_POOL", "system", /*overwrite=*/0);
  mallopt(M_ARENA_MAX, 4);
  // Batches of a megabyte come and go all the time: given back to the kernel each time, they cost a
  // sixth of a pipeline's CPU in page faults. What is free at rest goes back by ReleaseFreeMemory.
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

void KeepFreeMemory(int64_t budget_bytes) {
  // A part of the budget at the top of each arena.
  constexpr int64_t kPart = 24;
  constexpr int64_t kMax = 8 << 20;
  constexpr int64_t kMin = 256 << 10;
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(std::clamp(budget_bytes / kPart, kMin, kMax)));
}

void ReleaseFilePages() { dl_iterate_phdr(TrimObject, nullptr); }

void ReleaseFreeMemory() {
  arrow::default_memory_pool()->ReleaseUnused();
  malloc_trim(0);
  ReleaseFilePages();
}

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace driftless
