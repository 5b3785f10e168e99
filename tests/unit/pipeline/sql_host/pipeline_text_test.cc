#include "pipeline/sql_host/pipeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "config/sql/session.h"
#include "config/sql/sql_host.h"
#include "pipeline/cli/catalog.h"

namespace driftless {
namespace {

using ::testing::HasSubstr;

// What a run would make of the text.
auto Parsed(const std::string& text) {
  Problems problems;
  auto definition =
      ParsePipeline(text, "t.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
  using Definition = std::remove_reference_t<decltype(*definition)>;
  return definition ? Result<Definition>(*std::move(definition))
                    : Result<Definition>(problems.ToError("t.yaml"));
}

class TextHost : public flink::SqlHost {
 public:
  Result<void> Submit(const std::vector<flink::RowJob>& jobs,
                      const std::map<std::string, std::string>& settings) override {
    for (const flink::RowJob& job : jobs) {
      is_bounded = IsBounded(job, settings);
      DRIFTLESS_ASSIGN_OR_RETURN(text, PipelineText(job, settings, "shop job", AllComponents()));
    }
    return {};
  }
  bool Runs(uint64_t) override { return false; }
  Result<void> Change(const std::vector<flink::RowJob>&) override { return {}; }
  std::string text;
  bool is_bounded = false;
};

// What the last of some statements becomes, or its error.
std::string TextOf(const std::vector<std::string>& statements, bool* is_bounded = nullptr) {
  TextHost host;
  flink::Session session;
  session.SetHost(&host);
  for (const std::string& statement : statements) {
    const auto answer = session.Execute(statement);
    if (!answer) return answer.error().message() + " " + answer.error().hint();
  }
  if (is_bounded != nullptr) *is_bounded = host.is_bounded;
  return host.text;
}

TEST(PipelineText, TablesBecomeSourceAndSink) {
  const std::string text = TextOf(
      {"CREATE TABLE orders (id BIGINT NOT NULL, note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
       "('connector' = 'mysql-cdc', 'hostname' = 'db', 'port' = '3307', 'username' = 'u', "
       "'password' = 'it''s \"x\"', 'database-name' = 'shop', 'table-name' = 'orders')",
       "CREATE TABLE lake (id BIGINT NOT NULL, note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
       "('connector' = 'paimon', 'warehouse' = '/tmp/w', 'database-name' = 'ods')",
       "SET 'pipeline.schema.change.behavior' = 'EVOLVE'",
       "SET 'execution.checkpointing.interval' = '3 s'",
       "INSERT INTO lake SELECT id, UPPER(note) FROM orders WHERE id > 0"});
  EXPECT_EQ(text,
            "# Made of an INSERT of a Flink SQL session; written anew when it runs again.\n"
            "source:\n"
            "  type: mysql\n"
            "  tables: \"shop.orders\"\n"
            "  \"hostname\": \"db\"\n"
            "  \"password\": \"it's \\\"x\\\"\"\n"
            "  \"port\": \"3307\"\n"
            "  \"username\": \"u\"\n"
            "sink:\n"
            "  type: paimon\n"
            "  \"catalog.properties.warehouse\": \"/tmp/w\"\n"
            "transform:\n"
            "  - source-table: \"shop.orders\"\n"
            "    projection: \"`id`, UPPER(`note`) AS `note`\"\n"
            "    filter: \"`id` > 0\"\n"
            "    primary-keys: [\"id\"]\n"
            "route:\n"
            "  - source-table: \"shop.orders\"\n"
            "    sink-table: \"ods.lake\"\n"
            "pipeline:\n"
            "  name: \"shop job\"\n"
            "  \"checkpoint.interval\": \"3 s\"\n"
            "  \"http.address\": \"off\"\n"
            "  \"schema.change.behavior\": \"EVOLVE\"\n");
  const auto definition = Parsed(text);
  ASSERT_TRUE(definition) << definition.error().ToString();
  EXPECT_EQ(definition->options.name, "shop job");
}

const std::string kUnionSink =
    "CREATE TABLE lake (id BIGINT NOT NULL, note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
    "('connector' = 'paimon', 'warehouse' = '/tmp/w', 'database-name' = 'ods')";
std::string OrdersOf(const std::string& name, const std::string& options) {
  return "CREATE TABLE " + name + " (id BIGINT, note STRING) WITH ('connector' = 'mysql-cdc', " +
         options + ")";
}

TEST(PipelineText, TablesOfAUnionAllGoIntoOneTable) {
  const std::string text = TextOf(
      {OrdersOf("orders",
                "'hostname' = 'b', 'username' = 'u', 'password' = 'p', 'database-name' = "
                "'shop'"),
       OrdersOf(
           "old_orders",
           "'hostname' = 'b', 'username' = 'u', 'password' = 'p', 'database-name' = 'archive'"),
       OrdersOf("far_orders",
                "'hostname' = 'c', 'username' = 'u', 'password' = 'p', 'database-name' = 'far'"),
       kUnionSink,
       "INSERT INTO lake SELECT id, note FROM orders UNION ALL SELECT id + 1000, note FROM "
       "far_orders WHERE id > 3 UNION ALL SELECT id, 'old' FROM old_orders"});
  EXPECT_EQ(text,
            "# Made of an INSERT of a Flink SQL session; written anew when it runs again.\n"
            "sources:\n"
            "  - type: mysql\n"
            "    name: \"default_catalog.default_database.old_orders\"\n"
            "    tables: \"shop.orders, archive.old_orders\"\n"
            "    \"hostname\": \"b\"\n"
            "    \"password\": \"p\"\n"
            "    \"username\": \"u\"\n"
            "  - type: mysql\n"
            "    name: \"default_catalog.default_database.far_orders\"\n"
            "    tables: \"far.far_orders\"\n"
            "    \"hostname\": \"c\"\n"
            "    \"password\": \"p\"\n"
            "    \"username\": \"u\"\n"
            "sink:\n"
            "  type: paimon\n"
            "  \"catalog.properties.warehouse\": \"/tmp/w\"\n"
            "transform:\n"
            "  - source-table: \"shop.orders\"\n"
            "    projection: \"`id`, `note`\"\n"
            "    primary-keys: [\"id\"]\n"
            "  - source-table: \"far.far_orders\"\n"
            "    projection: \"`id` + 1000 AS `id`, `note`\"\n"
            "    filter: \"`id` > 3\"\n"
            "    primary-keys: [\"id\"]\n"
            "  - source-table: \"archive.old_orders\"\n"
            "    projection: \"`id`, CAST('old' AS STRING) AS `note`\"\n"
            "    primary-keys: [\"id\"]\n"
            "route:\n"
            "  - source-table: \"shop.orders\"\n"
            "    sink-table: \"ods.lake\"\n"
            "  - source-table: \"far.far_orders\"\n"
            "    sink-table: \"ods.lake\"\n"
            "  - source-table: \"archive.old_orders\"\n"
            "    sink-table: \"ods.lake\"\n"
            "pipeline:\n"
            "  name: \"shop job\"\n"
            "  \"http.address\": \"off\"\n");
  const auto definition = Parsed(text);
  ASSERT_TRUE(definition) << definition.error().ToString();
  EXPECT_EQ(definition->sources.size(), 2u);
}

TEST(PipelineText, OneNameForTwoTablesIsRefused) {
  const std::string there =
      ", 'username' = 'u', 'password' = 'p', 'database-name' = 'shop', "
      "'table-name' = 'orders'";
  EXPECT_THAT(
      TextOf({OrdersOf("a", "'hostname' = 'a'" + there), OrdersOf("b", "'hostname' = 'b'" + there),
              kUnionSink, "INSERT INTO lake SELECT * FROM a UNION ALL SELECT * FROM b"}),
      HasSubstr("are both shop.orders at their sources"));
}

TEST(PipelineText, WhatComesToAnEnd) {
  const std::string sink = "CREATE TABLE s WITH ('connector' = 'print')";
  const auto bounded = [&](const std::string& options) {
    bool is_bounded = false;
    const std::string text = TextOf(
        {"CREATE TABLE t (a INT) WITH (" + options + ")", sink, "INSERT INTO s SELECT * FROM t"},
        &is_bounded);
    EXPECT_THAT(text, HasSubstr("pipeline:"));
    return is_bounded;
  };
  EXPECT_TRUE(bounded("'connector' = 'file', 'path' = 'x'"));
  EXPECT_FALSE(bounded("'connector' = 'file', 'path' = 'x', 'follow' = 'true'"));
  EXPECT_FALSE(bounded("'connector' = 'mysql'"));
  EXPECT_TRUE(bounded("'connector' = 'kafka', 'scan.bounded.mode' = 'latest-offset'"));
}

TEST(PipelineText, UnknownConnectorsAreNamed) {
  const std::string from = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen')";
  const std::string to = "CREATE TABLE s (a INT) WITH ('connector' = 'paimon')";
  EXPECT_THAT(TextOf({from, to, "INSERT INTO s SELECT a FROM t"}),
              HasSubstr("the connector 'datagen' of table default_catalog.default_database.t is no "
                        "source of pipelines; there are "));
  EXPECT_THAT(TextOf({"CREATE TABLE t (a INT) WITH ('connector' = 'mysql-cdc')",
                      "CREATE TABLE s (a INT) WITH ('connector' = 'paimom')",
                      "INSERT INTO s SELECT a FROM t"}),
              HasSubstr("Did you mean \"paimon\""));
}

}  // namespace
}  // namespace driftless
