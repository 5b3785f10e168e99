#include "pipeline/runtime/memory_pressure.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

class Holder : public MemoryHolder {
 public:
  Holder(MemoryBudget* budget, int64_t bytes) : budget_(budget), bytes_(bytes) {
    budget_->Add(bytes);
  }
  int64_t RollableBytes() const override { return bytes_; }
  void RequestRoll() override { ++asked; }
  void Roll(MemoryPressure* pressure) {
    budget_->Release(bytes_);
    bytes_ = 0;
    pressure->RollDone();
  }
  int asked = 0;

 private:
  MemoryBudget* budget_;
  int64_t bytes_;
};

class MemoryPressureTest : public ::testing::Test {
 protected:
  MemoryBudget budget_{1000};
  MemoryPressure pressure_{&budget_};
};

TEST_F(MemoryPressureTest, NobodyRollsWhileHalfIsFree) {
  Holder holder(&budget_, 500);
  pressure_.Register(&holder);
  EXPECT_TRUE(pressure_.Relieve());
  EXPECT_EQ(holder.asked, 0);
}

TEST_F(MemoryPressureTest, TheLargestRollsBeforeSourcesMustWait) {
  Holder small(&budget_, 200);
  Holder large(&budget_, 400);
  pressure_.Register(&small);
  pressure_.Register(&large);
  EXPECT_TRUE(pressure_.Relieve());
  EXPECT_TRUE(pressure_.Relieve());
  EXPECT_EQ(large.asked, 1);  // one at a time
  EXPECT_EQ(small.asked, 0);
  large.Roll(&pressure_);
  EXPECT_EQ(small.asked, 0);  // there is room again
}

TEST_F(MemoryPressureTest, TheNextOneRollsWhenOneIsNotEnough) {
  Holder first(&budget_, 400);
  Holder second(&budget_, 300);
  budget_.Add(250);
  pressure_.Register(&first);
  pressure_.Register(&second);
  EXPECT_TRUE(pressure_.Relieve());
  first.Roll(&pressure_);
  EXPECT_EQ(second.asked, 1);
  budget_.Release(250);
}

// Others hold the memory: rolling little and often would make a file of each batch.
TEST_F(MemoryPressureTest, ASmallBufferIsKeptUntilTheLimit) {
  Holder holder(&budget_, 100);
  budget_.Add(800);
  pressure_.Register(&holder);
  EXPECT_TRUE(pressure_.Relieve());
  EXPECT_EQ(holder.asked, 0);
  budget_.Add(300);
  EXPECT_TRUE(pressure_.Relieve());
  EXPECT_EQ(holder.asked, 1);
  holder.Roll(&pressure_);
  EXPECT_FALSE(pressure_.Relieve());  // over the limit, and nothing left that could be rolled
  budget_.Release(1100);
}

}  // namespace
}  // namespace driftless
