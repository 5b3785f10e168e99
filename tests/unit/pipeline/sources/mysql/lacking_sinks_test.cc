// Sinks without a position beside others: what they are shown, and what is read for them alone.
#include "pipeline/sources/mysql/lacking_sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace driftless::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StreamId kLog = 4;
constexpr StreamId kSnapshot = 3;
const TablePath kTable{"", "shop", "t"};

TableSchemaPtr Schema(uint32_t version, uint64_t incarnation = 7, bool with_key = true) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = kTable;
  schema->incarnation = incarnation;
  schema->version = version;
  schema->AddColumn("id", LogicalType::Int().NotNull());
  if (with_key) schema->primary_key = {1};
  return schema;
}

Point At(uint64_t offset, uint32_t row = LogPosition::kBehindRows) {
  return {kLog, 1, offset, row, 0};
}

// `own`: of the table alone.
SinkPlace Place(const std::string& sink, std::optional<Point> from,
                const std::vector<Point>& own = {}) {
  SinkPlace place;
  place.sink = sink;
  if (from || !own.empty()) place.from.Extend({kSnapshot, 1, 1, UINT32_MAX, 0});
  if (from) place.from.Extend(*from);
  for (const Point& point : own) place.own.Extend(point);
  place.furthest = CutPosition::Join(place.from, place.own);
  return place;
}

class LackingSinksTest : public ::testing::Test {
 protected:
  LackingSinksTest() {
    inputs_.stream = kLog;
    inputs_.snapshot = kSnapshot;
    inputs_.at = At(500);
    Put(At(100, 0), Schema(1));
    Put(At(200, 0), Schema(2));
    Put(At(500, 0), Schema(3));
    Put(At(600, 0), Schema(4));  // behind the place
    inputs_.tables[kTable] = Schema(3);
    inputs_.places = [this](const TablePath&) { return places_; };
  }
  void Put(const Point& point, TableSchemaPtr schema) {
    SchemaVersion version;
    version.table = kTable;
    version.point = point;
    version.schema = std::move(schema);
    inputs_.history.push_back(std::move(version));
  }
  LackingSinks Find() { return FindLackingSinks(inputs_, &progress_); }
  TableProgress& table() { return progress_.tables.at(kTable); }
  static std::vector<uint32_t> Versions(const LackingSinks::Introduction& introduction) {
    std::vector<uint32_t> versions;
    for (const auto& schema : introduction.versions) versions.push_back(schema->version);
    return versions;
  }

  LackingInputs inputs_;
  std::vector<SinkPlace> places_;
  SnapshotProgress progress_;
};

TEST_F(LackingSinksTest, ASinkThatWasAddedIsShownTheTableAndReadsItAlone) {
  places_ = {Place("a", At(500)), Place("b", {})};
  const LackingSinks found = Find();
  ASSERT_EQ(found.introductions.size(), 1u);
  EXPECT_TRUE(found.introductions[0].sinks.Has("b"));
  EXPECT_FALSE(found.introductions[0].sinks.Has("a"));
  EXPECT_THAT(Versions(found.introductions[0]), ElementsAre(3));
  EXPECT_THAT(table().only_for, ElementsAre("b"));
  EXPECT_FALSE(table().repeats);
  EXPECT_THAT(found.gaps, IsEmpty());
}

TEST_F(LackingSinksTest, WithoutASnapshotItIsShownTheTableAlone) {
  inputs_.wants_snapshot = false;
  places_ = {Place("a", At(500)), Place("b", {})};
  EXPECT_EQ(Find().introductions.size(), 1u);
  EXPECT_TRUE(progress_.done());
}

TEST_F(LackingSinksTest, WhereEverySinkHasAPositionNothingIsDone) {
  places_ = {Place("a", At(500)), Place("b", At(700))};
  EXPECT_THAT(Find().introductions, IsEmpty());
  EXPECT_TRUE(progress_.done());
}

// Killed behind its create.table: it may know any version, and has no row.
TEST_F(LackingSinksTest, ASinkThatKnowsTheTableSeesHowItCameToBe) {
  for (const Point& created : {At(100, 0), At(400, LogPosition::kIntroductions + 2)}) {
    progress_ = {};
    places_ = {Place("a", At(500)), Place("b", {}, {created})};
    const LackingSinks found = Find();
    ASSERT_EQ(found.introductions.size(), 1u);
    EXPECT_THAT(Versions(found.introductions[0]), ElementsAre(1, 2, 3));
    EXPECT_THAT(found.gaps, IsEmpty());
    EXPECT_FALSE(table().repeats);
    EXPECT_THAT(table().only_for, ElementsAre("b"));
  }
}

