#include "tests/unit/sinks/policy/decide_fixture.h"

namespace driftless {
namespace {

const Verdict& Only(const Decision& decision) {
  EXPECT_EQ(decision.parts.size(), 1u);
  return decision.parts.front().verdict;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A table `shop.orders` (id BIGINT key, qty INT, note VARCHAR(20) NOT NULL) that is at the sink.
struct AtSink : DecidedTable {
  explicit AtSink(std::string_view sink, Behavior behavior = Behavior::kLenient)
      : DecidedTable(sink, behavior), source(*Orders()) {
    Do(source.Create());
  }
  SourceTable source;
};

// ---- already satisfied --------------------------------------------------------------------------

TEST(DecideSatisfiedTest, AColumnThatHoldsEveryValueNeedsNothing) {
  for (const Behavior behavior :
       {Behavior::kLenient, Behavior::kEvolve, Behavior::kException, Behavior::kIgnore}) {
    AtSink t("paimon", behavior);
    t.evolved->columns[1].sink.type = LogicalType::BigInt();  // widened by hand
    const Decision decision = t.Do(t.source.Begin().Type("qty", "BIGINT").End());
    EXPECT_EQ(Only(decision).kind, VerdictKind::kApply);
    EXPECT_TRUE(Has(Only(decision).reason, "already satisfied")) << Only(decision).reason;
    EXPECT_TRUE(decision.plan.steps.empty());
    EXPECT_TRUE(decision.begun.empty());
  }
}

TEST(DecideSatisfiedTest, TypeMappingMayHideAChange) {
  AtSink t("iceberg", Behavior::kEvolve);  // VARCHAR of any length is STRING there
  EXPECT_TRUE(t.Do(t.source.Begin().Type("note", "VARCHAR(50)").End()).parts[0].satisfied);
  AtSink p("paimon", Behavior::kEvolve);
  EXPECT_FALSE(p.Do(p.source.Begin().Type("note", "VARCHAR(50)").End()).parts[0].satisfied);
}

TEST(DecideSatisfiedTest, ANullableSinkColumnNeedsNoRelaxing) {
  AtSink t("fluss", Behavior::kEvolve);
  t.evolved->columns[2].sink.type = t.evolved->columns[2].sink.type.Nullable();
  const Decision decision = t.Do(t.source.Begin().Relax("note").End());
  EXPECT_TRUE(decision.parts[0].satisfied);
}

TEST(DecideSatisfiedTest, ListsComeBeforeIt) {
  AtSink t("paimon");
  t.policy.accepted.erase(EventKind::kAlterColumnType);
  t.evolved->columns[1].sink.type = LogicalType::BigInt();
  EXPECT_EQ(Only(t.Do(t.source.Begin().Type("qty", "BIGINT").End())).kind, VerdictKind::kSkip);
}

// ---- constraints --------------------------------------------------------------------------------

TEST(DecideConstraintsTest, FlussAppendsUnderLenientAndFailsUnderEvolve) {
  AtSink lenient("fluss");
  const Decision decision = lenient.Do(lenient.source.Begin().AddFirst("price INT").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kRewrite);
  EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"appended at the end"});
  EXPECT_EQ(lenient.Columns(), "id BIGINT NOT NULL, qty INT, note STRING NOT NULL, price INT");
  AtSink tries("fluss", Behavior::kTryEvolve);
  EXPECT_EQ(Kinds(tries.Do(tries.source.Begin().AddAfter("price INT", "id").End())), "rewrite");
  AtSink evolve("fluss", Behavior::kEvolve);
  EXPECT_EQ(Kinds(evolve.Do(evolve.source.Begin().AddAfter("price INT", "id").End())), "fail");
  AtSink last("fluss", Behavior::kEvolve);
  EXPECT_EQ(Kinds(last.Do(last.source.Begin().AddAfter("price INT", "note").End())), "apply");
}

TEST(DecideConstraintsTest, NotNullIsAdaptedOnEverySink) {
  for (const char* sink : {"paimon", "fluss", "starrocks", "iceberg", "selectdb", "maxcompute"}) {
    AtSink lenient(sink);
    const Decision decision = lenient.Do(lenient.source.Begin().Add("price INT NOT NULL").End());
    EXPECT_EQ(Only(decision).kind, VerdictKind::kRewrite) << sink;
    EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"made nullable"}) << sink;
    AtSink evolve(sink, Behavior::kEvolve);
    EXPECT_EQ(Kinds(evolve.Do(evolve.source.Begin().Add("price INT NOT NULL").End())), "fail")
        << sink;
  }
}

TEST(DecideConstraintsTest, HologresAdaptsInEveryMode) {
  AtSink t("hologres", Behavior::kEvolve);
  const Decision decision = t.Do(t.source.Begin().AddFirst("price INT NOT NULL").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kRewrite);
  EXPECT_EQ(Only(decision).cell, "hologres/add.column.not_null = apply");
  EXPECT_EQ(Only(decision).rewrites,
            (std::vector<std::string>{"appended at the end", "made nullable"}));
}

