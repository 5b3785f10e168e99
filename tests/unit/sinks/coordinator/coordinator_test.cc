#include "tests/unit/sinks/coordinator/coordinator_harness.h"

namespace driftless {
namespace {

using Choice = ApprovalGiven::Choice;
using Script = CoordinatorHarness::StepScript;

TEST(CoordinatorTest, AnAppliedChangeIsRecordedBeforeAndAfter) {
  CoordinatorHarness h("paimon");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
  EXPECT_EQ(h.AuditText(), "intent create.table apply pending; outcome create.table apply done");
  h.audit.clear();
  h.Arrive(orders.Begin().Drop("note").Add("price INT").End());
  EXPECT_EQ(h.SinkColumns(), "id, qty, price");
  EXPECT_EQ(h.Columns(), h.SinkColumns());
  EXPECT_EQ(h.AuditText(),
            "intent drop.column apply pending; intent add.column apply pending; "
            "outcome drop.column apply done; outcome add.column apply done");
  ASSERT_EQ(h.releases.size(), 2u);
  EXPECT_FALSE(h.releases[1].writers_stay);
  EXPECT_EQ(h.releases[1].point.offset, 2u);
  EXPECT_EQ(h.cuts.size(), 2u);
  EXPECT_EQ(h.sent.size(), 2u) << "one commit for both parts";
}

TEST(CoordinatorTest, ASkipThatBindsNothingOtherwiseNeedsNoCut) {
  CoordinatorHarness h("fluss");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.cuts.clear();
  h.Arrive(orders.Begin().Rename("qty", "quantity").End());
  EXPECT_TRUE(h.cuts.empty());
  EXPECT_TRUE(h.releases.back().writers_stay);
}

// Rows from before the drop still have the column's values, also when they are read again.
TEST(CoordinatorTest, ASkippedDropIsCutAndLeavesADivergence) {
  CoordinatorHarness h("fluss");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.cuts.clear();
  h.Arrive(orders.Begin().Drop("qty").End());
  EXPECT_EQ(h.cuts.size(), 1u);
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
  EXPECT_FALSE(h.releases.back().writers_stay);
  EXPECT_EQ(h.audit.back().result, AuditResult::kSkipped);
  EXPECT_NE(h.OpenDivergences().find("still at the sink"), std::string::npos);
  EXPECT_EQ(h.notes.back().level, Notify::Level::kWarn);
}

TEST(CoordinatorTest, WhatHasAnOutcomeIsNeverDecidedAgain) {
  CoordinatorHarness h("fluss");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  const auto drop = orders.Begin().Drop("qty").End();
  h.Arrive(drop);
  const std::string divergences = h.OpenDivergences();
  const size_t records = h.audit.size();
  h.policy.behavior = Behavior::kEvolve;  // would fail now
  h.Crash();
  h.Arrive(drop);
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.audit.size(), records);
  EXPECT_EQ(h.OpenDivergences(), divergences);
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
}

TEST(CoordinatorTest, AFailStopsAndIsDecidedAnewAfterAChangeOfPolicy) {
  CoordinatorHarness h("fluss", Behavior::kEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  const auto drop = orders.Begin().Drop("qty").End();
  h.Arrive(drop);
  ASSERT_TRUE(h.failed.has_value());
  EXPECT_EQ(h.failed->decision, 2u);
  const std::string text = h.failed->error.ToString();
  for (const char* part : {"drop.column", "lake", "shop.orders", "fluss/drop.column = fail",
                           "behavior EVOLVE", "driftless decide 2 skip", "line 2"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(h.Columns(), "id, qty, note");
  h.policy.behavior = Behavior::kLenient;
  h.Crash();
  h.audit.clear();
  h.Arrive(drop);
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.AuditText(),
            "outcome drop.column fail superseded; intent drop.column skip pending; "
            "outcome drop.column skip skipped");
}

TEST(CoordinatorTest, ADecisionSkipsTheStoppedEvent) {
  CoordinatorHarness h("fluss", Behavior::kEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  const auto drop = orders.Begin().Drop("qty").End();
  h.Arrive(drop);
  ASSERT_TRUE(h.failed.has_value());
  h.Crash();
  EXPECT_TRUE(h.coordinator->Waiting(2).has_value());
  h.Answer(2, Choice::kSkip);
  h.Crash();  // the decision is durable
  h.Arrive(drop);
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.audit.back().verdict.rule, "decide skip");
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
  EXPECT_FALSE(h.coordinator->Waiting(2).has_value());
}

// ---- crashes ------------------------------------------------------------------------------------

TEST(CoordinatorCrashTest, BeforeTransactionATheStatementComesAgain) {
  CoordinatorHarness h("paimon");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  const auto add = orders.Begin().Add("price INT").End();
  h.cut_crashes_before_a = true;
  h.Arrive(add);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
  EXPECT_EQ(h.Columns(), "id, qty, note");
  h.Arrive(add);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note, price");
  EXPECT_EQ(h.sent.size(), 2u);
}

TEST(CoordinatorCrashTest, AfterTheCutTheStepIsSentOnce) {
  CoordinatorHarness h("paimon");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.cut_crashes_after_b = true;
  h.Arrive(orders.Begin().Add("price INT").End());
  EXPECT_EQ(h.SinkColumns(), "id, qty, note, price");
  EXPECT_EQ(h.Columns(), "id, qty, note, price");
  EXPECT_EQ(h.sent.size(), 2u);
  EXPECT_EQ(h.releases.back().point.offset, 2u);
}

TEST(CoordinatorCrashTest, AfterTheEffectTheSinkIsAskedAndTheStepNotRepeated) {
  CoordinatorHarness h("selectdb");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  h.scripts.push_back({});                // drop
  h.scripts.push_back({{}, true, true});  // rename takes effect, then the process dies
  h.Arrive(orders.Begin().Drop("note").Rename("qty", "quantity").Add("price INT").End());
  EXPECT_EQ(h.SinkColumns(), "id, quantity, price");
  EXPECT_EQ(h.Columns(), "id, quantity, price");
  EXPECT_EQ(h.sent.size(), 3u) << "every step exactly once";
}

TEST(CoordinatorCrashTest, BeforeTheEffectTheStepIsSentAgain) {
  CoordinatorHarness h("selectdb");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  Script dies;
  dies.error = MakeError(ErrorKind::kUnavailable, "");
  dies.crash = true;
  h.scripts.push_back(dies);
  h.Arrive(orders.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(h.SinkColumns(), "id, quantity, note");
  EXPECT_EQ(h.sent.size(), 1u);
}

TEST(CoordinatorCrashTest, ARenameSwapIsToldApartAtEveryStep) {
  for (int step = 0; step < 3; ++step) {
    CoordinatorHarness h("selectdb");
    SourceTable orders("shop.orders", {"id INT NOT NULL", "a INT", "b INT"}, {"id"});
    h.Arrive(orders.Create());
    h.sent.clear();
    for (int i = 0; i < step; ++i) h.scripts.push_back({});
    h.scripts.push_back({{}, true, true});
    h.Arrive(orders.Begin().Rename({{"a", "b"}, {"b", "a"}}).End());
    EXPECT_EQ(h.SinkColumns(), "id, b, a") << step;
    EXPECT_EQ(h.Columns(), "id, b, a") << step;
    EXPECT_EQ(h.sent.size(), 3u) << step;
  }
}

TEST(CoordinatorCrashTest, ATruncateMayBeRepeated) {
  CoordinatorHarness h("selectdb");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  h.scripts.push_back({{}, true, true});
  h.Arrive(orders.Begin().Truncate().End());
  EXPECT_EQ(h.sent.size(), 2u);
  EXPECT_EQ(h.releases.back().point.offset, 2u);
}

TEST(CoordinatorTest, AnUnknownAnswerIsLookedUpAndASlowSinkAskedAgain) {
  CoordinatorHarness h("selectdb");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  Script lost;
  lost.error = MakeError(ErrorKind::kCommitUnknown, "the connection broke");
  lost.takes_effect = true;
  h.scripts.push_back(lost);
  h.Arrive(orders.Begin().Add("price INT").End());
  EXPECT_EQ(h.sent.size(), 1u);
  EXPECT_EQ(h.releases.back().point.offset, 2u);

  Script slow;
  slow.error = MakeError(ErrorKind::kUnavailable, "no answer");
  h.scripts.push_back(slow);
  h.Arrive(orders.Begin().Add("more INT").End());
  EXPECT_EQ(h.releases.back().point.offset, 2u);
  h.Pass(1000);
  EXPECT_EQ(h.releases.back().point.offset, 3u);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note, price, more");
}

// ---- refusals -----------------------------------------------------------------------------------

Script Refusal(const char* text) {
  Script script;
  script.error = MakeError(ErrorKind::kRefused, text);
  return script;
}

TEST(CoordinatorRefusalTest, LenientAndEvolveFail) {
  for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve}) {
    CoordinatorHarness h("selectdb", behavior);
    SourceTable orders = *Orders();
    h.Arrive(orders.Create());
    h.scripts.push_back(Refusal("table is not NORMAL"));
    const auto add = orders.Begin().Add("price INT").End();
    h.Arrive(add);
    ASSERT_TRUE(h.failed.has_value());
    EXPECT_NE(h.failed->error.ToString().find("table is not NORMAL"), std::string::npos);
    h.Crash();
    h.Arrive(add);
    EXPECT_FALSE(h.failed.has_value());
    EXPECT_EQ(h.SinkColumns(), "id, qty, note, price");
    EXPECT_EQ(h.Columns(), "id, qty, note, price");
  }
}

TEST(CoordinatorRefusalTest, StepsThatWereDoneBeforeAFailAreNotRepeated) {
  CoordinatorHarness h("selectdb", Behavior::kEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  h.scripts.push_back({});
  h.scripts.push_back(Refusal("no"));
  const auto both = orders.Begin().Rename("qty", "quantity").Add("price INT").End();
  h.Arrive(both);
  ASSERT_TRUE(h.failed.has_value());
  h.Crash();
  h.Arrive(both);
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.sent.size(), 2u);
  EXPECT_EQ(h.Columns(), "id, quantity, note, price");
  EXPECT_EQ(h.SinkColumns(), "id, quantity, note, price");
}

TEST(CoordinatorRefusalTest, TryEvolveSkipsWithTheSinksMessage) {
  CoordinatorHarness h("selectdb", Behavior::kTryEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.scripts.push_back(Refusal("too many columns"));
  h.Arrive(orders.Begin().Add("price INT").End());
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.Columns(), "id, qty, note");
  EXPECT_EQ(h.audit.back().result, AuditResult::kRefused);
  EXPECT_NE(h.audit.back().verdict.reason.find("too many columns"), std::string::npos);
  EXPECT_EQ(h.audit.back().verdict.kind, VerdictKind::kSkip);
  EXPECT_EQ(h.OpenDivergences(), "column price is not at the sink; its values are not written");
}

TEST(CoordinatorRefusalTest, TryEvolveRepeatsACombinedStatementPartByPart) {
  CoordinatorHarness h("paimon", Behavior::kTryEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.sent.clear();
  h.scripts.push_back(Refusal("the combined commit"));
  h.scripts.push_back({});
  h.scripts.push_back(Refusal("no rename"));
  h.Arrive(orders.Begin().Drop("note").Rename("qty", "quantity").Add("price INT").End());
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.SinkColumns(), "id, qty, price");
  EXPECT_EQ(h.Columns(), "id, qty, price");
  EXPECT_EQ(h.sent.size(), 2u);
  EXPECT_NE(h.OpenDivergences().find("still named qty"), std::string::npos);
}

// The add that had found its name taken is planned again with the drop that frees the name, and not
// without it.
TEST(CoordinatorRefusalTest, WhatIsNotPlannedAgainAfterAllIsSuperseded) {
  CoordinatorHarness h("paimon", Behavior::kTryEvolve);
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.scripts.push_back(Refusal("no rename"));
  h.Arrive(orders.Begin().Rename("qty", "quantity").End());
  h.Arrive(orders.Begin().Add("qty INT").End());
  EXPECT_EQ(h.Columns(), "id, qty, note") << "the name is taken";
  h.audit.clear();
  h.scripts.push_back(Refusal("the combined commit"));
  h.scripts.push_back(Refusal("no drop"));
  h.Arrive(orders.Begin().Drop("quantity").End());
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
  std::map<DecisionId, int> open;
  for (const AuditRecord& record : h.audit) {
    open[record.id] = record.phase == AuditPhase::kOutcome ? 0 : 1;
  }
  for (const auto& [id, without_outcome] : open) EXPECT_EQ(without_outcome, 0) << "decision " << id;
}

TEST(CoordinatorRefusalTest, ASwapThatStopsInItsMiddleIsTakenAsItIs) {
  CoordinatorHarness h("selectdb", Behavior::kTryEvolve);
  SourceTable orders("shop.orders", {"id INT NOT NULL", "a INT", "b INT"}, {"id"});
  h.Arrive(orders.Create());
  const ColumnId a = orders.Id("a");
  h.scripts.push_back({});
  h.scripts.push_back(Refusal("no more renames"));
  h.Arrive(orders.Begin().Rename({{"a", "b"}, {"b", "a"}}).End());
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.Columns(), h.SinkColumns());
  const EvolvedSchemaPtr evolved = h.coordinator->Evolved(h.key);
  ASSERT_NE(evolved->FindSource(a), nullptr);
  EXPECT_EQ(evolved->FindSource(a)->sink.name, "b__driftless_swap");
}

TEST(CoordinatorRefusalTest, TryEvolveGoesOnWithoutATableThatCannotBeCreated) {
  CoordinatorHarness h("selectdb", Behavior::kTryEvolve);
  SourceTable orders = *Orders();
  h.scripts.push_back(Refusal("no quota"));
  h.Arrive(orders.Create());
  EXPECT_FALSE(h.failed.has_value());
  EXPECT_EQ(h.Columns(), "(no table)");
  EXPECT_NE(h.OpenDivergences().find("no table at the sink"), std::string::npos);
}

// ---- holds --------------------------------------------------------------------------------------

TEST(CoordinatorHoldTest, ADropTableWaitsAndItsRowsWithIt) {
  CoordinatorHarness h("starrocks");
  h.policy.approval = {EventKind::kDropTable};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.releases.clear();
  const auto drop = orders.DropTable();
  h.Arrive(drop);
  EXPECT_TRUE(h.releases.empty());
  EXPECT_EQ(h.audit.back().result, AuditResult::kHeld);
  h.Crash();
  h.Run();
  h.releases.clear();  // what was recorded before: the rows before the statement go on
  h.Answer(2, Choice::kApprove);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note") << "the rows before it come first";
  h.Arrive(drop);
  EXPECT_EQ(h.SinkColumns(), "(no table)");
  ASSERT_EQ(h.releases.size(), 1u);
  EXPECT_EQ(h.releases[0].evolved, nullptr);
  EXPECT_EQ(h.audit.back().id, 2u);
  EXPECT_EQ(h.audit.back().result, AuditResult::kDone);
}

TEST(CoordinatorHoldTest, ARejectIsASkip) {
  CoordinatorHarness h("starrocks");
  h.policy.approval = {EventKind::kTruncateTable};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Truncate().End());
  h.Answer(2, Choice::kReject);
  EXPECT_EQ(h.audit.back().result, AuditResult::kRejected);
  EXPECT_EQ(h.audit.back().verdict.kind, VerdictKind::kSkip);
  EXPECT_EQ(h.releases.back().point.offset, 2u);
  EXPECT_NE(h.OpenDivergences().find("TRUNCATE"), std::string::npos);
}

