#include "config/table_api/api_expr.h"

#include <algorithm>
#include <map>
#include <utility>

#include "config/expr/lexer.h"
#include "config/options/suggest.h"

namespace driftless::table_api {
namespace {

using flink::Expr;
using flink::ExprKind;

Error Invalid(std::string text) {
  return flink::SqlError(flink::kValidationException, std::move(text));
}

// How a method becomes SQL.
struct Method {
  ExprKind kind = ExprKind::kCall;
  std::string_view sql;  // operator or function
  int least = 1;         // arguments, the receiver included
  int most = 1;          // -1: any number
};

const std::map<std::string_view, Method>& Methods() {
  static const auto* const kMethods = new std::map<std::string_view, Method>{
      {"plus", {ExprKind::kBinary, "+", 2, 2}},
      {"minus", {ExprKind::kBinary, "-", 2, 2}},
      {"times", {ExprKind::kBinary, "*", 2, 2}},
      {"dividedBy", {ExprKind::kBinary, "/", 2, 2}},
      {"mod", {ExprKind::kBinary, "%", 2, 2}},
      {"isEqual", {ExprKind::kBinary, "=", 2, 2}},
      {"isNotEqual", {ExprKind::kBinary, "<>", 2, 2}},
      {"isGreater", {ExprKind::kBinary, ">", 2, 2}},
      {"isGreaterOrEqual", {ExprKind::kBinary, ">=", 2, 2}},
      {"isLess", {ExprKind::kBinary, "<", 2, 2}},
      {"isLessOrEqual", {ExprKind::kBinary, "<=", 2, 2}},
      {"and", {ExprKind::kBinary, "AND", 2, -1}},
      {"or", {ExprKind::kBinary, "OR", 2, -1}},
      {"like", {ExprKind::kBinary, "LIKE", 2, 2}},
      {"not", {ExprKind::kUnary, "NOT", 1, 1}},
      {"negative", {ExprKind::kUnary, "-", 1, 1}},
      {"isNull", {ExprKind::kPostfix, "IS NULL", 1, 1}},
      {"isNotNull", {ExprKind::kPostfix, "IS NOT NULL", 1, 1}},
      {"isTrue", {ExprKind::kPostfix, "IS TRUE", 1, 1}},
      {"isNotTrue", {ExprKind::kPostfix, "IS NOT TRUE", 1, 1}},
      {"isFalse", {ExprKind::kPostfix, "IS FALSE", 1, 1}},
      {"isNotFalse", {ExprKind::kPostfix, "IS NOT FALSE", 1, 1}},
      {"between", {ExprKind::kBetween, "BETWEEN", 3, 3}},
      {"notBetween", {ExprKind::kBetween, "NOT BETWEEN", 3, 3}},
      {"in", {ExprKind::kIn, "IN", 2, -1}},
      {"ifThenElse", {ExprKind::kCase, "", 3, 3}},
      {"then", {ExprKind::kCase, "", 3, 3}},
      {"concat", {ExprKind::kCall, "CONCAT", 1, -1}},
      {"concatWs", {ExprKind::kCall, "CONCAT_WS", 2, -1}},
      {"coalesce", {ExprKind::kCall, "COALESCE", 1, -1}},
      {"ifNull", {ExprKind::kCall, "IFNULL", 2, 2}},
      {"upperCase", {ExprKind::kCall, "UPPER", 1, 1}},
      {"lowerCase", {ExprKind::kCall, "LOWER", 1, 1}},
      {"charLength", {ExprKind::kCall, "CHAR_LENGTH", 1, 1}},
      {"substring", {ExprKind::kCall, "SUBSTRING", 2, 3}},
      {"trim", {ExprKind::kCall, "TRIM", 1, 1}},
      {"ltrim", {ExprKind::kCall, "LTRIM", 1, 1}},
      {"rtrim", {ExprKind::kCall, "RTRIM", 1, 1}},
      {"replace", {ExprKind::kCall, "REPLACE", 3, 3}},
      {"reverse", {ExprKind::kCall, "REVERSE", 1, 1}},
      {"repeat", {ExprKind::kCall, "REPEAT", 2, 2}},
      {"lpad", {ExprKind::kCall, "LPAD", 3, 3}},
      {"rpad", {ExprKind::kCall, "RPAD", 3, 3}},
      {"left", {ExprKind::kCall, "LEFT", 2, 2}},
      {"right", {ExprKind::kCall, "RIGHT", 2, 2}},
      {"regexpReplace", {ExprKind::kCall, "REGEXP_REPLACE", 3, 3}},
      {"regexpExtract", {ExprKind::kCall, "REGEXP_EXTRACT", 2, 3}},
      {"initCap", {ExprKind::kCall, "INITCAP", 1, 1}},
      {"md5", {ExprKind::kCall, "MD5", 1, 1}},
      {"sha256", {ExprKind::kCall, "SHA256", 1, 1}},
      {"abs", {ExprKind::kCall, "ABS", 1, 1}},
      {"floor", {ExprKind::kCall, "FLOOR", 1, 1}},
      {"ceil", {ExprKind::kCall, "CEIL", 1, 1}},
      {"round", {ExprKind::kCall, "ROUND", 1, 2}},
      {"truncate", {ExprKind::kCall, "TRUNCATE", 1, 2}},
      {"power", {ExprKind::kCall, "POWER", 2, 2}},
      {"sqrt", {ExprKind::kCall, "SQRT", 1, 1}},
      {"exp", {ExprKind::kCall, "EXP", 1, 1}},
      {"ln", {ExprKind::kCall, "LN", 1, 1}},
      {"sign", {ExprKind::kCall, "SIGN", 1, 1}},
      {"toDate", {ExprKind::kCall, "TO_DATE", 1, 1}},
      {"toTimestamp", {ExprKind::kCall, "TO_TIMESTAMP", 1, 2}},
      {"dateFormat", {ExprKind::kCall, "DATE_FORMAT", 2, 2}},
      {"jsonValue", {ExprKind::kCall, "JSON_VALUE", 2, 2}},
      {"count", {ExprKind::kCall, "COUNT", 1, 1}},
      {"sum", {ExprKind::kCall, "SUM", 1, 1}},
      {"avg", {ExprKind::kCall, "AVG", 1, 1}},
      {"min", {ExprKind::kCall, "MIN", 1, 1}},
      {"max", {ExprKind::kCall, "MAX", 1, 1}},
  };
  return *kMethods;
}

bool IsAggregate(const Method& method) {
  return method.sql == "COUNT" || method.sql == "SUM" || method.sql == "AVG" ||
         method.sql == "MIN" || method.sql == "MAX";
}

// The name in messages; most are their method's.
std::string SummaryName(std::string_view method) {
  static const auto* const kNames = new std::map<std::string_view, std::string_view>{
      {"isEqual", "equals"},        {"isNotEqual", "notEquals"},
      {"isGreater", "greaterThan"}, {"isGreaterOrEqual", "greaterThanOrEqual"},
      {"isLess", "lessThan"},       {"isLessOrEqual", "lessThanOrEqual"},
      {"dividedBy", "divide"},      {"upperCase", "upper"},
      {"lowerCase", "lower"},       {"then", "ifThenElse"},
  };
  const auto found = kNames->find(method);
  return std::string(found == kNames->end() ? method : found->second);
}

}  // namespace

Result<ApiExpr> CallMethod(std::string_view method, std::vector<ApiExpr> args, int line,
                           int column) {
  const auto found = Methods().find(method);
  if (found == Methods().end()) {
    std::vector<std::string_view> known = {"as", "cast", "tryCast", "asc", "desc"};
    for (const auto& [name, each] : Methods()) known.push_back(name);
    return std::move(MakeError(ErrorKind::kRefused,
                               "there is no expression " + std::string(method) + "(..)"))
        .At(line, column)
        .Hint(Suggest(method, known));
  }
  const Method& m = found->second;
  const int count = static_cast<int>(args.size());
  if (count < m.least || (m.most >= 0 && count > m.most)) {
    return MakeError(ErrorKind::kRefused,
                     std::string(method) + " does not take " + std::to_string(count - 1) +
                         (count == 2 ? " argument" : " arguments") + " beside what it is called on")
        .At(line, column);
  }
  ApiExpr result;
  result.sql.kind = m.kind;
  result.sql.text = m.sql;
  result.sql.line = line;
  result.sql.column = column;
  if (m.kind == ExprKind::kCall) result.sql.path = {std::string(m.sql)};
  result.is_aggregate = IsAggregate(m);
  result.summary = SummaryName(method) + "(";
  for (size_t i = 0; i < args.size(); ++i) {
    result.summary += (i == 0 ? "" : ", ") + args[i].summary;
    result.is_aggregate = result.is_aggregate || args[i].is_aggregate;
    result.sql.args.push_back(std::move(args[i].sql));
  }
  result.summary += ")";
  // and(a, b, c): operators have two sides.
  while (m.kind == ExprKind::kBinary && result.sql.args.size() > 2) {
    Expr both = result.sql;
    both.args.assign(result.sql.args.begin(), result.sql.args.begin() + 2);
    result.sql.args.erase(result.sql.args.begin());
    result.sql.args[0] = std::move(both);
  }
  return result;
}

ApiExpr CastExpr(const ApiExpr& value, const LogicalType& type, bool is_try) {
  ApiExpr result = value;
  result.alias.clear();
  result.is_bare = false;
  result.sql = Expr();
  result.sql.kind = ExprKind::kCast;
  result.sql.text = is_try ? "TRY_CAST" : "CAST";
  result.sql.type = type;
  result.sql.args = {value.sql};
  result.summary =
      std::string(is_try ? "tryCast(" : "cast(") + value.summary + ", " + type.ToString() + ")";
  return result;
}

ApiExpr FieldExpr(std::string name) {
  ApiExpr field;
  field.sql.kind = ExprKind::kColumn;
  field.summary = name;
  field.sql.path = {std::move(name)};
  return field;
}

ApiExpr LiteralExpr(ExprKind kind, std::string text, std::string summary) {
  ApiExpr literal;
  literal.sql.kind = kind;
  literal.sql.text = std::move(text);
  literal.summary = std::move(summary);
  return literal;
}

// ---- types -------------------------------------------------------------------------------------

namespace {

bool IsNullWord(const Expr& e) { return e.kind == ExprKind::kKeyword && e.text == "NULL"; }

// concat takes texts only, and its length is that of its first two arguments.
Result<void> ResolveConcat(Expr* e) {
  std::string types;
  bool texts = true;
  bool bytes = true;
  bool nullable = false;
  int64_t length = 0;
  for (size_t i = 0; i < e->args.size(); ++i) {
    const LogicalType& type = e->args[i].result;
    types += (i == 0 ? "" : ", ") + type.ToString();
    if (IsNullWord(e->args[i])) continue;
    texts = texts && type.IsCharacter();
    bytes = bytes && type.IsBytes();
    nullable = nullable || type.nullable();
    if (i < 2) length += type.length();
  }
  if (!texts && !bytes) {
    return std::move(Invalid("Invalid function call:\nconcat(" + types +
                             ")\nCaused by: org.apache.flink.table.api.ValidationException: "
                             "Invalid input arguments. Expected signatures are:\n"
                             "concat(<CHARACTER_STRING>, <CHARACTER_STRING>...)\n"
                             "concat(<BINARY_STRING>, <BINARY_STRING>...)\n"
                             "Caused by: org.apache.flink.table.api.ValidationException: Invalid "
                             "input arguments."))
        .Hint("concat takes texts: write $(\"..\").cast(DataTypes.STRING()) around what is none.");
  }
  const auto most = static_cast<int32_t>(std::min<int64_t>(length, LogicalType::kMaxLength));
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.text = "CAST";
  cast.line = e->line;
  cast.column = e->column;
  cast.type = texts ? LogicalType::VarChar(most) : LogicalType::VarBinary(most);
  cast.result = cast.type.WithNullability(nullable);
  cast.args = {std::move(*e)};
  *e = std::move(cast);
  return {};
}

Result<void> Resolve(Expr* e, const flink::Scope& scope) {
  if (e->kind == ExprKind::kColumn) {
    std::string names;
    for (const auto& [name, type] : scope.columns) {
      if (name == e->path[0]) {
        e->result = type;
        return {};
      }
      names += (names.empty() ? "" : ", ") + name;
    }
    return Invalid("Cannot resolve field [" + e->path[0] + "], input field list:[" + names + "].");
  }
  for (Expr& arg : e->args) DRIFTLESS_TRY(Resolve(&arg, scope));
  if (e->kind == ExprKind::kCall && e->text == "CONCAT") return ResolveConcat(e);
  Expr copy = *e;
  auto type = flink::InferType(&copy, scope);
  if (!type) {
    std::string types;
    for (const Expr& arg : e->args) types += (types.empty() ? "" : ", ") + arg.result.ToString();
    return Invalid("Invalid function call:\n" + e->text + "(" + types +
                   ")\nCaused by: " + type.error().message());
  }
  e->result = *type;
  return {};
}

}  // namespace

Result<void> ResolveExpr(Expr* expr, const flink::Scope& scope) { return Resolve(expr, scope); }

}  // namespace driftless::table_api
