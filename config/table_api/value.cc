#include "config/table_api/value.h"

#include <string_view>
#include <utility>

namespace driftless::table_api {

using flink::ExprKind;

Error Refused(std::string text, const Node& at) {
  return MakeError(ErrorKind::kRefused, std::move(text)).At(at.line, at.column);
}

std::string KindOf(const Value& value) {
  static constexpr std::string_view kKinds[] = {"nothing",       "a table environment",
                                                "a table",       "a grouped table",
                                                "an expression", "a type",
                                                "a field",       "a row",
                                                "a result",      "names"};
  return std::string(kKinds[value.index()]);
}

std::optional<std::string> TextOf(const Value& value) {
  const auto* expr = std::get_if<ApiExpr>(&value);
  if (expr == nullptr || !expr->is_bare || expr->sql.kind != ExprKind::kString) return std::nullopt;
  return expr->sql.text;
}

std::optional<int64_t> IntegerOf(const Value& value) {
  const auto* expr = std::get_if<ApiExpr>(&value);
  if (expr == nullptr || !expr->is_bare || expr->sql.kind != ExprKind::kNumber) return std::nullopt;
  if (expr->sql.text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  if (expr->sql.text.size() > 18) return std::nullopt;
  return std::stoll(expr->sql.text);
}

Value Bare(ApiExpr expr, const Node& node) {
  expr.is_bare = true;
  expr.sql.line = node.line;
  expr.sql.column = node.column;
  return expr;
}

Result<Value> NumberOf(const Node& node) {
  std::string text = node.text;
  std::erase(text, '_');
  const bool negative = text.starts_with("-");
  if (negative) text.erase(0, 1);
  const char suffix = text.back();
  const bool is_long = suffix == 'L' || suffix == 'l';
  const bool is_float = suffix == 'f' || suffix == 'F';
  const bool is_double = suffix == 'd' || suffix == 'D';
  if (is_long || is_float || is_double) text.pop_back();
  const bool fraction = text.find_first_of(".eE") != std::string::npos;
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos ||
      (fraction && is_long)) {
    return Refused("'" + node.text + "' is no number", node);
  }
  const std::string plain = negative ? "-" + text : text;
  ApiExpr number = LiteralExpr(ExprKind::kNumber, text, plain);
  if (negative) {
    ApiExpr minus;
    minus.sql.kind = ExprKind::kUnary;
    minus.sql.text = "-";
    minus.sql.args = {std::move(number.sql)};
    minus.summary = plain;
    number = std::move(minus);
  }
  std::optional<LogicalType> type;
  if (is_long) type = LogicalType::BigInt();
  if (is_float) type = LogicalType::Float();
  if (is_double || (fraction && !is_float)) type = LogicalType::Double();
  if (type) {
    number = CastExpr(number, *type, false);
    number.summary = plain;
  }
  return Bare(std::move(number), node);
}

}  // namespace driftless::table_api
