#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

// One line of a directive's body, without its indentation.
struct ScriptLine {
  int line = 0;    // 1-based, in the script
  int column = 0;  // 1-based, of the first character behind the indentation
  std::string text;
};

// One directive of a .drift script; README.md beside this file describes the language.
struct ScriptDirective {
  enum class Kind : uint8_t {
    kPipeline,  // configuration from here on
    kDdl,       // a statement at the source
    kRows,      // changes of one table at the source
    kRestart,   // stop cleanly and start again
    kCrash,     // drop everything that is not committed, start again
    kRefuse,    // the sink says no to the next step
    kApprove,   // decide on a hold
    kReject,
    kRetry,  // decide on a stopped event
    kSkip,
    kVerdicts,  // expectations
    kSchema,
    kResult,
    kDivergences,
    kFails,
    kHeld,
  };
  Kind kind = Kind::kDdl;
  int line = 0;
  std::vector<std::string> words;  // behind the keyword; quotes are taken off
  std::vector<ScriptLine> body;
};

struct Script {
  std::string file;  // for messages
  std::vector<ScriptDirective> directives;
};

// Splits a script into directives. Errors: kParse with line and column.
Result<Script> ParseScript(std::string_view text, std::string_view file);

// The body as one text, each line at its own place, so that line numbers inside it count from the
// body's first line.
std::string JoinBody(const ScriptDirective& directive);

// Splits at blanks; "..." is one word, with \" and \\ inside. Errors: kParse at `line`.
Result<std::vector<std::string>> SplitWords(std::string_view text, int line);

}  // namespace driftless
