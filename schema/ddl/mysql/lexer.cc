#include "schema/ddl/mysql/lexer.h"

#include <array>

namespace driftless::mysql {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
// Bytes that an unquoted identifier may have: letters, digits, $, _ and everything from U+0080 on.
bool IsNameByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

std::string UpperAscii(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 12> kOperators = {
    "<=>", "->>", "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", ":=", "->"};

// What a backslash and `c` mean in a string (Reference Manual, 11.1.1). \% and \_ keep the
// backslash: they matter to LIKE only.
void AppendEscaped(char c, std::string* out) {
  switch (c) {
    case '0': *out += '\0'; return;
    case 'b': *out += '\b'; return;
    case 'n': *out += '\n'; return;
    case 'r': *out += '\r'; return;
    case 't': *out += '\t'; return;
    case 'Z': *out += '\x1a'; return;
    case '%':
    case '_':
      *out += '\\';
      *out += c;
      return;
    default: *out += c;
  }
}

}  // namespace

LineColumn LocateOffset(std::string_view text, size_t offset) {
  LineColumn at;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++at.column;
    }
  }
  return at;
}

Lexer::Lexer(std::string_view text, const ServerSettings& settings, const SqlMode& mode)
    : text_(text),
      maria_(settings.IsMariaDb()),
      version_(settings.Version()),
      ansi_quotes_(mode.ansi_quotes),
      backslash_escapes_(!mode.no_backslash_escapes) {}

Token Lexer::Bad(size_t begin, std::string why) {
  failed_ = true;
  failure_.kind = TokenKind::kBad;
  failure_.text = std::move(why);
  failure_.begin = begin;
  failure_.end = begin < text_.size() ? begin + 1 : begin;
  return failure_;
}

// Whether the comment whose '!' or 'M!' ends just before `offset` is code for this server.
// MySQL reads five digits, or six; MariaDB likewise, and passes over /*!50700 to /*!99999, which
// are features of MySQL that it does not have.
bool Lexer::IsExecutable(size_t offset, size_t* code_begin) const {
  size_t digits = 0;
  int number = 0;
  while (digits < 6 && IsDigit(At(offset + digits))) {
    number = number * 10 + (At(offset + digits) - '0');
    ++digits;
  }
  if (digits < 5) {
    *code_begin = offset;
    return true;
  }
  *code_begin = offset + digits;
  const bool mysql_only = maria_ && text_[offset - 2] != 'M' && number >= 50700 && number <= 99999;
  return number <= version_ && !mysql_only;
}

bool Lexer::SkipComment(Token* bad) {
  const size_t begin = pos_;
  const bool plain_mark = At(pos_ + 2) == '!';
  const bool maria_mark = maria_ && At(pos_ + 2) == 'M' && At(pos_ + 3) == '!';
  if (plain_mark || maria_mark) {
    size_t code_begin = 0;
    if (IsExecutable(pos_ + (plain_mark ? 3 : 4), &code_begin)) {
      pos_ = code_begin;
      ++open_code_comments_;
      return true;
    }
  }
  pos_ += 2;
  int depth = 1;  // code that is passed over may hold plain comments
  const bool may_nest = plain_mark || maria_mark;
  while (pos_ < text_.size()) {
    if (At(pos_) == '*' && At(pos_ + 1) == '/') {
      pos_ += 2;
      if (--depth == 0) return true;
    } else if (may_nest && At(pos_) == '/' && At(pos_ + 1) == '*') {
      pos_ += 2;
      ++depth;
    } else {
      ++pos_;
    }
  }
  *bad = Bad(begin, "comment without end");
  return false;
}

bool Lexer::SkipBlanksAndComments(Token* bad) {
  while (pos_ < text_.size()) {
    const char c = At(pos_);
    const char next = At(pos_ + 1);
    const bool dashes = c == '-' && next == '-' &&
                        (pos_ + 2 >= text_.size() || IsBlank(At(pos_ + 2)) ||
                         static_cast<unsigned char>(At(pos_ + 2)) < 0x20);
    if (IsBlank(c)) {
      ++pos_;
    } else if (c == '#' || dashes) {
      while (pos_ < text_.size() && At(pos_) != '\n') ++pos_;
    } else if (c == '/' && next == '*') {
      if (!SkipComment(bad)) return false;
    } else if (c == '*' && next == '/' && open_code_comments_ > 0) {
      --open_code_comments_;
      pos_ += 2;
    } else {
      return true;
    }
  }
  return true;
}

Token Lexer::Next() {
  if (failed_) return failure_;
  Token token;
  if (!SkipBlanksAndComments(&token)) return token;
  const size_t begin = pos_;
  const char c = At(pos_);
  const char next = At(pos_ + 1);
  const bool adjacent_dot = after_name_ && begin == last_end_;
  if (pos_ >= text_.size()) {
    if (open_code_comments_ > 0) return Bad(begin, "comment without end");
    token.begin = token.end = begin;
    return token;
  }
  if (after_dot_ && IsNameByte(c)) {
    token = Word(begin);
    token.after_dot = true;
  } else if ((c == 'x' || c == 'X') && next == '\'') {
    token = DigitString(begin, TokenKind::kHex);
  } else if ((c == 'b' || c == 'B') && next == '\'') {
    token = DigitString(begin, TokenKind::kBits);
  } else if ((c == 'n' || c == 'N') && next == '\'') {
    ++pos_;
    token = QuotedText(begin, TokenKind::kNational);
  } else if (IsDigit(c) || (c == '.' && IsDigit(next) && !adjacent_dot)) {
    token = Number(begin);
  } else if (IsNameByte(c)) {
    token = Word(begin);
  } else if (c == '\'' || (c == '"' && !ansi_quotes_)) {
    token = QuotedText(begin, TokenKind::kString);
  } else if (c == '`' || c == '"') {
    token = QuotedText(begin, TokenKind::kQuoted);
  } else if (c == '@') {
    token = Variable(begin);
  } else {
    token = Symbol(begin);
  }
  after_dot_ = token.Is(".");
  after_name_ = token.kind == TokenKind::kWord || token.kind == TokenKind::kQuoted;
  last_end_ = token.end;
  return token;
}

