// What is left of a snapshot where a crash finds the sinks at different places.
#include "pipeline/sources/mysql/sink_readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace driftless::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StreamId kSnapshot = 3;
constexpr StreamId kLog = 4;
const TablePath kTable{"", "shop", "t"};
const TablePath kOther{"", "shop", "u"};

TableProgress Read(const std::string& bound, uint64_t seen) {
  TableProgress table;
  table.order = "1 0 ; ";
  table.Add({bound.empty() ? ChunkBound{} : ChunkBound{bound}, {1, seen}});
  return table;
}

class SinkReadingsTest : public ::testing::Test {
 protected:
  // A sink at a place of the log, and what its position says of the snapshot.
  SinkPlace& Add(const std::string& sink, uint64_t log,
                 const std::map<TablePath, TableProgress>& tables) {
    SnapshotProgress progress;
    progress.attempt = 1;
    progress.number = log;
    progress.tables = tables;
    SinkPlace& place = places_.emplace_back();
    place.sink = sink;
    place.from.Extend({kSnapshot, 1, log, UINT32_MAX, 0}, progress.Serialize());
    place.from.Extend({kLog, 1, log, LogPosition::kBehindRows, 0});
    place.furthest = place.from;
    return place;
  }
  std::map<TablePath, TableProgress> Left() {
    SinkReadings readings(kSnapshot, kLog, [this](const TablePath&) { return places_; });
    return *readings.Left({kTable});
  }

  std::vector<SinkPlace> places_;
};

TEST_F(SinkReadingsTest, OneSinkGoesOnWhereItIs) {
  Add("a", 100, {{kTable, Read("10", 90)}});
  const auto left = Left();
  EXPECT_EQ(left.at(kTable).frontier(), ChunkBound{"10"});
  EXPECT_TRUE(left.at(kTable).Readers().IsAll());
  EXPECT_FALSE(left.at(kTable).repeats);
}

TEST_F(SinkReadingsTest, WhatOneSinkHasWhollyIsReadForTheOther) {
  Add("a", 100, {});
  Add("b", 90, {{kTable, Read("10", 80)}});
  const auto left = Left();
  EXPECT_THAT(left.at(kTable).only_for, ElementsAre("b"));
  EXPECT_FALSE(left.at(kTable).repeats);
  // Whichever of them the log waits for.
  places_.clear();
  Add("a", 90, {});
  Add("b", 100, {{kTable, Read("10", 80)}});
  EXPECT_THAT(Left().at(kTable).only_for, ElementsAre("b"));
  EXPECT_EQ(Left().at(kTable).as_of->offset, 100u);
}

TEST_F(SinkReadingsTest, DifferentPartsAreReadFromTheLeastForBoth) {
  Add("a", 100, {{kTable, Read("20", 95)}});
  Add("b", 90, {{kTable, Read("10", 80)}});
  Add("c", 95, {{kTable, Read("10", 80)}});
  Add("d", 95, {});
  const auto left = Left();
  EXPECT_EQ(left.at(kTable).frontier(), ChunkBound{"10"});
  EXPECT_TRUE(left.at(kTable).repeats);
  EXPECT_THAT(left.at(kTable).only_for, ElementsAre("a", "b", "c"));
  EXPECT_EQ(left.at(kTable).as_of->offset, 90u);
}

TEST_F(SinkReadingsTest, TheSamePartIsOneReading) {
  TableProgress merged = Read("10", 80);
  merged.merged = merged.chunks.back().last;
  merged.chunks.clear();
  Add("a", 100, {{kTable, merged}});
  Add("b", 90, {{kTable, Read("10", 80)}});
  EXPECT_FALSE(Left().at(kTable).repeats);
  EXPECT_TRUE(Left().at(kTable).Readers().IsAll());
}

TEST_F(SinkReadingsTest, ChunksThatAPositionDoesNotTellOfComeAgain) {
  SinkPlace& place = Add("a", 100, {{kTable, Read("10", 90)}});
  place.furthest.Extend({kSnapshot, 1, 105, 0, 0});
  EXPECT_TRUE(Left().at(kTable).repeats);
}

TEST_F(SinkReadingsTest, ASinkWithoutAPositionDoesNotCount) {
  Add("a", 100, {});
  SinkPlace& place = places_.emplace_back();
  place.sink = "b";
  SnapshotProgress progress;
  progress.tables[kTable].only_for = {"b"};
  place.from.Extend({kSnapshot, 2, 1, UINT32_MAX, 0}, progress.Serialize());
  place.furthest = place.from;
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(SinkReadingsTest, AReadingForOneSinkIsNoneForTheOthers) {
  TableProgress alone = Read("10", 90);
  alone.only_for = {"b"};
  alone.owed_to = {"c"};
  for (const char* sink : {"a", "b", "c"}) Add(sink, 100, {{kTable, alone}});
  auto left = Left();
  EXPECT_THAT(left.at(kTable).only_for, ElementsAre("b"));
  EXPECT_THAT(left.at(kTable).owed_to, ElementsAre("c"));
  EXPECT_TRUE(left.at(kTable).begun());
  // b has got to the end of it, which c does not know.
  places_[1] = SinkPlace();
  places_.erase(places_.begin() + 1);
  TableProgress then;
  then.only_for = {"c"};
  Add("b", 110, {{kTable, then}});
  left = Left();
  EXPECT_THAT(left.at(kTable).only_for, ElementsAre("c"));
  EXPECT_THAT(left.at(kTable).owed_to, IsEmpty());
  EXPECT_FALSE(left.at(kTable).begun());
}

// Renamed behind the place where the log is read on.
TEST_F(SinkReadingsTest, ATableIsFoundUnderANameThatItWillGet) {
  Add("a", 100, {{kOther, Read("10", 90)}});
  const auto left = Left();
  EXPECT_FALSE(left.contains(kTable));
  EXPECT_EQ(left.at(kOther).frontier(), ChunkBound{"10"});
  EXPECT_EQ(left.at(kOther).as_of->offset, 100u);
}

}  // namespace
}  // namespace driftless::mysql