TEST(DecideConstraintsTest, ADefaultFillsOldRowsWhereTheSinkCanSaySo) {
  AtSink starrocks("starrocks", Behavior::kEvolve);
  EXPECT_EQ(
      Only(starrocks.Do(starrocks.source.Begin().AddWithDefault("price INT NOT NULL", "7").End()))
          .rows,
      "old rows read the default 7");
  AtSink paimon("paimon");
  EXPECT_EQ(Only(paimon.Do(paimon.source.Begin().AddWithDefault("price INT", "7").End())).rows,
            "old rows read NULL");
}

// ---- planner knowledge --------------------------------------------------------------------------

TEST(DecidePlannerTest, WhatThePlannerKnowsIsACellFail) {
  AtSink lenient("iceberg");
  const Decision skipped = lenient.Do(lenient.source.Begin().Type("qty", "VARCHAR(40)").End());
  EXPECT_EQ(Only(skipped).kind, VerdictKind::kSkip);
  EXPECT_EQ(Only(skipped).cell, "iceberg/alter.column.type = fail (planner)");
  EXPECT_TRUE(Has(Only(skipped).reason, "Iceberg cannot promote INT to STRING"));
  AtSink evolve("iceberg", Behavior::kEvolve);
  EXPECT_TRUE(evolve.Do(evolve.source.Begin().Type("qty", "VARCHAR(40)").End()).fails);
  AtSink tries("iceberg", Behavior::kTryEvolve);
  EXPECT_EQ(Kinds(tries.Do(tries.source.Begin().Type("qty", "VARCHAR(40)").End())), "skip");
}

TEST(DecidePlannerTest, PaimonCannotChangeAKeyColumnsType) {
  SourceTable source("shop.t", {"k INT NOT NULL", "v INT"}, {"k"});
  DecidedTable t("paimon");
  t.Do(source.Create());
  const Decision decision = t.Do(source.Begin().Type("k", "BIGINT").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_TRUE(Only(decision).rows_may_stop);
  EXPECT_TRUE(Has(Only(decision).rows, "values above 2147483647")) << Only(decision).rows;
}

// ---- lists and rules ----------------------------------------------------------------------------

TEST(DecideListsTest, AFilteredEventIsASkipAndNoFailureUnderException) {
  AtSink t("paimon", Behavior::kException);
  t.policy.accepted.erase(EventKind::kDropColumn);
  t.policy.has_exclude_list = true;
  const Decision decision = t.Do(t.source.Begin().Drop("qty").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_EQ(Only(decision).rule, "exclude.schema.changes");
}

TEST(DecideListsTest, AFilteredCreateNeedsATable) {
  SourceTable source = *Orders();
  DecidedTable t("paimon");
  t.policy.accepted.erase(EventKind::kCreateTable);
  EXPECT_EQ(Kinds(t.Do(source.Create())), "fail");
  DecidedTable made("paimon");
  made.Do(source.Create());
  DecidedTable with_table("paimon");
  with_table.policy.accepted.erase(EventKind::kCreateTable);
  with_table.actual = made.actual;
  const Decision decision = with_table.Do(source.Create());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_EQ(with_table.Columns(), made.Columns());
}

PolicyRule MakeRule(const char* text) {
  PolicyRule rule;
  rule.text = text;
  return rule;
}

TEST(DecideRulesTest, TheMoreSpecificRuleDecidesAndTiesGoToTheFirst) {
  AtSink t("paimon");
  PolicyRule pattern = MakeRule("pattern");
  pattern.table = [](const TablePath&) { return true; };
  pattern.verdict = VerdictKind::kFail;
  PolicyRule exact = pattern;
  exact.text = "exact";
  exact.table_is_exact = true;
  PolicyRule family = MakeRule("family");
  family.events = *EventsNamed("column");
  family.events_are_family = true;
  family.verdict = VerdictKind::kFail;
  PolicyRule tag = MakeRule("tag");
  tag.events = {EventKind::kDropColumn};
  tag.verdict = VerdictKind::kFail;
  PolicyRule column = MakeRule("column");
  column.column = "QTY";
  column.verdict = VerdictKind::kSkip;
  PolicyRule second = column;
  second.text = "second";
  t.policy.rules = {pattern, exact, family, tag, column, second};
  const auto rule_of = [&] {
    SourceTable copy = t.source;
    return Only(Decide(t.Input(*copy.Begin().Drop("qty").End()))).rule;
  };
  EXPECT_EQ(rule_of(), "column");
  t.policy.rules.resize(4);
  EXPECT_EQ(rule_of(), "tag");
  t.policy.rules.resize(3);
  EXPECT_EQ(rule_of(), "family");
  t.policy.rules.resize(2);
  EXPECT_EQ(rule_of(), "exact");
  t.policy.rules.resize(1);
  EXPECT_EQ(rule_of(), "pattern");
  t.policy.rules.clear();
  EXPECT_EQ(rule_of(), "behavior LENIENT");
}

TEST(DecideRulesTest, ARuleSetsABehaviourForOneColumn) {
  AtSink t("fluss");
  PolicyRule rule = MakeRule("rule 1");
  rule.column = "qty";
  rule.behavior = Behavior::kEvolve;
  t.policy.rules = {rule};
  EXPECT_TRUE(t.Do(t.source.Begin().Drop(std::vector<std::string>{"qty", "note"}).End()).fails);
}

TEST(DecideRulesTest, ARulesVerdictIsLimitedToWhatThePlannerCanDo) {
  AtSink fluss("fluss");
  PolicyRule rule = MakeRule("rule 1");
  rule.verdict = VerdictKind::kApply;
  fluss.policy.rules = {rule};
  EXPECT_EQ(Kinds(fluss.Do(fluss.source.Begin().Drop("qty").End())), "skip");
  AtSink paimon("paimon");  // the matrix says skip, Paimon can do it
  paimon.policy.rules = {rule};
  EXPECT_EQ(Kinds(paimon.Do(paimon.source.DropTable())), "apply");
  EXPECT_EQ(paimon.Columns(), "(no table)");
}

TEST(DecideRulesTest, AnotherSinksRuleDoesNotMatch) {
  AtSink t("fluss");
  PolicyRule rule = MakeRule("rule 1");
  rule.sink = "warehouse";
  rule.verdict = VerdictKind::kFail;
  t.policy.rules = {rule};
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Drop("qty").End())), "skip");
}

