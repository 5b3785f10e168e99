#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

// The recorded answers of Flink 2.3.0 in tests/data/flink-sql; its README says what to compare.
namespace driftless::flink {

struct TranscriptRecord {
  std::string statement;
  bool ok = false;
  std::vector<std::string> output;  // up to a cut
  std::string chain;  // of the API: exceptions, outermost first, "Caused by: " between
};

struct Transcript {
  std::map<std::string, std::string> header;
  std::vector<TranscriptRecord> records;
};

Transcript ReadTranscript(const std::filesystem::path& path);
std::filesystem::path TranscriptFolder();
std::vector<std::string> TranscriptNames();
std::vector<std::string> LinesOf(const std::string& text);
// The first line that differs, trailing blanks aside; or empty.
std::string FirstDifference(const std::vector<std::string>& wanted,
                            const std::vector<std::string>& got);

}  // namespace driftless::flink
