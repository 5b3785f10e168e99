// The commands about pipeline files, through the command line: what they print where, and their
// exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pipeline/cli/cli.h"

namespace driftless {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int code = 0;
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
  outcome.code = RunCommandLine(static_cast<int>(argv.size()), argv.data());
  std::fflush(stdout);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

class ConfigCommands : public testing::Test {
 protected:
  ConfigCommands() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("config_commands_" + std::string(test->name()));
    std::filesystem::create_directories(folder_);
  }
  ~ConfigCommands() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path folder_;
};

constexpr char kGood[] =
    "source: {type: file, path: changes.jsonl}\n"
    "sink: {type: print}\n";

TEST_F(ConfigCommands, ValidateSaysWhatAGoodFileIs) {
  const std::string file = Write("good.yaml", kGood);
  const Outcome outcome = RunCommand({"validate", file});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, file + ": ok, 0 warnings; pipeline \"good\": file -> print, LENIENT\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ConfigCommands, ValidateShowsEveryErrorWithItsPlace) {
  const std::string file = Write("bad.yaml",
                                 "source: {type: file, paht: x}\n"
                                 "sink: {type: prnt}\n"
                                 "pipeline:\n"
                                 "  checkpoint.interval: soon\n");
  const Outcome outcome = RunCommand({"validate", file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, file + ": 4 errors, 0 warnings\n");
  EXPECT_THAT(outcome.err, HasSubstr(":1:9: error: source \"file\" needs the option \"path\""));
  EXPECT_THAT(outcome.err, HasSubstr(":1:22: error: unknown option \"paht\" of source \"file\"\n"
                                     "  hint: Did you mean \"path\"?"));
  EXPECT_THAT(outcome.err, HasSubstr(":2:14: error: unknown sink type \"prnt\"\n"
                                     "  hint: Did you mean \"print\"?"));
  EXPECT_THAT(outcome.err,
              HasSubstr(":4:24: error: \"checkpoint.interval\": \"soon\" is not a duration\n"
                        "  hint: Write for example \"10 s\" or \"500 ms\"."));
}

TEST_F(ConfigCommands, ValidateChecksSeveralFilesAndCanBeStrict) {
  const std::string good = Write("good.yaml", kGood);
  const std::string doubtful =
      Write("doubtful.yaml", std::string(kGood) + "pipeline: {operator.uid.prefix: x}\n");
  EXPECT_EQ(RunCommand({"validate", good, doubtful}).code, 0);
  EXPECT_EQ(RunCommand({"validate", "--strict", good, doubtful}).code, 1);
  EXPECT_EQ(RunCommand({"validate", good, "no-such-file.yaml"}).code, 1);
  EXPECT_EQ(RunCommand({"validate"}).code, 2);
}

TEST_F(ConfigCommands, ValidateWithoutSecrets) {
  const std::string file = Write("secret.yaml",
                                 "source: {type: file, path: '${ENV:DRIFTLESS_TEST_UNSET}'}\n"
                                 "sink: {type: print}\n");
  EXPECT_EQ(RunCommand({"validate", file}).code, 1);
  const Outcome lax = RunCommand({"validate", "--without-secrets", file});
  EXPECT_EQ(lax.code, 0);
  EXPECT_THAT(lax.err, HasSubstr("warning: environment variable DRIFTLESS_TEST_UNSET is not set"));
}

TEST_F(ConfigCommands, ValidateShowsWhatHoldsWithoutSecrets) {
  const std::string file =
      Write("mysql.yaml",
            "source: {type: mysql, hostname: h, username: u, password: hunter2,"
            " tables: a.b}\n"
            "sink: {type: print}\n");
  const Outcome outcome = RunCommand({"validate", "--show", file});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("  password: '***'\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  # port: 3306\n"));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("hunter2")));
}

TEST_F(ConfigCommands, OptionsInThreeForms) {
  EXPECT_THAT(RunCommand({"options"}).out, HasSubstr("  sink starrocks "));
  const Outcome text = RunCommand({"options", "doris"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, StartsWith("sink selectdb: "));
  EXPECT_THAT(RunCommand({"options", "pipeline", "--output", "markdown"}).out,
              HasSubstr("| `schema.change.behavior` | one of LENIENT, EVOLVE, TRY_EVOLVE, IGNORE, "
                        "EXCEPTION | `LENIENT` |"));
  const std::string json = RunCommand({"options", "kafka", "--output", "json"}).out;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(json).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["blocks"].get_array().size(), 2u) << "the source and the sink";
  const Outcome unknown = RunCommand({"options", "paimn"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "driftless options: there is no source, sink or block \"paimn\". Did you mean "
            "\"paimon\"?\n");
}

TEST_F(ConfigCommands, OptionsWritesTheReference) {
  const std::string folder = (folder_ / "reference").string();
  std::filesystem::create_directories(folder);
  std::ofstream(std::filesystem::path(folder) / "sink-gone.md") << "old";
  EXPECT_EQ(RunCommand({"options", "--write-reference", folder}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder) / "pipeline.schema.json"));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(folder) / "sink-gone.md"));
  EXPECT_EQ(RunCommand({"options", "--write-reference", "/proc/no"}).code, 1);
}

TEST_F(ConfigCommands, DiffSaysWhatAChangeMeans) {
  const std::string from = Write("a.yaml", std::string(kGood) + "pipeline: {name: p}\n");
  const std::string hot =
      Write("b.yaml", std::string(kGood) + "pipeline: {name: p, log.level: debug}\n");
  const std::string anew = Write("c.yaml", std::string(kGood) + "pipeline: {name: q}\n");
  EXPECT_EQ(RunCommand({"diff", from, from}).out, "no differences\n");
  const Outcome same = RunCommand({"diff", from, hot});
  EXPECT_EQ(same.code, 0);
  EXPECT_EQ(same.out,
            "hot           pipeline: log.level: info -> debug\n"
            "              takes effect at the next start, or at once where it can\n");
  const Outcome other = RunCommand({"diff", from, anew, "--output", "json"});
  EXPECT_EQ(other.code, 3);
  EXPECT_EQ(other.out,
            R"({"effect":"new-state","changes":[{"effect":"new-state","where":"pipeline",)"
            R"("what":"name","from":"p","to":"q","meaning":"needs a new state: it begins anew"}]})"
            "\n");
  EXPECT_EQ(RunCommand({"diff", from, "no-such-file.yaml"}).code, 1);
}

TEST_F(ConfigCommands, DiffOfScriptsSaysWhatBecomesOfTheState) {
  const std::string tables =
      "CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka');\n"
      "CREATE TABLE s (a INT, n BIGINT) WITH ('connector' = 'print');\n";
  const std::string query = "INSERT INTO s SELECT a, COUNT(*) FROM t GROUP BY a;\n";
  const std::string old = Write("old.sql", tables + query);
  const std::string key =
      Write("key.sql", tables + "INSERT INTO s SELECT b, COUNT(*) FROM t GROUP BY b;\n");
  EXPECT_EQ(RunCommand({"diff", old, old}).code, 0);
  const Outcome changed = RunCommand({"diff", old, key});
  EXPECT_EQ(changed.code, 3);
  EXPECT_TRUE(changed.out.starts_with("incompatible\n")) << changed.out;
  const Outcome json = RunCommand({"diff", old, key, "--output", "json"});
  EXPECT_NE(json.out.find(R"("verdict":"incompatible")"), std::string::npos) << json.out;
  EXPECT_EQ(RunCommand({"diff", old, "no-such-file.sql"}).code, 1);
}

}  // namespace
}  // namespace driftless
