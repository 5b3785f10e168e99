#include "sinks/lake/run_policy.h"

#include <algorithm>
#include <numeric>

namespace driftless::lake {
namespace {

// From the newest `count` on, as long as the next run is not larger than all before it.
size_t Grow(std::span<const int64_t> bytes, size_t count, int64_t size_ratio) {
  int64_t sum = std::accumulate(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count),
                                static_cast<int64_t>(0));
  while (count < bytes.size() && sum * (100 + size_ratio) / 100 >= bytes[count]) {
    sum += bytes[count++];
  }
  return count;
}

}  // namespace

size_t PickRuns(std::span<const int64_t> bytes, const RunPolicy& policy) {
  const size_t runs = bytes.size();
  if (static_cast<int64_t>(runs) < policy.trigger || runs < 2) return 0;
  const int64_t newer = std::accumulate(bytes.begin(), bytes.end() - 1, static_cast<int64_t>(0));
  if (newer * 100 > policy.size_amplification * bytes.back()) return runs;
  const size_t alike = Grow(bytes, 1, policy.size_ratio);
  if (alike >= 2) return alike;
  if (static_cast<int64_t>(runs) <= policy.trigger) return 0;
  const size_t excess = runs - static_cast<size_t>(policy.trigger) + 1;
  return Grow(bytes, std::max<size_t>(2, excess), policy.size_ratio);
}

}  // namespace driftless::lake