// ---- extensions and positions -------------------------------------------------------------------

TEST(DecideExtensionsTest, AreOffUntilNamed) {
  AtSink t("starrocks", Behavior::kEvolve);
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Rename("qty", "quantity").End())), "fail");
  AtSink on("starrocks", Behavior::kEvolve);
  on.policy.extensions = {"rename.column"};
  const Decision decision = on.Do(on.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kApply);
  EXPECT_EQ(Only(decision).cell, "starrocks/rename.column = apply (extension)");
}

TEST(DecidePositionTest, AMoveIsASkipInEveryModeAndNeverAFailure) {
  for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve, Behavior::kTryEvolve,
                                  Behavior::kIgnore, Behavior::kException}) {
    AtSink t("paimon", behavior);
    EXPECT_EQ(Kinds(t.Do(t.source.Begin().Move("note", {ColumnPlace::Kind::kFirst, 0}).End())),
              "skip");
  }
  AtSink on("paimon");
  on.policy.extensions = {"alter.column.position"};
  EXPECT_EQ(Kinds(on.Do(on.source.Begin().Move("note", {ColumnPlace::Kind::kFirst, 0}).End())),
            "apply");
  EXPECT_EQ(on.Columns(), "note VARCHAR(20) NOT NULL, id BIGINT NOT NULL, qty INT");
}

// ---- rows after a skip --------------------------------------------------------------------------

TEST(DecideSkipTest, ADropLeavesAFreeColumn) {
  AtSink t("fluss");
  const Decision decision = t.Do(t.source.Begin().Drop("qty").End());
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT [free], note STRING NOT NULL");
  EXPECT_EQ(t.evolved->columns[1].fill, EvolvedColumn::Fill::kNull);
  EXPECT_EQ(Only(decision).rows, "later rows write NULL to column qty");
  AtSink keep("fluss");
  keep.policy.drop_skip = DropSkip::kKeep;
  keep.Do(keep.source.Begin().Drop("qty").End());
  EXPECT_EQ(keep.evolved->columns[1].fill, EvolvedColumn::Fill::kKeep);
}

TEST(DecideSkipTest, ANotNullColumnGetsADefaultOrZeroAndEvolveFails) {
  AtSink t("fluss");
  const Decision decision = t.Do(t.source.Begin().Drop("note").End());
  EXPECT_EQ(t.evolved->columns[2].fill, EvolvedColumn::Fill::kZero);
  EXPECT_TRUE(Has(Only(decision).rows, "zero value"));
  AtSink with_default("fluss");
  with_default.evolved->columns[2].sink.default_value = {DefaultValue::Kind::kLiteral, "-"};
  with_default.Do(with_default.source.Begin().Drop("note").End());
  EXPECT_EQ(with_default.evolved->columns[2].fill, EvolvedColumn::Fill::kDefault);
  AtSink evolve("paimon", Behavior::kEvolve);
  evolve.policy.accepted.erase(EventKind::kDropColumn);
  const Decision fails = evolve.Do(evolve.source.Begin().Drop("note").End());
  EXPECT_TRUE(fails.fails);
  EXPECT_TRUE(Has(Only(fails).reason, "would receive no value"));
}

