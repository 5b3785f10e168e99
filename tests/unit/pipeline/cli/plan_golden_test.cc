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
