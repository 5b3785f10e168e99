#include "sinks/paimon/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/paimon/catalog.h"
#include "sinks/paimon/schema_change.h"
#include "sinks/paimon/table.h"
#include "sinks/paimon/types.h"

namespace driftless::paimon {
namespace {

// A source table, the planner's view of its sink table, and the warehouse.
class PlannerTest : public testing::Test {
 protected:
  PlannerTest() {
    source_.path = {"", "shop", "orders"};
    source_.AddColumn("id", LogicalType::Int().NotNull());
    source_.AddColumn("name", LogicalType::VarChar(20)).comment = "who";
    source_.AddColumn("qty", LogicalType::Int().NotNull());
    source_.primary_key = {1};
  }

  void SetOptions(PaimonOptions options) { planner_ = MakePaimonPlanner(std::move(options)); }

  Result<SchemaPlan> Plan(std::vector<ChangeDetail> details, bool adapt = true) {
    std::vector<SchemaChange> parts;
    for (ChangeDetail& detail : details) {
      SchemaChange& part = parts.emplace_back();
      part.detail = std::move(detail);
      part.before = part.after = std::make_shared<TableSchema>(source_);
    }
    PlanRequest request;
    request.parts = parts;
    request.evolved = evolved_ ? &*evolved_ : nullptr;
    request.actual = actual_ ? &*actual_ : nullptr;
    request.sink_table = path_;
    request.adapt_constraints = adapt;
    request.change_id = "p/lake/db.t/" + std::to_string(++cut_);
    return planner_->Plan(request);
  }
  // Plans, executes step by step, and checks that every step is told apart from what was before.
  Result<SchemaPlan> Run(std::vector<ChangeDetail> details, bool adapt = true) {
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPlan plan, Plan(std::move(details), adapt));
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      std::optional<SinkTable> actual = *catalog_.ReadTable(path_);
      EXPECT_EQ(planner_->Recognise(plan, i, actual ? &*actual : nullptr), StepState::kNotBegun)
          << plan.steps[i].action;
      DRIFTLESS_TRY(catalog_.ExecuteStep(plan, i));
      actual = *catalog_.ReadTable(path_);
      EXPECT_EQ(planner_->Recognise(plan, i, &*actual), StepState::kDone) << plan.steps[i].action;
      SinkTable expected = *plan.steps[i].after;
      EXPECT_EQ(expected.columns.size(), actual->columns.size());
      for (size_t c = 0; c < expected.columns.size(); ++c) {
        if (expected.columns[c].native_id < 0) {
          expected.columns[c].native_id = actual->columns[c].native_id;
        }
        EXPECT_EQ(expected.columns[c], actual->columns[c]) << expected.columns[c].name;
      }
      EXPECT_EQ(expected.primary_key, actual->primary_key);
      EXPECT_EQ(expected.partition_keys, actual->partition_keys);
      EXPECT_EQ(expected.options, actual->options);
      EXPECT_EQ(expected.comment, actual->comment);
    }
    evolved_ = plan.evolved;
    return plan;
  }
  void Create() { ASSERT_TRUE(Run({CreateTable()})); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::optional<SinkTable> table = *catalog_.ReadTable(path_);
    for (const SinkColumn& column : table->columns) {
      names.push_back(column.name + ":" + std::to_string(column.native_id));
    }
    return names;
  }
  static AddColumns AddOf(Column column, ColumnPlace place = {}) {
    return AddColumns{{{std::move(column), place}}};
  }
  static Column NewColumn(ColumnId id, std::string name, LogicalType type) {
    Column column;
    column.id = id;
    column.name = std::move(name);
    column.type = std::move(type);
    return column;
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  PaimonCatalog catalog_{store_, nullptr};
  std::unique_ptr<SchemaPlanner> planner_ = MakePaimonPlanner({});
  TableSchema source_;
  TablePath path_{"", "db", "t"};
  std::optional<EvolvedSchema> evolved_;
  std::optional<SinkTable> actual_;
  int cut_ = 0;
};

TEST_F(PlannerTest, CreateCarriesKeysCommentsAndOptions) {
  PaimonOptions options;
  options.table_properties = {{"bucket", "4"}};
  options.partition_keys = {{"db.t", {"NAME"}}};
  SetOptions(options);
  source_.comment = "all orders";
  const Result<SchemaPlan> plan = Run({CreateTable()});
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->steps[0].action,
            "CREATE TABLE `db`.`t` (`id` INT NOT NULL, `name` VARCHAR(20) NOT NULL, `qty` INT NOT "
            "NULL, PRIMARY KEY (`id`, `name`) NOT ENFORCED) PARTITIONED BY (`name`) WITH ('bucket' "
            "= '4')");
  EXPECT_TRUE(plan->rows_may_stop);  // name was nullable
  EXPECT_THAT(plan->rewrites,
              testing::ElementsAre("partition column `name` joined the primary key"));
  const PaimonSchema schema = **PaimonTable(store_, "db.db/t").LatestSchema();
  EXPECT_EQ(schema.comment, "all orders");
  EXPECT_EQ(schema.Find("name")->description, "who");
  EXPECT_EQ(schema.highest_field_id, 2);
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "name:1", "qty:2"));
}