TEST(CoordinatorHoldTest, AHoldTimesOut) {
  for (const bool rejects : {false, true}) {
    CoordinatorHarness h("starrocks");
    h.policy.approval = {EventKind::kDropTable};
    h.policy.approval_timeout_rejects = rejects;
    SourceTable orders = *Orders();
    h.Arrive(orders.Create());
    const auto drop = orders.DropTable();
    h.Arrive(drop);
    h.Pass(h.policy.approval_timeout_ms - 1);
    EXPECT_FALSE(h.failed.has_value());
    EXPECT_TRUE(h.coordinator->Waiting(2).has_value());
    h.Pass(1);
    EXPECT_EQ(h.failed.has_value(), !rejects);
    if (rejects) {
      EXPECT_EQ(h.audit.back().result, AuditResult::kRejected);
      continue;
    }
    h.Crash();
    h.Run();
    h.Arrive(drop);
    EXPECT_TRUE(h.failed.has_value()) << "until somebody decides";
    h.Crash();
    h.Answer(h.audit.back().id, Choice::kApprove);
    h.Arrive(drop);
    EXPECT_EQ(h.SinkColumns(), "(no table)");
  }
}

TEST(CoordinatorHoldTest, ADropColumnWaitsWhileItsRowsGoOn) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").End());
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
  EXPECT_EQ(h.releases.back().point.offset, 2u);
  EXPECT_NE(h.OpenDivergences().find("still at the sink"), std::string::npos);
  h.Arrive(orders.Begin().Add("price INT").End());
  EXPECT_EQ(h.SinkColumns(), "id, qty, note, price");
  h.Crash();
  h.Run();
  h.Answer(2, Choice::kApprove);
  EXPECT_EQ(h.SinkColumns(), "id, note, price");
  EXPECT_EQ(h.Columns(), "id, note, price");
  EXPECT_TRUE(h.cuts.back().now);
  EXPECT_EQ(h.OpenDivergences(), "");
  EXPECT_EQ(h.audit.back().id, 2u);
  EXPECT_EQ(h.audit.back().result, AuditResult::kDone);
}

