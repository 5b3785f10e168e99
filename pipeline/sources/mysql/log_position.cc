#include "pipeline/sources/mysql/log_position.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "pipeline/sources/mysql/connection.h"
#include "pipeline/sources/mysql/server_facts.h"

namespace driftless::mysql {

uint64_t LogFileNumber(std::string_view file) {
  const size_t dot = file.rfind('.');
  if (dot == std::string_view::npos) return 0;
  uint64_t number = 0;
  const std::string_view digits = file.substr(dot + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

uint64_t LogPosition::Epoch() const { return (generation << 32) | LogFileNumber(file); }

std::string LogPosition::ToString() const {
  std::string text = fmt::format("{}:{}", file, offset);
  if (!gtids.empty()) text += " (" + gtids + ")";
  return text;
}

// One line of words; GTID sets have no blanks in our form.
std::string LogPosition::Serialize() const {
  const auto word = [](const std::string& text) { return text.empty() ? "-" : text; };
  const std::string place =
      joined == 0 ? fmt::format("{}", offset) : fmt::format("{}+{}", offset, joined);
  return fmt::format("{} {} {} {} {}", generation, place, word(file), word(gtids), word(server));
}

Result<LogPosition> LogPosition::Parse(std::string_view text) {
  LogPosition position;
  std::string words[5];
  size_t at = 0;
  for (int i = 0; i < 5; ++i) {
    const size_t end = i == 4 ? text.size() : text.find(' ', at);
    if (end == std::string_view::npos || at > text.size()) {
      return MakeError(ErrorKind::kCorrupt,
                       "the position of the MySQL source is not readable: " + std::string(text));
    }
    words[i] = text.substr(at, end - at);
    if (i >= 2 && words[i] == "-") words[i].clear();
    at = end + 1;
  }
  position.generation = std::strtoull(words[0].c_str(), nullptr, 10);
  char* behind = nullptr;
  position.offset = std::strtoull(words[1].c_str(), &behind, 10);
  if (*behind == '+') {
    position.joined = static_cast<uint32_t>(std::strtoul(behind + 1, nullptr, 10));
  }
  position.file = std::move(words[2]);
  position.gtids = std::move(words[3]);
  position.server = std::move(words[4]);
  return position;
}

Result<LogPosition> CurrentLogPosition(Connection* connection, const ServerFacts& facts) {
  const bool new_form = !facts.IsMariaDb() && facts.version >= 80200;
  DRIFTLESS_ASSIGN_OR_RETURN(const auto rows, connection->Query(new_form ? "SHOW BINARY LOG STATUS"
                                                                         : "SHOW MASTER STATUS"));
  if (rows.empty() || rows[0].size() < 2 || !rows[0][0]) {
    return MakeError(ErrorKind::kUnsupported, "the server says that it writes no binary log")
        .Hint("Start it with --log-bin.");
  }
  LogPosition position;
  position.server = facts.identity;
  position.file = *rows[0][0];
  position.offset = std::strtoull(rows[0][1].value_or("0").c_str(), nullptr, 10);
  if (facts.IsMariaDb()) {
    DRIFTLESS_ASSIGN_OR_RETURN(
        const auto gtids,
        connection->QueryValue(fmt::format("SELECT BINLOG_GTID_POS({}, {})",
                                           connection->Quote(position.file), position.offset)));
    position.gtids = gtids.value_or("");
  } else if (facts.gtid && rows[0].size() >= 5) {
    for (const char c : rows[0][4].value_or("")) {
      if (c != '\n' && c != ' ') position.gtids += c;
    }
  }
  return position;
}

Result<std::vector<LogFile>> ListLogFiles(Connection* connection) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto rows, connection->Query("SHOW BINARY LOGS"));
  std::vector<LogFile> files;
  for (const TextRow& row : rows) {
    if (row.size() < 2) continue;
    files.push_back(
        {row[0].value_or(""), std::strtoull(row[1].value_or("0").c_str(), nullptr, 10)});
  }
  return files;
}

}  // namespace driftless::mysql