TEST_F(PlannerTest, AddInEveryPlace) {
  Create();
  using Place = ColumnPlace::Kind;
  ASSERT_TRUE(Run({AddOf(NewColumn(4, "last", LogicalType::Date()))}));
  ASSERT_TRUE(Run({AddOf(NewColumn(5, "first", LogicalType::Date()), {Place::kFirst, 0})}));
  ASSERT_TRUE(Run({AddOf(NewColumn(6, "after", LogicalType::Date()), {Place::kAfter, 2})}));
  const Result<SchemaPlan> plan =
      Run({AddOf(NewColumn(7, "before", LogicalType::Date()), {Place::kBefore, 3})});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->steps[0].action, "schema commit: add column `before` DATE after `after`");
  EXPECT_EQ(plan->rows, "old rows read NULL");
  EXPECT_THAT(Names(), testing::ElementsAre("first:4", "id:0", "name:1", "after:5", "before:6",
                                            "qty:2", "last:3"));
}

TEST_F(PlannerTest, NotNullIsAdaptedOrImpossible) {
  Create();
  const Column column = NewColumn(4, "n", LogicalType::Int().NotNull());
  const Result<SchemaPlan> strict = Plan({AddOf(column)}, false);
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().kind(), ErrorKind::kUnsupported);
  const Result<SchemaPlan> adapted = Run({AddOf(column)}, true);
  ASSERT_TRUE(adapted);
  EXPECT_THAT(adapted->rewrites, testing::ElementsAre("made nullable"));
}

TEST_F(PlannerTest, DropAndAddAgainAreTwoCommitsWithNewIds) {
  Create();
  const Result<SchemaPlan> plan =
      Run({DropColumns{{3}}, AddOf(NewColumn(4, "qty", LogicalType::Int()))});
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->steps.size(), 2U);
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "name:1", "qty:3"));
}

TEST_F(PlannerTest, SwapIsOneCommitThatKeepsIds) {
  Create();
  const Result<SchemaPlan> plan = Run({RenameColumns{{{2, "name", "qty"}, {3, "qty", "name"}}}});
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->steps.size(), 1U);
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "qty:1", "name:2"));
  EXPECT_EQ(plan->evolved.FindSource(2)->sink.name, "qty");
}

// Two columns of one type: before and after differ in the order of names alone.
TEST_F(PlannerTest, SwapOfEqualTypesIsRecognised) {
  source_.columns[1].type = LogicalType::Int().NotNull();
  source_.columns[1].comment = "";
  Create();
  ASSERT_TRUE(Run({RenameColumns{{{2, "name", "qty"}, {3, "qty", "name"}}}}));
}

TEST_F(PlannerTest, KeyColumnsAreRenamedWithTheirKey) {
  PaimonOptions options;
  options.table_properties = {{"bucket", "2"}, {"bucket-key", "id"}};
  SetOptions(options);
  Create();
  ASSERT_TRUE(Run({RenameColumns{{{1, "id", "order_id"}}}}));
  const PaimonSchema schema = **PaimonTable(store_, "db.db/t").LatestSchema();
  EXPECT_THAT(schema.primary_keys, testing::ElementsAre("order_id"));
  EXPECT_EQ(schema.Option("bucket-key", ""), "order_id");
}