TEST(CoordinatorHoldTest, ALateDropOfARevivedColumnFindsNothing) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").End());
  h.Arrive(orders.Begin().Add("qty INT").End());
  h.Answer(2, Choice::kApprove);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
  EXPECT_EQ(h.Columns(), "id, qty, note");
  EXPECT_EQ(h.audit.back().verdict.reason, "column is not at the sink");
}

// The add of the same name needs the drop, so both wait; the rejected add leaves the drop alone.
TEST(CoordinatorHoldTest, ALateDropAnswersToItsOwnNumberOnly) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").Add("qty INT").End());
  EXPECT_TRUE(h.coordinator->WaitsForPerson(h.key));
  h.Answer(3, Choice::kReject);
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
  EXPECT_FALSE(h.coordinator->Waiting(3).has_value()) << "it has its outcome";
  h.Answer(3, Choice::kReject);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note") << "nobody has approved the drop";
  EXPECT_EQ(h.Columns(), "id, qty [free], note");
  h.Answer(2, Choice::kApprove);
  EXPECT_EQ(h.SinkColumns(), "id, note");
  EXPECT_EQ(h.Columns(), "id, note");
}

TEST(CoordinatorHoldTest, OfTwoLateDropsTheOtherStillWaits) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").Drop("note").End());
  h.Answer(2, Choice::kReject);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
  h.Crash();
  h.Run();
  EXPECT_TRUE(h.coordinator->Waiting(3).has_value());
  h.Answer(3, Choice::kApprove);
  EXPECT_EQ(h.SinkColumns(), "id, qty");
  EXPECT_EQ(h.Columns(), "id, qty [free]");
  EXPECT_EQ(h.coordinator->Evolved(h.key)->FindName("qty")->fill, EvolvedColumn::Fill::kKeep);
}

