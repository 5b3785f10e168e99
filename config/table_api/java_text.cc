#include "config/table_api/java_text.h"

#include <algorithm>
#include <utility>

namespace driftless::table_api {
namespace {

enum class TokenKind : uint8_t { kName, kString, kNumber, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  int line = 1;
  int column = 1;
};

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error At(std::string text, int line, int column) {
  return MakeError(ErrorKind::kParse, std::move(text)).At(line, column);
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      DRIFTLESS_TRY(SkipBlanks());
      Token token;
      token.line = line_;
      token.column = column_;
      if (at_ >= text_.size()) {
        tokens.push_back(std::move(token));
        return tokens;
      }
      const char c = text_[at_];
      if (IsNameStart(c)) {
        token.kind = TokenKind::kName;
        while (at_ < text_.size() && (IsNameStart(text_[at_]) || IsDigit(text_[at_]))) {
          token.text += Next();
        }
      } else if (IsDigit(c)) {
        token.kind = TokenKind::kNumber;
        Number(&token);
      } else if (c == '"') {
        token.kind = TokenKind::kString;
        DRIFTLESS_TRY(String(&token));
      } else if (std::string_view(".,()=;{}-").find(c) != std::string_view::npos) {
        token.kind = TokenKind::kSymbol;
        token.text = Next();
      } else if (c == '\'') {
        return std::move(At("a text stands in double quotes", line_, column_))
            .Hint("Write lit(\"..\") for a constant.");
      } else {
        return At(std::string("unexpected character '") + c + "'", line_, column_);
      }
      tokens.push_back(std::move(token));
    }
  }

