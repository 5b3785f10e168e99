// What a source sends as a whole is never half in a cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/pipeline/runtime/harness.h"

namespace driftless {
namespace {

const TablePath kOrders = ShopTable("orders");

// Two whole groups; the test holds the source between them and within the second.
ScriptBuilder Chunks() {
  ScriptBuilder script;
  script.Create("orders").Progress();
  script.Unbroken(true).Rows("orders", 2).Rows("orders", 1).Unbroken(false);
  script.Wait(0).Unbroken(true).Rows("orders", 2).Wait(1).Rows("orders", 2).Unbroken(false);
  return script;
}

// The first group is committed, and some of the second is on its way.
void StartIntoTheSecond(Harness& harness) {
  harness.Start();
  ASSERT_TRUE(Eventually([&] {
    harness.runtime_->RequestCheckpoint();
    return harness.warehouse().Rows(kOrders).size() == 3;
  }));
  harness.gates_->Open(0);
  ASSERT_TRUE(Eventually([&] { return harness.metrics_->total_changes() == 5; }));
}

TEST(UnbrokenTest, ACheckpointWaitsForTheEnd) {
  ScriptBuilder story = Chunks();
  Harness harness(story.Script());
  StartIntoTheSecond(harness);
  // Asked for while the second group is open: nothing of it is committed.
  for (int i = 0; i < 20; ++i) harness.runtime_->RequestCheckpoint();
  EXPECT_EQ(harness.warehouse().Rows(kOrders).size(), 3U);
  harness.Crash();
  EXPECT_EQ(harness.warehouse().Rows(kOrders).size(), 3U);
  harness.gates_->Open(1);
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), story.Expected("orders"));
}

TEST(UnbrokenTest, TheCheckpointComesWithTheEnd) {
  ScriptBuilder story = Chunks();
  story.Wait(2);
  Harness harness(story.Script());
  StartIntoTheSecond(harness);
  harness.runtime_->RequestCheckpoint();
  harness.gates_->Open(1);
  ASSERT_TRUE(Eventually([&] { return harness.warehouse().Rows(kOrders).size() == 7; }));
  harness.Crash();
  harness.gates_->Open(2);
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), story.Expected("orders"));
}

TEST(UnbrokenTest, StoppedWithinItEndsAndLeavesItOut) {
  ScriptBuilder story = Chunks();
  Harness harness(story.Script());
  StartIntoTheSecond(harness);
  harness.runtime_->RequestStop();
  EXPECT_EQ(harness.Wait().kind, RunOutcome::Kind::kStopped);
  EXPECT_EQ(harness.warehouse().Rows(kOrders).size(), 3U);
  harness.gates_->Open(1);
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), story.Expected("orders"));
}

// A statement of another table is not held up, and the group of a table that waits for its own
// statement comes whole, however often it crashes between.
TEST(UnbrokenTest, StatementsAndCrashesBetweenGroups) {
  ScriptBuilder story;
  story.Create("orders").Create("users");
  for (int i = 0; i < 4; ++i) {
    story.Unbroken(true).Rows("orders", 2).Rows("users", 1).Rows("orders", 1).Unbroken(false);
    story.AddColumn("orders", "c" + std::to_string(i));
  }
  int k = 0;
  for (bool struck = true; struck;) {
    ++k;
    Harness harness(story.Script());
    harness.options_.checkpoint_interval_ms = 1;
    std::atomic<int> calls{0};
    std::atomic<bool> hit{false};
    harness.fault_ = [&](const std::string& call) -> std::optional<Fault> {
      if (call == "connect" || ++calls != k || hit.exchange(true)) return std::nullopt;
      if (Runtime* runtime = harness.live_) runtime->Abort();
      return Fault{true, MakeError(ErrorKind::kCancelled, "crash at " + call)};
    };
    RunOutcome outcome;
    for (int run = 0; run < 4; ++run) {
      outcome = harness.RunToEnd();
      if (outcome.kind == RunOutcome::Kind::kFinished) break;
    }
    struck = hit;
    ExpectFinished(outcome);
    ASSERT_EQ(harness.warehouse().Rows(kOrders), story.Expected("orders")) << k;
    ASSERT_EQ(harness.warehouse().Rows(ShopTable("users")), story.Expected("users")) << k;
  }
  EXPECT_GT(k, 10);
}

}  // namespace
}  // namespace driftless
