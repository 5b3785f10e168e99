#include "config/expr/projection.h"

#include <utility>

#include "config/expr/eval/function_table.h"
#include "config/expr/expr_parser.h"
#include "config/expr/token_cursor.h"
#include "config/expr/typing.h"
#include "config/options/suggest.h"

namespace driftless::flink {
namespace {

// Functions that compile.cc works out without the table.
bool IsSpecial(std::string_view name) {
  for (const std::string_view special :
       {"COALESCE", "IFNULL", "IF", "NULLIF", "MOD", "TYPEOF", "ELEMENT", "TIMESTAMPADD"}) {
    if (name == special) return true;
  }
  return false;
}

Result<void> CheckFunctions(const Expr& e) {
  if (e.kind == ExprKind::kCall &&
      (e.path.size() != 1 || (FindForms(e.text).empty() && !IsSpecial(e.text)))) {
    if (e.path.size() == 1 && IsBuiltInFunction(e.text)) {
      return MakeError(ErrorKind::kUnsupported,
                       "function " + e.text + " cannot be worked out row by row")
          .At(e.line, e.column);
    }
    std::string name = e.path.empty() ? e.text : e.path[0];
    for (size_t i = 1; i < e.path.size(); ++i) name += "." + e.path[i];
    Error error = std::move(MakeError(ErrorKind::kInvalidConfig, "there is no function " + name))
                      .At(e.line, e.column);
    const std::string_view near = Nearest(e.text, BuiltInFunctions());
    if (!near.empty()) error = std::move(error).Hint("Did you mean " + std::string(near) + "?");
    return error;
  }
  for (const Expr& arg : e.args) DRIFTLESS_TRY(CheckFunctions(arg));
  return {};
}

// Lexers and parsers put Flink's exception class in front; a pipeline's user has no use for it.
Error Plainly(const Error& error) {
  std::string text = error.message();
  const size_t colon = text.find(": ");
  if (text.starts_with("org.apache.") && colon != std::string::npos) text = text.substr(colon + 2);
  return MakeError(ErrorKind::kInvalidConfig, text)
      .At(error.line(), error.column())
      .Hint(error.hint());
}

// [EXCLUDE (a, b)] [RENAME (c AS d)] behind a star; one name needs no brackets.
Result<void> ParseStarChanges(TokenCursor* cursor, ProjectionItem* item) {
  if (cursor->Accept("EXCLUDE")) {
    const bool list = cursor->Accept("(");
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(std::string name, cursor->ExpectName());
      item->excluded.push_back(std::move(name));
    } while (list && cursor->Accept(","));
    if (list) DRIFTLESS_TRY(cursor->Expect(")"));
  }
  if (cursor->Accept("RENAME")) {
    const bool list = cursor->Accept("(");
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(std::string from, cursor->ExpectName());
      DRIFTLESS_TRY(cursor->Expect("AS"));
      DRIFTLESS_ASSIGN_OR_RETURN(std::string to, cursor->ExpectName());
      item->renamed.emplace_back(std::move(from), std::move(to));
    } while (list && cursor->Accept(","));
    if (list) DRIFTLESS_TRY(cursor->Expect(")"));
  }
  return {};
}

Result<ProjectionItem> ParseItem(TokenCursor* cursor) {
  ProjectionItem item;
  const size_t begin = cursor->Peek().begin;
  DRIFTLESS_ASSIGN_OR_RETURN(item.expr, ParseExpr(cursor));
  const size_t end = cursor->Peek().begin;
  item.text = std::string(cursor->sql().substr(begin, end - begin));
  while (!item.text.empty() && (item.text.back() == ' ' || item.text.back() == '\n')) {
    item.text.pop_back();
  }
  if (item.expr.kind == ExprKind::kStar) {
    item.is_star = true;
    DRIFTLESS_TRY(ParseStarChanges(cursor, &item));
    return item;
  }
  item.is_column = item.expr.kind == ExprKind::kColumn && item.expr.path.size() == 1;
  if (cursor->Accept("AS") || cursor->IsName()) {
    DRIFTLESS_ASSIGN_OR_RETURN(item.name, cursor->ExpectName());
    return item;
  }
  if (!item.is_column) {
    return MakeError(ErrorKind::kInvalidConfig, "the expression " + item.text + " needs a name")
        .At(item.expr.line, item.expr.column)
        .Hint("Write " + item.text + " AS name.");
  }
  item.name = item.expr.path[0];
  return item;
}

}  // namespace

Result<std::vector<ProjectionItem>> ParseProjection(std::string_view text) {
  Result<std::vector<Token>> tokens = Tokenize(text);
  if (!tokens) return Plainly(tokens.error());
  TokenCursor cursor(std::move(*tokens), text);
  std::vector<ProjectionItem> items;
  while (true) {
    Result<ProjectionItem> item = ParseItem(&cursor);
    if (!item) return Plainly(item.error());
    if (!item->is_star) DRIFTLESS_TRY(CheckFunctions(item->expr));
    items.push_back(*std::move(item));
    if (cursor.Accept(",")) continue;
    if (cursor.Peek().kind != TokenKind::kEnd) return Plainly(cursor.Unexpected());
    return items;
  }
}

Result<Expr> ParseCondition(std::string_view text) {
  Result<Expr> expr = ParseExpr(text);
  if (!expr) return Plainly(expr.error());
  DRIFTLESS_TRY(CheckFunctions(*expr));
  return expr;
}

}  // namespace driftless::flink