TEST(DecideSkipTest, ARenameFollowsAndARenameBackLeavesNoTrace) {
  AtSink t("fluss");
  const std::optional<EvolvedSchema> before = t.evolved;
  const ColumnId qty = t.source.Id("qty");
  const Decision away = t.Do(t.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(t.evolved->FindSource(qty)->sink.name, "qty");
  EXPECT_EQ(Only(away).rows, "column qty keeps receiving the values of quantity");
  ASSERT_EQ(away.begun.size(), 1u);
  const Decision back = t.Do(t.source.Begin().Rename("quantity", "qty").End());
  EXPECT_TRUE(back.parts[0].satisfied);
  EXPECT_TRUE(back.begun.empty());
  ASSERT_EQ(back.ended.size(), 1u);
  EXPECT_EQ(back.ended[0].column, qty);
  EXPECT_EQ(t.evolved, before);
}

TEST(DecideSkipTest, ARenameMayGiveNullInstead) {
  AtSink t("fluss");
  t.policy.rename_skip = RenameSkip::kNull;
  t.Do(t.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT [free], note STRING NOT NULL");
}

TEST(DecideSkipTest, AKeyColumnAlwaysFollows) {
  AtSink t("fluss");
  t.policy.rename_skip = RenameSkip::kNull;
  t.Do(t.source.Begin().Rename("id", "order_id").End());
  EXPECT_NE(t.evolved->FindSource(t.source.Id("order_id")), nullptr);
}

TEST(DecideSkipTest, ATypeThatDoesNotFitFollowsOnCastFailure) {
  AtSink lenient("fluss");
  Decision decision = lenient.Do(lenient.source.Begin().Type("qty", "BIGINT").End());
  EXPECT_FALSE(Only(decision).rows_may_stop);
  EXPECT_TRUE(Has(Only(decision).rows, "become NULL"));
  EXPECT_TRUE(Has(Divergences(decision), "old rows keep their old values"));

  AtSink fails("fluss");
  fails.policy.on_cast_failure = OnCastFailure::kFail;
  decision = fails.Do(fails.source.Begin().Type("qty", "BIGINT").End());
  EXPECT_TRUE(Only(decision).rows_may_stop);
  EXPECT_TRUE(Has(Only(decision).rows, "values above 2147483647"));

  AtSink letter("fluss");
  letter.policy.on_cast_failure = OnCastFailure::kDeadLetter;
  EXPECT_TRUE(
      Has(Only(letter.Do(letter.source.Begin().Type("qty", "BIGINT").End())).rows, "dead-letter"));
}

TEST(DecideSkipTest, ANullForANotNullColumnFollowsOnNullViolation) {
  AtSink lenient("fluss");
  Decision decision = lenient.Do(lenient.source.Begin().Relax("note").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_TRUE(Only(decision).rows_may_stop);
  AtSink tries("fluss", Behavior::kTryEvolve);
  decision = tries.Do(tries.source.Begin().Relax("note").End());
  EXPECT_FALSE(Only(decision).rows_may_stop);
  EXPECT_TRUE(Has(Only(decision).rows, "dead-letter"));
  AtSink value("fluss");
  value.policy.on_null_violation = OnNullViolation::kDefaultValue;
  EXPECT_FALSE(Only(value.Do(value.source.Begin().Relax("note").End())).rows_may_stop);
}

TEST(DecideSkipTest, DroppedAndTruncatedTablesKeepTheirRows) {
  AtSink t("paimon");
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Truncate().End())), "skip");
  EXPECT_EQ(Kinds(t.Do(t.source.DropTable())), "skip");
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT, note VARCHAR(20) NOT NULL");
}

TEST(DecideSkipTest, SnapshotsNeverDropOrTruncate) {
  AtSink t("starrocks");
  auto drop = t.source.DropTable();
  drop->from_snapshot = true;
  const Decision decision = t.Do(drop);
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_TRUE(Only(decision).never);
  EXPECT_TRUE(decision.begun.empty());
}

TEST(DecideSkipTest, ListsDoNotMakeASnapshotsDropADivergence) {
  AtSink t("starrocks");
  t.policy.accepted.erase(EventKind::kDropTable);
  t.policy.accepted.erase(EventKind::kTruncateTable);
  auto drop = t.source.DropTable();
  drop->from_snapshot = true;
  const Decision of_snapshot = t.Do(drop);
  EXPECT_TRUE(Only(of_snapshot).never);
  EXPECT_TRUE(of_snapshot.begun.empty());
}

TEST(DecideSkipTest, AFilteredEventOfATableThatIsNotThereIsNoDivergence) {
  AtSink t("starrocks");
  t.Do(t.source.DropTable());  // carried out
  t.policy.accepted.erase(EventKind::kDropTable);
  t.policy.accepted.erase(EventKind::kTruncateTable);
  SourceTable again = *Orders();
  const Decision decision = t.Do(again.DropTable());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_TRUE(decision.begun.empty());
}

// ---- events on what has diverged ----------------------------------------------------------------

TEST(DecideDivergedTest, AnAbsentColumnIsASkipUnderEveryBehaviourAndItsDropEndsIt) {
  for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve, Behavior::kException}) {
    AtSink t("paimon");
    PolicyRule rule = MakeRule("rule 1");
    rule.events = {EventKind::kAddColumn};
    rule.verdict = VerdictKind::kSkip;
    t.policy.rules = {rule};
    t.Do(t.source.Begin().Add("price INT").End());
    t.policy.behavior = behavior;
    const ColumnId price = t.source.Id("price");
    for (const auto& change : {t.source.Begin().Type("price", "BIGINT").End(),
                               t.source.Begin().Rename("price", "cost").End()}) {
      const Decision decision = t.Do(change);
      EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
      EXPECT_EQ(Only(decision).reason, "column is not at the sink");
    }
    const Decision drop = t.Do(t.source.Begin().Drop("cost").End());
    EXPECT_EQ(Only(drop).kind, VerdictKind::kSkip);
    ASSERT_EQ(drop.ended.size(), 1u);
    EXPECT_EQ(drop.ended[0].column, price);
    EXPECT_EQ(drop.ended[0].event, std::nullopt);
  }
}

