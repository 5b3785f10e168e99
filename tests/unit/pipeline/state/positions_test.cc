#include "pipeline/state/positions.h"

#include <gtest/gtest.h>

#include <random>

namespace driftless {
namespace {

const TablePath kOrders{"", "shop", "orders"};
const TablePath kUsers{"", "shop", "users"};
const TablePath kShard1{"", "db1", "t"};
const TablePath kShard2{"", "db2", "t"};

CutPosition At(uint64_t offset, std::string_view resume = {}) {
  CutPosition position;
  position.Extend(Point{1, 0, offset, 0, 0}, resume);
  return position;
}
Point P(uint64_t offset) { return Point{1, 0, offset, 0, 0}; }

TEST(PositionsTest, AFeedAheadCoversItsOwnRowsOnly) {
  SinkPositions positions;
  positions.base = At(10);
  positions.tables[kOrders].feeds[kShard1] = At(20);
  EXPECT_TRUE(positions.Covers(kOrders, kShard1, P(20)));
  EXPECT_FALSE(positions.Covers(kOrders, kShard2, P(11)));
  EXPECT_TRUE(positions.Covers(kOrders, kShard2, P(10)));
  EXPECT_FALSE(positions.Covers(kUsers, kShard1, P(11)));
}

TEST(PositionsTest, ACheckpointLeavesHeldTablesBehind) {
  SinkPositions positions;
  positions.base = At(10);
  CutMove move;
  move.base = At(50);
  move.left_behind = {kOrders};
  Apply(move, {}, &positions);
  EXPECT_FALSE(positions.Covers(kOrders, kOrders, P(11)));
  EXPECT_TRUE(positions.Covers(kOrders, kOrders, P(10)));
  EXPECT_TRUE(positions.Covers(kUsers, kUsers, P(50)));

  move.base = At(60);
  Apply(move, {}, &positions);
  EXPECT_FALSE(positions.Covers(kOrders, kOrders, P(11))) << "the own base stays";

  CutMove schema_cut;
  schema_cut.tables[kOrders].base = At(20);
  schema_cut.tables[kOrders].feeds[kOrders] = At(21);
  Apply(schema_cut, {}, &positions);
  EXPECT_TRUE(positions.Covers(kOrders, kOrders, P(21)));
  EXPECT_FALSE(positions.Covers(kOrders, kOrders, P(22)));
  EXPECT_TRUE(positions.Covers(kUsers, kUsers, P(60)));

  CutMove next;
  next.base = At(70);
  Apply(next, {}, &positions);
  EXPECT_TRUE(positions.tables.empty()) << "the table has caught up";
}

TEST(PositionsTest, AVoidedTableKeepsItsPosition) {
  SinkPositions positions;
  positions.base = At(10);
  positions.tables[kOrders].feeds[kOrders] = At(12);
  CutMove move;
  move.base = At(50);
  move.tables[kOrders].feeds[kOrders] = At(55);
  move.tables[kUsers].feeds[kUsers] = At(53);
  Apply(move, {kOrders}, &positions);
  EXPECT_TRUE(positions.Covers(kOrders, kOrders, P(12)));
  EXPECT_FALSE(positions.Covers(kOrders, kOrders, P(13)));
  EXPECT_TRUE(positions.Covers(kUsers, kUsers, P(53)));
}

TEST(PositionsTest, AVoidedSchemaCutMovesNothing) {
  SinkPositions positions;
  positions.base = At(10);
  const SinkPositions before = positions;
  CutMove move;
  move.tables[kOrders].base = At(20);
  Apply(move, {kOrders}, &positions);
  EXPECT_EQ(positions, before);
}

TEST(PositionsTest, MovesAndNamesSurviveText) {
  const std::vector<TablePath> names = {
      {"", "a.b", "c\\d"}, {"cat", "s\tx", "t\ny"}, {"", "", "t"}, {"c.", "d", "e"}};
  for (const TablePath& name : names) {
    const auto decoded = DecodeTablePath(EncodeTablePath(name));
    ASSERT_TRUE(decoded) << decoded.error().ToString();
    EXPECT_EQ(*decoded, name);
  }
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    CutMove move;
    if (random() % 2 == 0) move.base = At(random() % 100, "gtid\t:1-5\n\\x");
    for (const TablePath& name : names) {
      if (random() % 2 == 0) move.left_behind.insert(name);
      if (random() % 2 == 0) move.tables[name].base = At(random() % 100, "\\");
      if (random() % 2 == 0) move.tables[name].feeds[names[random() % 4]] = At(random() % 100);
      if (random() % 3 == 0) move.tables.try_emplace(name);
    }
    const auto parsed = ParseCutMove(Serialize(move));
    ASSERT_TRUE(parsed) << parsed.error().ToString();
    EXPECT_EQ(*parsed, move);
  }
  EXPECT_FALSE(ParseCutMove("base\tnonsense\n"));
  EXPECT_FALSE(ParseCutMove("unknown\ta.b\n"));
  EXPECT_FALSE(ParseCutMove("behind\ta.b"));
}

// Whatever cuts come, a table never loses what it had committed, and never gains what no cut that
// it took part in gave it.
TEST(PositionsTest, PositionsNeverGoBack) {
  std::mt19937 random(11);
  const std::vector<TablePath> tables = {kOrders, kUsers};
  for (int round = 0; round < 300; ++round) {
    SinkPositions positions;
    uint64_t base = 0;
    std::map<TablePath, uint64_t> committed;
    for (int cut = 0; cut < 8; ++cut) {
      base += random() % 10;
      CutMove move;
      move.base = At(base);
      std::set<TablePath> voided;
      for (const TablePath& table : tables) {
        const auto fate = random() % 4;
        if (fate == 0) {
          move.left_behind.insert(table);
        } else if (fate == 1) {
          voided.insert(table);
        } else {
          const uint64_t ahead = std::max(base + random() % 5, committed[table]);
          move.tables[table].feeds[table] = At(ahead);
          committed[table] = ahead;
        }
      }
      Apply(move, voided, &positions);
      for (const TablePath& table : tables) {
        const uint64_t at = committed[table];
        EXPECT_EQ(at > 0 && !positions.Covers(table, table, P(at)), false);
        EXPECT_FALSE(positions.Covers(table, table, P(at + 1)));
      }
    }
  }
}

}  // namespace
}  // namespace driftless