TEST_F(PlannerTest, TypesFollowPaimonsRules) {
  Create();
  ASSERT_TRUE(Run({AlterColumnTypes{{{3, LogicalType::Int(), LogicalType::BigInt(), "", ""}}}}));
  EXPECT_EQ(evolved_->FindName("qty")->sink.type, LogicalType::BigInt().NotNull());
  const Result<SchemaPlan> narrower =
      Run({AlterColumnTypes{{{3, LogicalType::BigInt(), LogicalType::SmallInt(), "", ""}}}});
  ASSERT_TRUE(narrower);
  EXPECT_THAT(narrower->rows, testing::HasSubstr("wrap around"));
  for (const auto& [id, to] :
       std::vector<std::pair<ColumnId, LogicalType>>{{1, LogicalType::BigInt()},
                                                     {3, LogicalType::Date()},
                                                     {3, LogicalType::Array(LogicalType::Int())},
                                                     {3, LogicalType::Variant()}}) {
    const Result<SchemaPlan> plan = Plan({AlterColumnTypes{{{id, {}, to, "", ""}}}});
    ASSERT_FALSE(plan) << to.ToString();
    EXPECT_EQ(plan.error().kind(), ErrorKind::kUnsupported);
  }
  const Result<SchemaPlan> same =
      Plan({AlterColumnTypes{{{3, {}, LogicalType::SmallInt(), "", ""}}}});
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->steps.empty());
}

TEST_F(PlannerTest, NullabilityIsRelaxedButNotOfKeys) {
  Create();
  ASSERT_TRUE(Run({RelaxNullability{{3}}}));
  EXPECT_TRUE(evolved_->FindName("qty")->sink.type.nullable());
  EXPECT_FALSE(Plan({RelaxNullability{{1}}}));
}

TEST_F(PlannerTest, AStatementOfManyPartsIsOneCommit) {
  Create();
  const Result<SchemaPlan> plan =
      Run({AlterColumnTypes{{{2, LogicalType::VarChar(20), LogicalType::VarChar(40), "", ""}}},
           RelaxNullability{{3}}, RenameColumns{{{3, "qty", "quantity"}}},
           AddOf(NewColumn(4, "city", LogicalType::String())),
           MoveColumns{{{4, {ColumnPlace::Kind::kAfter, 1}}}}});
  ASSERT_TRUE(plan) << plan.error().ToString();
  EXPECT_EQ(plan->steps.size(), 1U);
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "city:3", "name:1", "quantity:2"));
}

TEST_F(PlannerTest, KeysAndNamesThatPaimonForbids) {
  Create();
  EXPECT_FALSE(Plan({DropColumns{{1}}}));
  EXPECT_FALSE(Plan({AddOf(NewColumn(4, "_KEY_x", LogicalType::Int()))}));
  EXPECT_FALSE(Plan({AddOf(NewColumn(4, "rowkind", LogicalType::Int()))}));
  EXPECT_FALSE(Plan({RenameColumns{{{2, "name", "_VALUE_KIND"}}}}));
  EXPECT_FALSE(Plan({RenameColumns{{{2, "name", "qty"}}}}));
  EXPECT_FALSE(Plan({DropTable()}));
  EXPECT_FALSE(Plan({TruncateTable()}));
}

TEST_F(PlannerTest, AKeyOfPartitionColumnsAloneIsImpossible) {
  PaimonOptions options;
  options.partition_keys = {{"db.t", {"id"}}};
  SetOptions(options);
  EXPECT_FALSE(Plan({CreateTable()}));
}

TEST_F(PlannerTest, LetterCaseIsFollowedWhereTheTableIsKnown) {
  Create();
  SchemaPlan plan;
  std::string action;
  ASSERT_TRUE(Run({RenameColumns{{{3, "qty", "Qty"}}}}));
  actual_ = **catalog_.ReadTable(path_);
  evolved_->columns[2].sink.name = "QTY";  // what was recorded
  const Result<SchemaPlan> planned = Run({DropColumns{{3}}});
  ASSERT_TRUE(planned) << planned.error().ToString();
  EXPECT_THAT(planned->rewrites, testing::ElementsAre("column `QTY` is called `Qty` at the sink"));
  EXPECT_EQ(planned->steps[0].action, "schema commit: drop column `Qty`");
}

TEST_F(PlannerTest, LetterCaseIsCorrectedWhenTheChangeIsCarriedOut) {
  Create();
  evolved_->columns[2].sink.name = "QTY";
  const Result<SchemaPlan> plan = Plan({DropColumns{{3}}});
  ASSERT_TRUE(catalog_.ExecuteStep(*plan, 0));
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "name:1"));
}

// A change id that was used before a lost state folder must not hide a change that is not there.
TEST_F(PlannerTest, AMarkAloneIsNoProof) {
  Create();
  ASSERT_TRUE(Run({AddOf(NewColumn(4, "a", LogicalType::Int()))}));
  --cut_;  // the same change id again
  const Result<SchemaPlan> plan = Plan({AddOf(NewColumn(5, "b", LogicalType::Int()))});
  const SinkTable actual = **catalog_.ReadTable(path_);
  EXPECT_EQ(planner_->Recognise(*plan, 0, &actual), StepState::kNotBegun);
}

