#include "sinks/formats/row_json/mysql_text.h"
#include "tests/unit/sinks/policy/decide_fixture.h"

namespace driftless {
namespace {

// A sink that keeps no schema, and sends the statements themselves.
class SendsStatements : public SchemaPlanner {
 public:
  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    return model_->MapType(type, is_key);
  }
  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    auto plan = model_->Plan(request);
    if (!plan || !request.parts.empty()) return plan;
    Step step;
    const StatementChange& told = *request.statement;
    step.action =
        "send " + (told.statement != nullptr ? *told.statement
                                             : AlterTableText(*told.before(), *told.after()));
    step.after = step.before = plan->evolved.ToSinkTable();
    step.repeatable = true;
    plan->steps.push_back(std::move(step));
    return plan;
  }
  StepState Recognise(const SchemaPlan& plan, size_t step, const SinkTable* actual) const override {
    return model_->Recognise(plan, step, actual);
  }
  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    return model_->Holds(sink, wanted);
  }

 private:
  const std::unique_ptr<SchemaPlanner> model_ = DecidedTable::ModelOf("kafka");
};

class DecideStatementTest : public ::testing::Test {
 protected:
  explicit DecideStatementTest(Behavior behavior = Behavior::kLenient)
      : table_("kafka", behavior), source_(*Orders()) {
    table_.Do(source_.Create());
    table_.actual.reset();  // a topic says nothing of columns
  }
  Decision Do(const std::shared_ptr<StatementChange>& change) {
    change_ = change;
    DecideInput input = table_.Input(*change_);
    input.planner = &planner_;
    input.one_by_one = one_by_one_;
    Decision decision = Decide(input);
    if (!decision.fails) table_.evolved = decision.evolved;
    return decision;
  }

  DecidedTable table_;
  SourceTable source_;
  SendsStatements planner_;
  std::shared_ptr<StatementChange> change_;
  bool one_by_one_ = false;
};

TEST_F(DecideStatementTest, AStatementIsOneStepWhateverItsPartsAre) {
  const Decision decision = Do(source_.Begin().Drop("qty").Add("price INT").Add("x INT").End());
  EXPECT_EQ(Actions(decision), "send statement 2");
  EXPECT_EQ(decision.step_parts, std::vector<uint32_t>{0});
  EXPECT_EQ(decision.parts[0].actions, std::vector<std::string>{"send statement 2"});
  for (const PartDecision& part : decision.parts) {
    EXPECT_EQ(part.verdict.kind, VerdictKind::kIgnore);
  }
}

TEST_F(DecideStatementTest, WhatChangesNoColumnIsSentToo) {
  EXPECT_EQ(Actions(Do(source_.Begin().Truncate().End())), "send statement 2");
  EXPECT_EQ(Actions(Do(source_.DropTable())), "send statement 3");
}

TEST_F(DecideStatementTest, WhatTheListsKeepAwayIsNotSent) {
  table_.policy.accepted.erase(EventKind::kTruncateTable);
  EXPECT_EQ(Actions(Do(source_.Begin().Truncate().End())), "");
}

// Readers have the columns that the rows have, not the source's.
TEST_F(DecideStatementTest, AStatementThatIsKeptAwayInPartIsWrittenAnew) {
  table_.policy.accepted.erase(EventKind::kDropColumn);
  EXPECT_EQ(Actions(Do(source_.Begin().Drop("qty").Add("price INT").End())),
            "send ALTER TABLE `shop`.`orders` ADD COLUMN `price` int NULL AFTER `note`");
  // The rows still have qty, which the source has no more; of the next statement nothing is kept.
  const Decision next = Do(source_.Begin().AddFirst("x BIGINT").End());
  EXPECT_EQ(Actions(next),
            "send ALTER TABLE `shop`.`orders` ADD COLUMN `x` bigint NULL AFTER `price`");
  EXPECT_EQ(table_.Columns(),
            "id BIGINT NOT NULL, qty INT [free], note VARCHAR(20) NOT NULL, price INT, x BIGINT");
}

TEST_F(DecideStatementTest, WhatReadersDoNotHaveIsNotToldOf) {
  table_.policy.accepted.erase(EventKind::kAddColumn);
  EXPECT_EQ(Actions(Do(source_.Begin().Add("price INT").End())), "");
  EXPECT_EQ(Actions(Do(source_.Begin().Type("price", "BIGINT").End())), "");
  EXPECT_EQ(Actions(Do(source_.Begin().Drop("qty").Add("y INT").Type("price", "INT").End())),
            "send ALTER TABLE `shop`.`orders` DROP COLUMN `qty`");
  EXPECT_EQ(Actions(Do(source_.Begin().Drop("price").End())), "");
}

TEST_F(DecideStatementTest, ARenameOrATypeThatIsKeptAwayStaysAway) {
  table_.policy.accepted.erase(EventKind::kRenameColumn);
  table_.policy.accepted.erase(EventKind::kAlterColumnType);
  table_.policy.accepted.erase(EventKind::kAlterColumnComment);
  EXPECT_EQ(Actions(Do(source_.Begin()
                           .Rename("qty", "amount")
                           .Add("price INT")
                           .Type("note", "VARCHAR(99)")
                           .Comment("id", "the key")
                           .End())),
            "send ALTER TABLE `shop`.`orders` ADD COLUMN `price` int NULL AFTER `note`");
  // Under the name that readers know.
  EXPECT_EQ(Actions(Do(source_.Begin().Drop("amount").End())),
            "send ALTER TABLE `shop`.`orders` DROP COLUMN `qty`");
}

TEST_F(DecideStatementTest, HowASnapshotBeginsIsNotSent) {
  auto drop = source_.DropTable();
  drop->from_snapshot = true;
  EXPECT_EQ(Actions(Do(drop)), "");
}

TEST_F(DecideStatementTest, WhatTheSinkRefusedIsNotSentAgain) {
  one_by_one_ = true;
  EXPECT_EQ(Actions(Do(source_.Begin().Truncate().End())), "");
}

TEST_F(DecideStatementTest, ASinkThatKeepsItsSchemaIsNotAsked) {
  DecidedTable lake("paimon");
  lake.Do(source_.Create());
  const auto truncate = source_.Begin().Truncate().End();
  DecideInput input = lake.Input(*truncate);
  input.planner = &planner_;
  EXPECT_EQ(Actions(Decide(input)).find("send"), std::string::npos);
}

}  // namespace
}  // namespace driftless
