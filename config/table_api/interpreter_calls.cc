#include "config/table_api/interpreter.h"

#include <algorithm>
#include <utility>

#include "config/table_api/data_types.h"

namespace driftless::table_api {

// Functions, static methods of classes, and methods of expressions.
using flink::ExprKind;

namespace {

// "2031-04-05 06:07:08" of the numbers that LocalDateTime.of(..) takes; nothing: too few of them.
std::optional<std::string> TimeText(const std::vector<int64_t>& numbers, bool has_date,
                                    bool has_time) {
  const auto two = [](int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  std::string text;
  size_t at = 0;
  if (has_date) {
    if (numbers.size() < 3) return std::nullopt;
    text = std::to_string(numbers[0]);
    text.insert(0, text.size() < 4 ? 4 - text.size() : 0, '0');
    text += "-" + two(numbers[1]) + "-" + two(numbers[2]);
    at = 3;
  }
  if (!has_time) return text;
  if (numbers.size() < at + 2) return std::nullopt;
  const int64_t seconds = numbers.size() > at + 2 ? numbers[at + 2] : 0;
  return text + (has_date ? " " : "") + two(numbers[at]) + ":" + two(numbers[at + 1]) + ":" +
         two(seconds);
}

}  // namespace

Result<Value> Interpreter::Function(const Node& node) {
  if (node.text == "$" || node.text == "col") {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, OnlyText(node));
    ApiExpr field = FieldExpr(std::move(name));
    field.sql.line = node.line;
    field.sql.column = node.column;
    return Value(std::move(field));
  }
  if (node.text == "lit") return Literal(node);
  if (node.text == "nullOf") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, TypeArgument(node, 0));
    return Value(CastExpr(LiteralExpr(ExprKind::kKeyword, "NULL", "null"), type, false));
  }
  if (node.text == "row") {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ApiExpr> values, Expressions(node));
    return Value(Row{std::move(values)});
  }
  if (node.text == "fromValues") return FromValuesCall(node);
  if (node.text == "from") return From(node);
  if (const auto method = methods_.find(node.text); method != methods_.end()) {
    return Evaluate(method->second);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ApiExpr> args, Expressions(node));
  DRIFTLESS_ASSIGN_OR_RETURN(ApiExpr made,
                             CallMethod(node.text, std::move(args), node.line, node.column));
  return Value(std::move(made));
}

Result<Value> Interpreter::Literal(const Node& node) {
  if (node.args.empty() || node.args.size() > 2) {
    return Refused("lit takes a value, and a type where the value does not tell it", node);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(node.args[0]));
  auto* expr = std::get_if<ApiExpr>(&value);
  if (expr == nullptr) return Refused("lit takes a Java value, not " + KindOf(value), node);
  if (node.args.size() == 2) {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, TypeArgument(node, 1));
    return Value(CastExpr(*expr, type, false));
  }
  if (expr->sql.kind == ExprKind::kKeyword && expr->sql.text == "NULL") {
    return std::move(Refused("a null has no type of its own", node))
        .Hint("Write lit(null, DataTypes.STRING()).");
  }
  expr->is_bare = false;
  return Value(std::move(*expr));
}

Result<Value> Interpreter::OfClass(const std::string& name, const Node& node) {
  if (name == "Expressions") {
    Node bare = node;
    bare.receiver.reset();
    return Function(bare);
  }
  if (name == "DataTypes") return DataType(node);
  if (name == "System.out" && node.text.starts_with("print")) {
    for (const Node& arg : node.args) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(arg));
      if (const auto* outcome = std::get_if<Outcome>(&value)) printed_ += outcome->text;
      if (const auto text = TextOf(value)) printed_ += *text;
    }
    if (node.text == "println") printed_ += "\n";
    return Value(Nothing());
  }
  if ((name == "java.util.Arrays" || name == "Arrays") && node.args.size() == 1) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[0]));
    if (const auto* names = std::get_if<Names>(&value)) {
      std::string text;
      for (const std::string& each : names->names) text += (text.empty() ? "" : ", ") + each;
      return Value(Outcome{"[" + text + "]"});
    }
  }
  if (const auto value = JavaTime(name, node)) return Bare(*value, node);
  return Refused("there is no " + name + "." + node.text + " here", node);
}