TEST_F(PlannerTest, AForeignSchemaCommitInBetweenIsKept) {
  Create();
  const Result<SchemaPlan> plan = Plan({AddOf(NewColumn(4, "a", LogicalType::Int()))});
  PaimonSchema foreign = **PaimonTable(store_, "db.db/t").LatestSchema();
  foreign.id = 1;
  foreign.fields.push_back(MakeField("theirs", LogicalType::Int(), "", &foreign.highest_field_id));
  ASSERT_TRUE(store_->CreateExclusive("db.db/t/schema/schema-1", SchemaToJson(foreign)));
  ASSERT_TRUE(catalog_.ExecuteStep(*plan, 0));
  EXPECT_THAT(Names(), testing::ElementsAre("id:0", "name:1", "qty:2", "theirs:3", "a:4"));
  const SinkTable actual = **catalog_.ReadTable(path_);
  EXPECT_EQ(planner_->Recognise(*plan, 0, &actual), StepState::kDone);
}

TEST_F(PlannerTest, ALostAnswerIsNotRepeated) {
  Create();
  const Result<SchemaPlan> plan = Plan({AddOf(NewColumn(4, "a", LogicalType::Int()))});
  int lost = 0;
  store_->SetFaults([&](MemoryStore::Operation operation, const std::string&) {
    return operation == MemoryStore::Operation::kCreate && lost++ == 0
               ? MemoryStore::Fault::kLoseAnswer
               : MemoryStore::Fault::kNone;
  });
  ASSERT_TRUE(catalog_.ExecuteStep(*plan, 0));
  EXPECT_THAT(*PaimonTable(store_, "db.db/t").SchemaIds(), testing::ElementsAre(0, 1));
}

TEST_F(PlannerTest, PayloadsComeBack) {
  SchemaCommit commit;
  commit.change = "c#1";
  ColumnChange add;
  add.name = "a `b\"";
  add.type = LogicalType::Row({{"x", LogicalType::Array(LogicalType::Int().NotNull()), "why"}});
  add.comment = "é";
  add.after = "";
  ColumnChange rename;
  rename.kind = ColumnChange::Kind::kRename;
  rename.renames = {{"a", "b"}, {"b", "a"}};
  commit.changes = {add, rename};
  const Result<SchemaCommit> again = DecodeSchemaCommit(EncodeSchemaCommit(commit));
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(again->changes, commit.changes);
  EXPECT_EQ(again->change, "c#1");
  EXPECT_FALSE(DecodeSchemaCommit("{}"));
  EXPECT_FALSE(DecodeSchemaCommit(R"({"changes":[{"action":"x"}]})"));
}

TEST(PaimonTypesTest, EveryTypeHasAnAnswer) {
  const LogicalType all[] = {
      LogicalType::Boolean(),    LogicalType::TinyInt(),       LogicalType::SmallInt(),
      LogicalType::Int(),        LogicalType::BigInt(),        LogicalType::Float(),
      LogicalType::Double(),     LogicalType::Decimal(38, 10), LogicalType::Char(3),
      LogicalType::VarChar(4),   LogicalType::String(),        LogicalType::Binary(3),
      LogicalType::VarBinary(4), LogicalType::Bytes(),         LogicalType::Date(),
      LogicalType::Time(3),      LogicalType::Timestamp(6),    LogicalType::TimestampLtz(3)};
  for (const LogicalType& type : all) {
    EXPECT_EQ(*ToPaimonType(type, true), type);
    EXPECT_EQ(*ParsePaimonType(PaimonTypeText(type.NotNull())), type.NotNull());
  }
  EXPECT_EQ(*ToPaimonType(LogicalType::TimestampTz(3).NotNull(), false),
            LogicalType::TimestampLtz(3).NotNull());
  EXPECT_EQ(*ToPaimonType(LogicalType::Char(0), false), LogicalType::Char(1));
  EXPECT_FALSE(ToPaimonType(LogicalType::Array(LogicalType::Int()), true));
  EXPECT_FALSE(ToPaimonType(LogicalType::Map(LogicalType::Int(), LogicalType::Variant()), false));
  EXPECT_EQ(ParsePaimonType("VARIANT").error().kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(ParsePaimonType("SQUARE").error().kind(), ErrorKind::kCorrupt);
}

}  // namespace
}  // namespace driftless::paimon