const Point kChunk{kSnapshot, 1, 2, 0, 0};

TEST_F(LackingSinksTest, RowsOfBeforeAreTold) {
  places_ = {Place("a", At(500)), Place("b", {}, {kChunk, At(200, 0)})};
  LackingSinks found = Find();
  ASSERT_EQ(found.gaps.size(), 1u);
  EXPECT_EQ(found.gaps[0].sink, "b");
  EXPECT_TRUE(table().repeats);
  EXPECT_THAT(table().only_for, ElementsAre("b"));
  progress_ = {};
  places_[1] = Place("b", {}, {kChunk, At(600, 0)});  // it is further: nothing is lost
  found = Find();
  EXPECT_THAT(found.gaps, IsEmpty());
  EXPECT_TRUE(table().repeats);
}

// Altered before the first chunk: nothing was committed of it.
TEST_F(LackingSinksTest, AStatementIsNoRow) {
  places_ = {Place("a", At(500)), Place("b", {}, {At(200, 0)})};
  EXPECT_THAT(Find().gaps, IsEmpty());
  EXPECT_FALSE(table().repeats);
  // Where the log made it, its rows came by the log.
  inputs_.history.front().statement = "CREATE TABLE t (id INT PRIMARY KEY)";
  EXPECT_EQ(Find().gaps.size(), 1u);
  EXPECT_TRUE(table().repeats);
  places_[1] = Place("b", {}, {At(100, 0)});
  progress_ = {};
  EXPECT_THAT(Find().gaps, IsEmpty());
}

TEST_F(LackingSinksTest, AReadingOfTheOthersComesFirst) {
  progress_.tables[kTable].Add({{"10"}, {1, 450}});
  places_ = {Place("a", At(500)), Place("b", {})};
  Find();
  EXPECT_THAT(table().owed_to, ElementsAre("b"));
  EXPECT_THAT(table().only_for, IsEmpty());
  EXPECT_TRUE(table().begun());
}

TEST_F(LackingSinksTest, AReadingThatHasNotBegunIsForAll) {
  progress_.tables[kTable];
  places_ = {Place("a", At(500)), Place("b", {})};
  Find();
  EXPECT_TRUE(table().Readers().IsAll());
}

TEST_F(LackingSinksTest, RowsOfBeforeMakeAReadingOfTheOthersBeginAnewForAll) {
  progress_.tables[kTable].Add({{"10"}, {1, 450}});
  places_ = {Place("a", At(500)), Place("b", {}, {kChunk, At(200, 0)})};
  Find();
  EXPECT_TRUE(table().Readers().IsAll());
  EXPECT_TRUE(table().repeats);
  EXPECT_FALSE(table().begun());
}

// A sink that was killed before its first commit once more: what was read for it is read again.
TEST_F(LackingSinksTest, AReadingOfItsOwnBeginsAnew) {
  TableProgress& table = progress_.tables[kTable];
  table.only_for = {"b"};
  table.Add({{"10"}, {1, 450}});
  places_ = {Place("a", At(500)), Place("b", {}), Place("c", {})};
  Find();
  EXPECT_THAT(this->table().only_for, ElementsAre("b", "c"));
  EXPECT_THAT(this->table().owed_to, IsEmpty());
  EXPECT_FALSE(this->table().begun());
}

TEST_F(LackingSinksTest, AnotherReadingOfOneSinkAloneGoesOn) {
  TableProgress& table = progress_.tables[kTable];
  table.only_for = {"b"};
  table.Add({{"10"}, {1, 450}});
  places_ = {Place("a", At(500)), Place("b", At(500)), Place("c", {})};
  Find();
  EXPECT_THAT(this->table().only_for, ElementsAre("b"));
  EXPECT_THAT(this->table().owed_to, ElementsAre("c"));
  EXPECT_TRUE(this->table().begun());
}

TEST_F(LackingSinksTest, ATableThatNobodyHasIsReadForAll) {
  places_ = {Place("b", {}), Place("c", {})};
  const LackingSinks found = Find();
  ASSERT_EQ(found.introductions.size(), 1u);
  EXPECT_TRUE(table().Readers().IsAll());
}

TEST_F(LackingSinksTest, WithoutAKeyNothingIsRepeated) {
  inputs_.tables[kTable] = Schema(3, 7, /*with_key=*/false);
  places_ = {Place("a", At(500)), Place("b", {}, {kChunk, At(200, 0)})};
  Find();
  EXPECT_FALSE(table().repeats);
}

}  // namespace
}  // namespace driftless::mysql