Token Lexer::Word(size_t begin) {
  while (pos_ < text_.size() && IsNameByte(text_[pos_])) ++pos_;
  Token token;
  token.kind = TokenKind::kWord;
  token.text = std::string(text_.substr(begin, pos_ - begin));
  token.upper = UpperAscii(token.text);
  token.begin = begin;
  token.end = pos_;
  return token;
}

// A number, or a name that begins with a digit.
Token Lexer::Number(size_t begin) {
  Token token;
  token.begin = begin;
  const char marker = At(begin + 1);
  if (At(begin) == '0' && (marker == 'x' || marker == 'b')) {
    size_t end = begin + 2;
    while (marker == 'x' ? IsHexDigit(At(end)) : (At(end) == '0' || At(end) == '1')) ++end;
    if (end > begin + 2 && !IsNameByte(At(end))) {
      token.kind = marker == 'x' ? TokenKind::kHex : TokenKind::kBits;
      token.text = std::string(text_.substr(begin + 2, end - begin - 2));
      token.end = pos_ = end;
      return token;
    }
  }
  size_t end = begin;
  while (IsDigit(At(end))) ++end;
  const bool exponent = (At(end) == 'e' || At(end) == 'E') &&
                        (IsDigit(At(end + 1)) ||
                         ((At(end + 1) == '+' || At(end + 1) == '-') && IsDigit(At(end + 2))));
  if (IsNameByte(At(end)) && !exponent) return Word(begin);
  if (At(end) == '.') {
    ++end;
    while (IsDigit(At(end))) ++end;
  }
  if (At(end) == 'e' || At(end) == 'E') {
    size_t digits = end + 1;
    if (At(digits) == '+' || At(digits) == '-') ++digits;
    if (IsDigit(At(digits))) {
      end = digits;
      while (IsDigit(At(end))) ++end;
    }
  }
  if (IsNameByte(At(end)) && text_.substr(begin, end - begin).find('.') == std::string_view::npos) {
    return Word(begin);  // 1e5x is a name
  }
  token.kind = TokenKind::kNumber;
  token.text = std::string(text_.substr(begin, end - begin));
  token.end = pos_ = end;
  return token;
}

Token Lexer::QuotedText(size_t begin, TokenKind kind) {
  const char quote = At(pos_);
  Token token;
  token.kind = kind;
  token.begin = begin;
  ++pos_;
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == quote) {
      if (At(pos_ + 1) != quote) {
        token.end = ++pos_;
        if (kind == TokenKind::kQuoted && token.text.empty()) return Bad(begin, "empty name");
        return token;
      }
      token.text += quote;
      pos_ += 2;
    } else if (c == '\\' && backslash_escapes_ && kind != TokenKind::kQuoted) {
      if (pos_ + 1 >= text_.size()) break;
      AppendEscaped(text_[pos_ + 1], &token.text);
      pos_ += 2;
    } else {
      token.text += c;
      ++pos_;
    }
  }
  return Bad(begin, kind == TokenKind::kQuoted ? "quoted name without end" : "string without end");
}

Token Lexer::DigitString(size_t begin, TokenKind kind) {
  Token token;
  token.kind = kind;
  token.begin = begin;
  pos_ += 2;
  const size_t digits = pos_;
  while (kind == TokenKind::kHex ? IsHexDigit(At(pos_)) : (At(pos_) == '0' || At(pos_) == '1')) {
    ++pos_;
  }
  token.text = std::string(text_.substr(digits, pos_ - digits));
  if (At(pos_) != '\'' || (kind == TokenKind::kHex && token.text.size() % 2 != 0)) {
    return Bad(begin,
               kind == TokenKind::kHex ? "malformed x'...' literal" : "malformed b'...' literal");
  }
  token.end = ++pos_;
  return token;
}

Token Lexer::Variable(size_t begin) {
  Token token;
  token.kind = TokenKind::kVariable;
  token.begin = begin;
  ++pos_;
  if (At(pos_) == '@') ++pos_;
  if (At(pos_) == '\'' || At(pos_) == '"' || At(pos_) == '`') {
    const Token name = QuotedText(pos_, TokenKind::kString);
    if (name.kind == TokenKind::kBad) return name;
  } else {
    while (pos_ < text_.size() && (IsNameByte(text_[pos_]) || text_[pos_] == '.')) ++pos_;
  }
  token.end = pos_;
  token.text = std::string(text_.substr(begin, pos_ - begin));
  return token;
}

Token Lexer::Symbol(size_t begin) {
  Token token;
  token.kind = TokenKind::kSymbol;
  token.begin = begin;
  size_t length = 1;
  for (std::string_view op : kOperators) {
    if (text_.substr(begin, op.size()) == op) {
      length = op.size();
      break;
    }
  }
  const auto c = static_cast<unsigned char>(text_[begin]);
  if (c < 0x20 || c == 0x7F || c == '\\') return Bad(begin, "character that no statement can have");
  token.end = pos_ = begin + length;
  token.text = std::string(text_.substr(begin, length));
  return token;
}

}  // namespace driftless::mysql
