#include "schema/events/point.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace driftless {
namespace {

CutPosition RandomCut(std::mt19937* random) {
  CutPosition cut;
  for (StreamId stream = 0; stream < 3; ++stream) {
    const auto below = [&](uint32_t limit) { return static_cast<uint32_t>((*random)() % limit); };
    if (below(4) == 0) continue;
    cut.Extend(Point{stream, below(3), below(4), below(3), below(2)}, std::string(below(3), '\n'));
  }
  for (uint64_t chunk = 0; chunk < 4; ++chunk) {
    if ((*random)() % 2 == 0) cut.Extend(ChunkId{1, chunk});
  }
  return cut;
}

std::vector<Point> AllPoints() {
  std::vector<Point> points;
  for (StreamId s = 0; s < 3; ++s)
    for (uint64_t e = 0; e < 3; ++e)
      for (uint64_t o = 0; o < 4; ++o)
        for (uint32_t r = 0; r < 3; ++r)
          for (uint32_t p = 0; p < 2; ++p) points.push_back({s, e, o, r, p});
  return points;
}

TEST(CutPositionTest, MeetIsASemilatticeAndCoversWhatBothCover) {
  std::mt19937 random(20);
  const std::vector<Point> points = AllPoints();
  for (int round = 0; round < 300; ++round) {
    const CutPosition a = RandomCut(&random);
    const CutPosition b = RandomCut(&random);
    const CutPosition c = RandomCut(&random);
    const CutPosition meet = CutPosition::Meet(a, b);
    const CutPosition join = CutPosition::Join(a, b);
    EXPECT_TRUE(a.Covers(meet) && b.Covers(meet) && join.Covers(a) && join.Covers(b));
    for (const Point& point : points) {
      ASSERT_EQ(meet.Covers(point), a.Covers(point) && b.Covers(point)) << point.ToString();
      ASSERT_EQ(join.Covers(point), a.Covers(point) || b.Covers(point)) << point.ToString();
    }
    for (uint64_t chunk = 0; chunk < 4; ++chunk) {
      const ChunkId id{1, chunk};
      ASSERT_EQ(meet.Covers(id), a.Covers(id) && b.Covers(id));
    }
    EXPECT_EQ(CutPosition::Meet(a, a), a);
    const CutPosition left = CutPosition::Meet(CutPosition::Meet(a, b), c);
    const CutPosition right = CutPosition::Meet(a, CutPosition::Meet(b, c));
    const CutPosition swapped = CutPosition::Meet(b, a);
    for (const Point& point : points) {
      ASSERT_EQ(left.Covers(point), right.Covers(point));
      ASSERT_EQ(meet.Covers(point), swapped.Covers(point));
    }
  }
}

TEST(CutPositionTest, TextComesBackAsTheSamePosition) {
  std::mt19937 random(21);
  for (int round = 0; round < 100; ++round) {
    const CutPosition cut = RandomCut(&random);
    const auto parsed = ParseCutPosition(cut.Serialize());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(*parsed, cut);
  }
  EXPECT_FALSE(ParseCutPosition("s 1 0:0:0.0 9:short\n").has_value());
  EXPECT_FALSE(ParseCutPosition("nonsense").has_value());
}

}  // namespace
}  // namespace driftless
