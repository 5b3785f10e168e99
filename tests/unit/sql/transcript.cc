#include "tests/unit/sql/transcript.h"

#include <algorithm>
#include <fstream>

#include "tests/doubles/source_dir.h"

namespace driftless::flink {

Transcript ReadTranscript(const std::filesystem::path& path) {
  Transcript transcript;
  std::ifstream file(path);
  std::string line;
  TranscriptRecord record;
  bool open = false;
  bool cut = false;
  const auto finish = [&] {
    if (open) transcript.records.push_back(record);
    record = TranscriptRecord();
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
    } else if (line.starts_with("! ")) {
      record.chain += (record.chain.empty() ? "" : "\nCaused by: ") + line.substr(2);
    } else if (line.starts_with("!. ")) {
      record.chain += "\n" + line.substr(3);
    } else if (line.starts_with("<") && !cut) {
      record.output.push_back(line.size() > 2 ? line.substr(2) : "");
    }
  }
  finish();
  return transcript;
}

std::vector<std::string> LinesOf(const std::string& text) {
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

std::string FirstDifference(const std::vector<std::string>& wanted,
                            const std::vector<std::string>& got) {
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

std::filesystem::path TranscriptFolder() {
  return std::filesystem::path(SourceDir()) / "tests/data/flink-sql";
}

std::vector<std::string> TranscriptNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TranscriptFolder())) {
    if (entry.path().extension() == ".transcript") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace driftless::flink
