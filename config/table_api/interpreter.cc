#include "config/table_api/interpreter.h"

#include <utility>

#include "config/options/suggest.h"

namespace driftless::table_api {

using flink::ExprKind;

Interpreter::Interpreter(TableOptions options) : options_(options) {
  if (options_.batch) (void)session_.Execute("SET 'execution.runtime-mode' = 'batch'");
}

Result<std::string> Interpreter::Execute(const Statement& statement) {
  printed_.clear();
  if (statement.is_method) {
    methods_[statement.variable] = statement.value;
    return std::string();
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(statement.value));
  if (!statement.variable.empty()) variables_[statement.variable] = std::move(value);
  return printed_;
}

Result<Value> Interpreter::Evaluate(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kString: {
      ApiExpr text = LiteralExpr(ExprKind::kString, node.text, "'" + node.text + "'");
      return Bare(std::move(text), node);
    }
    case Node::Kind::kNumber: return NumberOf(node);
    case Node::Kind::kNew: return New(node);
    case Node::Kind::kName: return Name(node);
    case Node::Kind::kCall: break;
  }
  if (node.receiver == nullptr) return Function(node);
  const std::string front = DottedName(*node.receiver);
  if (!front.empty() && !variables_.contains(front)) {
    if (front == "tEnv" || front == "tableEnv") return OfEnvironment(node);
    const bool is_class =
        front.find('.') != std::string::npos || (front[0] >= 'A' && front[0] <= 'Z');
    if (is_class) return OfClass(front, node);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Value receiver, Evaluate(*node.receiver));
  if (auto* table = std::get_if<Table>(&receiver)) return OfTable(*table, node);
  if (auto* grouped = std::get_if<Grouped>(&receiver)) return OfGrouped(*grouped, node);
  if (auto* expr = std::get_if<ApiExpr>(&receiver)) return OfExpr(std::move(*expr), node);
  if (auto* type = std::get_if<LogicalType>(&receiver)) {
    if (node.text == "notNull") return Value(type->NotNull());
    if (node.text == "nullable") return Value(type->Nullable());
  }
  if (const auto* outcome = std::get_if<Outcome>(&receiver); outcome && node.text == "print") {
    printed_ += outcome->text;
    return Value(Nothing());
  }
  return Refused(KindOf(receiver) + " has no method " + node.text, node);
}

Result<Value> Interpreter::Name(const Node& node) {
  if (node.receiver == nullptr) {
    const auto found = variables_.find(node.text);
    if (found != variables_.end()) return found->second;
    if (node.text == "tEnv" || node.text == "tableEnv") return Value(Environment());
    if (node.text == "true" || node.text == "false") {
      return Bare(
          LiteralExpr(ExprKind::kKeyword, node.text == "true" ? "TRUE" : "FALSE", node.text), node);
    }
    if (node.text == "null") return Bare(LiteralExpr(ExprKind::kKeyword, "NULL", "null"), node);
    std::vector<std::string_view> known = {"tEnv"};
    for (const auto& [name, value] : variables_) known.push_back(name);
    return std::move(Refused("there is no variable " + node.text, node))
        .Hint(Suggest(node.text, known));
  }
  return Refused("there is no " + node.text + " here", node);
}

Result<Value> Interpreter::New(const Node& node) {
  if (node.text == "java.math.BigDecimal" || node.text == "BigDecimal") {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, OnlyText(node));
    ApiExpr number = LiteralExpr(ExprKind::kNumber, text, text);
    if (text.empty() || text.find_first_not_of("0123456789.") != std::string::npos) {
      return Refused("'" + text + "' is no decimal number that is understood here", node);
    }
    return Bare(std::move(number), node);
  }
  return Refused("there is no class " + node.text + " here", node);
}

Result<std::vector<ApiExpr>> Interpreter::Expressions(const Node& node) {
  std::vector<ApiExpr> exprs;
  for (const Node& arg : node.args) {
    DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(arg));
    auto* expr = std::get_if<ApiExpr>(&value);
    if (expr == nullptr) {
      return Refused(node.text + " takes expressions, not " + KindOf(value), arg);
    }
    exprs.push_back(std::move(*expr));
  }
  return exprs;
}

Result<std::string> Interpreter::OnlyText(const Node& node) {
  if (node.args.size() == 1) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[0]));
    if (const auto text = TextOf(value)) return *text;
  }
  return Refused(node.text + " takes one text in double quotes", node);
}

Result<LogicalType> Interpreter::TypeArgument(const Node& node, size_t index) {
  if (index < node.args.size()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[index]));
    if (const auto* type = std::get_if<LogicalType>(&value)) return *type;
  }
  return std::move(Refused(node.text + " takes a data type", node))
      .Hint("Write DataTypes.STRING(), DataTypes.INT() and so on.");
}

Result<Table> Interpreter::TableArgument(const Node& node) {
  if (!node.args.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(node.args[0]));
    if (auto* table = std::get_if<Table>(&value)) return std::move(*table);
  }
  return Refused(node.text + " takes a table", node);
}

Result<int64_t> Interpreter::NumberArgument(const Node& node, size_t index) {
  if (index < node.args.size()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[index]));
    if (const auto number = IntegerOf(value)) return *number;
  }
  return Refused(node.text + " takes a number", node);
}

}  // namespace driftless::table_api
