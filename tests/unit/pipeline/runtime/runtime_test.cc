#include "pipeline/runtime/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/unit/pipeline/runtime/harness.h"

namespace driftless {
namespace {

using Kind = RunOutcome::Kind;

const TablePath kOrders = ShopTable("orders");
const TablePath kUsers = ShopTable("users");

ScriptBuilder Story() {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).Create("users").Rows("users", 2);
  script.Rows("orders", 2).AddColumn("orders", "b").Rows("orders", 2).Rows("users", 1);
  script.AddColumn("orders", "c").AddColumn("orders", "d").Rows("orders", 2);
  script.AddColumn("users", "z").Rows("users", 2).Rows("orders", 1);
  return script;
}

void ExpectStory(ScriptBuilder& story, FakeWarehouse& warehouse) {
  EXPECT_EQ(warehouse.Rows(kOrders), story.Expected("orders"));
  EXPECT_EQ(warehouse.Rows(kUsers), story.Expected("users"));
  EXPECT_EQ(warehouse.Columns(kOrders), story.Columns("orders"));
  EXPECT_EQ(warehouse.Columns(kUsers), story.Columns("users"));
}

TEST(RuntimeTest, RowsAndSchemaChangesArriveOnceAndInOrder) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
  EXPECT_TRUE(harness.warehouse().prepared.empty());
}

TEST(RuntimeTest, ASecondRunHasNothingLeftToDo) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  ExpectFinished(harness.RunToEnd());
  const int commits = harness.warehouse().commits;
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
  EXPECT_EQ(harness.warehouse().commits, commits);
}

TEST(RuntimeTest, TheFirstRowsAreCommittedBeforeTheIntervalIsOver) {
  ScriptBuilder script;
  script.Create("a").Rows("a", 2).Wait(1).Rows("a", 1);
  Harness harness(script.Script());
  harness.options_.first_checkpoint_ms = 1;  // the interval is an hour
  harness.Start();
  EXPECT_TRUE(Eventually([&] { return harness.warehouse().Rows(ShopTable("a")).size() == 2; }));
  harness.gates_->Open(1);
  ExpectFinished(harness.Wait());
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("a")), script.Expected("a"));
}

TEST(RuntimeTest, SinksWithoutTransactionsGetTheSameProtocol) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  harness.traits_.transactional = false;
  ExpectFinished(harness.RunToEnd());
  ExpectStory(story, harness.warehouse());
}

TEST(RuntimeTest, SeveralSinksEachGetEverything) {
  ScriptBuilder story = Story();
  Harness harness(story.Script());
  harness.warehouses_["second"] = std::make_shared<FakeWarehouse>();
  ExpectFinished(harness.RunToEnd());
  for (auto& [name, warehouse] : harness.warehouses_) ExpectStory(story, *warehouse);
}

TEST(RuntimeTest, MergedShardsDoNotHideEachOthersRows) {
  ScriptBuilder script;
  script.Create("s1").Rows("s1", 2).Rows("s1", 2);
  Harness harness(script.Script());
  harness.route_ = [](const TablePath&) -> Result<std::vector<TablePath>> {
    return std::vector<TablePath>{ShopTable("all")};
  };
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("all")), script.Expected("s1"));
}

// Kills the pipeline at the k-th call of any kind to the sink, before or after its effect, for
// every k, and starts it again until it is done. This walks every row of the recovery table.
class CrashAtEveryCallTest : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(CrashAtEveryCallTest, NothingIsLostNothingComesTwice) {
  const auto [after, transactional] = GetParam();
  int k = 0;
  bool struck = true;
  while (struck) {
    ++k;
    struck = false;
    ScriptBuilder story = Story();
    Harness harness(story.Script());
    harness.traits_.transactional = transactional;
    std::atomic<int> calls{0};
    std::atomic<bool> hit{false};
    harness.fault_ = [&, strike_after = after](const std::string& call) -> std::optional<Fault> {
      if (call == "connect" || ++calls != k || hit.exchange(true)) return std::nullopt;
      if (Runtime* runtime = harness.live_) runtime->Abort();
      return Fault{strike_after, MakeError(ErrorKind::kCancelled, "crash at " + call)};
    };
    RunOutcome outcome;
    for (int run = 0; run < 4; ++run) {
      harness.Start();
      // Half of the strikes need a checkpoint in the middle to have something to lose.
      harness.runtime_->RequestCheckpoint();
      outcome = harness.Wait();
      if (outcome.kind == Kind::kFinished) break;
    }
    struck = hit;
    ExpectFinished(outcome);
    if (transactional) {
      ExpectStory(story, harness.warehouse());
    } else {
      // What was flushed and not recorded comes again: such a sink makes it good by upserts.
      EXPECT_EQ(harness.warehouse().Columns(kOrders), story.Columns("orders"));
      for (const std::string& row : story.Expected("orders")) {
        EXPECT_THAT(harness.warehouse().Rows(kOrders), ::testing::Contains(row));
      }
    }
    if (HasFailure()) {
      ADD_FAILURE() << "at call " << k;
      break;
    }
  }
  EXPECT_GT(k, 20);
}

INSTANTIATE_TEST_SUITE_P(Runtime, CrashAtEveryCallTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()));

}  // namespace
}  // namespace driftless
