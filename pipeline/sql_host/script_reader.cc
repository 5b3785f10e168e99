#include "pipeline/sql_host/script_reader.h"

#include <utility>

#include "config/sql/statement_parser.h"

namespace driftless {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Whether `text` ends outside of quotes and comments.
bool EndsOutside(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'' || c == '`') {
      i = text.find(c, i + 1);
      if (i == std::string_view::npos) return false;
    } else if (text.substr(i, 2) == "--" || text.substr(i, 2) == "//") {
      i = text.find('\n', i);
      if (i == std::string_view::npos) return false;
    } else if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i + 2);
      if (i == std::string_view::npos) return false;
      ++i;
    }
  }
  return true;
}

// Whether the grammar wants more behind the last ";", as EXECUTE STATEMENT SET BEGIN .. does.
bool WantsMore(std::string_view lines) {
  const auto parsed = flink::ParseStatement(lines);
  return !parsed && parsed.error().message().find("Encountered \"<EOF>\"") != std::string::npos;
}

}  // namespace

bool IsWholeStatement(std::string_view lines) {
  const size_t last = lines.find_last_not_of(kBlanks);
  return last != std::string_view::npos && lines[last] == ';' &&
         EndsOutside(lines.substr(0, last + 1)) && !WantsMore(lines);
}

std::vector<ScriptStatement> ReadSqlScript(std::string_view script) {
  std::vector<ScriptStatement> statements;
  ScriptStatement current;
  bool open = false;
  int line = 0;
  const auto finish = [&] {
    if (open) statements.push_back(std::move(current));
    current = ScriptStatement();
    open = false;
  };
  for (size_t begin = 0; begin < script.size();) {
    size_t end = script.find('\n', begin);
    if (end == std::string_view::npos) end = script.size();
    const std::string_view text = script.substr(begin, end - begin);
    begin = end + 1;
    ++line;
    if (!open && text.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    if (open) current.text += '\n';
    if (!open) current.line = line;
    open = true;
    current.text += text;
    if (IsWholeStatement(current.text)) finish();
  }
  finish();
  return statements;
}

}  // namespace driftless