TEST(DecideDivergedTest, AnAbsentAnchorGivesWayToItsLeftNeighbour) {
  AtSink t("paimon");
  PolicyRule rule = MakeRule("rule 1");
  rule.column = "price";
  rule.verdict = VerdictKind::kSkip;
  t.policy.rules = {rule};
  t.Do(t.source.Begin().AddAfter("price INT", "qty").End());
  t.Do(t.source.Begin().AddAfter("tax INT", "price").End());
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT, tax INT, note VARCHAR(20) NOT NULL");
}

TEST(DecideDivergedTest, NamesAreTranslated) {
  AtSink t("paimon");
  t.policy.accepted.erase(EventKind::kRenameColumn);
  t.Do(t.source.Begin().Rename("qty", "quantity").End());
  t.Do(t.source.Begin().Type("quantity", "BIGINT").End());
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty BIGINT, note VARCHAR(20) NOT NULL");
  const Decision drop = t.Do(t.source.Begin().Drop("quantity").End());
  EXPECT_EQ(Actions(drop), "drop column `qty`");
}

// ---- names that are taken -----------------------------------------------------------------------

TEST(DecideNamesTest, AnAddOntoAFreeColumnRevivesIt) {
  AtSink t("fluss", Behavior::kLenient);
  const ColumnId old = t.source.Id("qty");
  t.Do(t.source.Begin().Drop("qty").End());
  const Decision decision = t.Do(t.source.Begin().Add("qty INT").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kRewrite);
  EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"revived"});
  EXPECT_TRUE(decision.plan.steps.empty());
  EXPECT_EQ(Divergences(decision), "old rows show the dropped column's values");
  EXPECT_NE(t.evolved->FindSource(t.source.Id("qty")), nullptr);
  EXPECT_EQ(t.evolved->FindSource(old), nullptr);
}

TEST(DecideNamesTest, AFreeColumnOfAnotherTypeIsACellFail) {
  AtSink t("fluss");
  t.Do(t.source.Begin().Drop("qty").End());
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Add("qty STRING").End())), "skip");
  AtSink evolve("paimon", Behavior::kEvolve);
  evolve.policy.accepted.erase(EventKind::kDropColumn);
  evolve.Do(evolve.source.Begin().Drop("qty").End());
  EXPECT_TRUE(evolve.Do(evolve.source.Begin().Add("qty BYTES").End()).fails);
}

TEST(DecideNamesTest, AnOccupiedNameIsACellFailAndIsPlannedAgainWhenFreed) {
  AtSink t("fluss");
  t.Do(t.source.Begin().Rename("qty", "quantity").End());  // follows under qty
  const Decision add = t.Do(t.source.Begin().Add("qty INT").End());
  EXPECT_EQ(Only(add).kind, VerdictKind::kSkip);
  EXPECT_EQ(Only(add).cell, "fluss/add.column = fail (planner)");
  const ColumnId wanted = t.source.Id("qty");
  EXPECT_EQ(t.evolved->FindSource(wanted), nullptr);
  const Decision drop = t.Do(t.source.Begin().Drop("quantity").End());
  ASSERT_EQ(drop.parts.size(), 2u);
  EXPECT_TRUE(drop.parts[1].planned_again);
  EXPECT_EQ(drop.parts[1].event, EventKind::kAddColumn);
  EXPECT_EQ(drop.parts[1].verdict.kind, VerdictKind::kRewrite);
  EXPECT_EQ(t.evolved->FindSource(wanted)->sink.name, "qty");
}

TEST(DecideNamesTest, ANameIsPlannedAgainAfterARealDrop) {
  AtSink t("paimon");
  t.policy.accepted.erase(EventKind::kRenameColumn);
  t.Do(t.source.Begin().Rename("qty", "quantity").End());
  t.Do(t.source.Begin().Add("qty STRING").End());
  const Decision drop = t.Do(t.source.Begin().Drop("quantity").End());
  EXPECT_EQ(Kinds(drop), "apply apply");
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, note VARCHAR(20) NOT NULL, qty STRING");
}

TEST(DecideNamesTest, SwapsGoThroughWithoutTwoColumnsOfOneName) {
  for (const char* sink : {"paimon", "iceberg", "selectdb", "maxcompute"}) {
    SourceTable source("shop.t", {"k INT NOT NULL", "a INT", "b INT"}, {"k"});
    DecidedTable t(sink);
    t.Do(source.Create());
    const ColumnId a = source.Id("a");
    const Decision decision = t.Do(source.Begin().Rename({{"a", "b"}, {"b", "a"}}).End());
    EXPECT_EQ(Kinds(decision), "apply") << sink;
    EXPECT_EQ(t.evolved->FindSource(a)->sink.name, "b") << sink;
    const size_t steps =
        std::string_view(sink) == "paimon" || std::string_view(sink) == "iceberg" ? 1 : 3;
    EXPECT_EQ(decision.plan.steps.size(), steps) << sink;
  }
}

