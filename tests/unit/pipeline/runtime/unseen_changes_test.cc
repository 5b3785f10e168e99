#include <gtest/gtest.h>

#include "config/definition/pipeline_options.h"
#include "tests/unit/pipeline/runtime/harness.h"

// Rows that change without row events (policy, section 11), and acknowledgements.
namespace driftless {
namespace {

std::vector<Divergence> Open(Harness* harness) {
  auto shared = StateStore::OpenShared(harness->folder_.path());
  return *(*shared)->Divergences(/*also_ended=*/false);
}

ScriptBuilder Story() {
  ScriptBuilder script;
  script.Create("a").Rows("a", 3).Unseen("a", "DROP PARTITION p1").Rows("a", 2);
  return script;
}

TEST(UnseenChangesTest, AreADivergenceThatAReplayDoesNotRepeat) {
  ScriptBuilder script = Story();
  script.Wait(1);
  Harness harness(script.Script());
  harness.Start();
  ASSERT_TRUE(Eventually([&] { return Open(&harness).size() == 1; }));
  harness.Crash();  // nothing was committed behind the statement: it is read again
  harness.gates_->Open(1);
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("a")), script.Expected("a"));
  const std::vector<Divergence> open = Open(&harness);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_TRUE(open[0].of_old_rows);
  EXPECT_NE(open[0].text.find("DROP PARTITION p1 at offset"), std::string::npos) << open[0].text;
  int records = 0;
  for (const AuditRecord& record : harness.Audit()) {
    if (!record.is_unseen) continue;
    ++records;
    EXPECT_EQ(EventText(record), kUnseenTag);
    EXPECT_EQ(record.verdict.kind, VerdictKind::kSkip);
    EXPECT_EQ(record.id, open[0].cause);
  }
  EXPECT_EQ(records, 1);
}

TEST(UnseenChangesTest, FailStopsBehindEverythingBeforeIt) {
  ScriptBuilder script = Story();
  Harness harness(script.Script());
  harness.options_.rows_without_events = RowsWithoutEvents::kFail;
  const RunOutcome outcome = harness.RunToEnd();
  EXPECT_EQ(outcome.kind, RunOutcome::Kind::kFailed);
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_NE(outcome.error->ToString().find("DROP PARTITION p1"), std::string::npos);
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("a")).size(), 3u);
  harness.options_.rows_without_events = RowsWithoutEvents::kWarn;  // is the way on
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.warehouse().Rows(ShopTable("a")), script.Expected("a"));
  EXPECT_EQ(Open(&harness).size(), 1u);
}

// What a source reads again by itself is no divergence: what becomes of its truncate.table may be.
TEST(UnseenChangesTest, WhatIsReadAgainIsInTheAuditAlone) {
  ScriptBuilder script;
  script.Create("a").Rows("a", 3).Unseen("a", "DROP PARTITION p1", /*is_read_again=*/true);
  script.Rows("a", 2);
  Harness harness(script.Script());
  ExpectFinished(harness.RunToEnd());
  EXPECT_TRUE(Open(&harness).empty());
  int records = 0;
  for (const AuditRecord& record : harness.Audit()) {
    if (!record.is_unseen) continue;
    ++records;
    EXPECT_EQ(record.verdict.kind, VerdictKind::kRewrite);
    EXPECT_EQ(record.verdict.rule, "rows-without-events: resync");
    EXPECT_EQ(record.result, AuditResult::kDone);
  }
  EXPECT_EQ(records, 1);
}

// A part of the log that was not read for some sinks.
TEST(UnseenChangesTest, AGapIsToldOfTheSinksThatHaveIt) {
  std::vector<ScriptEvent> events = Story().Script();
  for (ScriptEvent& event : events) {
    event.unseen.is_repeated = true;
    event.unseen.sinks = SinkChoice::AllBut({"later"});
  }
  Harness harness(events);
  harness.warehouses_["later"] = std::make_shared<FakeWarehouse>();
  ExpectFinished(harness.RunToEnd());
  const std::vector<Divergence> open = Open(&harness);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].sink.sink, "lake");
  EXPECT_NE(open[0].text.find("all rows of the table come again"), std::string::npos);
}

TEST(UnseenChangesTest, AnAcknowledgementEndsWhatConcernsOldRowsOnly) {
  ScriptBuilder script = Story();
  Harness harness(script.Script());
  ExpectFinished(harness.RunToEnd());
  const std::vector<Divergence> open = Open(&harness);
  ASSERT_EQ(open.size(), 1u);
  uint64_t going_on = 0;
  {
    auto state = StateStore::Open(harness.folder_.path(), "test", *SystemClock());
    Divergence skipped;
    skipped.sink = open[0].sink;
    skipped.text = "column c is not at the sink; its values are not written";
    ASSERT_TRUE((*state)->Transact([&](StateTransaction& t) { return t.PutDivergence(skipped); }));
    going_on = (*(*state)->Divergences(false)).back().id;
  }
  harness.Request(going_on, std::string(kAcknowledge));
  ExpectFinished(harness.RunToEnd());
  EXPECT_NE(harness.Answer().find("refused: it goes on"), std::string::npos) << harness.Answer();
  harness.Request(open[0].id, std::string(kAcknowledge));
  ExpectFinished(harness.RunToEnd());
  EXPECT_EQ(harness.Answer(), "taken");
  ASSERT_EQ(Open(&harness).size(), 1u);
  EXPECT_EQ(Open(&harness)[0].id, going_on);
}

TEST(UnseenChangesTest, OpenDivergencesAreCounted) {
  ScriptBuilder script = Story();
  script.Wait(1);
  Harness harness(script.Script());
  harness.Start();
  EXPECT_TRUE(Eventually([&] {
    return harness.metrics_->Text().find(
               "driftless_divergences{sink=\"lake\",table=\"shop.a\"} 1") != std::string::npos;
  }));
  harness.gates_->Open(1);
  ExpectFinished(harness.Wait());
}

}  // namespace
}  // namespace driftless
