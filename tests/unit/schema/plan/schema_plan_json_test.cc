#include <gtest/gtest.h>

#include "schema/plan/schema_plan.h"
#include "tests/doubles/random_schema.h"

namespace driftless {
namespace {

class RandomPlans {
 public:
  explicit RandomPlans(uint64_t seed) : random_(seed) {}

  EvolvedSchema Evolved() {
    const TableSchema table = random_.Table();
    EvolvedSchema evolved;
    evolved.path = table.path;
    evolved.incarnation = table.incarnation;
    for (const Column& column : table.columns) {
      EvolvedColumn& item = evolved.columns.emplace_back();
      item.sink.name = column.name;
      item.sink.type = column.type;
      item.sink.comment = column.comment;
      item.sink.default_value = column.default_value;
      item.sink.native_type = column.source.type_text;
      item.sink.native_id = random_.Coin() ? -1 : static_cast<int64_t>(column.id);
      item.source = random_.Coin() ? column.id : 0;
      item.fill = static_cast<EvolvedColumn::Fill>(random_.Below(4));
    }
    if (random_.Coin()) evolved.primary_key = {table.columns[0].name};
    if (random_.Coin()) evolved.partition_keys = {table.columns[0].name};
    evolved.options = table.options;
    evolved.comment = table.comment;
    return evolved;
  }
  SinkTable Table() {
    SinkTable table = Evolved().ToSinkTable();
    if (random_.Coin()) table.version = "schema-3";
    if (random_.Coin()) table.change_ids = {"a/b/7", "a/b/8"};
    return table;
  }
  SchemaPlan Plan() {
    SchemaPlan plan;
    plan.change_id = random_.Name();
    plan.sink_table = {"", random_.Name(), random_.Name()};
    for (uint64_t i = random_.Below(4); i > 0; --i) {
      Step& step = plan.steps.emplace_back();
      step.action = "ALTER TABLE " + random_.Name();
      step.payload = random_.Coin() ? "" : std::string("\0\xFE\x01", 3);
      step.before = Table();
      if (random_.Coin()) step.after = Table();
      step.creates_table = random_.Coin();
      step.repeatable = random_.Coin();
    }
    plan.evolved = Evolved();
    plan.rows = random_.Coin() ? "" : "old rows read NULL";
    plan.rows_may_stop = random_.Coin();
    if (random_.Coin()) plan.rewrites = {"appended at the end", "made nullable"};
    return plan;
  }

 private:
  testing::RandomSchemas random_;
};

TEST(SchemaPlanJsonTest, AnyPlanComesBackEqual) {
  RandomPlans random(21);
  for (int i = 0; i < 1000; ++i) {
    const SchemaPlan plan = random.Plan();
    const std::string text = Serialize(plan);
    const auto back = ParseSchemaPlan(text);
    ASSERT_TRUE(back.has_value()) << back.error().ToString() << "\n" << text;
    EXPECT_EQ(back->change_id, plan.change_id);
    EXPECT_EQ(back->sink_table, plan.sink_table);
    ASSERT_EQ(back->steps.size(), plan.steps.size());
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      EXPECT_EQ(back->steps[s].action, plan.steps[s].action);
      EXPECT_EQ(back->steps[s].payload, plan.steps[s].payload);
      EXPECT_EQ(back->steps[s].before, plan.steps[s].before);
      EXPECT_EQ(back->steps[s].after, plan.steps[s].after);
      EXPECT_EQ(back->steps[s].creates_table, plan.steps[s].creates_table);
      EXPECT_EQ(back->steps[s].repeatable, plan.steps[s].repeatable);
    }
    EXPECT_EQ(back->evolved, plan.evolved);
    EXPECT_EQ(back->rows, plan.rows);
    EXPECT_EQ(back->rows_may_stop, plan.rows_may_stop);
    EXPECT_EQ(back->rewrites, plan.rewrites);
    EXPECT_EQ(Serialize(*back), text);
  }
}

TEST(SchemaPlanJsonTest, AnyEvolvedSchemaComesBackEqual) {
  RandomPlans random(22);
  for (int i = 0; i < 1000; ++i) {
    const EvolvedSchema evolved = random.Evolved();
    const auto back = ParseEvolvedSchema(Serialize(evolved));
    ASSERT_TRUE(back.has_value());
    ASSERT_EQ(*back, evolved);
  }
}

TEST(SchemaPlanJsonTest, AnUnknownFillIsAnError) {
  EXPECT_FALSE(
      ParseEvolvedSchema(R"({"path":{},"columns":[{"name":"a","type":"INT","fill":"hope"}]})"));
  EXPECT_TRUE(
      ParseEvolvedSchema(R"({"path":{},"columns":[{"name":"a","type":"INT","fill":"zero"}]})"));
}

TEST(EvolvedSchemaTest, FreeColumnsAreNotFoundByIdentity) {
  EvolvedSchema evolved;
  evolved.columns.push_back({{"a", LogicalType::Int()}, 0});
  evolved.columns.push_back({{"b", LogicalType::Int()}, 5});
  EXPECT_EQ(evolved.FindSource(0), nullptr);
  ASSERT_NE(evolved.FindSource(5), nullptr);
  EXPECT_EQ(evolved.FindSource(5)->sink.name, "b");
  EXPECT_EQ(evolved.FindName("a"), &evolved.columns[0]);
  EXPECT_EQ(evolved.FindName("A"), nullptr);
  EXPECT_EQ(evolved.ToSinkTable().columns.size(), 2u);
}

}  // namespace
}  // namespace driftless
