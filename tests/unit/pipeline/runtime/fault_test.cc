#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/pipeline/runtime/harness.h"

// What the sink answers, row by row of the recovery table where a crash alone does not bring it
// about.
namespace driftless {
namespace {

using Kind = RunOutcome::Kind;

const TablePath kOrders = ShopTable("orders");
const TablePath kUsers = ShopTable("users");

ScriptBuilder TwoTables() {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).Create("users").Rows("users", 2);
  script.AddColumn("orders", "b").Rows("orders", 2).Rows("users", 3);
  return script;
}

// The n-th call of this name gets the fault.
FaultHook At(const std::string& name, int n, Fault fault) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  return [=](const std::string& call) -> std::optional<Fault> {
    if (call != name || ++*calls != n) return std::nullopt;
    return fault;
  };
}

void ExpectAll(ScriptBuilder& script, Harness& harness) {
  EXPECT_EQ(harness.warehouse().Rows(kOrders), script.Expected("orders"));
  EXPECT_EQ(harness.warehouse().Rows(kUsers), script.Expected("users"));
}

class AnswerTest : public ::testing::TestWithParam<std::tuple<const char*, bool, ErrorKind>> {};

TEST_P(AnswerTest, IsLookedUpOrRepeatedAndNothingComesTwice) {
  const auto& [call, after, kind] = GetParam();
  for (int n = 1; n <= 2; ++n) {
    ScriptBuilder script = TwoTables();
    Harness harness(script.Script());
    harness.fault_ = At(call, n, Fault{after, MakeError(kind, "fault")});
    ExpectFinished(harness.RunToEnd());
    ExpectAll(script, harness);
  }
}

INSTANTIATE_TEST_SUITE_P(Sink, AnswerTest,
                         ::testing::Values(std::tuple("commit", false, ErrorKind::kUnavailable),
                                           std::tuple("commit", false, ErrorKind::kCommitUnknown),
                                           std::tuple("commit", true, ErrorKind::kCommitUnknown),
                                           std::tuple("execute", false, ErrorKind::kTimedOut),
                                           std::tuple("execute", false, ErrorKind::kCommitUnknown),
                                           std::tuple("execute", true, ErrorKind::kCommitUnknown),
                                           std::tuple("seal", false, ErrorKind::kUnavailable)));

TEST(FaultTest, AVoidCutIsReadAgain) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  for (int n = 1; n <= 3; ++n) {
    harness.fault_ = [&, calls = std::make_shared<std::atomic<int>>(0),
                      n](const std::string& call) -> std::optional<Fault> {
      if (call != "commit" || ++*calls != n) return std::nullopt;
      harness.live_.load()->Abort();
      return Fault{false, MakeError(ErrorKind::kCancelled, "crash")};
    };
    harness.RunToEnd();
    const std::lock_guard<std::mutex> lock(harness.warehouse().mutex);
    harness.warehouse().prepared.clear();  // an open transaction that has expired
  }
  harness.fault_ = nullptr;
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

TEST(FaultTest, ACutThatBecomesVoidWhileRunningAsksForARestart) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.fault_ = [&, hit = std::make_shared<std::atomic<bool>>(false)](
                       const std::string& call) -> std::optional<Fault> {
    if (call != "commit" || hit->exchange(true)) return std::nullopt;
    const std::lock_guard<std::mutex> lock(harness.warehouse().mutex);
    harness.warehouse().prepared.clear();
    return Fault{false, MakeError(ErrorKind::kCommitUnknown, "connection lost")};
  };
  EXPECT_EQ(static_cast<int>(harness.RunToEnd().kind), static_cast<int>(Kind::kRestart));
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

TEST(FaultTest, ATableWhoseCommitCannotBeToldYetWaitsAlone) {
  ScriptBuilder script;
  script.Create("orders").Create("users").Rows("orders", 3).Rows("users", 2);
  Harness harness(script.Script());
  // The crash comes before the commit of orders in the last checkpoint.
  harness.fault_ = [&](const std::string& call) -> std::optional<Fault> {
    if (call != "commit") return std::nullopt;
    harness.live_.load()->Abort();
    return Fault{false, MakeError(ErrorKind::kCancelled, "crash")};
  };
  harness.RunToEnd();
  EXPECT_TRUE(harness.warehouse().Rows(kOrders).empty());
  std::atomic<int> lookups{0};
  harness.fault_ = [&](const std::string& call) -> std::optional<Fault> {
    if (call != "lookup" || ++lookups > 8) return std::nullopt;
    return Fault{false, MakeError(ErrorKind::kRefused, "cannot tell")};
  };
  ExpectFinished(harness.RunToEnd());
  EXPECT_GT(lookups, 8);
  ExpectAll(script, harness);
}

