#include "pipeline/sql_host/client.h"

#include <re2/re2.h>

#include <utility>

#include "pipeline/sql_host/script_reader.h"

namespace driftless {
namespace {

constexpr std::string_view kHelp =
    "The following commands are available:\n\n"
    "HELP             Prints the available commands.\n"
    "QUIT/EXIT        Quits the client.\n"
    "CLEAR            Clears the screen.\n"
    "SET              Sets a property of the session: SET 'key' = 'value';\n"
    "RESET            Resets a property, or all of them: RESET 'key';\n"
    "SHOW, DESCRIBE   Show what there is: SHOW TABLES; DESCRIBE t; SHOW CREATE TABLE t;\n"
    "CREATE, ALTER, DROP, USE   Change catalogs, databases, tables, views, functions and models.\n"
    "SELECT, INSERT INTO, EXPLAIN, BEGIN STATEMENT SET, END   Queries.\n\n"
    "A statement may take several lines and ends with ;\n\n";

// HELP and its kin are no SQL: Flink's client matches them before the grammar does.
std::optional<std::string> OwnCommand(std::string_view statement) {
  static const RE2* const kCommand = new RE2("(?is)\\s*(HELP|CLEAR|QUIT|EXIT)\\s*;\\s*");
  std::string word;
  if (!RE2::FullMatch(statement, *kCommand, &word)) return std::nullopt;
  for (char& c : word) c = static_cast<char>(c & ~0x20);
  return word;
}

std::string Echo(std::string_view statement) {
  statement = statement.substr(0, statement.find(';'));
  std::string text;
  for (const char c : statement) {
    text += c;
    if (c == '\n') text += kSqlContinuation;
  }
  return text;
}

}  // namespace

std::string SqlAnswer(const Result<std::string>& outcome) {
  if (outcome) return *outcome;
  return "[ERROR] Could not execute SQL statement. Reason:\n" + outcome.error().message() + "\n";
}

std::optional<std::string> SqlClient::Line(std::string_view line) {
  if (lines_.empty() && line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return std::nullopt;
  }
  if (!lines_.empty()) lines_ += '\n';
  lines_ += line;
  if (!IsWholeStatement(lines_)) return std::nullopt;
  const std::string statement = std::exchange(lines_, {});
  if (const auto own = OwnCommand(statement)) {
    if (*own == "HELP") return std::string(kHelp);
    if (*own == "CLEAR") return std::string("\033[H\033[2J");
    done_ = true;
    return std::string("[INFO] Exiting Flink SQL CLI Client...\n");
  }
  const auto outcome = execute_(statement);
  failed_ = failed_ || !outcome;
  return SqlAnswer(outcome);
}

std::string PlayInput(SqlClient* client, const std::function<std::optional<std::string>()>& read,
                      const std::function<void(std::string_view)>& print) {
  print(kSqlPrompt);
  bool first = true;
  while (!client->done()) {
    const std::optional<std::string> line = read();
    if (!line) break;
    const std::string before = client->lines();
    const std::optional<std::string> answer = client->Line(*line);
    if (!answer) continue;
    if (first) print(Echo(before.empty() ? *line : before + "\n" + *line));
    first = false;
    print(*answer);
    if (client->done()) return "";
    print("\n");
    print(kSqlPrompt);
  }
  print("\nShutting down the session...\ndone.\n");
  std::string unfinished = client->lines();
  client->Discard();
  return unfinished;
}

}  // namespace driftless
