#include "pipeline/sources/sql/sql_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/sql_host/script_reader.h"
#include "tests/doubles/replayed_tables.h"

namespace driftless {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryHistory;
using testing::ReplayedTables;

constexpr std::string_view kOrders =
    "CREATE TABLE orders (id INT, item STRING, price DECIMAL(8, 2), total AS price * 2,\n"
    "  PRIMARY KEY (id) NOT ENFORCED) COMMENT 'what was ordered';\n";

class SqlSourceTest : public ::testing::Test {
 protected:
  Result<void> Play(const std::string& script, ReplayedTables* out, const CutPosition& from = {},
                    const std::string& tables = "") {
    SqlSourceOptions options;
    options.script = script;
    if (!tables.empty()) options.tables = *TableSelector::Parse(tables);
    SqlSource source(std::move(options));
    SourceContext context;
    context.history = &history_;
    context.local_time_zone = "UTC";
    DRIFTLESS_TRY(source.Connect(context));
    return source.Run(0, 0, from, out);
  }
  // What stands in the table: its rows' values in the order of the columns, joined.
  static std::vector<std::string> Rows(const ReplayedTables& out, const std::string& table) {
    std::vector<std::string> rows;
    const auto found = out.tables.find(TablePath{"", "default_database", table});
    if (found == out.tables.end()) return {"no table"};
    for (const auto& [key, row] : found->second.rows) {
      std::string text;
      for (const Column& column : found->second.schema->columns) {
        const auto value = row.find(column.id);
        const bool known = value != row.end() && value->second.has_value();
        text += (text.empty() ? "" : " ") + (known ? *value->second : std::string("NULL"));
      }
      rows.push_back(text);
    }
    return rows;
  }
  std::string ErrorOf(const std::string& script) {
    ReplayedTables out;
    const auto result = Play(script, &out);
    return result ? "none" : result.error().ToString();
  }

