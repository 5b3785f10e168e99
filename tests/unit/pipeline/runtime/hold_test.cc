#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/pipeline/runtime/harness.h"

// Holds: a table that waits for a person waits alone, in bounded memory, and survives restarts.
namespace driftless {
namespace {

using Kind = RunOutcome::Kind;

const TablePath kOrders = ShopTable("orders");
const TablePath kUsers = ShopTable("users");

struct HeldDrop {
  ScriptBuilder script;
  uint64_t drop_offset = 0;
  std::vector<std::string> before;  // rows of orders before the drop
};

// A DROP TABLE that is held, the table's second life behind it, and another table beside it.
HeldDrop MakeHeldDrop(int batches) {
  HeldDrop held;
  held.script.Create("orders").Rows("orders", 3).Create("users");
  held.before = held.script.Expected("orders");
  held.drop_offset = held.script.last_offset() + 1;
  held.script.Drop("orders").Create("orders");
  for (int i = 0; i < batches; ++i) held.script.Rows("orders", 4).Rows("users", 1);
  return held;
}

int SegmentFiles(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    count += entry.path().extension() == ".seg" ? 1 : 0;
  }
  return count;
}

TEST(HoldTest, AHeldTableParksAloneAndGoesOnAfterApprovalInALaterRun) {
  HeldDrop held = MakeHeldDrop(50);
  Harness harness(held.script.Script());
  harness.policy_.hold = {held.drop_offset};
  harness.options_.parking_memory_bytes_max = 0;  // to disk at once
  RunOutcome outcome = harness.RunToEnd();
  ExpectFinished(outcome);
  EXPECT_EQ(outcome.open_holds, 1);
  EXPECT_EQ(harness.warehouse().Rows(kUsers), held.script.Expected("users"));
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.before);
  EXPECT_GT(SegmentFiles(harness.folder_.path()), 0);

  // The parked rows are received: the source need not send them again.
  outcome = harness.RunToEnd();
  EXPECT_EQ(outcome.open_holds, 1);
  EXPECT_EQ(harness.starts_->back(), held.script.last_offset() + 1);
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.before);

  ASSERT_EQ(harness.Holds().size(), 1U);
  harness.Request(harness.Holds()[0], "approve");
  outcome = harness.RunToEnd();
  ExpectFinished(outcome);
  EXPECT_EQ(outcome.open_holds, 0);
  EXPECT_EQ(harness.Answer(), "taken");
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.script.Expected("orders"));
  EXPECT_EQ(harness.warehouse().Rows(kUsers), held.script.Expected("users"));
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(SegmentFiles(harness.folder_.path()), 0);
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.script.Expected("orders"));
}

TEST(HoldTest, ItemsParkedInMemoryComeAgainAfterACrash) {
  HeldDrop held = MakeHeldDrop(20);
  held.script.Wait(1).Progress();
  Harness harness(held.script.Script());
  harness.policy_.hold = {held.drop_offset};
  harness.Start();
  EXPECT_TRUE(Eventually([&] { return harness.Holds().size() == 1; }));
  harness.Checkpoint(2);
  harness.Crash();
  harness.gates_->Open(1);
  harness.Request(1, "approve");  // no such hold: the creates took 1 and 2
  harness.Start();
  EXPECT_TRUE(Eventually([&] { return !harness.Answer().empty(); }));
  EXPECT_THAT(harness.Answer(), ::testing::StartsWith("refused"));
  ExpectFinished(harness.Wait());
  harness.Request(harness.Holds().at(0), "approve");
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.script.Expected("orders"));
  EXPECT_EQ(harness.warehouse().Rows(kUsers), held.script.Expected("users"));
}

