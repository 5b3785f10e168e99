#include "config/expr/lexer.h"

#include <utility>

namespace driftless::flink {
namespace {

bool IsLetter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}
std::string UpperCase(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

bool IsDigit(unsigned char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view sql) : sql_(sql) {}

  Result<std::vector<Token>> Run() {
    while (true) {
      DRIFTLESS_TRY(SkipBlanks());
      Token token;
      token.line = line_;
      token.column = column_;
      token.begin = at_;
      if (at_ >= sql_.size()) {
        token.end = at_;
        tokens_.push_back(std::move(token));
        return std::move(tokens_);
      }
      DRIFTLESS_TRY(Read(&token));
      token.end = at_;
      tokens_.push_back(std::move(token));
    }
  }

 private:
  unsigned char Peek(size_t ahead = 0) const {
    return at_ + ahead < sql_.size() ? static_cast<unsigned char>(sql_[at_ + ahead]) : 0;
  }

  void Advance() {
    const auto c = static_cast<unsigned char>(sql_[at_++]);
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((c & 0xC0) != 0x80) {
      ++column_;  // a character counts once, whatever its bytes
    }
  }
  void Advance(size_t count) {
    while (count-- > 0 && at_ < sql_.size()) Advance();
  }

  Result<void> SkipBlanks() {
    while (at_ < sql_.size()) {
      const unsigned char c = Peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        Advance();
      } else if ((c == '-' && Peek(1) == '-') || (c == '/' && Peek(1) == '/')) {
        while (at_ < sql_.size() && Peek() != '\n') Advance();
      } else if (c == '/' && Peek(1) == '*' && Peek(2) != '+') {
        const size_t end = sql_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          return MakeError(ErrorKind::kParse,
                           std::string(kParseException) + ": Lexical error: comment is not closed")
              .At(line_, column_);
        }
        Advance(end + 2 - at_);
      } else {
        break;
      }
    }
    return {};
  }

  Result<void> Read(Token* token) {
    const unsigned char c = Peek();
    if (c == '`') return ReadQuoted('`', TokenKind::kQuotedName, token);
    if (c == '\'') return ReadQuoted('\'', TokenKind::kString, token);
    if (IsLetter(c)) {
      const size_t begin = at_;
      while (IsLetter(Peek()) || IsDigit(Peek())) Advance();
      token->kind = TokenKind::kName;
      token->text = std::string(sql_.substr(begin, at_ - begin));
      token->upper = UpperCase(token->text);
      return {};
    }
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return ReadNumber(token);
    static constexpr std::string_view kTwo[] = {"||", "<=", ">=", "<>", "!=", "=>", "/*"};
    token->kind = TokenKind::kSymbol;
    for (const auto two : kTwo) {
      if (sql_.substr(at_, 2) == two) {
        token->text = two;
        token->upper = two;
        Advance(2);
        return {};
      }
    }
    token->text = std::string(1, static_cast<char>(c));
    token->upper = token->text;
    Advance();
    return {};
  }

  Result<void> ReadNumber(Token* token) {
    const size_t begin = at_;
    while (IsDigit(Peek())) Advance();
    if (Peek() == '.' && IsDigit(Peek(1))) {
      Advance();
      while (IsDigit(Peek())) Advance();
    } else if (Peek() == '.' && !IsLetter(Peek(1))) {
      Advance();
    }
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(1 + sign))) {
      Advance(1 + sign);
      while (IsDigit(Peek())) Advance();
    }
    token->kind = TokenKind::kNumber;
    token->text = std::string(sql_.substr(begin, at_ - begin));
    return {};
  }

  Result<void> ReadQuoted(char quote, TokenKind kind, Token* token) {
    Advance();
    token->kind = kind;
    while (at_ < sql_.size()) {
      if (sql_[at_] == quote) {
        if (Peek(1) == static_cast<unsigned char>(quote)) {
          token->text += quote;
          Advance(2);
          continue;
        }
        Advance();
        return {};
      }
      token->text += sql_[at_];
      Advance();
    }
    return MakeError(ErrorKind::kParse, std::string(kParseException) + ": Lexical error at line " +
                                            std::to_string(token->line) + ", column " +
                                            std::to_string(token->column) + ".  Encountered: \"" +
                                            quote + "\" (not closed)")
        .At(token->line, token->column);
  }

  std::string_view sql_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view sql) { return Lexer(sql).Run(); }

Error SqlError(std::string_view exception_class, std::string message) {
  return MakeError(exception_class == kParseException ? ErrorKind::kParse : ErrorKind::kRefused,
                   std::string(exception_class) + ": " + std::move(message));
}

}  // namespace driftless::flink