TEST(FaultTest, AWriterThatCannotReachItsSinkIsStartedAgain) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.fault_ = At("write", 2, Fault{false, MakeError(ErrorKind::kUnavailable, "gone")});
  EXPECT_EQ(static_cast<int>(harness.RunToEnd().kind), static_cast<int>(Kind::kRestart));
  harness.fault_ = nullptr;
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

TEST(FaultTest, ARefusedRowStopsThePipelineWithoutLoss) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.fault_ = At("write", 3, Fault{false, MakeError(ErrorKind::kInvalidInput, "bad row")});
  const RunOutcome outcome = harness.RunToEnd();
  ASSERT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kFailed));
  EXPECT_THAT(outcome.error->ToString(), ::testing::HasSubstr("sink lake: table shop."));
  harness.fault_ = nullptr;
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

TEST(FaultTest, AFailVerdictCommitsEverythingBeforeItInEverySink) {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).Create("users").Rows("users", 2);
  const uint64_t offset = script.last_offset() + 1;
  const std::vector<std::string> before = script.Expected("orders");
  script.AddColumn("orders", "b").Rows("orders", 2).Rows("users", 3);
  Harness harness(script.Script());
  harness.warehouses_["second"] = std::make_shared<FakeWarehouse>();
  harness.policy_.fail = {offset};
  RunOutcome outcome = harness.RunToEnd();
  ASSERT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kFailed));
  EXPECT_THAT(outcome.error->ToString(), ::testing::HasSubstr("the policy says fail"));
  for (auto& [name, warehouse] : harness.warehouses_) {
    EXPECT_EQ(warehouse->Rows(kOrders), before) << name;
    EXPECT_GE(warehouse->Rows(kUsers).size(), 2U) << name;
  }
  // The way out: another policy, and a new start.
  harness.policy_.fail.clear();
  ExpectFinished(harness.RunToEnd());
  for (auto& [name, warehouse] : harness.warehouses_) {
    EXPECT_EQ(warehouse->Rows(kOrders), script.Expected("orders")) << name;
    EXPECT_EQ(warehouse->Rows(kUsers), script.Expected("users")) << name;
  }
}

TEST(FaultTest, RowsBeforeASkippedChangeAreNotCoveredByIt) {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3);
  const uint64_t offset = script.last_offset() + 1;
  script.AddColumn("orders", "b").Rows("orders", 2).Wait(1).Progress();
  Harness harness(script.Script());
  harness.policy_.skip = {offset};
  harness.Start();
  EXPECT_TRUE(Eventually([&] {
    const auto audit = harness.Audit();
    return !audit.empty() && audit.back().result == AuditResult::kSkipped;
  }));
  harness.Crash();
  harness.gates_->Open(1);
  ExpectFinished(harness.RunToEnd());
  EXPECT_THAT(
      harness.warehouse().Rows(kOrders),
      ::testing::ElementsAre("id=0,a=a0", "id=1,a=a1", "id=2,a=a2", "id=3,a=a3", "id=4,a=a4"));
}

TEST(FaultTest, ASmallBudgetMakesWritersRollInsteadOfStopping) {
  ScriptBuilder script;
  script.Create("orders");
  for (int i = 0; i < 200; ++i) script.Rows("orders", 20);
  Harness harness(script.Script());
  harness.options_.memory_bytes_max = 100'000;  // some thirty batches
  harness.options_.queue_bytes_max = 20'000;
  ExpectFinished(harness.RunToEnd());
  EXPECT_GT(harness.warehouse().rolls, 0);
  EXPECT_EQ(harness.warehouse().Rows(kOrders), script.Expected("orders"));
}

TEST(FaultTest, AStopDrainsToACheckpoint) {
  ScriptBuilder script = TwoTables();
  script.Wait(1).Progress();
  Harness harness(script.Script());
  harness.Start();
  // The last rows before the gate have left the source; where they are does not matter.
  EXPECT_TRUE(Eventually([&] { return harness.metrics_->total_changes() >= 5; }));
  harness.runtime_->RequestStop();
  EXPECT_EQ(static_cast<int>(harness.Wait().kind), static_cast<int>(Kind::kStopped));
  const size_t committed = harness.warehouse().Rows(kOrders).size();
  EXPECT_GE(committed, 3U);
  harness.gates_->Open(1);
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

}  // namespace
}  // namespace driftless
