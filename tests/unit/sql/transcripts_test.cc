// Plays the statements that were recorded from Flink 2.3.0 and compares every answer, as the
// README of tests/data/flink-sql says.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "config/sql/session.h"
#include "tests/unit/sql/transcript.h"

namespace driftless::flink {
namespace {

std::optional<FunctionSignature> Load(std::string_view class_name) {
  if (class_name == "com.example.Udfs$Shout") {
    return FunctionSignature{LogicalType::String(), LogicalType::String()};
  }
  if (class_name == "com.example.Udfs$Twice") {
    return FunctionSignature{LogicalType::Int(), LogicalType::Int()};
  }
  return std::nullopt;
}

bool FromTheJvm(const std::string& line) {
  return line.starts_with("java.lang.") || line.starts_with("org.apache.calcite.runtime.");
}

// The difference of an answer from the record, or empty.
std::string Difference(Session* session, const TranscriptRecord& record) {
  const auto answer = session->Execute(record.statement);
  std::string text;
  if (answer) {
    text = *answer;
  } else {
    text = "[ERROR] Could not execute SQL statement. Reason:\n" + answer.error().message();
  }
  std::vector<std::string> got = LinesOf(text);
  for (std::string& line : got) {
    if (line.starts_with("Job ID: ")) line = "Job ID: <job-id>";
  }
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
  return FirstDifference(wanted, got);
}

// Of a table environment: what print() prints, and errors with their causes.
std::string EnvironmentDifference(Session* session, const TranscriptRecord& record) {
  const auto answer = session->Execute(record.statement);
  if (record.ok) {
    return answer ? FirstDifference(record.output, LinesOf(*answer))
                  : "failed: " + answer.error().message();
  }
  if (answer) return "succeeded, wanted: " + record.chain;
  std::vector<std::string> wanted = LinesOf(record.chain);
  std::erase(wanted, "Was expecting one of:");  // the list of tokens is not compared
  return FirstDifference(wanted, LinesOf(answer.error().message()));
}

// The Table API's own and whole scripts have other runners (table_api_test.cc, client_test.cc).
std::vector<std::string> SessionSuites() {
  std::vector<std::string> names = TranscriptNames();
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("table_api") || name == "client_stdin_mode";
  });
  return names;
}

class TranscriptTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriptTest, AnswersAsFlinkDoes) {
  const Transcript transcript = ReadTranscript(TranscriptFolder() / (GetParam() + ".transcript"));
  ASSERT_FALSE(transcript.records.empty());
  const bool environment = transcript.header.at("runner") == "table-environment";
  Session session(Load, environment ? Front::kTableEnvironment : Front::kClient);
  if (transcript.header.at("mode") == "batch") {
    ASSERT_TRUE(session.Execute("SET 'execution.runtime-mode' = 'batch'"));
  }
  int different = 0;
  std::string report;
  for (const TranscriptRecord& record : transcript.records) {
    const std::string difference =
        environment ? EnvironmentDifference(&session, record) : Difference(&session, record);
    if (difference.empty()) continue;
    ++different;
    report += "\n> " + record.statement + "\n" + difference + "\n";
  }
  EXPECT_EQ(different, 0) << report;
}

INSTANTIATE_TEST_SUITE_P(Flink, TranscriptTest, testing::ValuesIn(SessionSuites()),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace driftless::flink
