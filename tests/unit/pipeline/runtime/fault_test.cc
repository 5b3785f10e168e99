#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
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
  harness.options_.writer_queue_bytes_max = 20'000;
  ExpectFinished(harness.RunToEnd());
  EXPECT_GT(harness.warehouse().rolls, 0);
  EXPECT_EQ(harness.warehouse().Rows(kOrders), script.Expected("orders"));
  const std::string metrics = harness.metrics_->Text();
  const std::string most = "driftless_memory_bytes{kind=\"most\"} ";
  const size_t at = metrics.find(most);
  ASSERT_NE(at, std::string::npos);
  const double bytes = std::stod(metrics.substr(at + most.size()));
  EXPECT_GT(bytes, 50'000);
  EXPECT_LT(bytes, 110'000) << "the budget and the batch that was too much";
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

class StopSinkTest : public ::testing::TestWithParam<std::string> {};

// The other sink goes on to the end; the one that was taken out catches up at the next start, from
// where it stood, and the other one gets nothing twice.
TEST_P(StopSinkTest, OneSinkStopsAloneAndCatchesUpLater) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.policy_.read = {9};  // orders' new column
  harness.warehouses_["other"] = std::make_shared<FakeWarehouse>();
  harness.stops_ = {"other"};
  harness.options_.unavailable_after_ms = 0;
  harness.sink_faults_["other"] = [](const std::string& call) -> std::optional<Fault> {
    if (call != GetParam()) return std::nullopt;
    return Fault{false, MakeError(ErrorKind::kUnavailable, "nobody is there")};
  };
  RunOutcome outcome = harness.RunToEnd();
  ExpectFinished(outcome);
  EXPECT_THAT(outcome.stopped_sinks, ::testing::ElementsAre("other"));
  ExpectAll(script, harness);
  FakeWarehouse& other = *harness.warehouses_["other"];
  EXPECT_NE(other.Rows(kOrders), script.Expected("orders"));

  harness.sink_faults_.clear();
  outcome = harness.RunToEnd();
  ExpectFinished(outcome);
  EXPECT_TRUE(outcome.stopped_sinks.empty());
  ExpectAll(script, harness);
  EXPECT_EQ(other.Rows(kOrders), script.Expected("orders"));
  EXPECT_EQ(other.Rows(kUsers), script.Expected("users"));
}

INSTANTIATE_TEST_SUITE_P(Call, StopSinkTest,
                         ::testing::Values("connect", "read", "execute", "open", "write", "prepare",
                                           "seal", "commit"));

// One sink is gone, the other one waits for a person, and then goes on without it.
TEST(StopSinkHoldTest, DecisionsGoOnWithoutTheSinkThatIsGone) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.policy_.hold = {9};  // orders' new column
  harness.warehouses_["other"] = std::make_shared<FakeWarehouse>();
  harness.stops_ = {"other"};
  harness.options_.unavailable_after_ms = 0;
  harness.sink_faults_["other"] = [](const std::string& call) -> std::optional<Fault> {
    if (call != "write") return std::nullopt;
    return Fault{false, MakeError(ErrorKind::kUnavailable, "nobody is there")};
  };
  harness.RunToEnd();
  for (const DecisionId decision : harness.Holds()) harness.Request(decision, "approve");
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
  harness.sink_faults_.clear();
  ExpectFinished(harness.RunToEnd());
  for (const DecisionId decision : harness.Holds()) harness.Request(decision, "approve");
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
  EXPECT_EQ(harness.warehouses_["other"]->Rows(kOrders), script.Expected("orders"));
}

// A conflict is not an absence: the run is begun again with all sinks.
TEST(StopSinkConflictTest, AConflictRestartsTheRun) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.warehouses_["other"] = std::make_shared<FakeWarehouse>();
  harness.stops_ = {"lake", "other"};
  harness.fault_ = At("write", 2, Fault{false, MakeError(ErrorKind::kConflict, "somebody else")});
  const RunOutcome outcome = harness.RunToEnd();
  EXPECT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kRestart));
  EXPECT_TRUE(outcome.stopped_sinks.empty());
}

// The only sink is never taken out: the run ends, and a new start tries again.
TEST(StopLastSinkTest, TheLastSinkEndsTheRun) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.stops_ = {"lake"};
  harness.options_.unavailable_after_ms = 0;
  harness.fault_ = [](const std::string& call) -> std::optional<Fault> {
    if (call != "commit") return std::nullopt;
    return Fault{false, MakeError(ErrorKind::kUnavailable, "nobody is there")};
  };
  const RunOutcome outcome = harness.RunToEnd();
  EXPECT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kRestart));
  harness.fault_ = nullptr;
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

// ---- rows that the policy keeps out of a sink ---------------------------------------------------

std::vector<std::string> DeadLetterLines(Harness& harness) {
  std::ifstream file(harness.folder_.path() + "/dead-letters.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(RowDeadLetterTest, ARowThatIsKeptOutIsInTheFileAndTheOthersInTheSink) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.warehouse().refused = {"id=1,a=a1"};
  ExpectFinished(harness.RunToEnd());
  std::vector<std::string> expected = script.Expected("orders");
  std::erase(expected, "id=1,a=a1");
  EXPECT_EQ(harness.warehouse().Rows(kOrders), expected);
  EXPECT_EQ(harness.warehouse().Rows(kUsers), script.Expected("users"));
  ASSERT_EQ(DeadLetterLines(harness).size(), 1U);
  EXPECT_THAT(DeadLetterLines(harness).front(),
              ::testing::AllOf(::testing::HasSubstr("\"stream\":\"sink lake\""),
                               ::testing::HasSubstr("does not fit"),
                               ::testing::HasSubstr("\\\"table\\\":\\\"shop.orders\\\""),
                               ::testing::HasSubstr("\\\"op\\\":\\\"insert\\\""),
                               ::testing::HasSubstr("{\\\"id\\\":1,\\\"a\\\":\\\"a1\\\"}")));
  EXPECT_THAT(
      harness.metrics_->Text(),
      ::testing::AllOf(::testing::HasSubstr("driftless_dead_letters_total 1"),
                       ::testing::ContainsRegex("driftless_lost_values_total\\{.*misfit.*\\} 1")));
}

TEST(RowDeadLetterTest, NoPositionPassesARowWhoseDeadLetterCannotBeWritten) {
  ScriptBuilder script = TwoTables();
  Harness harness(script.Script());
  harness.warehouse().refused = {"id=1,a=a1"};
  std::filesystem::create_directory(harness.folder_.path() + "/dead-letters.jsonl");
  const RunOutcome outcome = harness.RunToEnd();
  ASSERT_EQ(static_cast<int>(outcome.kind), static_cast<int>(Kind::kFailed));
  EXPECT_THAT(outcome.error->ToString(), ::testing::HasSubstr("dead-letters.jsonl"));
  std::filesystem::remove(harness.folder_.path() + "/dead-letters.jsonl");
  harness.warehouse().refused.clear();
  ExpectFinished(harness.RunToEnd());
  ExpectAll(script, harness);
}

}  // namespace
}  // namespace driftless
