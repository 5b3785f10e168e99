#include "schema/ddl/online_schema_change.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

class OnlineSchemaChangeTest : public testing::Test {
 protected:
  OnlineSchemaChangeTest() : catalog_(mysql::ServerSettings{}), online_(&catalog_) {}

  OnlineSchemaChange::Outcome Apply(std::string_view sql) {
    auto effect = catalog_.Apply(sql, {"shop", {}});
    EXPECT_TRUE(effect) << sql << ": " << effect.error().ToString();
    if (!effect) return {};
    return online_.Translate(*std::move(effect));
  }
  TableSchemaPtr Table(const std::string& name) const { return catalog_.Find({"", "shop", name}); }
  static std::string Told(const OnlineSchemaChange::Outcome& outcome) {
    std::string text;
    for (const StatementChange& change : outcome.changes) {
      text += change.table.table + ":";
      for (const SchemaChange& part : change.parts) text += " " + std::string(Tag(part.kind()));
      text += "\n";
    }
    return text;
  }

  mysql::DdlCatalog catalog_;
  OnlineSchemaChange online_;
};

TEST_F(OnlineSchemaChangeTest, GhostCutOverIsOneChangeByIdentity) {
  Apply("CREATE TABLE orders (id INT PRIMARY KEY, status VARCHAR(10), total DECIMAL(10,2))");
  const TableSchemaPtr before = Table("orders");
  EXPECT_EQ(Told(Apply("create /* gh-ost */ table `shop`.`_orders_ghc` (id bigint primary key)")),
            "");
  EXPECT_EQ(Told(Apply("create /* gh-ost */ table `shop`.`_orders_gho` like `shop`.`orders`")), "");
  EXPECT_TRUE(online_.IsHidden({"", "shop", "_orders_gho"}));
  EXPECT_TRUE(online_.IsHidden({"", "shop", "_orders_ghc"}));
  EXPECT_FALSE(online_.IsHidden({"", "shop", "orders"}));
  EXPECT_EQ(Told(Apply("alter /* gh-ost */ table `shop`.`_orders_gho` CHANGE status state "
                       "VARCHAR(20), ADD region VARCHAR(5) AFTER id, DROP total")),
            "");
  const auto swap = Apply(
      "rename /* gh-ost */ table `shop`.`orders` to `shop`.`_orders_del`, "
      "`shop`.`_orders_gho` to `shop`.`orders`");
  EXPECT_EQ(Told(swap), "orders: drop.column alter.column.type rename.column add.column\n");
  EXPECT_TRUE(swap.rows_without_events.empty());
  EXPECT_TRUE(swap.tables_left.empty());
  const TableSchemaPtr after = Table("orders");
  EXPECT_EQ(swap.changes[0].before(), before);
  EXPECT_EQ(*swap.changes[0].after(), *after);
  EXPECT_EQ(after->incarnation, before->incarnation);
  EXPECT_EQ(after->FindName("state")->id, before->FindName("status")->id);
  EXPECT_EQ(after->FindName("region")->id, before->next_column_id);
  EXPECT_EQ(Told(Apply("DROP TABLE IF EXISTS `_orders_ghc`, `_orders_del`")), "");
  EXPECT_EQ(Told(Apply("ALTER TABLE orders ADD z INT")), "orders: add.column\n");
}

TEST_F(OnlineSchemaChangeTest, ShadowWithWrittenOutColumnsTakesIdentitiesByName) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT)");
  const TableSchemaPtr before = Table("t");
  Apply("CREATE TABLE _t_new (b INT, id INT PRIMARY KEY, n INT, a INT)");
  const auto swap = Apply("RENAME TABLE t TO _t_old, _t_new TO t");
  EXPECT_EQ(Told(swap), "t: add.column alter.column.position\n");
  EXPECT_EQ(Table("t")->FindName("b")->id, before->FindName("b")->id);
  EXPECT_EQ(Table("t")->FindName("n")->id, before->next_column_id);
  EXPECT_EQ(Table("t")->primary_key, before->primary_key);
}

TEST_F(OnlineSchemaChangeTest, RealTableMayChangeWhileTheShadowLives) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  Apply("CREATE TABLE _t_new LIKE t");
  Apply("ALTER TABLE _t_new ADD c INT");
  Apply("ALTER TABLE t ADD b INT");
  const ColumnId b = Table("t")->FindName("b")->id;
  const auto swap = Apply("RENAME TABLE t TO _t_old, _t_new TO t");
  EXPECT_EQ(Told(swap), "t: drop.column add.column\n");
  EXPECT_GT(Table("t")->FindName("c")->id, b);
}