  MemoryHistory history_;
};

TEST_F(SqlSourceTest, RowsAreInsertedUpdatedAndDeleted) {
  ReplayedTables out;
  out.keep_batches = true;
  const auto result =
      Play(std::string(kOrders) +
               "INSERT INTO orders VALUES (1, 'tea', 2.5), (2, UPPER('milk'), 1);\n"
               "INSERT INTO orders (item, id) VALUES ('salt', 3);\n"
               "UPDATE orders SET price = price + 1, item = item || '!' WHERE id < 3;\n"
               "DELETE FROM orders WHERE price IS NULL;\n"
               "INSERT INTO orders VALUES (2, 'cream', 7);\n"
               "SHOW TABLES;\n-- the end",
           &out);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(out.faults, IsEmpty());
  EXPECT_THAT(Rows(out, "orders"), ElementsAre("1 tea! 3.50", "2 cream 7.00"));
  EXPECT_EQ(out.changes, 7);
  EXPECT_EQ(out.tables.begin()->second.schema->comment, "what was ordered");
  ASSERT_EQ(out.batches.size(), 1u);
  EXPECT_THAT(out.batches[0]->ops(), ElementsAre(Op::kInsert, Op::kInsert, Op::kInsert, Op::kUpdate,
                                                 Op::kUpdate, Op::kDelete, Op::kUpdate));
  EXPECT_TRUE(out.batches[0]->HasBefore(3));
}

TEST_F(SqlSourceTest, AltersAreSchemaChangesWithIdentities) {
  ReplayedTables out;
  const auto result = Play(
      std::string(kOrders) +
          "INSERT INTO orders VALUES (1, 'tea', 2.5);\n"
          "ALTER TABLE orders RENAME item TO product;\n"
          "ALTER TABLE orders ADD (note STRING COMMENT 'n' FIRST, up AS UPPER(product), qty INT "
          "AFTER\n"
          "  id);\n"
          "INSERT INTO orders VALUES ('x', 2, 5, 'milk', 1);\n"
          "ALTER TABLE orders DROP total;\nALTER TABLE orders MODIFY price DECIMAL(10, 2);\n"
          "ALTER TABLE orders DROP note;\nALTER TABLE orders ADD note INT;\n"
          "ALTER TABLE orders SET ('a' = 'b');\nALTER TABLE IF EXISTS nothing ADD x INT;\n"
          "ALTER TABLE orders RENAME TO sales;\nINSERT INTO sales VALUES (3, 1, 'salt', 2, 8);\n"
          "TRUNCATE TABLE sales;\nINSERT INTO sales VALUES (4, 1, 'oil', 2, 8);\n"
          "CREATE TABLE gone (a INT);\nDROP TABLE gone;",
      &out);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(out.faults, IsEmpty());
  EXPECT_THAT(Rows(out, "sales"), ElementsAre("4 1 oil 2.00 8"));
  EXPECT_THAT(Rows(out, "orders"), ElementsAre("no table"));
  const TableSchema& sales = *out.tables.begin()->second.schema;
  std::vector<std::string> columns;
  for (const Column& column : sales.columns) {
    columns.push_back(std::to_string(column.id) + " " + column.name + " " + column.type.ToString());
  }
  EXPECT_THAT(columns, ElementsAre("1 id INT NOT NULL", "5 qty INT", "2 product STRING",
                                   "3 price DECIMAL(10, 2)", "6 note INT"));
}

TEST_F(SqlSourceTest, ARestartGoesOnBehindThePosition) {
  std::string script =
      std::string(kOrders) + "INSERT INTO orders VALUES (1, 'tea', 1), (2, 'milk', 2);\n";
  ReplayedTables first;
  ASSERT_TRUE(Play(script, &first));
  script +=
      "UPDATE orders SET item = 'x' WHERE id = 2;\nALTER TABLE orders ADD n INT;\n"
      "INSERT INTO orders VALUES (3, 'oil', 3, 4);\n";
  ReplayedTables second;
  second.tables = first.tables;
  const auto result = Play(script, &second, first.position);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(second.faults, IsEmpty());
  EXPECT_EQ(second.changes, 2);
  EXPECT_THAT(Rows(second, "orders"),
              ElementsAre("1 tea 1.00 NULL", "2 x 2.00 NULL", "3 oil 3.00 4"));
  ReplayedTables third;
  ASSERT_TRUE(Play(script, &third, second.position));
  EXPECT_THAT(third.events, IsEmpty());
  EXPECT_EQ(third.changes, 0);
  script.replace(script.find("tea"), 3, "pea");
  EXPECT_THAT(Play(script, &third, second.position).error().ToString(),
              HasSubstr("does not begin with the 5 statements that were read before"));
}

TEST_F(SqlSourceTest, APositionInsideOfAStatement) {
  ReplayedTables out;
  CutPosition from;
  const std::string script =
      std::string(kOrders) + "INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2);";
  ReplayedTables whole;
  ASSERT_TRUE(Play(script.substr(0, script.find("INSERT")), &whole));
  from.Extend(Point{0, 1, 2, 0, 0}, whole.position.Resume(0));
  out.tables = whole.tables;
  ASSERT_TRUE(Play(script, &out, from));
  EXPECT_THAT(Rows(out, "orders"), ElementsAre("2 b 2.00"));
}

TEST_F(SqlSourceTest, OtherTablesAreLeftOut) {
  ReplayedTables out;
  ASSERT_TRUE(Play(
      std::string(kOrders) +
          "CREATE DATABASE shop;\nUSE shop;\nCREATE TABLE a (x INT);\n"
          "INSERT INTO a VALUES (1);\nINSERT INTO default_database.orders VALUES (1, 'a', 2);\n"
          "ALTER TABLE a ADD y INT;\nUSE default_database;\nDROP DATABASE shop CASCADE;",
      &out, {}, "shop.a"));
  EXPECT_THAT(out.faults, IsEmpty());
  EXPECT_EQ(out.changes, 1);
  EXPECT_THAT(out.events, ElementsAre(HasSubstr("create table"), HasSubstr("add column y"),
                                      HasSubstr("drop table")));
}

TEST_F(SqlSourceTest, ErrorsSayWhere) {
  const std::string orders(kOrders);
  EXPECT_THAT(ErrorOf(orders + "\nINSERT INTO orders\n  VALUES (1, 'a', 123456789);"),
              HasSubstr("the value 123456789 does not go into column price, which is DECIMAL(8, 2) "
                        "(line 5, column 19; position script:4)"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders VALUES (1, 'a');"),
              HasSubstr("the row has 2 values for 3 columns (line 3"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders (item) VALUES ('a');"),
              HasSubstr("column id is NOT NULL and the statement gives it no value"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders VALUES (NULL, 'a', 1);"),
              HasSubstr("column id is NOT NULL"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders VALUES (DATE '2024-01-01', 'a', 1);"),
              HasSubstr("a value of type DATE does not go into column id, which is INT"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders (id, total) VALUES (1, 2);"),
              HasSubstr("has no column total that a statement can set"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders SELECT 1, 'a', 2;"), HasSubstr("not a query"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders VALUES (1, UUID(), 2);"),
              HasSubstr("UUID gives another value at every reading"));
  EXPECT_THAT(ErrorOf(orders + "UPDATE orders SET id = 1 WHERE id;"),
              HasSubstr("condition is BOOLEAN"));
  EXPECT_THAT(ErrorOf(orders + "INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2);\n"
                               "UPDATE orders SET id = 1;"),
              HasSubstr("two rows of one primary key"));
  EXPECT_THAT(
      ErrorOf(orders +
              "INSERT INTO orders VALUES (1, 'a', 1);\nALTER TABLE orders MODIFY item INT;"),
      HasSubstr("the value a of column item does not go into INT"));
  EXPECT_THAT(ErrorOf("INSERT INTO nowhere VALUES (1);"), HasSubstr("there is no table nowhere"));
  EXPECT_THAT(ErrorOf("CREATE TABEL x (a INT);"), HasSubstr("line 1, column 8"));
  EXPECT_THAT(ErrorOf("SELECT 1;"), HasSubstr("no queries"));
  EXPECT_THAT(ErrorOf("CREATE TABLE x AS SELECT 1 AS a;"), HasSubstr("no queries"));
  EXPECT_THAT(ErrorOf(orders + "BEGIN STATEMENT SET;"), HasSubstr("no queries"));
  EXPECT_THAT(ErrorOf("CREATE TABLE nowhere.x (a INT);"), HasSubstr("nowhere"));
}

TEST_F(SqlSourceTest, WhatStandsBeforeAFaultIsSent) {
  ReplayedTables out;
  EXPECT_FALSE(
      Play(std::string(kOrders) + "INSERT INTO orders VALUES (1, 'a', 1);\nnonsense;", &out));
  EXPECT_THAT(Rows(out, "orders"), ElementsAre("1 a 1.00"));
  EXPECT_EQ(out.position.Last(0)->offset, 2u);
}

TEST_F(SqlSourceTest, ValuesOfEveryKind) {
  ReplayedTables out;
  const auto result = Play(
      "CREATE TABLE t (b BOOLEAN, i8 TINYINT, i64 BIGINT, f FLOAT, d DOUBLE, c CHAR(3), vb BYTES, "
      "dt DATE,\n"
      "  tm TIME(3), ts TIMESTAMP(3), z TIMESTAMP_LTZ(3), a ARRAY<INT>, r ROW<x INT, y STRING>);\n"
      "INSERT INTO t VALUES (TRUE, -5, 9223372036854775807, 1.5, 1e3, 'abc', 'xyz', DATE "
      "'2024-02-29',\n"
      "  TIME '12:34:56', TIMESTAMP '2024-02-29 01:02:03.456', '2024-02-29 01:02:03Z',\n"
      "  ARRAY[1, 2], ROW(7, 'in'));",
      &out);
  ASSERT_TRUE(result) << result.error().ToString();
  EXPECT_THAT(Rows(out, "t"),
              ElementsAre("true -5 9223372036854775807 1.5 1000 abc 78797a 2024-02-29 12:34:56.000 "
                          "2024-02-29 01:02:03.456 2024-02-29 01:02:03.000Z [1,2] "
                          "{\"x\":7,\"y\":\"in\"}"));
}

}  // namespace
}  // namespace driftless
