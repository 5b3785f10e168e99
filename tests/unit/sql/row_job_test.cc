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
  std::vector<std::vector<RowJob>> submitted;
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
    const RowJob& job = host_.submitted[0][0];
    return "SELECT " + job.projection + (job.filter.empty() ? "" : " WHERE " + job.filter) +
           " FROM " + job.source.Summary();
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
  EXPECT_EQ(Job("INSERT INTO copy SELECT * FROM orders"), "SELECT " + std::string(kOrders));
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
        "SELECT id, 'a', 1 FROM orders UNION ALL SELECT id, 'b', 2 FROM customers"}) {
    const std::string said = Job("INSERT INTO lake " + query);
    EXPECT_THAT(said, HasSubstr("Apache Flink")) << query;
    EXPECT_TRUE(host_.submitted.empty()) << query;
  }
  EXPECT_THAT(Job("INSERT INTO lake SELECT id, 'x', COUNT(*) FROM orders GROUP BY id"),
              HasSubstr("the query keeps state (aggregate by "));
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
  EXPECT_THAT(Run("INSERT INTO nested VALUES (ARRAY[1])"),
              HasSubstr("values inside of others"));
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
