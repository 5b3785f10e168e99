#include "config/definition/regex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>

namespace driftless {
namespace {

// Java writes (?<name>...), this RE2 (?P<name>...); (?<= and (?<! are lookbehinds in both.
std::string WithNamedGroups(std::string_view pattern) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      text += pattern[i++];
      text += pattern[i];
    } else if (pattern.substr(i).starts_with("(?<") && i + 3 < pattern.size() &&
               pattern[i + 3] != '=' && pattern[i + 3] != '!') {
      text += "(?P<";
      i += 2;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

}  // namespace

Result<std::shared_ptr<const RE2>> CompileRegex(std::string_view pattern, LetterCase letter_case) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(letter_case == LetterCase::kSensitive);
  options.set_max_mem(8 << 20);
  const std::string translated = WithNamedGroups(pattern);
  auto regex = std::make_shared<const RE2>(translated, options);
  if (regex->ok()) return regex;
  for (std::string_view missing : {"(?=", "(?!", "(?<=", "(?<!", "(?>"}) {
    if (pattern.find(missing) == std::string_view::npos) continue;
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("\"{}\" uses \"{}\", which regular expressions here do not have",
                                 pattern, missing))
        .Hint("Write the tables as several entries, separated by commas.");
  }
  return MakeError(ErrorKind::kInvalidConfig,
                   fmt::format("\"{}\" is not a regular expression: {}", pattern, regex->error()))
      .Hint(
          "A dot separates database and table; write \\. for \"any character\", as in db\\.* or "
          "shop.order_\\.*");
}

}  // namespace driftless
