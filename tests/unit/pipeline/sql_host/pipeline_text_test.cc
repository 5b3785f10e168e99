#include "pipeline/sql_host/pipeline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "config/sql/session.h"
#include "config/sql/sql_host.h"
#include "pipeline/cli/catalog.h"

namespace driftless {
namespace {

using ::testing::HasSubstr;

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
  Problems problems;
  const auto definition =
      ParsePipeline(text, "t.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
  ASSERT_TRUE(definition) << problems.ToError("t.yaml").ToString();
  EXPECT_EQ(definition->options.name, "shop job");
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
