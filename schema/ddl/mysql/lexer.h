#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/ddl/mysql/dialect.h"

namespace driftless::mysql {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,      // an identifier or keyword without quotes
  kQuoted,    // `x`, or "x" under ANSI_QUOTES
  kString,    // 'x', or "x" without ANSI_QUOTES
  kNational,  // N'x'
  kNumber,    // 12, 1.5, .5, 1e3
  kHex,       // 0x1F or x'1F'; text holds the digits
  kBits,      // 0b01 or b'01'; text holds the digits
  kVariable,  // @x, @@x, @'x'; text as written
  kSymbol,    // one of the operators; text as written
  kBad,       // cannot be a token; text says why
};

// One token. `text` is decoded: quotes are gone, escapes resolved. `begin` and `end` are byte
// offsets of the token as written.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::string upper;  // kWord: ASCII letters in upper case, for comparing with keywords
  size_t begin = 0;
  size_t end = 0;
  bool after_dot = false;  // kWord: follows a dot, so that it is a name even if it is a keyword

  bool Is(std::string_view keyword_or_symbol) const {
    return (kind == TokenKind::kWord && upper == keyword_or_symbol) ||
           (kind == TokenKind::kSymbol && text == keyword_or_symbol);
  }
};

// 1-based line and column (in characters of UTF-8) of a byte offset. Lines end with \n.
struct LineColumn {
  int line = 1;
  int column = 1;
};
LineColumn LocateOffset(std::string_view text, size_t offset);

// Splits UTF-8 text of one or more statements into tokens, on demand, so that the body of a long
// INSERT or of a stored procedure is never looked at. Comments are skipped; /*!NNNNN ... */ and
// (MariaDB) /*M!NNNNN ... */ are read as code where the server of `settings` would.
// Rules: MySQL 8.4 Reference Manual, chapters 11.1, 11.2 and 11.7; MariaDB Knowledge Base,
// "Comment Syntax".
class Lexer {
 public:
  // `text` must outlive the lexer.
  Lexer(std::string_view text, const ServerSettings& settings, const SqlMode& mode);

  // The next token; kEnd again and again at the end, kBad again and again where it cannot go on.
  Token Next();

 private:
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  bool SkipBlanksAndComments(Token* bad);
  bool SkipComment(Token* bad);
  bool IsExecutable(size_t offset, size_t* code_begin) const;
  Token Word(size_t begin);
  Token Number(size_t begin);
  Token QuotedText(size_t begin, TokenKind kind);
  Token DigitString(size_t begin, TokenKind kind);
  Token Variable(size_t begin);
  Token Symbol(size_t begin);
  Token Bad(size_t begin, std::string why);

  std::string_view text_;
  bool maria_;
  int version_;
  bool ansi_quotes_;
  bool backslash_escapes_;
  size_t pos_ = 0;
  int open_code_comments_ = 0;
  bool after_dot_ = false;
  bool after_name_ = false;  // the last token is a name that ends at last_end_
  size_t last_end_ = 0;
  bool failed_ = false;
  Token failure_;
};

}  // namespace driftless::mysql