 private:
  char Next() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column_;
    }
    return c;
  }

  Result<void> SkipBlanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') Next();
      } else if (rest.starts_with("/*")) {
        const int line = line_;
        const int column = column_;
        const size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return At("the comment has no end", line, column);
        while (at_ < end + 2) Next();
      } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r') {
        Next();
      } else {
        break;
      }
    }
    return {};
  }

  void Number(Token* token) {
    bool dot = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool is_fraction =
          c == '.' && !dot && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1]);
      const bool is_sign = !token->text.empty() && (c == '-' || c == '+') &&
                           (token->text.back() == 'e' || token->text.back() == 'E');
      if (!IsDigit(c) && !IsNameStart(c) && !is_fraction && !is_sign) break;
      dot = dot || is_fraction;
      token->text += Next();
    }
  }

  Result<void> String(Token* token) {
    const int line = line_;
    const int column = column_;
    Next();
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      char c = Next();
      if (c != '\\' || at_ >= text_.size()) {
        token->text += c;
        continue;
      }
      c = Next();
      switch (c) {
        case 'n': token->text += '\n'; break;
        case 't': token->text += '\t'; break;
        case 'r': token->text += '\r'; break;
        case '"':
        case '\'':
        case '\\': token->text += c; break;
        case 'u': DRIFTLESS_TRY(Unicode(token)); break;
        default: return At(std::string("unknown escape \\") + c, line_, column_ - 2);
      }
    }
    if (at_ >= text_.size() || text_[at_] != '"') return At("the text has no end", line, column);
    Next();
    return {};
  }

  Result<void> Unicode(Token* token) {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = at_ < text_.size() ? text_[at_] : ' ';
      const int digit = IsDigit(c)             ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return At("\\u wants four hexadecimal digits", line_, column_);
      code = code * 16 + static_cast<uint32_t>(digit);
      Next();
    }
    if (code < 0x80) {
      token->text += static_cast<char>(code);
    } else if (code < 0x800) {
      token->text += static_cast<char>(0xC0 | (code >> 6));
      token->text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      token->text += static_cast<char>(0xE0 | (code >> 12));
      token->text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
      token->text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<std::vector<Statement>> Run() {
    std::vector<Statement> statements;
    while (Peek().kind != TokenKind::kEnd) {
      if (Accept(";")) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(Statement statement, One());
      statements.push_back(std::move(statement));
    }
    return statements;
  }

 private:
  static constexpr int kDeepest = 200;

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool Is(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  bool Accept(std::string_view symbol) {
    if (!Is(symbol)) return false;
    ++at_;
    return true;
  }
  Error Unexpected(std::string_view wanted) const {
    const Token& token = Peek();
    std::string found = token.kind == TokenKind::kEnd ? "the end" : "'" + token.text + "'";
    return At("expected " + std::string(wanted) + ", found " + found, token.line, token.column);
  }
  Result<void> Expect(std::string_view symbol) {
    if (Accept(symbol)) return {};
    return Unexpected("'" + std::string(symbol) + "'");
  }
  bool IsName(size_t ahead = 0) const { return Peek(ahead).kind == TokenKind::kName; }

  Result<Statement> One() {
    Statement statement;
    statement.line = Peek().line;
    const bool is_typed = IsName() && IsName(1) && Peek().text != "new" && Peek().text != "return";
    if (is_typed) ++at_;  // the type: of no account
    if (is_typed && Is("(", 1)) {
      statement.is_method = true;
      statement.variable = tokens_[at_++].text;
      DRIFTLESS_TRY(Expect("("));
      DRIFTLESS_TRY(Expect(")"));
      DRIFTLESS_TRY(Expect("{"));
      if (!IsName() || Peek().text != "return") return Unexpected("return");
      ++at_;
      DRIFTLESS_ASSIGN_OR_RETURN(statement.value, Expression(0));
      Accept(";");
      DRIFTLESS_TRY(Expect("}"));
      return statement;
    }
    if (is_typed || (IsName() && Is("=", 1))) {
      statement.variable = tokens_[at_++].text;
      DRIFTLESS_TRY(Expect("="));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(statement.value, Expression(0));
    if (Peek().kind != TokenKind::kEnd) DRIFTLESS_TRY(Expect(";"));
    return statement;
  }

  Result<Node> Expression(int depth) {
    if (depth > kDeepest) return At("nested too deeply", Peek().line, Peek().column);
    DRIFTLESS_ASSIGN_OR_RETURN(Node node, Primary(depth));
    while (Accept(".")) {
      if (!IsName()) return Unexpected("a name");
      auto receiver = std::make_shared<const Node>(std::move(node));
      DRIFTLESS_ASSIGN_OR_RETURN(node, Named(depth));
      node.receiver = std::move(receiver);
    }
    return node;
  }

  // A name, with its arguments where it is a call.
  Result<Node> Named(int depth) {
    const Token& token = tokens_[at_++];
    Node node;
    node.text = token.text;
    node.line = token.line;
    node.column = token.column;
    if (!Is("(")) return node;
    node.kind = Node::Kind::kCall;
    DRIFTLESS_ASSIGN_OR_RETURN(node.args, Arguments(depth));
    return node;
  }

  Result<std::vector<Node>> Arguments(int depth) {
    std::vector<Node> args;
    DRIFTLESS_TRY(Expect("("));
    if (Accept(")")) return args;
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(Node arg, Expression(depth + 1));
      args.push_back(std::move(arg));
    } while (Accept(","));
    if (!Is(")")) return Unexpected("',' or ')'");
    ++at_;
    return args;
  }

  Result<Node> Primary(int depth) {
    const Token token = Peek();
    Node node;
    node.text = token.text;
    node.line = token.line;
    node.column = token.column;
    if (Accept("-")) {
      if (Peek().kind != TokenKind::kNumber) return Unexpected("a number");
      node.kind = Node::Kind::kNumber;
      node.text = "-" + tokens_[at_++].text;
      return node;
    }
    if (Accept("(")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Node inner, Expression(depth + 1));
      DRIFTLESS_TRY(Expect(")"));
      return inner;
    }
    switch (token.kind) {
      case TokenKind::kString: node.kind = Node::Kind::kString; break;
      case TokenKind::kNumber: node.kind = Node::Kind::kNumber; break;
      case TokenKind::kName:
        if (token.text != "new") return Named(depth);
        return New(depth);
      default: return Unexpected("an expression");
    }
    ++at_;
    return node;
  }

  Result<Node> New(int depth) {
    Node node;
    node.kind = Node::Kind::kNew;
    node.line = Peek().line;
    node.column = Peek().column;
    ++at_;
    do {
      if (!IsName()) return Unexpected("a class");
      node.text += (node.text.empty() ? "" : ".") + tokens_[at_++].text;
    } while (Accept("."));
    DRIFTLESS_ASSIGN_OR_RETURN(node.args, Arguments(depth));
    return node;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<Statement>> ParseJava(std::string_view text) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Lexer(text).Run());
  return Parser(std::move(tokens)).Run();
}

std::string DottedName(const Node& node) {
  if (node.kind != Node::Kind::kName) return "";
  if (node.receiver == nullptr) return node.text;
  const std::string front = DottedName(*node.receiver);
  return front.empty() ? "" : front + "." + node.text;
}

}  // namespace driftless::table_api
