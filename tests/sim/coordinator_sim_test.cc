#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/sim/simulation.h"

namespace driftless::sim {
namespace {

// Seeds that once broke something.
constexpr uint64_t kOnceBroken[] = {1, 6, 10, 1000, 1002, 1030};
constexpr uint64_t kFixedSeeds = 40;
constexpr int kRandomSeeds = 200;

TEST(CoordinatorSimulation, SeedsThatOnceBrokeSomething) {
  for (const uint64_t seed : kOnceBroken) {
    EXPECT_EQ(Simulation(seed).Run(), "") << "seed " << seed;
  }
}

TEST(CoordinatorSimulation, FixedSeeds) {
  for (uint64_t seed = 1000; seed < 1000 + kFixedSeeds; ++seed) {
    ASSERT_EQ(Simulation(seed).Run(), "") << "seed " << seed;
  }
}

// DRIFTLESS_SEED=n runs that seed alone.
TEST(CoordinatorSimulation, RandomSeeds) {
  if (const char* text = std::getenv("DRIFTLESS_SEED")) {
    const uint64_t seed = std::strtoull(text, nullptr, 10);
    ASSERT_EQ(Simulation(seed).Run(), "") << "seed " << seed;
    return;
  }
  std::random_device device;
  for (int i = 0; i < kRandomSeeds; ++i) {
    const uint64_t seed = (static_cast<uint64_t>(device()) << 32) | device();
    const std::string broken = Simulation(seed).Run();
    ASSERT_EQ(broken, "") << "run it again with DRIFTLESS_SEED=" << seed;
  }
}

}  // namespace
}  // namespace driftless::sim