TEST(CoordinatorHoldTest, OfTwoHeldPartsTheOtherStillTimesOut) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").Rename("note", "text").Add("qty INT").End());
  h.Answer(3, Choice::kReject);
  ASSERT_TRUE(h.coordinator->WaitsForPerson(h.key));
  h.Pass(h.policy.approval_timeout_ms);
  EXPECT_TRUE(h.failed.has_value());
}

TEST(CoordinatorHoldTest, ALateRejectKeepsTheOldValues) {
  CoordinatorHarness h("paimon");
  h.policy.approval = {EventKind::kDropColumn};
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Drop("qty").End());
  EXPECT_EQ(h.coordinator->Evolved(h.key)->FindName("qty")->fill, EvolvedColumn::Fill::kNull);
  h.Answer(2, Choice::kReject);
  EXPECT_EQ(h.coordinator->Evolved(h.key)->FindName("qty")->fill, EvolvedColumn::Fill::kKeep);
  EXPECT_EQ(h.audit.back().result, AuditResult::kRejected);
  EXPECT_EQ(h.SinkColumns(), "id, qty, note");
}

TEST(CoordinatorTest, ATableOfTheSameNameIsANewOne) {
  CoordinatorHarness h("starrocks");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.DropTable());
  EXPECT_EQ(h.SinkColumns(), "(no table)");
  h.Arrive(orders.CreateAgain({"id BIGINT NOT NULL", "total INT"}, {"id"}));
  EXPECT_EQ(h.Columns(), "id, total");
  EXPECT_EQ(h.coordinator->Evolved(h.key)->incarnation, 2u);
}

