#include "config/expr/expr_parser.h"

#include <utility>

#include "config/expr/reserved_words.h"
#include "schema/base/bytes_text.h"

namespace driftless::flink {
namespace {

// Calcite's binding strengths, halved: SqlStdOperatorTable.
int BinaryStrength(std::string_view op) {
  if (op == "OR") return 11;
  if (op == "AND") return 12;
  if (op == "=" || op == "<>" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=") {
    return 15;
  }
  if (op == "+" || op == "-") return 20;
  if (op == "*" || op == "/" || op == "%" || op == "||") return 30;
  return 0;
}
constexpr int kNotStrength = 13;
constexpr int kIsStrength = 14;
constexpr int kBetweenStrength = 16;
constexpr int kSignStrength = 40;
constexpr int kDeepest = 200;  // nested expressions; a parser that recurses needs a floor

class ExprParser {
 public:
  explicit ExprParser(TokenCursor* cursor) : c_(*cursor) {}

  Result<Expr> Parse(int least) {
    if (++depth_ > kDeepest) {
      return SqlError(kParseException, "The expression is nested too deeply");
    }
    auto result = ParseOperators(least);
    --depth_;
    return result;
  }

  Result<OverWindow> ParseWindow() { return Window(); }

 private:
  Expr Start(ExprKind kind) const {
    Expr expr;
    expr.kind = kind;
    expr.line = c_.Peek().line;
    expr.column = c_.Peek().column;
    return expr;
  }

  static Expr Wrap(ExprKind kind, std::string text, Expr first) {
    Expr expr;
    expr.kind = kind;
    expr.text = std::move(text);
    expr.line = first.line;
    expr.column = first.column;
    expr.args.push_back(std::move(first));
    return expr;
  }

  Result<Expr> ParseOperators(int least) {
    DRIFTLESS_ASSIGN_OR_RETURN(Expr left, Unary());
    while (true) {
      const Token& token = c_.Peek();
      if (token.kind != TokenKind::kSymbol && token.kind != TokenKind::kName) break;
      const int strength = BinaryStrength(token.upper);
      if (strength > 0) {
        if (strength < least) break;
        const std::string op = token.upper == "!=" ? "<>" : token.upper;
        c_.Next();
        DRIFTLESS_ASSIGN_OR_RETURN(Expr right, Parse(strength + 1));
        left = Wrap(ExprKind::kBinary, op, std::move(left));
        left.args.push_back(std::move(right));
        continue;
      }
      if (token.upper == "IS" && kIsStrength >= least) {
        DRIFTLESS_ASSIGN_OR_RETURN(left, Is(std::move(left)));
        continue;
      }
      const size_t skip = token.upper == "NOT" ? 1 : 0;
      const bool special = c_.Is("BETWEEN", skip) || c_.Is("IN", skip) || c_.Is("LIKE", skip) ||
                           c_.Is("SIMILAR", skip);
      if (!special || kBetweenStrength < least) break;
      DRIFTLESS_ASSIGN_OR_RETURN(left, Special(std::move(left)));
    }
    return left;
  }

  Result<Expr> Is(Expr value) {
    c_.Next();
    std::string text = c_.Accept("NOT") ? "IS NOT " : "IS ";
    for (const std::string_view word : {"NULL", "TRUE", "FALSE", "UNKNOWN"}) {
      if (c_.Accept(word)) {
        text += word;
        return Wrap(ExprKind::kPostfix, text, std::move(value));
      }
    }
    if (c_.Accept("DISTINCT")) {
      DRIFTLESS_TRY(c_.Expect("FROM"));
      DRIFTLESS_ASSIGN_OR_RETURN(Expr right, Parse(kBetweenStrength));
      Expr expr = Wrap(ExprKind::kBinary, text + "DISTINCT FROM", std::move(value));
      expr.args.push_back(std::move(right));
      return expr;
    }
    return c_.Unexpected();
  }