TEST_F(OnlineSchemaChangeTest, DropThenRenameOfTheShadowIsASwap) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  Apply("CREATE TABLE _t_gho LIKE t");
  Apply("ALTER TABLE _t_gho MODIFY a BIGINT");
  EXPECT_EQ(Told(Apply("DROP TABLE t")), "");
  EXPECT_EQ(online_.waiting_drops().size(), 1u);
  EXPECT_EQ(Told(Apply("CREATE TABLE other (id INT)")), "other: create.table\n");
  EXPECT_EQ(Told(Apply("RENAME TABLE _t_gho TO t")), "t: alter.column.type\n");
  EXPECT_TRUE(online_.waiting_drops().empty());
}

TEST_F(OnlineSchemaChangeTest, CutOverInTwoStatementsIsASwap) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  const TableSchemaPtr before = Table("t");
  Apply("CREATE TABLE _t_gho LIKE t");
  Apply("ALTER TABLE _t_gho CHANGE a b INT");
  EXPECT_EQ(Told(Apply("RENAME TABLE t TO _t_del")), "");
  EXPECT_EQ(online_.waiting_drops().size(), 1u);
  EXPECT_TRUE(online_.IsHidden({"", "shop", "_t_del"}));
  const auto swap = Apply("RENAME TABLE _t_gho TO t");
  EXPECT_EQ(Told(swap), "t: rename.column\n");
  EXPECT_EQ(swap.changes[0].before(), before);
  EXPECT_EQ(Table("t")->incarnation, before->incarnation);
  EXPECT_EQ(Told(Apply("DROP TABLE _t_del")), "");
}

TEST_F(OnlineSchemaChangeTest, ThereAndBackAgainIsNothing) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  Apply("CREATE TABLE _t_gho LIKE t");
  EXPECT_EQ(Told(Apply("RENAME TABLE t TO _t_del")), "");
  const auto back = Apply("RENAME TABLE _t_del TO t");
  EXPECT_EQ(Told(back), "");
  EXPECT_TRUE(back.rows_without_events.empty());
  EXPECT_TRUE(online_.waiting_drops().empty());
}

TEST_F(OnlineSchemaChangeTest, SnapshotMayShowTheShadowFirst) {
  online_.Announce({"", "shop", "t"});
  EXPECT_EQ(Told(Apply("CREATE TABLE _t_gho (id INT PRIMARY KEY, a BIGINT, n INT)")), "");
  EXPECT_EQ(Told(Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)")), "t: create.table\n");
  EXPECT_EQ(Told(Apply("ALTER TABLE _t_gho CHANGE a b BIGINT")), "");
  EXPECT_EQ(Told(Apply("RENAME TABLE t TO _t_del, _t_gho TO t")),
            "t: alter.column.type rename.column add.column\n");
}

TEST_F(OnlineSchemaChangeTest, WaitingDropsAreSeenInTheHistory) {
  const auto version = [](const char* table, uint64_t offset, uint64_t incarnation) {
    SchemaVersion made{.table = {"", "shop", table}, .point = {.offset = offset}, .statement = "x"};
    if (incarnation == 0) return made;
    TableSchema schema;
    schema.path = made.table;
    schema.incarnation = incarnation;
    made.schema = std::make_shared<TableSchema>(schema);
    return made;
  };
  const OnlineSchemaChange::Patterns patterns;
  std::vector<SchemaVersion> history = {version("t", 1, 1), version("_t_gho", 2, 2),
                                        version("t", 3, 0)};
  const auto waiting = OnlineSchemaChange::WaitingDropsIn(history, patterns);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].table.table, "t");
  EXPECT_EQ(waiting[0].before(), history[0].schema);
  history.push_back(version("t", 4, 0));  // it went on
  EXPECT_TRUE(OnlineSchemaChange::WaitingDropsIn(history, patterns).empty());
  // A shadow that came after the drop is no shadow of it.
  history = {version("t", 1, 1), version("t", 2, 0), version("_t_gho", 3, 2)};
  EXPECT_TRUE(OnlineSchemaChange::WaitingDropsIn(history, patterns).empty());
}

TEST_F(OnlineSchemaChangeTest, WaitingDropComesOutBeforeTheNextStatement) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  Apply("CREATE TABLE _t_gho LIKE t");
  EXPECT_EQ(Told(Apply("DROP TABLE t")), "");
  EXPECT_EQ(Told(Apply("CREATE TABLE t (id INT)")), "t: drop.table\nt: create.table\n");
}