// Two topics that carry one table.
TEST(CoordinatorTest, AnotherStreamThatAltersTheTableOtherwiseStops) {
  CoordinatorHarness h("paimon");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  SourceTable other = orders;
  const auto of_other = [](std::shared_ptr<StatementChange> change) {
    change->point.stream = 1;
    return change;
  };
  h.Arrive(of_other(other.Create()));
  ASSERT_FALSE(h.failed);
  h.Arrive(orders.Begin().Add("price INT").Rename("qty", "amount").End());
  // The same statement once more, and one that says nothing else of what is known.
  h.Arrive(of_other(other.Begin().Add("price INT").Rename("qty", "amount").End()));
  h.Arrive(of_other(other.Begin().Add("extra INT").Drop("note").End()));
  ASSERT_FALSE(h.failed) << h.failed->error.ToString();
  EXPECT_EQ(h.Columns(), "id, amount, price, extra");
  // The first one has no column `extra`: its next one has that number.
  h.Arrive(orders.Begin().Add("weight INT").End());
  ASSERT_TRUE(h.failed);
  EXPECT_NE(h.failed->error.ToString().find("another stream shows table shop.orders with another "
                                            "column in the place of extra"),
            std::string::npos)
      << h.failed->error.ToString();
  EXPECT_EQ(h.Columns(), "id, amount, price, extra");
}