  Result<Expr> Special(Expr value) {
    const std::string no = c_.Accept("NOT") ? "NOT " : "";
    if (c_.Accept("BETWEEN")) {
      if (!c_.Accept("ASYMMETRIC")) c_.Accept("SYMMETRIC");
      Expr expr = Wrap(ExprKind::kBetween, no + "BETWEEN", std::move(value));
      DRIFTLESS_ASSIGN_OR_RETURN(Expr low, Parse(kBetweenStrength + 1));
      DRIFTLESS_TRY(c_.Expect("AND"));
      DRIFTLESS_ASSIGN_OR_RETURN(Expr high, Parse(kBetweenStrength + 1));
      expr.args.push_back(std::move(low));
      expr.args.push_back(std::move(high));
      return expr;
    }
    if (c_.Accept("IN")) {
      Expr expr = Wrap(ExprKind::kIn, no + "IN", std::move(value));
      DRIFTLESS_TRY(c_.Expect("("));
      DRIFTLESS_TRY(List(")", &expr));
      return expr;
    }
    const std::string op = c_.Accept("LIKE") ? "LIKE" : "SIMILAR TO";
    if (op != "LIKE") {
      c_.Next();
      DRIFTLESS_TRY(c_.Expect("TO"));
    }
    Expr expr = Wrap(ExprKind::kBinary, no + op, std::move(value));
    DRIFTLESS_ASSIGN_OR_RETURN(Expr pattern, Parse(kBetweenStrength + 1));
    expr.args.push_back(std::move(pattern));
    if (c_.Accept("ESCAPE")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr escape, Parse(kBetweenStrength + 1));
      expr.args.push_back(std::move(escape));
    }
    return expr;
  }

