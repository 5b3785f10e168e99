#include "schema/coordinator/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/sinks/coordinator/coordinator_harness.h"

namespace driftless {
namespace {

SourceTable ShardTable(int number, const std::vector<std::string>& columns) {
  return SourceTable("shop.orders_" + std::to_string(number), columns, {"id"});
}

// Shards of one Paimon table, through the coordinator.
struct Shards {
  explicit Shards(std::string_view sink = "paimon") : h(sink) { h.key.table.table = "orders"; }

  void Send(const std::shared_ptr<StatementChange>& change) {
    change->point.offset = ++offset;
    h.Give(ChangeArrived{h.key, change, "", 0});
    h.Run();
  }
  // Columns as a set: their order is that of their arrival.
  std::vector<std::string> Columns() const {
    std::vector<std::string> columns;
    for (const SinkColumn& column : h.table->columns) {
      columns.push_back(column.name + " " + column.type.ToString());
    }
    std::sort(columns.begin(), columns.end());
    return columns;
  }
  using Names = std::vector<std::string>;

  CoordinatorHarness h;
  uint64_t offset = 0;
};

TEST(ShardMergeTest, TheSinkHasTheLeastCommonSchema) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT NOT NULL", "name VARCHAR(10)"});
  SourceTable b = ShardTable(
      2, {"id INT NOT NULL", "qty BIGINT NOT NULL", "name VARCHAR(20)", "extra INT NOT NULL"});
  s.Send(a.Create());
  s.Send(b.Create());
  EXPECT_EQ(s.Columns(), (Shards::Names{"extra INT", "id INT NOT NULL", "name VARCHAR(20)",
                                        "qty BIGINT NOT NULL"}));
  const Release& release = s.h.releases.back();
  ASSERT_EQ(release.by_source.size(), 2u);
  const EvolvedSchema& own = *release.by_source.at(b.schema()->path);
  EXPECT_EQ(own.FindSource(b.Id("extra"))->sink.name, "extra");
  EXPECT_EQ(release.by_source.at(a.schema()->path)->FindName("extra")->source, 0u);
}

TEST(ShardMergeTest, ADropIsASkipUntilNoShardHasTheColumn) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT", "note STRING NOT NULL"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT", "note STRING NOT NULL"});
  s.Send(a.Create());
  s.Send(b.Create());
  s.Send(a.Begin().Drop("note").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "note STRING", "qty INT"}))
      << "what some shard lacks is nullable";
  EXPECT_EQ(s.h.audit[s.h.audit.size() - 2].verdict.reason, "other shards still have it");
  s.Send(b.Begin().Drop("note").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "qty INT"}));
}

TEST(ShardMergeTest, ARenameIsASkipUntilAllShardsAgree) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  s.Send(a.Create());
  s.Send(b.Create());
  s.Send(a.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "qty INT"}));
  EXPECT_EQ(
      s.h.releases.back().by_source.at(a.schema()->path)->FindSource(a.Id("quantity"))->sink.name,
      "qty")
      << "its values go on into the column under its old name";
  s.Send(b.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "quantity INT"}));
}

TEST(ShardMergeTest, ARenameBackLeavesNoTraceButThatOfOtherShards) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  SourceTable c = ShardTable(3, {"id INT NOT NULL", "qty INT"});
  for (SourceTable* table : {&a, &b, &c}) s.Send(table->Create());
  s.Send(a.Begin().Rename("qty", "quantity").End());
  s.Send(b.Begin().Rename("qty", "amount").End());
  s.Send(a.Begin().Rename("quantity", "qty").End());
  EXPECT_EQ(s.h.OpenDivergences(),
            "column qty is called amount in shard shop.orders_2, not in others");
  s.h.Crash();
  s.h.Run();
  s.Send(b.Begin().Rename("amount", "qty").End());
  EXPECT_EQ(s.h.OpenDivergences(), "");
}

TEST(ShardMergeTest, AColumnThatComesBackOrAShardThatLeavesEndsTheAbsence) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  SourceTable c = ShardTable(3, {"id INT NOT NULL", "qty INT"});
  for (SourceTable* table : {&a, &b, &c}) s.Send(table->Create());
  s.Send(a.Begin().Drop("qty").End());
  s.Send(b.Begin().Drop("qty").End());
  s.Send(a.Begin().Add("qty INT").End());
  EXPECT_EQ(s.h.OpenDivergences(),
            "shard shop.orders_2 has no column qty any more, others have; its later rows write "
            "NULL");
  s.Send(b.DropTable());
  EXPECT_EQ(s.h.OpenDivergences(), "rows of shard shop.orders_2 remain");
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "qty INT"}));
}