TEST(DecideNamesTest, AHalfSkippedSwapFollows) {
  SourceTable source("shop.t", {"k INT NOT NULL", "a INT", "b INT"}, {"k"});
  DecidedTable t("selectdb");
  t.Do(source.Create());
  PolicyRule rule = MakeRule("rule 1");
  rule.column = "c";
  rule.verdict = VerdictKind::kSkip;
  t.policy.rules = {rule};
  const Decision decision = t.Do(source.Begin().Rename({{"a", "c"}, {"b", "a"}}).End());
  EXPECT_EQ(Kinds(decision), "skip");
  EXPECT_EQ(t.Columns(), "k INT NOT NULL, a INT, b INT");
}

TEST(DecideNamesTest, DropAndAddOfOneNameInOneStatementAreTwoSteps) {
  AtSink t("paimon");
  const ColumnId old = t.source.Id("qty");
  const Decision decision = t.Do(t.source.Begin().Drop("qty").Add("qty STRING").End());
  EXPECT_EQ(Kinds(decision), "apply apply");
  EXPECT_EQ(decision.plan.steps.size(), 2u);
  EXPECT_EQ(t.evolved->FindSource(old), nullptr);
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, note VARCHAR(20) NOT NULL, qty STRING");
}

TEST(DecideNamesTest, SinksThatIgnoreLetterCaseTakeNamesSo) {
  AtSink t("starrocks");
  t.Do(t.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Add("QTY INT").End())), "skip");
}

// ---- Hologres -----------------------------------------------------------------------------------

TEST(DecideHologresTest, LenientRenamesByAddAndNullFill) {
  AtSink t("hologres");
  const ColumnId qty = t.source.Id("qty");
  const Decision decision = t.Do(t.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kRewrite);
  EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"rename as add + NULL fill"});
  EXPECT_EQ(t.Columns(),
            "id BIGINT NOT NULL, qty INT [free], note VARCHAR(20) NOT NULL, quantity INT");
  EXPECT_EQ(t.evolved->FindSource(qty)->sink.name, "quantity");
  AtSink evolve("hologres", Behavior::kEvolve);
  EXPECT_EQ(Kinds(evolve.Do(evolve.source.Begin().Rename("qty", "quantity").End())), "apply");
}

TEST(DecideHologresTest, TheNewColumnTakesTheFinalType) {
  AtSink t("hologres");
  const Decision decision =
      t.Do(t.source.Begin().Type("qty", "BIGINT").Rename("qty", "quantity").End());
  EXPECT_EQ(Kinds(decision), "apply rewrite");
  EXPECT_TRUE(decision.parts[0].satisfied);
  EXPECT_EQ(t.evolved->FindName("quantity")->sink.type, LogicalType::BigInt());
}

TEST(DecideHologresTest, OntoATakenNameLenientFollows) {
  AtSink t("hologres");
  t.Do(t.source.Begin().Rename("qty", "amount").End());   // qty is free now
  t.Do(t.source.Begin().Rename("note", "remark").End());  // note is free now
  const Decision decision = t.Do(t.source.Begin().Rename("id", "key").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);  // a key column
  EXPECT_EQ(t.evolved->FindSource(t.source.Id("key"))->sink.name, "id");
}

// ---- Kafka --------------------------------------------------------------------------------------

TEST(DecideKafkaTest, NothingIsFollowedAndNothingDiverges) {
  AtSink t("kafka");
  for (const auto& change :
       {t.source.Begin().Drop("qty").End(), t.source.Begin().Rename("note", "remark").End(),
        t.source.Begin().Add("price INT").End(), t.source.Begin().Relax("remark").End(),
        t.source.Begin().Truncate().End()}) {
    const Decision decision = t.Do(change);
    EXPECT_EQ(Kinds(decision), "ignore");
    EXPECT_TRUE(decision.begun.empty());
  }
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, remark VARCHAR(20), price INT");
}

TEST(DecideKafkaTest, ANewKeyHoldsFromThenOn) {
  AtSink t("kafka");
  const Decision decision = t.Do(t.source.Begin().Key({"id", "qty"}).End());
  EXPECT_EQ(Kinds(decision), "apply");
  EXPECT_EQ(Divergences(decision), "old keys remain in the compacted topic");
  EXPECT_EQ(t.evolved->primary_key, (std::vector<std::string>{"id", "qty"}));
}

// ---- keys, internal changes ---------------------------------------------------------------------

TEST(DecideKeyTest, AKeyChangeFailsUnderEveryBehaviourButIgnore) {
  for (const Behavior behavior :
       {Behavior::kLenient, Behavior::kEvolve, Behavior::kTryEvolve, Behavior::kException}) {
    AtSink t("paimon", behavior);
    const Decision decision = t.Do(t.source.Begin().Add("price INT").Key({"id", "note"}).End());
    EXPECT_TRUE(decision.fails);
    EXPECT_TRUE(decision.plan.steps.empty()) << "nothing of the statement is sent";
    EXPECT_EQ(decision.evolved, t.evolved);
    EXPECT_TRUE(Has(decision.parts[1].verdict.reason, "re-create"));
  }
  AtSink ignore("paimon", Behavior::kIgnore);
  EXPECT_EQ(Kinds(ignore.Do(ignore.source.Begin().Key({"id", "note"}).End())), "skip");
  AtSink skipped("paimon");
  skipped.forced[0] = {ForcedVerdict::By::kSkip, "cli"};
  EXPECT_EQ(Kinds(skipped.Do(skipped.source.Begin().Key({"id", "note"}).End())), "skip");
}

