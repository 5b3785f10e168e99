#include "schema/ddl/mysql/splitter.h"

#include "schema/ddl/mysql/lexer.h"

namespace driftless::mysql {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Follows one statement's tokens and tells whether a semicolon ends it.
class BodyTracker {
 public:
  bool AtTopLevel() const { return depth_ == 0; }

  void Reset() { *this = BodyTracker(); }

  void See(const Token& token) {
    ++count_;
    if (token.kind != TokenKind::kWord || token.after_dot) {
      statement_start_ = token.Is(";") && depth_ > 0;
      after_end_ = false;
      return;
    }
    if (count_ == 1) creates_ = token.Is("CREATE") || token.Is("ALTER");
    if (creates_ && !has_body_ && depth_ == 0) {
      has_body_ = token.Is("PROCEDURE") || token.Is("FUNCTION") || token.Is("TRIGGER") ||
                  token.Is("EVENT") || token.Is("PACKAGE");
      if (has_body_) return;
    }
    if (has_body_) Body(token);
  }

 private:
  void Body(const Token& token) {
    const bool was_end = after_end_;
    const bool starts = statement_start_;
    after_end_ = false;
    statement_start_ = false;
    if (token.Is("END")) {
      if (depth_ > 0) --depth_;
      after_end_ = true;
      return;
    }
    // END IF, END LOOP and so on: the word belongs to END.
    if (was_end) return;
    if (token.Is("BEGIN") || token.Is("CASE")) {
      ++depth_;
      statement_start_ = token.Is("BEGIN");
    } else if (starts &&
               (token.Is("IF") || token.Is("LOOP") || token.Is("WHILE") || token.Is("REPEAT"))) {
      ++depth_;
      statement_start_ = token.Is("LOOP") || token.Is("REPEAT");
    } else if (token.Is("THEN") || token.Is("ELSE") || token.Is("DO")) {
      statement_start_ = true;
    }
  }

  int count_ = 0;
  int depth_ = 0;
  bool creates_ = false;
  bool has_body_ = false;
  bool statement_start_ = false;
  bool after_end_ = false;
};

}  // namespace

std::vector<StatementText> SplitStatements(std::string_view script, const ServerSettings& settings,
                                           const SqlMode& mode) {
  std::vector<StatementText> statements;
  Lexer lexer(script, settings, mode);
  BodyTracker body;
  bool open = false;
  size_t separator_end =
      0;  // behind the last semicolon: a comment before a statement belongs to it
  // The statement is everything since the last semicolon, without the blanks around it.
  const auto close = [&](size_t end) {
    if (!open) return;
    size_t from = separator_end;
    while (from < end && IsBlank(script[from])) ++from;
    while (end > from && IsBlank(script[end - 1])) --end;
    statements.push_back({script.substr(from, end - from), from});
    open = false;
    body.Reset();
  };
  while (true) {
    const Token token = lexer.Next();
    if (token.kind == TokenKind::kEnd) break;
    if (token.Is(";") && body.AtTopLevel()) {
      close(token.begin);
      separator_end = token.end;
      continue;
    }
    open = true;
    if (token.kind == TokenKind::kBad) break;
    body.See(token);
  }
  close(script.size());
  return statements;
}

}  // namespace driftless::mysql
