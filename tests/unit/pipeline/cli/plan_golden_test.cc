#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"
#include "tests/doubles/source_dir.h"

// `driftless plan` and `driftless explain` as users see them: their JSON is an interface. Written
// anew with DRIFTLESS_UPDATE_GOLDEN=1; look at the difference before committing it.
namespace driftless {
namespace {

const std::string kFolder = SourceDir() + "/tests/golden/plan/";

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

Outcome RunCommand(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "driftless");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

Outcome Plan(const std::string& pipeline, const std::string& ddl, const std::string& output) {
  return RunCommand({"plan", kFolder + pipeline, "--schema", kFolder + "schema.sql", "--ddl", ddl,
                     "--output", output});
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = kFolder + name;
  if (std::getenv("DRIFTLESS_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, expected) << path;
}

const char* const kStatements =
    "ALTER TABLE shop.orders ADD COLUMN price DECIMAL(10, 2) NOT NULL FIRST;"
    "ALTER TABLE shop.orders DROP COLUMN qty;"
    "ALTER TABLE shop.orders CHANGE note remark VARCHAR(40) NOT NULL;"
    "ALTER TABLE shop.orders MODIFY remark VARCHAR(40) NULL;"
    "ALTER TABLE shop.orders COMMENT 'all orders';"
    "TRUNCATE TABLE shop.orders;"
    "DROP TABLE shop.orders";

TEST(PlanGoldenTest, EverySinkHasAVerdictUnderLenient) {
  const Outcome json = Plan("all_sinks.yaml", kStatements, "json");
  ExpectGolden("lenient.jsonl", json.out);
  EXPECT_EQ(json.exit_code, 4);
  ExpectGolden("lenient.txt", Plan("all_sinks.yaml", kStatements, "text").out);
}

TEST(PlanGoldenTest, EverySinkHasAVerdictUnderEvolve) {
  const Outcome json = Plan("evolve.yaml", kStatements, "json");
  ExpectGolden("evolve.jsonl", json.out);
  EXPECT_EQ(json.exit_code, 3);
}

TEST(PlanTest, ExitCodesTellWhatMayHappen) {
  EXPECT_EQ(Plan("all_sinks.yaml", "ALTER TABLE shop.orders ADD COLUMN c INT", "json").exit_code,
            0);
  EXPECT_EQ(Plan("all_sinks.yaml", "ALTER TABLE shop.orders MODIFY note VARCHAR(20) NULL", "json")
                .exit_code,
            4);
  EXPECT_EQ(Plan("evolve.yaml", "ALTER TABLE shop.orders DROP COLUMN qty", "json").exit_code, 3);
}

// Given explicitly it overrides `on-null-violation` (policy, section 4).
TEST(PlanTest, HologresOwnOptionSaysWhatBecomesOfANull) {
  const auto exit_code = [](const std::string& option) {
    const std::string file = testing::TempDir() + "driftless_plan_hologres.yaml";
    std::ofstream(file) << "source: {type: file, path: x.jsonl}\n"
                           "sink: {type: hologres, endpoint: 'localhost:80', dbname: shop, "
                           "username: user, password: secret"
                        << option << "}\npipeline: {name: shop}\n";
    return RunCommand({"plan", file, "--schema", kFolder + "schema.sql", "--ddl",
                       "ALTER TABLE shop.orders MODIFY note VARCHAR(20) NULL"})
        .exit_code;
  };
  EXPECT_EQ(exit_code(""), 4);
  EXPECT_EQ(exit_code(", jdbcenabledefaultfornotnullcolumn: true"), 0);
  EXPECT_EQ(exit_code(", jdbcenabledefaultfornotnullcolumn: false"), 4);
}

TEST(PlanTest, AnUnknownTableSaysWhatToGive) {
  const Outcome outcome = RunCommand(
      {"plan", kFolder + "all_sinks.yaml", "--ddl", "ALTER TABLE shop.orders DROP COLUMN qty"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("--schema FILE.sql"), std::string::npos) << outcome.err;
}

TEST(PlanTest, ABadStatementHasAPlace) {
  const Outcome outcome = Plan("all_sinks.yaml", "ALTER TABLE shop.orders DROPP qty", "json");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("line 1, column 25"), std::string::npos) << outcome.err;
}

// Rows that a statement takes away without row events (policy, section 11).
TEST(PlanTest, TellsOfRowsThatChangeWithoutEvents) {
  const std::string schema = testing::TempDir() + "driftless_plan_partitions.sql";
  std::ofstream(schema) << "CREATE TABLE shop.orders (id INT NOT NULL PRIMARY KEY) "
                           "PARTITION BY RANGE (id) (PARTITION p1 VALUES LESS THAN (10),"
                           " PARTITION p2 VALUES LESS THAN (20));";
  const auto plan = [&](const std::string& pipeline, const std::string& output) {
    return RunCommand({"plan", pipeline, "--schema", schema, "--ddl",
                       "ALTER TABLE shop.orders TRUNCATE PARTITION p1", "--output", output});
  };
  const Outcome json = plan(kFolder + "all_sinks.yaml", "json");
  EXPECT_EQ(json.exit_code, 0) << json.err;
  EXPECT_NE(json.out.find("{\"event\":\"rows.without.events\",\"table\":\"shop.orders\","
                          "\"detail\":\"TRUNCATE PARTITION p1\",\"sinks\":[{\"sink\":\"paimon\","
                          "\"type\":\"paimon\",\"table\":\"shop.orders\",\"verdict\":\"skip\""),
            std::string::npos)
      << json.out;
  EXPECT_NE(json.out.find("\"rule\":\"rows-without-events: warn\""), std::string::npos);
  const Outcome text = plan(kFolder + "all_sinks.yaml", "text");
  EXPECT_NE(text.out.find("rows.without.events on shop.orders: TRUNCATE PARTITION p1"),
            std::string::npos)
      << text.out;
  // `fail` stops the run there.
  const std::string strict = testing::TempDir() + "driftless_plan_partitions.yaml";
  std::ofstream(strict) << "source: {type: file, path: x.jsonl}\n"
                           "sink: {type: blackhole}\n"
                           "pipeline: {name: shop, rows-without-events: fail}\n";
  const Outcome fails = plan(strict, "json");
  EXPECT_EQ(fails.exit_code, 3) << fails.err;
  EXPECT_NE(fails.out.find("\"verdict\":\"fail\""), std::string::npos) << fails.out;
  // `resync` empties the table where the policy lets it, and reads it again.
  const std::string again = testing::TempDir() + "driftless_plan_again.yaml";
  std::ofstream(again)
      << "source: {type: mysql, hostname: h, username: u, password: p,\n"
         "         tables: shop.orders}\n"
         "sinks: [{type: paimon, catalog.properties.warehouse: w}, {type: selectdb,\n"
         "         fenodes: h:1, jdbc-url: 'jdbc:mysql://h:1', username: u, password: p}]\n"
         "pipeline: {name: shop, rows-without-events: resync}\n";
  const Outcome resync = plan(again, "json");
  EXPECT_EQ(resync.exit_code, 0) << resync.err;
  EXPECT_NE(resync.out.find("\"rule\":\"rows-without-events: resync\""), std::string::npos)
      << resync.out;
  const size_t empties = resync.out.find("{\"event\":\"truncate.table\"");
  ASSERT_NE(empties, std::string::npos) << resync.out;
  const auto verdict_at = [&](const std::string& sink) {
    const size_t at = resync.out.find("\"verdict\":\"", resync.out.find(sink, empties)) + 11;
    return resync.out.substr(at, resync.out.find('"', at) - at);
  };
  EXPECT_EQ(verdict_at("\"paimon\""), "skip");
  EXPECT_EQ(verdict_at("\"selectdb\""), "apply");
}

// The same statements in Flink SQL's words come to the same verdicts.
TEST(PlanTest, TakesFlinkSql) {
  const std::string schema = testing::TempDir() + "driftless_plan_flink.sql";
  std::ofstream(schema) << "CREATE TABLE shop.orders (id BIGINT, qty INT,\n"
                           "  note VARCHAR(20) NOT NULL COMMENT 'free text',\n"
                           "  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'x');\n";
  const auto plan = [&](const std::string& ddl) {
    return RunCommand({"plan", kFolder + "all_sinks.yaml", "--dialect", "flink", "--schema", schema,
                       "--ddl", ddl, "--output", "json"});
  };
  // Kafka's messages carry MySQL's statements only.
  const auto answer = [](std::string text) {
    text = text.substr(text.find("\"changes\""));
    const size_t begin = text.find("\"message in topic ");
    return begin == std::string::npos ? text : text.erase(begin, text.find(']', begin) - begin);
  };
  for (const auto& [flink, mysql] : std::vector<std::pair<std::string, std::string>>{
           {"ALTER TABLE shop.orders ADD price DECIMAL(10, 2) FIRST",
            "ALTER TABLE shop.orders ADD COLUMN price DECIMAL(10, 2) FIRST"},
           {"ALTER TABLE shop.orders DROP qty", "ALTER TABLE shop.orders DROP COLUMN qty"},
           {"ALTER TABLE shop.orders RENAME qty TO quantity",
            "ALTER TABLE shop.orders RENAME COLUMN qty TO quantity"},
           {"TRUNCATE TABLE shop.orders", "TRUNCATE TABLE shop.orders"},
           {"DROP TABLE shop.orders", "DROP TABLE shop.orders"}}) {
    const Outcome in_flink = plan(flink);
    ASSERT_EQ(in_flink.exit_code, 0) << flink << ": " << in_flink.err;
    EXPECT_EQ(answer(in_flink.out), answer(Plan("all_sinks.yaml", mysql, "json").out)) << flink;
  }
  const Outcome bad = plan("ALTER TABLE shop.orders DROPP qty");
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.err.find("line 1"), std::string::npos) << bad.err;
  const Outcome unknown = plan("ALTER TABLE shop.nothing DROP qty");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_NE(unknown.err.find("nothing"), std::string::npos) << unknown.err;
}

TEST(ExplainTest, ShowsRuleCellAndBehaviour) {
  const Outcome outcome = RunCommand({"explain", kFolder + "all_sinks.yaml", "--table",
                                      "shop.orders", "--event", "drop.column", "--output", "json"});
  EXPECT_EQ(outcome.exit_code, 0);
  ExpectGolden("explain.json", outcome.out);
}

TEST(ExplainTest, AnUnknownEventOrSinkIsAnErrorWithASuggestion) {
  const Outcome event = RunCommand(
      {"explain", kFolder + "all_sinks.yaml", "--table", "shop.orders", "--event", "drop.colum"});
  EXPECT_EQ(event.exit_code, 1);
  EXPECT_NE(event.err.find("Did you mean \"drop.column\"?"), std::string::npos) << event.err;
  const Outcome sink = RunCommand({"explain", kFolder + "all_sinks.yaml", "--table", "shop.orders",
                                   "--event", "drop.column", "--sink", "paimonn"});
  EXPECT_EQ(sink.exit_code, 1);
}

}  // namespace
}  // namespace driftless