// LocalDate.of(2031, 4, 5) and LocalDate.parse("2031-04-05"); LocalTime and LocalDateTime too.
std::optional<ApiExpr> Interpreter::JavaTime(const std::string& name, const Node& node) {
  const std::string plain = name.starts_with("java.time.") ? name.substr(10) : name;
  const bool is_date = plain == "LocalDate";
  const bool is_time = plain == "LocalTime";
  if (!is_date && !is_time && plain != "LocalDateTime") return std::nullopt;
  std::optional<std::string> text;
  if (node.text == "parse") {
    const auto given = OnlyText(node);
    if (!given) return std::nullopt;
    text = *given;
    std::replace(text->begin(), text->end(), 'T', ' ');
  } else if (node.text == "of") {
    std::vector<int64_t> numbers;
    for (const Node& arg : node.args) {
      const auto value = Evaluate(arg);
      const auto number = value ? IntegerOf(*value) : std::nullopt;
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    text = TimeText(numbers, !is_time, !is_date);
  }
  if (!text) return std::nullopt;
  const char* word = is_date ? "DATE" : is_time ? "TIME" : "TIMESTAMP";
  ApiExpr literal = LiteralExpr(ExprKind::kTyped, word, *text);
  literal.sql.path = {*text};
  return literal;
}

Result<Value> Interpreter::DataType(const Node& node) {
  if (node.text == "FIELD") {
    if (node.args.size() < 2) return Refused("FIELD takes a name and a type", node);
    DRIFTLESS_ASSIGN_OR_RETURN(const Value name, Evaluate(node.args[0]));
    const auto text = TextOf(name);
    if (!text) return Refused("FIELD takes a name and a type", node);
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, TypeArgument(node, 1));
    return Value(Field{{*text, type}});
  }
  std::vector<TypeArgumentValue> args;
  for (const Node& arg : node.args) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(arg));
    TypeArgumentValue given;
    if (const auto* type = std::get_if<LogicalType>(&value)) given.type = *type;
    if (const auto* field = std::get_if<Field>(&value)) given.field = field->field;
    given.number = IntegerOf(value);
    args.push_back(std::move(given));
  }
  auto type = MakeDataType(node.text, args);
  if (!type) return std::move(type.error()).At(node.line, node.column);
  return Value(std::move(*type));
}

Result<Value> Interpreter::OfExpr(ApiExpr receiver, const Node& node) {
  const std::string& method = node.text;
  if (receiver.is_bare) {
    return std::move(Refused("a Java value has no method " + method, node))
        .Hint("Write lit(" + receiver.summary + ")." + method + "(..).");
  }
  if (method == "as") {
    DRIFTLESS_ASSIGN_OR_RETURN(receiver.alias, OnlyText(node));
    return Value(std::move(receiver));
  }
  if (method == "asc" || method == "desc") {
    receiver.descending = method == "desc";
    return Value(std::move(receiver));
  }
  if (method == "cast" || method == "tryCast") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, TypeArgument(node, 0));
    return Value(CastExpr(receiver, type, method == "tryCast"));
  }
  std::vector<ApiExpr> args;
  args.push_back(std::move(receiver));
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ApiExpr> more, Expressions(node));
  for (ApiExpr& arg : more) args.push_back(std::move(arg));
  DRIFTLESS_ASSIGN_OR_RETURN(ApiExpr made,
                             CallMethod(method, std::move(args), node.line, node.column));
  return Value(std::move(made));
}

}  // namespace driftless::table_api