// The same with the spilled lot, a crash while it grows, and one while it drains.
TEST(HoldTest, ASpilledLotSurvivesCrashesWhileItGrowsAndWhileItDrains) {
  HeldDrop held = MakeHeldDrop(30);
  held.script.Wait(1);
  for (int i = 0; i < 30; ++i) held.script.Rows("orders", 2);
  held.script.Wait(2).Progress();
  Harness harness(held.script.Script());
  harness.policy_.hold = {held.drop_offset};
  harness.options_.parking_memory_bytes_max = 0;
  harness.Start();
  EXPECT_TRUE(Eventually([&] { return harness.Holds().size() == 1; }));
  harness.Checkpoint(2);
  harness.Crash();
  harness.gates_->Open(1);
  harness.Start();
  harness.Request(harness.Holds().at(0), "approve");
  // Some parked rows have been written; a checkpoint in the middle, then a crash.
  EXPECT_TRUE(Eventually([&] { return harness.Answer() == "taken"; }));
  harness.runtime_->RequestCheckpoint();
  EXPECT_TRUE(Eventually([&] { return harness.warehouse().Rows(kOrders).size() != 3; }));
  harness.Crash();
  harness.gates_->Open(2);
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.script.Expected("orders"));
  EXPECT_EQ(harness.warehouse().Rows(kUsers), held.script.Expected("users"));
}

TEST(HoldTest, AFullParkingDiskFailsWhereTheUserWantsThat) {
  HeldDrop held = MakeHeldDrop(50);
  Harness harness(held.script.Script());
  harness.policy_.hold = {held.drop_offset};
  harness.options_.parking_memory_bytes_max = 0;
  harness.options_.parking_disk_bytes_max = 4000;
  harness.options_.full_parking_fails = true;
  const RunOutcome outcome = harness.RunToEnd();
  ASSERT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kFailed));
  EXPECT_THAT(outcome.error->ToString(), ::testing::HasSubstr("parking.disk-bytes-max"));
  EXPECT_THAT(outcome.error->ToString(), ::testing::HasSubstr("driftless approve"));
  // With room, nothing has been lost.
  harness.options_.parking_disk_bytes_max = 1 << 30;
  ExpectFinished(harness.RunToEnd());
  harness.Request(harness.Holds().at(0), "approve");
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(kOrders), held.script.Expected("orders"));
}

TEST(HoldTest, AFullParkingDiskBlocksTheSinkUntilTheDecision) {
  HeldDrop held = MakeHeldDrop(50);
  Harness harness(held.script.Script());
  harness.policy_.hold = {held.drop_offset};
  harness.options_.parking_memory_bytes_max = 0;
  harness.options_.parking_disk_bytes_max = 4000;
  harness.options_.until_end = false;
  harness.options_.checkpoint_interval_ms = 100;
  harness.Start();
  EXPECT_TRUE(Eventually([&] { return harness.Holds().size() == 1; }));
  harness.Request(harness.Holds().at(0), "approve");
  EXPECT_TRUE(Eventually([&] {
    return harness.warehouse().Rows(kOrders) == held.script.Expected("orders") &&
           harness.warehouse().Rows(kUsers) == held.script.Expected("users");
  }));
  harness.runtime_->RequestStop();
  EXPECT_EQ(static_cast<int>(harness.Wait().kind), static_cast<int>(Kind::kStopped));
}

// The source has ended and nothing moves any more when the sink's table has been read and the
// change turns out to be held: the run must not wait for it.
TEST(HoldTest, AHoldThatIsDecidedWhileDrainingEndsABoundedRun) {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).AddColumn("orders", "b").Rows("orders", 2);
  Harness harness(script.Script());
  harness.policy_.read = harness.policy_.hold = {5};
  harness.fault_ = [&](const std::string& call) -> std::optional<Fault> {
    if (call != "read") return std::nullopt;
    EXPECT_TRUE(Eventually([&] { return harness.live_.load()->StatusText() == "stopping"; }));
    // The inlets are idle long before; were they not, the test would only see less.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return std::nullopt;
  };
  const RunOutcome outcome = harness.RunToEnd();
  ExpectFinished(outcome);
  EXPECT_EQ(outcome.open_holds, 1);
}

}  // namespace
}  // namespace driftless
