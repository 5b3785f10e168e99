// Plays the statements that were recorded from Flink 2.3.0 and compares every answer, as the
// README of tests/data/flink-sql says.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/sql/session.h"
#include "tests/doubles/source_dir.h"

namespace driftless::flink {
namespace {

struct Record {
  std::string statement;
  bool ok = false;
  std::vector<std::string> output;  // up to a cut
};

struct Transcript {
  std::map<std::string, std::string> header;
  std::vector<Record> records;
};

Transcript Read(const std::filesystem::path& path) {
  Transcript transcript;
  std::ifstream file(path);
  std::string line;
  Record record;
  bool open = false;
  bool cut = false;
  const auto finish = [&] {
    if (open) transcript.records.push_back(record);
    record = Record();
    open = false;
    cut = false;
  };
  while (std::getline(file, line)) {
    if (line.starts_with("#!")) {
      const size_t blank = line.find(' ', 3);
      transcript.header[line.substr(3, blank - 3)] = line.substr(blank + 1);
    } else if (line.empty()) {
      finish();
    } else if (line.starts_with("> ")) {
      record.statement += (open ? "\n" : "") + line.substr(2);
      open = true;
    } else if (line == ">") {
      record.statement += "\n";
    } else if (line == "-- ok") {
      record.ok = true;
    } else if (line.starts_with("~")) {
      cut = true;
    } else if (line.starts_with("<") && !cut) {
      record.output.push_back(line.size() > 2 ? line.substr(2) : "");
    }
  }
  finish();
  return transcript;
}

std::optional<FunctionSignature> Load(std::string_view class_name) {
  if (class_name == "com.example.Udfs$Shout") {
    return FunctionSignature{LogicalType::String(), LogicalType::String()};
  }
  if (class_name == "com.example.Udfs$Twice") {
    return FunctionSignature{LogicalType::Int(), LogicalType::Int()};
  }
  return std::nullopt;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return lines;
}

bool FromTheJvm(const std::string& line) {
  return line.starts_with("java.lang.") || line.starts_with("org.apache.calcite.runtime.");
}

// The difference of an answer from the record, or empty.
std::string Difference(Session* session, const Record& record) {
  const auto answer = session->Execute(record.statement);
  std::string text;
  if (answer) {
    text = *answer;
  } else {
    text = "[ERROR] Could not execute SQL statement. Reason:\n" + answer.error().message();
  }
  const std::vector<std::string> got = Lines(text);
  std::vector<std::string> wanted = record.output;
  if (!record.ok && !wanted.empty() && wanted.back().starts_with("Was expecting")) {
    wanted.pop_back();  // the list of tokens is not compared
  }
  if (!record.ok && answer) return "succeeded, wanted: " + wanted.back();
  if (record.ok && !answer) return "failed: " + answer.error().message();
  if (!record.ok && wanted.size() > 1 && FromTheJvm(wanted[1])) {  // compared in kind only
    const std::string kind = wanted[1].substr(0, wanted[1].find(':'));
    return got.size() > 1 && got[1].starts_with(kind) ? "" : "wanted: " + wanted[1];
  }
  for (size_t i = 0; i < std::max(wanted.size(), got.size()); ++i) {
    const std::string a = i < wanted.size() ? wanted[i] : "(nothing)";
    const std::string b = i < got.size() ? got[i] : "(nothing)";
    const size_t last = a.find_last_not_of(' ');
    if (a != b && a.substr(0, last + 1) != b.substr(0, b.find_last_not_of(' ') + 1)) {
      return "wanted: " + a + "\n     got: " + b;
    }
  }
  return "";
}

// Statements that do not give the recorded answer yet, by suite; everything else must. The numbers
// may only shrink: one that is too high fails too.
const std::map<std::string, int>& Open() {
  static const auto* const kOpen = new std::map<std::string, int>{
      // Queries and DML.
      {"create_table", 1},
      {"query_batch", 52},
      // Materialized tables.
      {"materialized_table_api", 46},
      // Other runners: whole scripts and the Table API.
      {"client_stdin_mode", 5},
      {"table_api_batch", 25},
      {"table_api_columns", 63},
      {"table_api_typed", 8},
  };
  return *kOpen;
}

std::filesystem::path Folder() {
  return std::filesystem::path(SourceDir()) / "tests/data/flink-sql";
}

std::vector<std::string> Suites() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".transcript") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class TranscriptTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriptTest, AnswersAsFlinkDoes) {
  const Transcript transcript = Read(Folder() / (GetParam() + ".transcript"));
  ASSERT_FALSE(transcript.records.empty());
  Session session(Load);
  if (transcript.header.at("mode") == "batch") {
    ASSERT_TRUE(session.Execute("SET 'execution.runtime-mode' = 'batch'"));
  }
  int different = 0;
  std::string report;
  for (const Record& record : transcript.records) {
    const std::string difference = Difference(&session, record);
    if (difference.empty()) continue;
    ++different;
    report += "\n> " + record.statement + "\n" + difference + "\n";
  }
  const auto open = Open().find(GetParam());
  EXPECT_EQ(different, open == Open().end() ? 0 : open->second) << report;
}

INSTANTIATE_TEST_SUITE_P(Flink, TranscriptTest, testing::ValuesIn(Suites()),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace driftless::flink