TEST_F(OnlineSchemaChangeTest, ForeignSwapChangesTheNameByColumnNames) {
  Apply("CREATE TABLE a (id INT PRIMARY KEY, x INT)");
  Apply("CREATE TABLE a_next (id INT PRIMARY KEY, x BIGINT, y INT)");
  const TableSchemaPtr before = Table("a");
  const auto swap = Apply("RENAME TABLE a TO a_last, a_next TO a");
  // The old table appears under its new name, the swapped one changes, a_next is left.
  EXPECT_EQ(Told(swap), "a_last: create.table\na: alter.column.type add.column\n");
  ASSERT_EQ(swap.rows_without_events.size(), 1u);
  EXPECT_EQ(swap.rows_without_events[0].table.table, "a");
  ASSERT_EQ(swap.tables_left.size(), 1u);
  EXPECT_EQ(swap.tables_left[0].table, "a_next");
  EXPECT_EQ(Table("a")->FindName("x")->id, before->FindName("x")->id);
  EXPECT_EQ(Table("a")->incarnation, before->incarnation);
  EXPECT_NE(Table("a_last")->incarnation, before->incarnation);
}

TEST_F(OnlineSchemaChangeTest, ThreeWaySwapKeepsBothNames) {
  Apply("CREATE TABLE a (id INT PRIMARY KEY, x INT)");
  Apply("CREATE TABLE b (id INT PRIMARY KEY, y INT)");
  const auto swap = Apply("RENAME TABLE a TO tmp, b TO a, tmp TO b");
  EXPECT_EQ(Told(swap), "a: drop.column add.column\nb: drop.column add.column\n");
  EXPECT_EQ(swap.rows_without_events.size(), 2u);
  EXPECT_TRUE(swap.tables_left.empty());
}

TEST_F(OnlineSchemaChangeTest, PlainRenamesGoOn) {
  Apply("CREATE TABLE a (id INT PRIMARY KEY)");
  EXPECT_EQ(Told(Apply("RENAME TABLE a TO b")), "a: rename.table\n");
  const auto chain = Apply("RENAME TABLE b TO c, c TO d");
  EXPECT_EQ(Told(chain), "b: rename.table\n");
  EXPECT_EQ(std::get<RenameTable>(chain.changes[0].parts[0].detail).to.table, "d");
  EXPECT_EQ(Told(Apply("ALTER TABLE d ADD x INT, RENAME TO e")), "d: add.column rename.table\n");
}

TEST_F(OnlineSchemaChangeTest, AbortedChangeLeavesNothing) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY)");
  EXPECT_EQ(Told(Apply("CREATE TABLE _t_gho LIKE t")), "");
  EXPECT_EQ(Told(Apply("ALTER TABLE _t_gho ADD x INT")), "");
  EXPECT_EQ(Told(Apply("DROP TABLE _t_gho")), "");
  EXPECT_EQ(Told(Apply("DROP TABLE t")), "t: drop.table\n");
}

TEST_F(OnlineSchemaChangeTest, NamesOfTheFormWithoutARealTableAreOrdinary) {
  EXPECT_EQ(Told(Apply("CREATE TABLE _lonely_new (id INT)")), "_lonely_new: create.table\n");
  EXPECT_FALSE(online_.IsHidden({"", "shop", "_lonely_new"}));
}

TEST(OnlinePatternsTest, PatternsOfTheUserAreShadowsToo) {
  mysql::DdlCatalog catalog(mysql::ServerSettings{});
  OnlineSchemaChange::Patterns patterns;
  patterns.shadows.push_back("*__next");
  patterns.leftovers.push_back("*__gone");
  OnlineSchemaChange online(&catalog, patterns);
  const auto apply = [&](std::string_view sql) {
    auto effect = catalog.Apply(sql, {"shop", {}});
    EXPECT_TRUE(effect) << sql;
    return online.Translate(*std::move(effect)).changes;
  };
  apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  EXPECT_TRUE(apply("CREATE TABLE t__next LIKE t").empty());
  EXPECT_TRUE(apply("ALTER TABLE t__next RENAME COLUMN a TO b").empty());
  EXPECT_TRUE(online.IsHidden({"", "shop", "t__next"}));
  const auto swap = apply("RENAME TABLE t TO t__gone, t__next TO t");
  ASSERT_EQ(swap.size(), 1U);
  EXPECT_EQ(swap[0].parts.front().kind(), EventKind::kRenameColumn);
  EXPECT_TRUE(apply("DROP TABLE t__gone").empty());
  // The tools' own patterns hold beside them.
  EXPECT_TRUE(online.IsHidden({"", "shop", "_t_gho"}));
}

}  // namespace
}  // namespace driftless