TEST(DecideKeyTest, ATableWithoutAKeyDoesNotCare) {
  SourceTable source("shop.log", {"a INT NOT NULL", "b INT"}, {});
  DecidedTable t("paimon");
  t.Do(source.Create());
  EXPECT_TRUE(t.Do(source.Begin().Key({"a"}).End()).parts[0].satisfied);
}

TEST(DecideInternalTest, DefaultsAreRecordedOnly) {
  AtSink t("paimon", Behavior::kException);
  const Decision decision = t.Do(t.source.Begin().Default("qty").End());
  EXPECT_EQ(Only(decision).kind, VerdictKind::kSkip);
  EXPECT_TRUE(Only(decision).never);
}

TEST(DecideInternalTest, ARenamedTableIsAbandonedOrFollowed) {
  AtSink t("paimon");
  EXPECT_TRUE(
      Has(Divergences(t.Do(t.source.Begin().RenameTo("shop.old").End())), "source table left"));
  AtSink follow("paimon");
  follow.policy.table_rename = TableRename::kFollow;
  EXPECT_TRUE(follow.Do(follow.source.Begin().RenameTo("shop.old").End()).parts[0].satisfied);
}

// ---- lenient.style flink-cdc --------------------------------------------------------------------

TEST(DecideFlinkCdcTest, GivesWhatFlinkCdcGave) {
  AtSink t("paimon");
  t.policy.lenient_style = LenientStyle::kFlinkCdc;
  Decision decision = t.Do(t.source.Begin().AddFirst("price INT NOT NULL").End());
  EXPECT_EQ(Only(decision).rewrites,
            (std::vector<std::string>{"appended at the end", "made nullable"}));
  decision = t.Do(t.source.Begin().Drop("note").End());
  EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"made nullable"});
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT, note VARCHAR(20) [free], price INT");
  decision = t.Do(t.source.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(Only(decision).rewrites, std::vector<std::string>{"rename as add + NULL fill"});
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Truncate().End())), "skip");
}

TEST(DecideFlinkCdcTest, AnExcludeListLetsDropsThrough) {
  AtSink t("starrocks");
  t.policy.lenient_style = LenientStyle::kFlinkCdc;
  EXPECT_EQ(Kinds(Decide(t.Input(*t.source.Begin().Truncate().End()))), "skip");
  t.policy.has_exclude_list = true;
  EXPECT_EQ(Kinds(Decide(t.Input(*t.source.Begin().Truncate().End()))), "apply");
}

TEST(DecideFlinkCdcTest, ItsKnownDefectsAreNotCopied) {
  AtSink t("fluss");  // its sink refuses the derived "make nullable" and the job dies there
  t.policy.lenient_style = LenientStyle::kFlinkCdc;
  EXPECT_EQ(Kinds(t.Do(t.source.Begin().Drop("note").End())), "skip");
  EXPECT_EQ(t.evolved->columns[2].fill, EvolvedColumn::Fill::kZero);
}

// ---- approval -----------------------------------------------------------------------------------

TEST(DecideApprovalTest, HoldsWhatWouldBeSent) {
  AtSink t("starrocks");
  t.policy.approval = {EventKind::kDropTable, EventKind::kDropColumn};
  Decision decision = Decide(t.Input(*t.source.Begin().Drop("qty").End()));
  EXPECT_EQ(Only(decision).kind, VerdictKind::kHold);
  EXPECT_EQ(decision.parts[0].held, VerdictKind::kApply);
  EXPECT_FALSE(decision.rows_wait);
  EXPECT_EQ(decision.evolved->FindName("qty")->source, 0u) << "as after a skip";
  AtSink paimon("paimon");
  paimon.policy.approval = {EventKind::kDropTable};
  EXPECT_EQ(Kinds(Decide(paimon.Input(*paimon.source.DropTable()))), "skip");
}

TEST(DecideApprovalTest, IfOnePartIsHeldAllAreAndRowsWait) {
  AtSink t("starrocks");
  t.policy.approval = {EventKind::kDropColumn};
  const auto both = t.source.Begin().Drop("note").Add("price INT").End();
  DecideInput input = t.Input(*both);
  Decision decision = Decide(input);
  EXPECT_EQ(Kinds(decision), "hold hold");
  EXPECT_TRUE(decision.rows_wait);
  input.approved = true;
  EXPECT_EQ(Kinds(Decide(input)), "apply apply");
}

// ---- tables that exist --------------------------------------------------------------------------

TEST(DecideCreateTest, AsksForTheSinkTable) {
  SourceTable source = *Orders();
  DecidedTable t("paimon");
  const auto create = source.Create();
  DecideInput input = t.Input(*create);
  input.sink_was_read = false;
  EXPECT_TRUE(Decide(input).needs_sink_table);
}

