#include "config/sql/table_tracker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Flink SQL statements as schema changes.
namespace driftless::flink {
namespace {

// What each statement did, as people read it; the last one's changes are kept.
class Tracked {
 public:
  Tracked() : tracker_(*TableTracker::Make("shop")) {}

  std::vector<std::string> operator()(std::string_view sql) {
    auto changes = tracker_.Apply(sql);
    EXPECT_TRUE(changes) << sql << ": " << changes.error().ToString();
    if (!changes) return {};
    changes_ = *std::move(changes);
    std::vector<std::string> said;
    for (const StatementChange& change : changes_) {
      for (const SchemaChange& part : change.parts) {
        said.push_back(change.table.ToString() + ": " + Describe(part));
      }
    }
    return said;
  }
  std::string Refusal(std::string_view sql) {
    const auto changes = tracker_.Apply(sql);
    return changes ? "" : changes.error().message();
  }
  TableSchemaPtr Table(const std::string& name) {
    for (const TableSchemaPtr& table : tracker_.Tables()) {
      if (table->path.table == name) return table;
    }
    return nullptr;
  }

  TableTracker tracker_;
  std::vector<StatementChange> changes_;
};

using Said = std::vector<std::string>;

constexpr std::string_view kOrders =
    "CREATE TABLE orders (id BIGINT, qty INT COMMENT 'pieces', note STRING NOT NULL, "
    "twice AS qty * 2, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'all' WITH ('connector' = 'x')";

TEST(TableTrackerTest, TablesAreTheirPhysicalColumns) {
  Tracked tracked;
  tracked(kOrders);
  const TableSchemaPtr orders = tracked.Table("orders");
  ASSERT_NE(orders, nullptr);
  EXPECT_EQ(orders->path.ToString(), "shop.orders");
  ASSERT_EQ(orders->columns.size(), 3u);
  EXPECT_EQ(orders->columns[0].type.ToString(), "BIGINT NOT NULL");
  EXPECT_EQ(orders->columns[1].comment, "pieces");
  EXPECT_EQ(orders->primary_key, std::vector<ColumnId>{1});
  EXPECT_EQ(orders->comment, "all");
  ASSERT_EQ(tracked.changes_.size(), 1u);
  EXPECT_EQ(tracked.changes_[0].parts[0].kind(), EventKind::kCreateTable);
}

TEST(TableTrackerTest, StatementsArePartsByIdentity) {
  Tracked tracked;
  tracked(kOrders);
  EXPECT_EQ(tracked("ALTER TABLE orders ADD (price DECIMAL(10, 2) AFTER id, tag STRING FIRST)"),
            (Said{"shop.orders: add column tag STRING first, price DECIMAL(10, 2) after id"}));
  EXPECT_EQ(tracked("ALTER TABLE orders MODIFY note BIGINT"),
            (Said{"shop.orders: change type of note from STRING to BIGINT",
                  "shop.orders: allow NULL in note"}));
  const ColumnId note = tracked.Table("orders")->FindName("note")->id;
  EXPECT_EQ(tracked("ALTER TABLE orders RENAME note TO remark"),
            (Said{"shop.orders: rename column note to remark"}));
  EXPECT_EQ(tracked.Table("orders")->FindName("remark")->id, note);
  EXPECT_EQ(tracked("ALTER TABLE orders DROP remark"), (Said{"shop.orders: drop column remark"}));
  // A name that comes again is another column.
  tracked("ALTER TABLE orders ADD remark BIGINT");
  EXPECT_NE(tracked.Table("orders")->FindName("remark")->id, note);
}

TEST(TableTrackerTest, WhatChangesNoSchemaIsNoChange) {
  Tracked tracked;
  tracked(kOrders);
  EXPECT_EQ(tracked("ALTER TABLE orders SET ('a' = 'b')"), Said());
  EXPECT_EQ(tracked("ALTER TABLE orders ADD thrice AS qty * 3"), Said());
  EXPECT_EQ(tracked("CREATE VIEW v AS SELECT id FROM orders"), Said());
  EXPECT_EQ(tracked("DROP TABLE IF EXISTS nothing"), Said());
}

TEST(TableTrackerTest, WholeTables) {
  Tracked tracked;
  tracked(kOrders);
  const uint64_t incarnation = tracked.Table("orders")->incarnation;
  EXPECT_EQ(tracked("TRUNCATE TABLE shop.orders").size(), 1u);
  EXPECT_EQ(tracked.changes_[0].parts[0].kind(), EventKind::kTruncateTable);
  tracked("ALTER TABLE orders RENAME TO bills");
  ASSERT_EQ(tracked.changes_.size(), 1u);
  EXPECT_EQ(tracked.changes_[0].parts.back().kind(), EventKind::kRenameTable);
  EXPECT_EQ(tracked.Table("orders"), nullptr);
  EXPECT_EQ(tracked.Table("bills")->incarnation, incarnation);
  tracked("CREATE TABLE other.things (id INT)");  // its database need not be made
  EXPECT_EQ(tracked.changes_[0].table.ToString(), "other.things");
  EXPECT_EQ(tracked("DROP DATABASE other CASCADE").size(), 1u);
  EXPECT_EQ(tracked.changes_[0].parts[0].kind(), EventKind::kDropTable);
  EXPECT_EQ(tracked("DROP TABLE bills").size(), 1u);
  tracked(kOrders);
  EXPECT_NE(tracked.Table("orders")->incarnation, incarnation);
}

TEST(TableTrackerTest, TakesTablesOfOtherSources) {
  Tracked tracked;
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "it's"};
  schema->incarnation = 7;
  schema->next_column_id = 10;
  driftless::Column column;
  column.id = 9;
  column.name = "a`b";
  column.type = *ParseLogicalType("VARCHAR(20) NOT NULL");
  column.comment = "it's";
  schema->columns = {column};
  schema->primary_key = {9};
  ASSERT_TRUE(tracked.tracker_.Load(schema));
  EXPECT_EQ(tracked("ALTER TABLE `it's` ADD c INT"), (Said{"shop.it's: add column c INT"}));
  const TableSchemaPtr after = tracked.Table("it's");
  EXPECT_EQ(after->incarnation, 7u);
  EXPECT_EQ(after->columns[0].id, 9u);
  EXPECT_EQ(after->columns[1].id, 10u);
}

TEST(TableTrackerTest, FindsTablesByTheirNames) {
  Tracked tracked;
  tracked(kOrders);
  const TableSchemaPtr orders = tracked.Table("orders");
  EXPECT_EQ(tracked.tracker_.Find({"orders"}), orders);
  EXPECT_EQ(tracked.tracker_.Find({"default_catalog", "shop", "orders"}), orders);
  EXPECT_EQ(tracked.tracker_.Find({"other", "orders"}), nullptr);
  tracked("CREATE TEMPORARY TABLE orders (x INT)");
  EXPECT_EQ(tracked.tracker_.Find({"orders"}), nullptr);
}

TEST(TableTrackerTest, CatalogsDoNotTellTablesApart) {
  Tracked tracked;
  tracked(kOrders);
  tracked("CREATE CATALOG c WITH ('type' = 'generic_in_memory')");
  tracked("CREATE TABLE c.shop.bills (id INT)");
  EXPECT_NE(tracked.Refusal("CREATE TABLE c.shop.orders (id INT)"), "");
  EXPECT_NE(tracked.Refusal("ALTER TABLE c.shop.bills RENAME TO orders"), "");
  EXPECT_EQ(tracked.tracker_.Tables().size(), 2u);
}

TEST(TableTrackerTest, DatabasesCanBeRequired) {
  Tracked tracked;
  tracked.tracker_.RequireDatabases();
  EXPECT_NE(tracked.Refusal("CREATE TABLE other.things (id INT)"), "");
}

TEST(TableTrackerTest, RefusalsChangeNothing) {
  Tracked tracked;
  tracked(kOrders);
  const TableSchemaPtr before = tracked.Table("orders");
  EXPECT_NE(tracked.Refusal("ALTER TABLE orders DROP nothing"), "");
  EXPECT_NE(tracked.Refusal("ALTER TABLE orders DROP qty"), "");  // `twice` reads it
  EXPECT_NE(tracked.Refusal("ALTER TABLE nothing DROP qty"), "");
  EXPECT_NE(tracked.Refusal("ALTER TABLE orders FROBNICATE"), "");
  EXPECT_EQ(tracked.Table("orders"), before);
}

}  // namespace
}  // namespace driftless::flink
