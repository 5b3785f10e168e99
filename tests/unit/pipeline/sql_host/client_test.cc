#include "pipeline/sql_host/client.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/sql_host/session_store.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

// One script of a recording: what was piped in, and what came out of Flink's client.
struct Recording {
  std::string name;
  std::string input;
  std::vector<std::string> output;  // "~": lines up to the next one are not compared
};

std::vector<Recording> ReadRecordings(const std::string& suite) {
  const auto path =
      std::filesystem::path(SourceDir()) / "tests/data/flink-sql" / (suite + ".transcript");
  std::ifstream file(path);
  std::vector<Recording> recordings;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) recordings.push_back({line.substr(2), {}, {}});
    if (recordings.empty()) continue;
    Recording& recording = recordings.back();
    if (line.starts_with("> ")) recording.input += line.substr(2) + "\n";
    if (line.starts_with("~ expected tokens")) recording.output.emplace_back("~");
    // Where the history of commands lies is told to people, not to pipes.
    if (line.starts_with("<") && line.find("Command history file path") == std::string::npos) {
      recording.output.push_back(line.size() > 2 ? line.substr(2) : "");
    }
  }
  for (Recording& recording : recordings) {
    if (!recording.output.empty() && recording.output[0].empty()) {
      recording.output.erase(recording.output.begin());  // the line behind the history's
    }
  }
  return recordings;
}

std::string Play(const std::string& input, std::string* unfinished = nullptr) {
  auto session = SqlSessionStore::Open("");
  SqlClient client([&](std::string_view sql) { return session->Execute(sql); });
  std::istringstream in(input);
  std::string out;
  const std::string rest = PlayInput(
      &client,
      [&]() -> std::optional<std::string> {
        std::string line;
        return std::getline(in, line) ? std::optional(line) : std::nullopt;
      },
      [&](std::string_view text) { out += text; });
  if (unfinished != nullptr) *unfinished = rest;
  return out;
}

TEST(SqlClientTest, PlaysStandardInputAsFlinksClient) {
  const std::vector<Recording> recordings = ReadRecordings("client_stdin_mode");
  ASSERT_EQ(recordings.size(), 5u);
  for (const Recording& recording : recordings) {
    SCOPED_TRACE(recording.name);
    std::istringstream out(Play(recording.input));
    std::vector<std::string> got;
    for (std::string line; std::getline(out, line);) got.push_back(line);
    size_t at = 0;
    bool skipping = false;
    for (const std::string& wanted : recording.output) {
      if (wanted == "~" || wanted.starts_with("Was expecting one of")) {
        skipping = true;
        continue;
      }
      while (skipping && at < got.size() && got[at] != wanted) ++at;
      skipping = false;
      ASSERT_LT(at, got.size()) << "wanted: " << wanted;
      EXPECT_EQ(got[at++], wanted);
    }
    EXPECT_EQ(at, got.size());
  }
}

TEST(SqlClientTest, AStatementWithoutItsEndIsNotExecutedAndTold) {
  std::string unfinished;
  const std::string out = Play("SHOW CATALOGS;\nDROP CATALOG x", &unfinished);
  EXPECT_EQ(unfinished, "DROP CATALOG x");
  EXPECT_EQ(out.find("[ERROR]"), std::string::npos) << out;
}

TEST(SqlClientTest, OwnCommandsAreNoSql) {
  EXPECT_NE(Play("help;\n").find("QUIT/EXIT"), std::string::npos);
  const std::string out = Play(" quit ; \nSHOW TABLES;\n");
  EXPECT_NE(out.find("Exiting Flink SQL CLI Client"), std::string::npos) << out;
  EXPECT_EQ(out.find("Empty set"), std::string::npos) << out;
}

}  // namespace
}  // namespace driftless
