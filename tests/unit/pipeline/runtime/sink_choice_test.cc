#include <gtest/gtest.h>

#include "tests/unit/pipeline/runtime/harness.h"

// What a source sends to some sinks alone, and what it is told of sinks that begin later.
namespace driftless {
namespace {

const TablePath kTable = ShopTable("a");

TEST(SinkChoiceTest, SaysWhoIsMeant) {
  EXPECT_TRUE(SinkChoice().Has("lake"));
  EXPECT_TRUE(SinkChoice::Only({"lake"}).Has("lake"));
  EXPECT_FALSE(SinkChoice::Only({"lake"}).Has("later"));
  EXPECT_FALSE(SinkChoice::Only({}).Has("lake"));
  EXPECT_FALSE(SinkChoice::AllBut({"lake"}).Has("lake"));
  EXPECT_TRUE(SinkChoice::AllBut({"lake"}).Has("later"));
  EXPECT_TRUE(SinkChoice::AllBut({}).IsAll());
}

TEST(SinkChoiceTest, RowsAndStatementsGoWhereTheyAreMeantToGo) {
  ScriptBuilder script;
  script.Create("a").Rows("a", 2).Rows("a", 3).For(SinkChoice::Only({"later"})).Rows("a", 1);
  script.AddColumn("a", "b").For(SinkChoice::AllBut({"later"}));
  Harness harness(script.Script());
  harness.warehouses_["later"] = std::make_shared<FakeWarehouse>();
  ExpectFinished(harness.RunToEnd());
  const std::vector<std::string> all = script.Expected("a");
  EXPECT_EQ(harness.warehouses_["later"]->Rows(kTable), all);
  std::vector<std::string> lake = all;
  lake.erase(lake.begin() + 2, lake.begin() + 5);
  EXPECT_EQ(harness.warehouse().Rows(kTable), lake);
  EXPECT_EQ(harness.warehouse().Columns(kTable).size(), 3u);
  EXPECT_EQ(harness.warehouses_["later"]->Columns(kTable).size(), 2u);
  ExpectFinished(harness.RunToEnd());  // positions do not know of it
  EXPECT_EQ(harness.warehouse().Rows(kTable), lake);
}

TEST(SinkChoiceTest, ASourceIsToldWhereTheOthersAre) {
  ScriptBuilder script;
  script.Create("a").Rows("a", 2);
  Harness harness(script.Script());
  std::optional<Point> others;
  std::vector<SinkPlace> places;
  StreamId stream = 0;
  harness.look_ = [&](const SourceContext& context, StreamId asked) {
    stream = asked;
    others = context.from_of_others(asked).Last(asked);
    places = context.places(kTable);
  };
  ExpectFinished(harness.RunToEnd());
  EXPECT_FALSE(others);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_FALSE(places[0].from.Last(stream));
  harness.warehouses_["later"] = std::make_shared<FakeWarehouse>();
  ExpectFinished(harness.RunToEnd());
  ASSERT_TRUE(others);
  EXPECT_EQ(others->offset, script.last_offset());
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].sink, "lake");
  EXPECT_EQ(places[0].from.Last(stream), others);
  EXPECT_EQ(places[1].sink, "later");
  EXPECT_FALSE(places[1].from.Last(stream));
  EXPECT_FALSE(places[1].furthest.Last(stream));
  EXPECT_EQ(harness.starts_->back(), 1u);  // a source may begin anew all the same
  EXPECT_EQ(harness.warehouse().Rows(kTable), script.Expected("a"));
}

}  // namespace
}  // namespace driftless