SinkTable Existing(std::string_view sink, const std::vector<std::string>& columns,
                   const std::vector<std::string>& key) {
  SourceTable source("shop.orders", columns, key);
  DecidedTable made(sink);
  made.Do(source.Create());
  return *made.actual;
}

TEST(DecideCreateTest, AnExistingTableThatFitsIsUsed) {
  DecidedTable t("paimon");
  t.actual =
      Existing("paimon", {"ID BIGINT NOT NULL", "qty BIGINT", "note STRING", "extra INT"}, {"ID"});
  SourceTable source = *Orders();
  const Decision decision = t.Do(source.Create());
  EXPECT_TRUE(decision.parts[0].satisfied) << Only(decision).reason;
  EXPECT_EQ(t.Columns(), "ID BIGINT NOT NULL, qty BIGINT, note STRING, extra INT [free]");
  EXPECT_EQ(t.evolved->FindSource(source.Id("id"))->sink.name, "ID");
}

TEST(DecideCreateTest, MissingColumnsAreAdded) {
  DecidedTable t("paimon");
  t.actual = Existing("paimon", {"id BIGINT NOT NULL", "note VARCHAR(20) NOT NULL"}, {"id"});
  SourceTable source = *Orders();
  const Decision decision = t.Do(source.Create());
  EXPECT_EQ(Kinds(decision), "apply");
  EXPECT_EQ(Actions(decision), "add column `qty` INT after `id`");
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT, note VARCHAR(20) NOT NULL");
}

TEST(DecideCreateTest, MisfitsAndAnotherKeyAreCellFail) {
  SourceTable source = *Orders();
  for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve}) {
    DecidedTable t("paimon", behavior);
    t.actual =
        Existing("paimon", {"id BIGINT NOT NULL", "qty SMALLINT", "note VARCHAR(20)"}, {"id"});
    const Decision decision = t.Do(source.Create());
    EXPECT_EQ(decision.fails, behavior == Behavior::kEvolve);
    EXPECT_TRUE(Has(Only(decision).reason, "column qty is SMALLINT at the sink"));
    DecidedTable key("paimon", behavior);
    key.actual =
        Existing("paimon", {"id BIGINT NOT NULL", "qty INT NOT NULL", "note VARCHAR(20) NOT NULL"},
                 {"id", "qty"});
    EXPECT_EQ(key.Do(source.Create()).fails, behavior == Behavior::kEvolve);
  }
}

TEST(DecideCreateTest, MaxComputeErrsUnderEveryBehaviour) {
  SourceTable source = *Orders();
  for (const Behavior behavior : {Behavior::kLenient, Behavior::kEvolve, Behavior::kTryEvolve,
                                  Behavior::kIgnore, Behavior::kException}) {
    DecidedTable t("maxcompute", behavior);
    t.actual = Existing("maxcompute", {"id BIGINT NOT NULL", "qty INT"}, {"id"});
    EXPECT_TRUE(t.Do(source.Create()).fails) << ToString(behavior);
  }
}

TEST(DecideCreateTest, ARecordedTableIsComparedWithTheRecord) {
  AtSink t("paimon");
  auto again = std::make_shared<StatementChange>(*t.source.Create());
  EXPECT_TRUE(t.Do(again).parts[0].satisfied);
  t.actual->columns.erase(t.actual->columns.begin() + 1);
  const Decision decision = t.Do(std::make_shared<StatementChange>(*t.source.Create()));
  EXPECT_TRUE(Has(Only(decision).reason, "drift: column qty is gone")) << Only(decision).reason;
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, note VARCHAR(20) NOT NULL");
}

TEST(DecideCreateTest, CreateAfterASkippedDropAdoptsTheTable) {
  AtSink t("paimon");
  EXPECT_EQ(Kinds(t.Do(t.source.DropTable())), "skip");
  const Decision decision = t.Do(
      t.source.CreateAgain({"id BIGINT NOT NULL", "qty INT", "note VARCHAR(20) NOT NULL"}, {"id"}));
  EXPECT_EQ(Divergences(decision), "rows of the dropped table remain");
  EXPECT_EQ(t.evolved->incarnation, 2u);
}

TEST(DecideCreateTest, RelaxedTablesAreNullableFromTheStart) {
  DecidedTable t("paimon");
  t.policy.create_relaxed = true;
  t.Do(Orders()->Create());
  EXPECT_EQ(t.Columns(), "id BIGINT NOT NULL, qty INT, note VARCHAR(20)");
}

TEST(DecideCreateTest, WhatCannotBeCreatedFails) {
  SourceTable source("shop.log", {"a INT"}, {});
  DecidedTable t("starrocks");
  EXPECT_TRUE(t.Do(source.Create()).fails);  // needs a key
  DecidedTable tries("starrocks", Behavior::kTryEvolve);
  EXPECT_EQ(Kinds(tries.Do(source.Create())), "skip");
  EXPECT_FALSE(tries.evolved.has_value());
}

}  // namespace
}  // namespace driftless
