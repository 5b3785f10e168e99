#include "pipeline/runtime/process_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace driftless {
namespace {

int64_t FileBackedKiB() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    if (word != "RssFile:") continue;
    int64_t kib = 0;
    file >> kib;
    return kib;
  }
  return 0;
}

// Clean pages of code are most of an idle process: a system that maps libraries in large folios
// shows 40 MiB for what needs 8. The bound is loose, since sanitizers map more.
TEST(ProcessMemoryTest, FilePagesAreGivenBack) {
  const int64_t before = FileBackedKiB();
  if (before == 0) GTEST_SKIP() << "the system does not tell RssFile";
  ReleaseFreeMemory();
  EXPECT_LT(FileBackedKiB(), before / 2);
  EXPECT_GT(ResidentBytes(), 0);
}

}  // namespace
}  // namespace driftless
