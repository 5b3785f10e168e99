#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>

#include "tests/sim/simulation.h"

namespace driftless::sim {
namespace {

// Seeds that once broke something.
constexpr uint64_t kOnceBroken[] = {
    1,
    6,
    10,
    1000,
    1002,
    1030,
    17769383969035450381ULL,
    16551500734416449608ULL,
    12907572902258123790ULL,
    11580331137153352115ULL,
};
constexpr uint64_t kFixedSeeds = 40;
constexpr uint64_t kRandomSeeds = 200;
constexpr uint64_t kFixedPaimonSeeds = 5;
constexpr uint64_t kRandomPaimonSeeds = 5;

std::optional<uint64_t> FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

// The same in every run of the tests, so that a run tells of a change; another one in each of the
// long runs, which look for faults.
uint64_t BaseSeed() {
  if (const auto base = FromEnvironment("DRIFTLESS_BASE_SEED")) return *base;
  if (FromEnvironment("DRIFTLESS_LONG_TESTS") != 1U) return 20261130;
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

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

// Seeds from a base, which is printed: as many as asked for. DRIFTLESS_LONG_TESTS=1 takes a new
// base, DRIFTLESS_BASE_SEED=n that one, DRIFTLESS_SEED=n one seed alone, and
// DRIFTLESS_RANDOM_SEEDS=n says how many.
TEST(CoordinatorSimulation, RandomSeeds) {
  if (const auto seed = FromEnvironment("DRIFTLESS_SEED")) {
    ASSERT_EQ(Simulation(*seed).Run(), "") << "seed " << *seed;
    return;
  }
  const uint64_t base = BaseSeed();
  const uint64_t seeds = FromEnvironment("DRIFTLESS_RANDOM_SEEDS").value_or(kRandomSeeds);
  std::cout << seeds << " random seeds, DRIFTLESS_BASE_SEED=" << base << "\n" << std::flush;
  std::mt19937_64 random(base);
  for (uint64_t i = 0; i < seeds; ++i) {
    const uint64_t seed = random();
    ASSERT_EQ(Simulation(seed).Run(), "") << "run it again with DRIFTLESS_SEED=" << seed;
  }
}

// One of the two sinks is the real one for Paimon, on a store that forgets.
// DRIFTLESS_PAIMON_SEEDS=n says how many; DRIFTLESS_SEED and DRIFTLESS_BASE_SEED are as above.
TEST(CoordinatorSimulation, RealPaimonSeeds) {
  int64_t compactions = 0;
  const auto run = [&](uint64_t seed) {
    Simulation simulation(seed, Simulation::Sinks::kRealPaimon);
    std::string broken = simulation.Run();
    compactions += simulation.compactions();
    return broken;
  };
  if (const auto seed = FromEnvironment("DRIFTLESS_SEED")) {
    ASSERT_EQ(run(*seed), "") << "seed " << *seed;
    return;
  }
  for (uint64_t seed = 1; seed <= kFixedPaimonSeeds; ++seed) {
    ASSERT_EQ(run(seed), "") << "seed " << seed;
  }
  const uint64_t base = BaseSeed();
  const uint64_t seeds = FromEnvironment("DRIFTLESS_PAIMON_SEEDS").value_or(kRandomPaimonSeeds);
  std::cout << seeds << " random seeds, DRIFTLESS_BASE_SEED=" << base << "\n" << std::flush;
  std::mt19937_64 random(base);
  for (uint64_t i = 0; i < seeds; ++i) {
    const uint64_t seed = random();
    ASSERT_EQ(run(seed), "") << "run it again with DRIFTLESS_SEED=" << seed;
  }
  EXPECT_GT(compactions, 0);
}

}  // namespace
}  // namespace driftless::sim
