// Which tables join a running pipeline, and which leave it, whatever the history and the crash.
#include "pipeline/sources/mysql/joining_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/snapshot_progress.h"

namespace driftless::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr StreamId kLog = 1;
constexpr uint32_t kMark = LogPosition::kBehindRows;

Point At(uint64_t offset, uint32_t row = 0) { return Point{kLog, 1, offset, row, 0}; }
Point Behind(uint64_t offset, uint32_t joined = 0) { return At(offset, kMark + joined); }

class JoiningTablesTest : public ::testing::Test {
 protected:
  JoiningTablesTest() {
    options_.tables = *TableSelector::Parse("db.\\.*");
    inputs_.options = &options_;
    Stand(Behind(100));
  }
  void Stand(const Point& at) { inputs_.at = inputs_.committed = at; }
  void Before(std::string_view tables) { inputs_.before = *TableSelection::Parse(tables); }
  void There(std::vector<std::string> names) {
    for (const std::string& name : names) inputs_.listed.push_back({"", "db", name});
  }
  void History(const std::string& table, const Point& point, bool is_there = true) {
    SchemaVersion version;
    version.table = {"", "db", table};
    version.point = point;
    if (is_there) version.schema = std::make_shared<TableSchema>();
    inputs_.history.push_back(std::move(version));
  }
  static std::vector<std::string> Names(const std::vector<TablePath>& tables) {
    std::vector<std::string> names;
    for (const TablePath& table : tables) names.push_back(table.table);
    return names;
  }
  std::vector<std::string> Newcomers() { return Names(FindJoiningTables(inputs_).newcomers); }
  std::vector<std::string> Leaving() { return Names(FindJoiningTables(inputs_).leaving); }
  std::vector<std::string> Again() {
    std::vector<std::string> names;
    for (const auto& version : FindJoiningTables(inputs_).again)
      names.push_back(version.table.table);
    return names;
  }

  SourceOptions options_;
  JoiningInputs inputs_;
};

TEST_F(JoiningTablesTest, WhatTheHistoryLacksIsNew) {
  History("old", At(4));
  There({"new", "old"});
  EXPECT_THAT(Newcomers(), ElementsAre("new"));
  EXPECT_THAT(Leaving(), IsEmpty());
}

// Statements on tables that are not captured are in the history too.
TEST_F(JoiningTablesTest, WhatWasNotCapturedIsNewThoughItsStatementsAreKnown) {
  Before("db.old");
  History("old", At(4));
  History("other", At(50));
  There({"old", "other"});
  EXPECT_THAT(Newcomers(), ElementsAre("other"));
}

TEST_F(JoiningTablesTest, WhatTheLogBringsIsNotNew) {
  History("made", At(150));
  There({"made"});
  EXPECT_THAT(Newcomers(), IsEmpty());
  Before("db.old");  // then it is not the log that tells of its first rows
  EXPECT_THAT(Newcomers(), ElementsAre("made"));
}

TEST_F(JoiningTablesTest, AJoinThatTheSinksHaveIsDone) {
  Before("db.old");
  History("new", Behind(100, 1));
  There({"new"});
  Stand(Behind(100, 1));
  EXPECT_THAT(Newcomers(), IsEmpty());
  EXPECT_THAT(Again(), IsEmpty());
  options_.tables = *TableSelector::Parse("db.old");
  EXPECT_THAT(Leaving(), ElementsAre("new"));
}

TEST_F(JoiningTablesTest, AJoinThatTheSinksLackComesAgain) {
  Before("db.old");
  History("b", Behind(100, 1));
  History("a", Behind(100, 2));
  There({"a", "b"});
  EXPECT_THAT(Again(), ElementsAre("b", "a"));
  EXPECT_THAT(Newcomers(), IsEmpty());
}

// After a failover all of the former server's log is before the place, but the sinks lack the join.
TEST_F(JoiningTablesTest, AJoinBeforeAFailoverComesAgain) {
  History("new", Behind(200, 1));
  There({"new"});
  inputs_.at = Point{kLog, uint64_t{1} << 32, 0, kMark, 0};
  EXPECT_THAT(Again(), ElementsAre("new"));
  EXPECT_THAT(Newcomers(), IsEmpty());
}

TEST_F(JoiningTablesTest, WhatLeftIsNewOnceMore) {
  History("t", At(4));
  There({"t"});
  options_.tables = *TableSelector::Parse("db.old");
  Before("db.t");
  EXPECT_THAT(Leaving(), ElementsAre("t"));
  History("t", Behind(100, 1), false);
  Stand(Behind(100, 1));
  EXPECT_THAT(Leaving(), IsEmpty());
  // A statement behind tells of it, though nobody captures it.
  History("t", At(120));
  Stand(Behind(130));
  EXPECT_THAT(Leaving(), IsEmpty());
  Before("db.old");
  options_.tables = *TableSelector::Parse("db.t");
  EXPECT_THAT(Newcomers(), ElementsAre("t"));
}

TEST_F(JoiningTablesTest, ADroppedTableDoesNotLeave) {
  History("t", At(4));
  History("t", At(50), false);
  options_.tables = *TableSelector::Parse("db.old");
  Before("db.t");
  EXPECT_THAT(Leaving(), IsEmpty());
}

TEST(TableSelectionTest, KnowsWhatIsLeftOut) {
  SourceOptions options;
  options.tables = *TableSelector::Parse("db.\\.*");
  options.exclude = *TableSelector::Parse("db.x");
  const std::string text = TableSelection::TextOf(options);
  const auto selection = TableSelection::Parse(text);
  ASSERT_TRUE(selection);
  EXPECT_TRUE(selection->Matches({"", "db", "a"}));
  EXPECT_FALSE(selection->Matches({"", "db", "x"}));
  SnapshotProgress progress;
  progress.selection = text;
  const auto again = SnapshotProgress::Parse(progress.Serialize());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->selection, text);
  EXPECT_FALSE(SnapshotProgress::Parse("snapshot-2\t1\t2"));
  const auto older = SnapshotProgress::Parse("snapshot-2\t1\t2\t0\t0\t0\t0");
  ASSERT_TRUE(older);
  EXPECT_EQ(older->selection, "");
}

TEST(LogPositionTest, KeepsHowManyTablesJoinedHere) {
  LogPosition position;
  position.file = "binlog.000007";
  position.offset = 1234;
  position.server = "a server";
  for (const uint32_t joined : {0u, 3u}) {
    position.joined = joined;
    const auto again = LogPosition::Parse(position.Serialize());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->joined, joined);
    EXPECT_EQ(again->offset, 1234u);
    EXPECT_EQ(again->server, "a server");
  }
  position.Reach("binlog.000007", 1234);
  EXPECT_EQ(position.joined, 3u);
  position.Reach("binlog.000007", 1300);
  EXPECT_EQ(position.joined, 0u);
}

}  // namespace
}  // namespace driftless::mysql
