// `driftless ddl` through the command line: the JSON lines, places of errors in scripts, exit
// codes.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"

namespace driftless {
namespace {

struct Outcome {
  int code = 0;
  std::vector<std::string> lines;
  std::string err;
};

Outcome RunDdl(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"driftless", "ddl"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  std::istringstream out(testing::internal::GetCapturedStdout());
  for (std::string line; std::getline(out, line);) outcome.lines.push_back(line);
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::ofstream(path) << text;
  return path.string();
}

TEST(DdlCommand, PrintsTheEventsOfOneStatement) {
  const std::string schema = WriteFile("ddl_schema.sql", "CREATE TABLE t (id INT PRIMARY KEY);\n");
  const Outcome outcome =
      RunDdl({"--database", "shop", "--schema", schema, "-e", "ALTER TABLE t ADD a INT NOT NULL"});
  EXPECT_EQ(outcome.code, 0);
  ASSERT_EQ(outcome.lines.size(), 1u);
  EXPECT_EQ(
      outcome.lines[0],
      R"({"sql":"ALTER TABLE t ADD a INT NOT NULL","events":[{"kind":"add.column",)"
      R"("table":"shop.t","position":{"at":"LAST"},"column":{"name":"a","type":"int","null":false}}]})");
}

TEST(DdlCommand, ErrorsHaveTheirPlaceInTheScriptAndTheRestGoesOn) {
  const std::string script = WriteFile("ddl_script.sql",
                                       "CREATE TABLE shop.t (id INT);\n"
                                       "USE shop; ALTER TABLE t\n  ADD COLUMN;\n"
                                       "DROP TABLE t");
  const Outcome outcome = RunDdl({"--dialect", "mariadb", script});
  EXPECT_EQ(outcome.code, 1);
  ASSERT_EQ(outcome.lines.size(), 4u);
  simdjson::dom::parser parser;
  const simdjson::padded_string failed(outcome.lines[2]);
  const auto error = parser.parse(failed)["error"].value();
  EXPECT_EQ(int64_t(error["line"]), 3);
  EXPECT_EQ(int64_t(error["column"]), 13);
  EXPECT_FALSE(std::string_view(error["message"]).empty());
  EXPECT_NE(outcome.lines[3].find(R"("kind":"drop.table","table":"shop.t")"), std::string::npos);
}

TEST(DdlCommand, WrongUseAndWrongSchemaFiles) {
  EXPECT_EQ(RunDdl({}).code, 2);
  EXPECT_EQ(RunDdl({"-e", "BEGIN", "file.sql"}).code, 2);
  EXPECT_EQ(RunDdl({"--dialect", "oracle", "-e", "BEGIN"}).code, 1);
  const std::string schema = WriteFile("ddl_bad_schema.sql", "CREATE TABLE t (id INT");
  const Outcome outcome = RunDdl({"--database", "shop", "--schema", schema, "-e", "BEGIN"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.lines.empty());
  EXPECT_NE(outcome.err.find("ddl_bad_schema.sql"), std::string::npos);
}

}  // namespace
}  // namespace driftless
