#include "config/expr/token_cursor.h"

#include "config/expr/reserved_words.h"

namespace driftless::flink {

Result<void> TokenCursor::Expect(std::string_view word) {
  if (Accept(word)) return {};
  return Unexpected();
}

bool TokenCursor::IsName(size_t ahead) const {
  const Token& token = Peek(ahead);
  return token.kind == TokenKind::kQuotedName ||
         (token.kind == TokenKind::kName && !IsReservedWord(token.upper));
}

Result<std::string> TokenCursor::ExpectName() {
  if (!IsName()) return Unexpected(true);
  return Next().text;
}

Result<std::vector<std::string>> TokenCursor::ExpectPath() {
  std::vector<std::string> parts;
  do {
    if (!parts.empty() && !IsName()) {
      // The parser looks two tokens ahead here, so the dot belongs to the text that it names.
      const Token& dot = tokens_[at_ - 1];
      const Token& token = Peek();
      const bool keyword = token.kind == TokenKind::kName && token.text == token.upper;
      if (token.kind == TokenKind::kName && !keyword) {
        return std::move(SqlError(kParseException, "Encountered \". " + token.text + "\" at line " +
                                                       std::to_string(dot.line) + ", column " +
                                                       std::to_string(dot.column) + "."))
            .At(dot.line, dot.column);
      }
      return Unexpected(true);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::string part, ExpectName());
    parts.push_back(std::move(part));
  } while (Accept("."));
  return parts;
}

Result<std::string> TokenCursor::ExpectString() {
  if (Peek().kind != TokenKind::kString) return Unexpected();
  return Next().text;
}

Result<std::string> TokenCursor::ExpectStringLiteral() {
  if (Peek().kind != TokenKind::kString) return Unexpected();
  std::string text = Next().text;
  while (Peek().kind == TokenKind::kString) text += Next().text;
  return text;
}

Error TokenCursor::Unexpected(bool name_expected) const {
  const Token& token = Peek();
  const std::string where =
      " at line " + std::to_string(token.line) + ", column " + std::to_string(token.column) + ".";
  std::string image;
  switch (token.kind) {
    case TokenKind::kEnd: image = "<EOF>"; break;
    case TokenKind::kQuotedName:
    case TokenKind::kString:
    case TokenKind::kNumber:
      image = std::string(sql_.substr(token.begin, token.end - token.begin));
      break;
    default: image = token.text;
  }
  if (name_expected && token.kind == TokenKind::kName && token.text == token.upper &&
      IsReservedWord(token.upper)) {
    return std::move(SqlError(kParseException,
                              "Incorrect syntax near the keyword '" + token.text + "'" + where))
        .At(token.line, token.column);
  }
  if (token.upper == "NOT" && Is("NULL", 1)) image += " " + Peek(1).text;
  if (image == "\"") image = "\\\"";
  return std::move(SqlError(kParseException, "Encountered \"" + image + "\"" + where))
      .At(token.line, token.column);
}

}  // namespace driftless::flink
