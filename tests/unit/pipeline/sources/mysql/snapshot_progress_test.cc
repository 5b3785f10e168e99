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

}  // namespace
}  // namespace driftless::mysql