TEST(CoordinatorTest, AnotherStreamMayTellOfTheSameSwapLater) {
  CoordinatorHarness h("paimon");
  SourceTable orders("shop.orders", {"id BIGINT NOT NULL", "a INT", "b INT"}, {"id"});
  h.Arrive(orders.Create());
  SourceTable other = orders;
  const auto created = other.Create();
  created->point.stream = 1;
  h.Arrive(created);
  h.Arrive(orders.Begin().Rename({{"a", "b"}, {"b", "a"}}).End());
  const auto swap = other.Begin().Rename({{"a", "b"}, {"b", "a"}}).End();
  swap->point.stream = 1;
  h.Arrive(swap);
  EXPECT_FALSE(h.failed) << h.failed->error.ToString();
}

TEST(CoordinatorTest, RestartIsIdempotent) {
  CoordinatorHarness h("selectdb");
  SourceTable orders = *Orders();
  h.Arrive(orders.Create());
  h.Arrive(orders.Begin().Add("price INT").End());
  const auto states = h.states;
  for (int i = 0; i < 3; ++i) {
    h.Crash();
    h.Run();
    EXPECT_EQ(h.states, states);
    EXPECT_EQ(h.Columns(), "id, qty, note, price");
  }
}

}  // namespace
}  // namespace driftless
