#include "pipeline/script/script.h"

#include <algorithm>
#include <array>
#include <optional>

#include "config/options/suggest.h"

namespace driftless {
namespace {

using Kind = ScriptDirective::Kind;

struct Keyword {
  std::string_view word;
  Kind kind;
  bool has_body;
  size_t words_min;
  size_t words_max;
  std::string_view usage;
};

constexpr std::array kKeywords = {
    Keyword{"pipeline", Kind::kPipeline, true, 0, 2, "pipeline [FILE.yaml] [real]"},
    Keyword{"ddl", Kind::kDdl, true, 0, 1, "ddl [DATABASE]"},
    Keyword{"rows", Kind::kRows, true, 1, 1, "rows TABLE"},
    Keyword{"restart", Kind::kRestart, false, 0, 0, "restart"},
    Keyword{"crash", Kind::kCrash, false, 0, 2, "crash [before|after step|commit]"},
    Keyword{"refuse", Kind::kRefuse, false, 1, 2, "refuse \"MESSAGE\" [TIMES]"},
    Keyword{"approve", Kind::kApprove, false, 0, 2, "approve [TABLE] [EVENT]"},
    Keyword{"reject", Kind::kReject, false, 0, 2, "reject [TABLE] [EVENT]"},
    Keyword{"retry", Kind::kRetry, false, 0, 2, "retry [TABLE] [EVENT]"},
    Keyword{"skip", Kind::kSkip, false, 0, 2, "skip [TABLE] [EVENT]"},
    Keyword{"verdicts", Kind::kVerdicts, true, 0, 0, "verdicts"},
    Keyword{"schema", Kind::kSchema, true, 1, 2, "schema [SINK] TABLE"},
    Keyword{"result", Kind::kResult, true, 1, 2, "result [SINK] TABLE"},
    Keyword{"divergences", Kind::kDivergences, true, 0, 0, "divergences"},
    Keyword{"fails", Kind::kFails, false, 0, 1, "fails [\"TEXT IN THE MESSAGE\"]"},
    Keyword{"held", Kind::kHeld, true, 0, 0, "held"},
};

Error ParseError(std::string message, int line, int column) {
  return MakeError(ErrorKind::kParse, std::move(message)).At(line, column);
}

Result<const Keyword*> FindKeyword(std::string_view word, int line) {
  std::vector<std::string_view> known;
  for (const Keyword& keyword : kKeywords) {
    if (keyword.word == word) return &keyword;
    known.push_back(keyword.word);
  }
  return ParseError("\"" + std::string(word) + "\" is no directive", line, 1)
      .Hint(Suggest(word, known) + " Lines of a body are indented.");
}

class ScriptParser {
 public:
  explicit ScriptParser(std::string_view text) : text_(text) {}

  Result<std::vector<ScriptDirective>> Parse() {
    std::string_view line;
    while (NextLine(&line)) {
      if (line.find_first_not_of(" \t") == std::string_view::npos) {
        ++blank_lines_;
      } else if (line.front() == ' ' || line.front() == '\t') {
        DRIFTLESS_TRY(AddToBody(line));
      } else if (line.front() != '#') {
        DRIFTLESS_TRY(BeginDirective(line));
      }
    }
    return std::move(directives_);
  }

 private:
  bool NextLine(std::string_view* line) {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    *line = text_.substr(at_, end - at_);
    if (!line->empty() && line->back() == '\r') line->remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }

  Result<void> BeginDirective(std::string_view line) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<std::string> words, SplitWords(line, number_));
    DRIFTLESS_ASSIGN_OR_RETURN(keyword_, FindKeyword(words.front(), number_));
    words.erase(words.begin());
    if (words.size() < keyword_->words_min || words.size() > keyword_->words_max) {
      return ParseError("write: " + std::string(keyword_->usage), number_, 1);
    }
    directives_.push_back({keyword_->kind, number_, std::move(words), {}});
    blank_lines_ = 0;
    return {};
  }

  Result<void> AddToBody(std::string_view line) {
    const size_t indentation = line.find_first_not_of(" \t");
    if (directives_.empty() || !keyword_->has_body) {
      return ParseError("an indented line without a directive that has a body", number_,
                        static_cast<int>(indentation) + 1);
    }
    std::vector<ScriptLine>& body = directives_.back().body;
    // The first line sets how much is indentation: YAML keeps its own behind it.
    if (body.empty()) indentation_ = indentation;
    for (; !body.empty() && blank_lines_ > 0; --blank_lines_) {
      body.push_back({number_ - blank_lines_, 1, ""});
    }
    blank_lines_ = 0;
    const size_t cut = std::min(indentation, indentation_);
    body.push_back({number_, static_cast<int>(cut) + 1, std::string(line.substr(cut))});
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  int number_ = 0;
  int blank_lines_ = 0;
  size_t indentation_ = 0;
  const Keyword* keyword_ = nullptr;
  std::vector<ScriptDirective> directives_;
};

}  // namespace

Result<std::vector<std::string>> SplitWords(std::string_view text, int line) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    std::string word;
    if (text[at] != '"') {
      while (at < text.size() && text[at] != ' ' && text[at] != '\t') word += text[at++];
    } else {
      const size_t begin = at++;
      while (at < text.size() && text[at] != '"') {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        word += text[at++];
      }
      if (at == text.size()) {
        return ParseError("the quotation is not closed", line, static_cast<int>(begin) + 1);
      }
      ++at;
    }
    words.push_back(std::move(word));
  }
  return words;
}

std::string JoinBody(const ScriptDirective& directive) {
  std::string text;
  for (const ScriptLine& line : directive.body) text += line.text + "\n";
  return text;
}

Result<Script> ParseScript(std::string_view text, std::string_view file) {
  auto directives = ScriptParser(text).Parse();
  if (!directives) return std::move(directives).error().Context(std::string(file));
  return Script{std::string(file), *std::move(directives)};
}

}  // namespace driftless
