#include "config/sql/row_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "config/sql/session.h"
#include "config/sql/sql_host.h"

namespace driftless::flink {
namespace {

using ::testing::HasSubstr;

class FakeHost : public SqlHost {
 public:
  Result<void> Submit(const std::vector<RowJob>& jobs,
                      const std::map<std::string, std::string>&) override {
    submitted.push_back(jobs);
    return {};
  }
  bool Runs(uint64_t number) override { return number != ended; }
  Result<void> Change(const std::vector<RowJob>& jobs) override {
    if (refuses) return MakeError(ErrorKind::kConflict, "the plan fails");
    changed.push_back(jobs);
    return {};
  }
  std::vector<std::vector<RowJob>> submitted;
  std::vector<std::vector<RowJob>> changed;
  uint64_t ended = 0;
  bool refuses = false;
};

class RowJobTest : public ::testing::Test {
 protected:
  RowJobTest() {
    session_.SetHost(&host_);
    Run("CREATE TABLE orders (id BIGINT NOT NULL, status STRING, qty INT, price DECIMAL(10, 2), "
        "total AS qty * price, db STRING METADATA FROM 'database_name' VIRTUAL, "
        "PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'mysql-cdc')");
    Run("CREATE TABLE customers (id BIGINT) WITH ('connector' = 'mysql-cdc')");
    Run("CREATE TABLE lake (id BIGINT NOT NULL, status STRING, total DOUBLE, "
        "PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'paimon')");
    Run("CREATE TABLE copy WITH ('connector' = 'paimon')");
  }

  std::string Run(const std::string& sql) {
    const auto answer = session_.Execute(sql);
    if (answer) return *answer;
    return answer.error().message() +
           (answer.error().hint().empty() ? "" : " " + answer.error().hint());
  }
  // The one job that a statement makes, or what is wrong with it.
  std::string Job(const std::string& sql) {
    host_.submitted.clear();
    const std::string answer = Run(sql);
    if (host_.submitted.size() != 1 || host_.submitted[0].size() != 1) return answer;
    return TextOf(host_.submitted[0][0]);
  }
  static std::string TextOf(const RowJob& job) {
    std::string text;
    for (const RowInput& input : job.inputs) {
      text += (text.empty() ? "SELECT " : "\nSELECT ") + input.projection +
              (input.filter.empty() ? "" : " WHERE " + input.filter) + " FROM " +
              input.name.Summary();
    }
    return text;
  }
  // What becomes of the one INSERT that runs.
  std::string Changed(const std::string& sql) {
    host_.changed.clear();
    const std::string answer = Run(sql);
    if (host_.changed.size() != 1 || host_.changed[0].size() != 1) return answer;
    return TextOf(host_.changed[0][0]);
  }

