#include "pipeline/sources/mysql/snapshot_progress.h"

#include <gtest/gtest.h>

namespace driftless::mysql {
namespace {

constexpr StreamId kSnapshot = 3;

// A run that had nothing to read has points too: those of the next one must lie behind them, or
// its first report of a table that is read again would be taken for an old one.
TEST(SnapshotProgressTest, AttemptsAreNeverGivenTwice) {
  EXPECT_EQ(NextAttempt(kSnapshot, {}, {}), 1u);
  SchemaVersion recorded;
  recorded.point = Point{kSnapshot, 1, 0, 0, 0};
  SchemaVersion other;
  other.point = Point{kSnapshot + 1, 77, 0, 0, 0};
  CutPosition nearest;
  nearest.Extend(Point{kSnapshot, 1, 9, UINT32_MAX, 0}, "text");
  CutPosition furthest;
  furthest.Extend(Point{kSnapshot, 2, 2, UINT32_MAX, 0}, "text");
  EXPECT_EQ(NextAttempt(kSnapshot, {recorded, other}, {nearest}), 2u);
  EXPECT_EQ(NextAttempt(kSnapshot, {recorded, other}, {nearest, furthest}), 3u);
}

// Nobody waits for the reading of a sink that has left the pipeline.
TEST(SnapshotProgressTest, ASinkThatIsGoneIsForgotten) {
  const TablePath path{"", "shop", "t"};
  SnapshotProgress progress;
  TableProgress& table = progress.tables[path];
  table.only_for = {"first"};
  table.owed_to = {"second"};
  table.Add({{"10"}, {1, 100}});
  progress.Forget(path, [](const std::string& sink) { return sink == "third"; });
  EXPECT_TRUE(progress.tables.at(path).begun());
  progress.Forget(path, [](const std::string& sink) { return sink == "first"; });
  EXPECT_FALSE(progress.tables.at(path).begun());
  EXPECT_EQ(progress.tables.at(path).only_for, std::vector<std::string>{"second"});
  progress.Forget(path, [](const std::string&) { return true; });
  EXPECT_TRUE(progress.done());
  // What is read for all is read whoever is there.
  progress.tables[path] = {};
  progress.Forget(path, [](const std::string&) { return true; });
  EXPECT_FALSE(progress.done());
}

}  // namespace
}  // namespace driftless::mysql
