#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/expr/lexer.h"
#include "schema/base/result.h"

namespace driftless::flink {

// A walk over tokens with the tests that a recursive-descent parser needs.
class TokenCursor {
 public:
  TokenCursor(std::vector<Token> tokens, std::string_view sql)
      : tokens_(std::move(tokens)), sql_(sql) {}

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& Next() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  size_t position() const { return at_; }
  void Rewind(size_t position) { at_ = position; }
  std::string_view sql() const { return sql_; }

  // A keyword or symbol, in upper case. Quoted names and strings never are one.
  bool Is(std::string_view word, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return (token.kind == TokenKind::kName || token.kind == TokenKind::kSymbol) &&
           token.upper == word;
  }
  bool Accept(std::string_view word) {
    if (!Is(word)) return false;
    ++at_;
    return true;
  }
  // Two words in a row, as in IF EXISTS.
  bool Accept(std::string_view first, std::string_view second) {
    if (!Is(first) || !Is(second, 1)) return false;
    at_ += 2;
    return true;
  }
  Result<void> Expect(std::string_view word);
  bool IsName(size_t ahead = 0) const;  // quoted, or not reserved
  Result<std::string> ExpectName();
  // a.b.c; any number of parts.
  Result<std::vector<std::string>> ExpectPath();
  Result<std::string> ExpectString();  // exactly one '..' token
  // '..' '..' joined, with the prefixes of Flink's StringLiteral left out.
  Result<std::string> ExpectStringLiteral();

  // The error for the token that stands here, as Flink's parser words it.
  Error Unexpected(bool name_expected = false) const;

 private:
  std::vector<Token> tokens_;
  std::string_view sql_;
  size_t at_ = 0;
};

}  // namespace driftless::flink