  FakeHost host_;
  Session session_;
};

constexpr const char* kOrders = " FROM default_catalog.default_database.orders";

TEST_F(RowJobTest, ColumnsGetTheNamesAndTypesOfTheSink) {
  EXPECT_EQ(Job("INSERT INTO lake SELECT id, UPPER(status), qty * price FROM orders WHERE qty > 0"),
            "SELECT `id`, UPPER(`status`) AS `status`, CAST(`qty` * `price` AS DOUBLE) AS `total` "
            "WHERE `qty` > 0" +
                std::string(kOrders));
  EXPECT_EQ(Job("INSERT INTO lake (total, id) SELECT o.qty, o.id FROM orders AS o"),
            "SELECT `id`, CAST(NULL AS STRING) AS `status`, CAST(`qty` AS DOUBLE) AS `total`" +
                std::string(kOrders));
}

TEST_F(RowJobTest, ViewsSubqueriesAndComputedColumnsAreFolded) {
  Run("CREATE VIEW big (id, what, total) AS SELECT id, status, total FROM orders WHERE qty > 10");
  EXPECT_EQ(Job("INSERT INTO lake SELECT id, what, total FROM big WHERE what <> 'x'"),
            "SELECT `id`, `status`, CAST(`qty` * `price` AS DOUBLE) AS `total` WHERE (`qty` > 10) "
            "AND (`status` <> 'x')" +
                std::string(kOrders));
  EXPECT_EQ(Job("INSERT INTO lake SELECT t.k, CAST(t.n AS STRING), 1.5e0 FROM (SELECT id AS k, qty "
                "+ 1 AS n FROM orders) AS t"),
            "SELECT `id`, CAST(`qty` + 1 AS STRING) AS `status`, 1.5e0 AS `total`" +
                std::string(kOrders));
  EXPECT_EQ(Job("INSERT INTO lake SELECT id, db, 0e0 FROM orders"),
            "SELECT `id`, CAST(`__schema_name__` AS STRING) AS `status`, 0e0 AS `total`" +
                std::string(kOrders));
}

TEST_F(RowJobTest, ASinkWithoutColumnsFollowsTheSource) {
  EXPECT_EQ(Job("INSERT INTO copy SELECT * FROM customers"),
            "SELECT  FROM default_catalog.default_database.customers");
  // What only the session knows stands behind the columns of the source.
  EXPECT_EQ(Job("INSERT INTO copy SELECT * FROM orders"),
            "SELECT *, `qty` * `price` AS `total`, CAST(`__schema_name__` AS STRING) AS `db`" +
                std::string(kOrders));
  // A view is not the source: its columns are those of the sink.
  Run("CREATE VIEW ids AS SELECT id, qty + 1 AS one_more FROM orders");
  EXPECT_EQ(Job("INSERT INTO copy SELECT * FROM ids"),
            "SELECT `id`, `qty` + 1 AS `one_more`" + std::string(kOrders));
}

TEST_F(RowJobTest, StateIsRefusedWithTheEngineToRunItOn) {
  for (const std::string query :
       {"SELECT id, status, SUM(qty) FROM orders GROUP BY id, status",
        "SELECT DISTINCT id, status, price FROM orders",
        "SELECT o.id, o.status, o.price FROM orders o JOIN customers c ON o.id = c.id",
        "SELECT id, status, price FROM orders ORDER BY id LIMIT 3",
        "SELECT id, status, SUM(price) OVER (PARTITION BY id ORDER BY qty) FROM orders",
        "SELECT id, 'a', 1 FROM orders UNION SELECT id, 'b', 2 FROM customers",
        "SELECT id, 'a', 1 FROM orders UNION ALL SELECT id, 'b', 2 FROM orders"}) {
    const std::string said = Job("INSERT INTO lake " + query);
    EXPECT_THAT(said, HasSubstr("Apache Flink")) << query;
    EXPECT_TRUE(host_.submitted.empty()) << query;
  }
  EXPECT_THAT(Job("INSERT INTO lake SELECT id, 'x', COUNT(*) FROM orders GROUP BY id"),
              HasSubstr("the query keeps state (aggregate by "));
}

TEST_F(RowJobTest, UnionAllTakesTheRowsOfSeveralTables) {
  const std::string customers = " FROM default_catalog.default_database.customers";
  EXPECT_EQ(
      Job("INSERT INTO lake SELECT id, status, qty FROM orders WHERE qty > 1 UNION ALL SELECT "
          "id, 'new', 0.5 FROM customers"),
      "SELECT `id`, `status`, CAST(CAST(`qty` AS DECIMAL(11, 1)) AS DOUBLE) AS `total` WHERE "
      "`qty` > 1" +
          std::string(kOrders) +
          "\nSELECT `id`, CAST('new' AS STRING) AS `status`, CAST(CAST(0.5 AS DECIMAL(11, 1)) "
          "AS DOUBLE) AS `total`" +
          customers);
  // In a view, and with a name of its own.
  Run("CREATE VIEW both_ids AS WITH c AS (SELECT id FROM customers) SELECT id FROM orders UNION "
      "ALL "
      "SELECT id FROM c");
  EXPECT_EQ(Job("INSERT INTO lake (id) SELECT id FROM both_ids WHERE id > 7"),
            "SELECT `id`, CAST(NULL AS STRING) AS `status`, CAST(NULL AS DOUBLE) AS `total` WHERE "
            "`id` > 7" +
                std::string(kOrders) +
                "\nSELECT `id`, CAST(NULL AS STRING) AS `status`, CAST(NULL AS DOUBLE) AS `total` "
                "WHERE `id` > 7" +
                customers);
}

TEST_F(RowJobTest, CreateTableAsTakesRowsOfConnectors) {
  EXPECT_EQ(
      Job("CREATE TABLE made (PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'paimon') AS "
          "SELECT id, UPPER(status) AS status FROM orders WHERE qty > 0"),
      "SELECT `id`, UPPER(`status`) AS `status` WHERE `qty` > 0" + std::string(kOrders));
  EXPECT_THAT(Run("DESCRIBE made"), HasSubstr("PRI(id)"));
  // What cannot run leaves no table behind.
  EXPECT_THAT(
      Run("CREATE TABLE sums WITH ('connector' = 'paimon') AS SELECT id, SUM(qty) AS n FROM "
          "orders GROUP BY id"),
      HasSubstr("Apache Flink"));
  EXPECT_THAT(Run("DESCRIBE sums"), HasSubstr("doesn't exist"));
}

TEST_F(RowJobTest, ASinkColumnWithoutAValueMustTakeNull) {
  Run("CREATE TABLE strict (id BIGINT, n INT NOT NULL) WITH ('connector' = 'paimon')");
  EXPECT_THAT(Job("INSERT INTO strict (id) SELECT id FROM orders"),
              HasSubstr("Column 'n' has no default value and does not allow NULLs"));
}

TEST_F(RowJobTest, IntervalsAreNoColumnsOfTables) {
  for (const std::string statement :
       {"INSERT INTO lake (id) SELECT INTERVAL '3' DAY FROM orders",
        "INSERT INTO lake (id) VALUES (INTERVAL '3' DAY)",
        "CREATE VIEW waits AS SELECT INTERVAL '3' DAY + INTERVAL '1' HOUR AS d",
        "CREATE TABLE waits WITH ('connector' = 'paimon') AS SELECT INTERVAL '3' DAY AS d"}) {
    EXPECT_THAT(Run(statement), HasSubstr("Apache Flink")) << statement;
  }
  EXPECT_THAT(Run("INSERT INTO lake (id, status) SELECT id, CAST(INTERVAL '3' DAY AS STRING) FROM "
                  "orders"),
              HasSubstr("submitted"));
  EXPECT_THAT(Run("DESCRIBE waits"), HasSubstr("doesn't exist"));
}

// ---- ALTERs while the pipeline of an INSERT runs ----

TEST_F(RowJobTest, AnAlterOfTheSinkChangesTheInsertThatRuns) {
  Run("INSERT INTO lake SELECT id, status, price FROM orders");
  EXPECT_EQ(Changed("ALTER TABLE lake ADD (note STRING AFTER id, n INT)"),
            "SELECT `id`, CAST(NULL AS STRING) AS `note`, `status`, CAST(`price` AS DOUBLE) AS "
            "`total`, CAST(NULL AS INTEGER) AS `n`" +
                std::string(kOrders));
  EXPECT_EQ(host_.changed[0][0].number, host_.submitted[0][0].number);
  EXPECT_EQ(Changed("ALTER TABLE lake RENAME status TO state"),
            "SELECT `id`, CAST(NULL AS STRING) AS `note`, `status` AS `state`, CAST(`price` AS "
            "DOUBLE) AS `total`, CAST(NULL AS INTEGER) AS `n`" +
                std::string(kOrders));
  EXPECT_EQ(Changed("ALTER TABLE lake DROP (note, n)"),
            "SELECT `id`, `status` AS `state`, CAST(`price` AS DOUBLE) AS `total`" +
                std::string(kOrders));
  EXPECT_EQ(Changed("ALTER TABLE lake MODIFY total DECIMAL(12, 2)"),
            "SELECT `id`, `status` AS `state`, CAST(`price` AS DECIMAL(12, 2)) AS `total`" +
                std::string(kOrders));
  EXPECT_EQ(Changed("ALTER TABLE lake DROP state"),
            "SELECT `id`, CAST(`price` AS DECIMAL(12, 2)) AS `total`" + std::string(kOrders));
}

TEST_F(RowJobTest, AnAlterOfASourceOrViewChangesTheInsertThatRuns) {
  Run("CREATE VIEW sold AS SELECT id, status FROM orders WHERE qty > 0");
  Run("INSERT INTO lake (id, status) SELECT * FROM sold");
  EXPECT_EQ(
      Changed("ALTER VIEW sold AS SELECT id, LOWER(status) AS status, 'x' AS rest FROM orders "
              "WHERE qty > 1"),
      "SELECT `id`, LOWER(`status`) AS `status`, CAST(NULL AS DOUBLE) AS `total` WHERE `qty` "
      "> 1" +
          std::string(kOrders));
  // A column that the session computes reaches a sink that follows the source.
  host_.ended = host_.submitted[0][0].number;
  Run("INSERT INTO copy SELECT * FROM customers");
  EXPECT_EQ(Changed("ALTER TABLE customers ADD twice AS id * 2"),
            "SELECT *, `id` * 2 AS `twice` FROM default_catalog.default_database.customers");
}

TEST_F(RowJobTest, AnAlterThatTheInsertCannotFollowIsRefused) {
  Run("INSERT INTO lake SELECT id, status, price FROM orders");
  const std::string table = Run("SHOW CREATE TABLE lake");
  for (const std::string alter : {"MODIFY status INT", "ADD n INT NOT NULL", "RENAME TO other"}) {
    EXPECT_THAT(Run("ALTER TABLE lake " + alter), HasSubstr("runs and cannot go on")) << alter;
  }
  EXPECT_THAT(Run("ALTER TABLE orders RENAME status TO state"), HasSubstr("'status' not found"));
  host_.refuses = true;
  EXPECT_THAT(Run("ALTER TABLE lake ADD n INT"), HasSubstr("the plan fails"));
  EXPECT_EQ(Run("SHOW CREATE TABLE lake"), table);
  EXPECT_TRUE(host_.changed.empty());
}

TEST_F(RowJobTest, WhatHasEndedOrIsNotConcernedStaysAsItIs) {
  Run("INSERT INTO lake SELECT id, status, price FROM orders");
  EXPECT_THAT(Changed("ALTER TABLE customers ADD name STRING"), HasSubstr("succeeded"));
  host_.ended = host_.submitted[0][0].number;
  EXPECT_THAT(Changed("ALTER TABLE lake ADD n INT NOT NULL"), HasSubstr("succeeded"));
}

TEST_F(RowJobTest, TypesThatDoNotMatchAreFlinksError) {
  EXPECT_THAT(Job("INSERT INTO lake SELECT id, status FROM orders"),
              HasSubstr("Cause: Different number of columns."));
  EXPECT_THAT(Job("INSERT INTO lake SELECT id, status, status FROM orders"),
              HasSubstr("Incompatible types for sink column 'total' at position 2."));
}

TEST_F(RowJobTest, RowsInMemoryBecomeAScript) {
  Run("INSERT INTO lake VALUES (1, 'it''s', 2.5e0), (2, CAST(NULL AS STRING), 0.1)");
  ASSERT_EQ(host_.submitted.size(), 1u);
  EXPECT_EQ(
      host_.submitted[0][0].script,
      "CREATE DATABASE IF NOT EXISTS `default_database`;\n"
      "USE `default_database`;\n"
      "CREATE TABLE `lake` (`id` BIGINT NOT NULL, `status` VARCHAR(2147483647), `total` DOUBLE, "
      "PRIMARY KEY (`id`) NOT ENFORCED);\n"
      "INSERT INTO `lake` VALUES\n"
      "(CAST('1' AS BIGINT), CAST('it''s' AS STRING), CAST('2.5' AS DOUBLE)),\n"
      "(CAST('2' AS BIGINT), NULL, CAST('0.1' AS DOUBLE));\n");
  Run("CREATE TABLE nested (a ARRAY<INT NOT NULL>) WITH ('connector' = 'paimon')");
  EXPECT_THAT(Run("INSERT INTO nested VALUES (ARRAY[1])"), HasSubstr("values inside of others"));
}

TEST_F(RowJobTest, AStatementSetIsStartedAsAWholeOrNotAtAll) {
  const std::string first = "INSERT INTO lake SELECT id, status, 1e0 FROM orders; ";
  const std::string said =
      Run("EXECUTE STATEMENT SET BEGIN " + first + "INSERT INTO lake SELECT id FROM orders; END");
  EXPECT_THAT(said, HasSubstr("Different number of columns"));
  EXPECT_TRUE(host_.submitted.empty());
  Run("EXECUTE STATEMENT SET BEGIN " + first + "INSERT INTO copy SELECT * FROM customers; END");
  ASSERT_EQ(host_.submitted.size(), 1u);
  EXPECT_EQ(host_.submitted[0].size(), 2u);
}

}  // namespace
}  // namespace driftless::flink
