#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace driftless::lake {

// Runs `work(i)` for every i below `count`, on a few threads.
template <typename Work>
void InParallel(size_t count, int threads, const Work& work) {
  const size_t workers = std::min(count, static_cast<size_t>(std::max(1, threads)));
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  if (workers <= 1) return loop();
  std::vector<std::jthread> pool;
  for (size_t i = 0; i < workers; ++i) pool.emplace_back(loop);
}

}  // namespace driftless::lake