  // a, b, ... and the closing symbol.
  Result<void> List(std::string_view close, Expr* into) {
    if (c_.Accept(close)) return {};
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr item, Parse(0));
      into->args.push_back(std::move(item));
    } while (c_.Accept(","));
    return c_.Expect(close);
  }

  Result<Expr> Unary() {
    for (const std::string_view op : {"NOT", "-", "+"}) {
      if (!c_.Is(op)) continue;
      Expr expr = Start(ExprKind::kUnary);
      expr.text = op;
      c_.Next();
      DRIFTLESS_ASSIGN_OR_RETURN(Expr value, Parse(op == "NOT" ? kNotStrength : kSignStrength));
      expr.args.push_back(std::move(value));
      return expr;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(Expr value, Primary());
    while (true) {
      if (c_.Accept("[")) {
        Expr item = Wrap(ExprKind::kItem, "[]", std::move(value));
        DRIFTLESS_ASSIGN_OR_RETURN(Expr index, Parse(0));
        item.args.push_back(std::move(index));
        DRIFTLESS_TRY(c_.Expect("]"));
        value = std::move(item);
      } else {
        return value;
      }
    }
  }

  Result<Expr> Primary() {
    const Token& token = c_.Peek();
    switch (token.kind) {
      case TokenKind::kNumber: {
        Expr expr = Start(ExprKind::kNumber);
        expr.text = c_.Next().text;
        return expr;
      }
      case TokenKind::kString: {
        Expr expr = Start(ExprKind::kString);
        DRIFTLESS_ASSIGN_OR_RETURN(expr.text, c_.ExpectStringLiteral());
        return expr;
      }
      case TokenKind::kSymbol:
        if (token.upper == "(") return Parenthesis();
        if (token.upper == "*") {
          Expr expr = Start(ExprKind::kStar);
          c_.Next();
          return expr;
        }
        return c_.Unexpected();
      case TokenKind::kEnd: return c_.Unexpected();
      default: return Word();
    }
  }

  Result<Expr> Parenthesis() {
    Expr row = Start(ExprKind::kRow);
    c_.Next();
    if (c_.Is(")")) return c_.Unexpected();
    DRIFTLESS_TRY(List(")", &row));
    if (row.args.size() == 1) return Result<Expr>(std::move(row.args[0]));
    return row;
  }

  // x'0AFF'
  Result<Expr> Bytes() {
    Expr expr = Start(ExprKind::kTyped);
    expr.text = "X";
    c_.Next();
    std::string decoded;
    const Token digits = c_.Peek();
    if (!DecodeHex(digits.text, &decoded)) {
      return std::move(SqlError(kParseException, "Illegal binary literal 'x'" + digits.text +
                                                     "'' at line " + std::to_string(digits.line) +
                                                     ", column " + std::to_string(digits.column)))
          .At(digits.line, digits.column);
    }
    expr.path = {c_.Next().text};
    return expr;
  }

  Result<Expr> Word() {
    const Token token = c_.Peek();
    if (token.kind == TokenKind::kName) {
      const std::string& word = token.upper;
      if (word == "CASE") return Case();
      if (word == "CAST" || word == "TRY_CAST") return Cast();
      if (word == "INTERVAL") return Interval();
      if (word == "TRUE" || word == "FALSE" || word == "NULL" || word == "UNKNOWN") {
        Expr expr = Start(ExprKind::kKeyword);
        expr.text = word;
        c_.Next();
        return expr;
      }
      if (word == "X" && c_.Peek(1).kind == TokenKind::kString && token.end == c_.Peek(1).begin) {
        return Bytes();
      }
      if ((word == "DATE" || word == "TIME" || word == "TIMESTAMP") &&
          c_.Peek(1).kind == TokenKind::kString) {
        Expr expr = Start(ExprKind::kTyped);
        expr.text = word;
        c_.Next();
        expr.path.push_back(c_.Next().text);
        return expr;
      }
      if ((word == "ARRAY" || word == "MAP") && c_.Is("[", 1)) {
        Expr expr = Start(word == "ARRAY" ? ExprKind::kArray : ExprKind::kMap);
        c_.Rewind(c_.position() + 2);
        DRIFTLESS_TRY(List("]", &expr));
        return expr;
      }
      if (word == "ROW" && c_.Is("(", 1)) {
        Expr expr = Start(ExprKind::kRow);
        c_.Rewind(c_.position() + 2);
        DRIFTLESS_TRY(List(")", &expr));
        return expr;
      }
      if (IsReservedWord(word)) return Function();
    }
    return NameOrCall();
  }

  // A function whose name the parser itself knows.
  Result<Expr> Function() {
    const Token token = c_.Peek();
    if (!IsParserFunction(token.upper)) return c_.Unexpected(true);
    Expr expr = Start(ExprKind::kCall);
    expr.text = token.upper;
    expr.path = {token.text};
    c_.Next();
    if (!c_.Is("(")) {
      const bool bare = token.upper.starts_with("CURRENT_") || token.upper.starts_with("LOCALTIME");
      if (!bare) return c_.Unexpected();
      expr.simple = true;
      return expr;
    }
    c_.Next();
    if (token.upper == "TRIM") return Trim(std::move(expr));
    if (token.upper == "SUBSTRING" || token.upper == "OVERLAY" || token.upper == "POSITION" ||
        token.upper == "EXTRACT") {
      return WordySyntax(std::move(expr));
    }
    if ((token.upper == "FLOOR" || token.upper == "CEIL") && !c_.Is(")")) {
      return WordySyntax(std::move(expr));
    }
    if (token.upper == "COUNT" && c_.Is("*") && c_.Is(")", 1)) {
      Expr star = Start(ExprKind::kStar);
      c_.Rewind(c_.position() + 2);
      expr.args.push_back(std::move(star));
      return expr;
    }
    if (token.upper == "COUNT" || token.upper == "SUM" || token.upper == "AVG" ||
        token.upper == "MIN" || token.upper == "MAX") {
      expr.distinct = c_.Accept("DISTINCT");
      if (!expr.distinct) c_.Accept("ALL");
    }
    DRIFTLESS_TRY(List(")", &expr));
    DRIFTLESS_TRY(Over(&expr));
    return expr;
  }

  // [OVER (PARTITION BY .. ORDER BY .. ROWS ..)] or [OVER name]
  Result<void> Over(Expr* expr) {
    if (!c_.Accept("OVER")) return {};
    if (!c_.Is("(")) {
      auto named = std::make_shared<OverWindow>();
      DRIFTLESS_ASSIGN_OR_RETURN(named->name, c_.ExpectName());
      expr->over = std::move(named);
      return {};
    }
    DRIFTLESS_ASSIGN_OR_RETURN(OverWindow window, Window());
    expr->over = std::make_shared<const OverWindow>(std::move(window));
    return {};
  }

  Result<OverWindow> Window() {
    OverWindow window;
    DRIFTLESS_TRY(c_.Expect("("));
    if (c_.Accept("PARTITION")) {
      DRIFTLESS_TRY(c_.Expect("BY"));
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(Expr key, Parse(0));
        window.partition.push_back(std::move(key));
      } while (c_.Accept(","));
    }
    if (c_.Accept("ORDER")) {
      DRIFTLESS_TRY(c_.Expect("BY"));
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(Expr key, Parse(0));
        window.order.push_back(std::move(key));
        window.descending.push_back(c_.Accept("DESC"));
        if (!window.descending.back()) c_.Accept("ASC");
      } while (c_.Accept(","));
    }
    if (c_.Is("ROWS") || c_.Is("RANGE")) {
      while (!c_.Is(")") && c_.Peek().kind != TokenKind::kEnd) {
        const Token& word = c_.Next();
        window.frame +=
            (window.frame.empty() ? "" : " ") + (word.upper.empty() ? word.text : word.upper);
      }
    }
    DRIFTLESS_TRY(c_.Expect(")"));
    return window;
  }

  // TRIM([BOTH|LEADING|TRAILING] [chars] FROM s), TRIM(s). args: flag keyword, chars, s.
  Result<Expr> Trim(Expr expr) {
    Expr flag = Start(ExprKind::kKeyword);
    flag.text = "BOTH";
    for (const std::string_view word : {"BOTH", "LEADING", "TRAILING"}) {
      if (c_.Accept(word)) {
        flag.text = word;
        break;
      }
    }
    Expr blank = Start(ExprKind::kString);
    blank.text = " ";
    Expr value;
    if (c_.Accept("FROM")) {
      DRIFTLESS_ASSIGN_OR_RETURN(value, Parse(0));
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(value, Parse(0));
      if (c_.Accept("FROM")) {
        blank = std::move(value);
        DRIFTLESS_ASSIGN_OR_RETURN(value, Parse(0));
      }
    }
    DRIFTLESS_TRY(c_.Expect(")"));
    expr.args.push_back(std::move(flag));
    expr.args.push_back(std::move(blank));
    expr.args.push_back(std::move(value));
    return expr;
  }

  // SUBSTRING(s FROM a [FOR b]), POSITION(a IN s), EXTRACT(unit FROM t), FLOOR(t TO unit).
  Result<Expr> WordySyntax(Expr expr) {
    if (expr.text == "EXTRACT") {
      Expr unit = Start(ExprKind::kKeyword);
      if (c_.Peek().kind != TokenKind::kName) return c_.Unexpected();
      unit.text = c_.Next().upper;
      expr.args.push_back(std::move(unit));
      DRIFTLESS_TRY(c_.Expect("FROM"));
    }
    const int least = expr.text == "POSITION" ? kBetweenStrength + 1 : 0;
    DRIFTLESS_ASSIGN_OR_RETURN(Expr first, Parse(least));
    expr.args.push_back(std::move(first));
    if (c_.Accept("TO")) {
      Expr unit = Start(ExprKind::kKeyword);
      unit.text = c_.Next().upper;
      expr.args.push_back(std::move(unit));
    }
    while (c_.Accept("FROM") || c_.Accept("FOR") || c_.Accept(",") || c_.Accept("IN") ||
           c_.Accept("PLACING")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr next, Parse(0));
      expr.args.push_back(std::move(next));
    }
    DRIFTLESS_TRY(c_.Expect(")"));
    return expr;
  }

  Result<Expr> NameOrCall() {
    Expr expr = Start(ExprKind::kColumn);
    expr.quoted = c_.Peek().kind == TokenKind::kQuotedName;
    DRIFTLESS_ASSIGN_OR_RETURN(std::string first, c_.ExpectName());
    expr.path.push_back(std::move(first));
    while (c_.Is(".")) {
      if (c_.Is("*", 1)) {
        c_.Rewind(c_.position() + 2);
        expr.kind = ExprKind::kStar;
        return expr;
      }
      c_.Next();
      DRIFTLESS_ASSIGN_OR_RETURN(std::string part, c_.ExpectName());
      expr.path.push_back(std::move(part));
    }
    if (!c_.Accept("(")) return expr;
    expr.kind = ExprKind::kCall;
    expr.text = expr.path.back();
    for (char& c : expr.text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    const bool has_unit = expr.text == "TIMESTAMPADD" || expr.text == "TIMESTAMPDIFF" ||
                          expr.text == "TIMESTAMP_DIFF";
    if (has_unit && c_.Peek().kind == TokenKind::kName && c_.Is(",", 1)) {
      Expr unit = Start(ExprKind::kKeyword);
      unit.text = c_.Next().upper;
      expr.args.push_back(std::move(unit));
      c_.Next();
    }
    DRIFTLESS_TRY(List(")", &expr));
    DRIFTLESS_TRY(Over(&expr));
    return expr;
  }

  Result<Expr> Case() {
    Expr expr = Start(ExprKind::kCase);
    c_.Next();
    if (!c_.Is("WHEN")) {
      expr.simple = true;
      DRIFTLESS_ASSIGN_OR_RETURN(Expr value, Parse(0));
      expr.args.push_back(std::move(value));
    }
    if (!c_.Is("WHEN")) return c_.Unexpected();
    while (c_.Accept("WHEN")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr when, Parse(0));
      DRIFTLESS_TRY(c_.Expect("THEN"));
      DRIFTLESS_ASSIGN_OR_RETURN(Expr then, Parse(0));
      expr.args.push_back(std::move(when));
      expr.args.push_back(std::move(then));
    }
    if (c_.Accept("ELSE")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr otherwise, Parse(0));
      expr.args.push_back(std::move(otherwise));
    } else {
      Expr null = Start(ExprKind::kKeyword);
      null.text = "NULL";
      expr.args.push_back(std::move(null));
    }
    DRIFTLESS_TRY(c_.Expect("END"));
    return expr;
  }

  Result<Expr> Cast() {
    Expr expr = Start(ExprKind::kCast);
    expr.text = c_.Next().upper;
    DRIFTLESS_TRY(c_.Expect("("));
    DRIFTLESS_ASSIGN_OR_RETURN(Expr value, Parse(0));
    DRIFTLESS_TRY(c_.Expect("AS"));
    DRIFTLESS_ASSIGN_OR_RETURN(expr.type, ParseType(&c_));
    DRIFTLESS_TRY(c_.Expect(")"));
    expr.args.push_back(std::move(value));
    return expr;
  }

  Result<Expr> Interval() {
    Expr expr = Start(ExprKind::kInterval);
    c_.Next();
    if (c_.Accept("-")) expr.text = "-";
    if (c_.Peek().kind != TokenKind::kString) return c_.Unexpected();
    expr.text += c_.Next().text;
    std::string unit = c_.Peek().upper;
    if (unit.ends_with('S')) unit.pop_back();
    static constexpr std::string_view kUnits[] = {"YEAR", "QUARTER", "MONTH",  "WEEK",
                                                  "DAY",  "HOUR",    "MINUTE", "SECOND"};
    for (const auto known : kUnits) {
      if (unit != known) continue;
      c_.Next();
      if (c_.Accept("(")) {
        unit += "(" + c_.Next().text + ")";
        DRIFTLESS_TRY(c_.Expect(")"));
      }
      if (c_.Accept("TO")) unit += " TO " + c_.Next().upper;
      expr.path.push_back(unit);
      return expr;
    }
    return c_.Unexpected();
  }

  TokenCursor& c_;
  int depth_ = 0;
};

void Collect(const Expr& expr, std::vector<std::string>* names) {
  if (expr.kind == ExprKind::kColumn) {
    for (const auto& name : *names) {
      if (name == expr.path[0]) return;
    }
    names->push_back(expr.path[0]);
  }
  for (const Expr& arg : expr.args) Collect(arg, names);
}

}  // namespace

Result<OverWindow> ParseOverWindow(TokenCursor* cursor) { return ExprParser(cursor).ParseWindow(); }

Result<Expr> ParseExpr(TokenCursor* cursor) { return ExprParser(cursor).Parse(0); }

Result<Expr> ParseExpr(std::string_view text) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  TokenCursor cursor(std::move(tokens), text);
  DRIFTLESS_ASSIGN_OR_RETURN(Expr expr, ParseExpr(&cursor));
  if (cursor.Peek().kind != TokenKind::kEnd) return cursor.Unexpected();
  return expr;
}

std::vector<std::string> ReferencedColumns(const Expr& expr) {
  std::vector<std::string> names;
  Collect(expr, &names);
  return names;
}

}  // namespace driftless::flink