TEST(ShardMergeTest, VotesSurviveARestart) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  s.Send(a.Create());
  s.Send(b.Create());
  s.Send(a.Begin().Rename("qty", "quantity").End());
  s.h.Crash();
  s.h.Run();
  s.Send(b.Begin().Rename("qty", "quantity").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "quantity INT"}));
}

TEST(ShardMergeTest, ATruncateIsNeverCarriedOutAndADropLeavesTheSet) {
  Shards s("starrocks");
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  s.Send(a.Create());
  s.Send(b.Create());
  const size_t sent = s.h.sent.size();
  s.Send(a.Begin().Truncate().End());
  s.Send(a.DropTable());
  EXPECT_EQ(s.h.sent.size(), sent);
  EXPECT_TRUE(s.h.table.has_value());
  EXPECT_NE(s.h.OpenDivergences().find("rows of shard shop.orders_1 remain"), std::string::npos);
  s.Send(b.DropTable());
  EXPECT_FALSE(s.h.table.has_value()) << "the last shard's drop is decided as usual";
}

TEST(ShardMergeTest, ItNeverNarrows) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty STRING"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty INT"});
  s.Send(a.Create());
  s.Send(b.Create());
  s.Send(a.Begin().Type("qty", "INT").End());
  EXPECT_EQ(s.Columns(), (Shards::Names{"id INT NOT NULL", "qty STRING"}));
}

TEST(ShardMergeTest, AnotherKeyIsRefused) {
  Shards s;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b("shop.orders_2", {"id INT NOT NULL", "qty INT NOT NULL"}, {"id", "qty"});
  s.Send(a.Create());
  s.Send(b.Create());
  ASSERT_TRUE(s.h.failed.has_value());
  EXPECT_NE(s.h.failed->error.message().find("the key of shop.orders_2"), std::string::npos);
}

// The outcome does not depend on which shard is seen first: random shards, each with its own
// history, in every order of the shards that keeps the histories.
TEST(ShardMergeTest, TheOutcomeDoesNotDependOnTheOrderOfShards) {
  static constexpr const char* kTypes[] = {"INT", "BIGINT", "STRING", "DOUBLE", "BOOLEAN"};
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    std::vector<Shards::Names> outcomes;
    for (uint32_t order = 0; order < 4; ++order) {
      std::mt19937 random(seed);
      const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
      std::vector<std::vector<std::shared_ptr<StatementChange>>> histories;
      for (int number = 0; number < 3; ++number) {
        std::vector<std::string> columns = {"id INT NOT NULL"};
        for (const char* name : {"a", "b"}) {
          columns.push_back(std::string(name) + " " + kTypes[below(5)]);
        }
        SourceTable table = ShardTable(number, columns);
        std::vector<std::shared_ptr<StatementChange>> history = {table.Create()};
        if (below(3) != 0)
          history.push_back(table.Begin().Add("c " + std::string(kTypes[below(5)])).End());
        if (below(3) == 0) history.push_back(table.Begin().Drop("b").End());
        if (below(2) == 0) history.push_back(table.Begin().Type("a", kTypes[below(5)]).End());
        histories.push_back(std::move(history));
      }
      // All creates first, in an order of their own, then a random interleaving.
      std::vector<size_t> shards = {0, 1, 2};
      std::mt19937 shuffle(order * 7919 + seed);
      std::shuffle(shards.begin(), shards.end(), shuffle);
      Shards s;
      std::vector<size_t> next(3, 1);
      for (const size_t shard : shards) s.Send(histories[shard][0]);
      for (bool left = true; left;) {
        left = false;
        std::shuffle(shards.begin(), shards.end(), shuffle);
        for (const size_t shard : shards) {
          if (next[shard] >= histories[shard].size()) continue;
          s.Send(histories[shard][next[shard]++]);
          left = true;
          break;
        }
      }
      ASSERT_FALSE(s.h.failed.has_value()) << s.h.failed->error.ToString();
      outcomes.push_back(s.Columns());
    }
    for (const Shards::Names& outcome : outcomes) {
      EXPECT_EQ(outcome, outcomes.front()) << "seed " << seed;
    }
  }
}

TEST(ShardMergeTest, ItsTextComesBack) {
  ShardMerge merge;
  SourceTable a = ShardTable(1, {"id INT NOT NULL", "qty INT"});
  SourceTable b = ShardTable(2, {"id INT NOT NULL", "qty BIGINT"});
  merge.Apply(a.Create(), LatticeStyle::kMatrix, Behavior::kLenient);
  merge.Apply(b.Create(), LatticeStyle::kMatrix, Behavior::kLenient);
  const std::string text = merge.Serialize();
  const auto parsed = ShardMerge::Parse(text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().ToString();
  EXPECT_EQ(parsed->Serialize(), text);
  EXPECT_TRUE(parsed->is_merged());
}

}  // namespace
}  // namespace driftless
