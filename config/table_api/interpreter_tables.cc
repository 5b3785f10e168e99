#include "config/table_api/interpreter.h"

#include <algorithm>
#include <utility>

#include "config/options/suggest.h"
#include "config/relation/print.h"

namespace driftless::table_api {

// Methods of tables and grouped tables.
namespace {

constexpr std::string_view kTableMethods[] = {"as",
                                              "addColumns",
                                              "addOrReplaceColumns",
                                              "renameColumns",
                                              "dropColumns",
                                              "select",
                                              "where",
                                              "filter",
                                              "groupBy",
                                              "orderBy",
                                              "limit",
                                              "offset",
                                              "fetch",
                                              "join",
                                              "leftOuterJoin",
                                              "union",
                                              "unionAll",
                                              "intersect",
                                              "minus",
                                              "distinct",
                                              "printSchema",
                                              "execute"};

// Methods that take expressions and give a table.
Result<Table> Changed(const Table& table, const Node& node, const std::vector<ApiExpr>& exprs) {
  const std::string& method = node.text;
  if (method == "select") return Select(table, exprs);
  if (method == "addColumns") return AddColumns(table, exprs, false);
  if (method == "addOrReplaceColumns") return AddColumns(table, exprs, true);
  if (method == "renameColumns") return RenameColumns(table, exprs);
  if (method == "dropColumns") return DropColumns(table, exprs);
  if ((method == "where" || method == "filter") && exprs.size() == 1) return Where(table, exprs[0]);
  if (method == "orderBy") return OrderBy(table, exprs);
  return std::move(Refused("a table has no method " + method + " here", node))
      .Hint(Suggest(method, kTableMethods));
}

}  // namespace

Result<Value> Interpreter::OfTable(const Table& table, const Node& node) {
  const std::string& method = node.text;
  if (method == "printSchema") {
    printed_ += SchemaText(table, options_.schema_style);
    return Value(Nothing());
  }
  if (method == "execute") return Run(table);
  if (method == "as") return Aliased(table, node);
  if (method == "distinct") {
    Table distinct = table;
    distinct.rows = flink::Distinct(table.rows);
    return Value(std::move(distinct));
  }
  if (method == "limit" || method == "fetch" || method == "offset") return Limited(table, node);
  for (const auto& [name, operation] : {std::pair("union", flink::SetOperation::kUnion),
                                        std::pair("unionAll", flink::SetOperation::kUnionAll),
                                        std::pair("intersect", flink::SetOperation::kIntersect),
                                        std::pair("minus", flink::SetOperation::kExcept)}) {
    if (method != name) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const Table other, TableArgument(node));
    const std::string word = method == "unionAll" ? "union" : method;
    DRIFTLESS_ASSIGN_OR_RETURN(Table made, CombineTables(table, other, operation, word));
    return Value(std::move(made));
  }
  for (const auto& [name, kind] : {std::pair("join", flink::JoinKind::kInner),
                                   std::pair("leftOuterJoin", flink::JoinKind::kLeft),
                                   std::pair("rightOuterJoin", flink::JoinKind::kRight),
                                   std::pair("fullOuterJoin", flink::JoinKind::kFull)}) {
    if (method == name) return Joined(table, kind, node);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ApiExpr> exprs, Expressions(node));
  if (method == "groupBy") return Value(Grouped{table, std::move(exprs)});
  auto made = Changed(table, node, exprs);
  if (made) return Value(std::move(*made));
  if (made.error().line() > 0) return std::move(made.error());
  return std::move(made.error()).At(node.line, node.column);
}

Result<Value> Interpreter::Aliased(const Table& table, const Node& node) {
  std::vector<std::string> names;
  for (const Node& arg : node.args) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(arg));
    const auto text = TextOf(value);
    const auto* expr = std::get_if<ApiExpr>(&value);
    if (!text && (expr == nullptr || !expr->field())) {
      return Refused("as takes names in double quotes", arg);
    }
    names.push_back(text ? *text : *expr->field());
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Table named, As(table, names));
  return Value(std::move(named));
}

Result<Value> Interpreter::Joined(const Table& table, flink::JoinKind kind, const Node& node) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Table other, TableArgument(node));
  std::optional<ApiExpr> on;
  if (node.args.size() > 1) {
    DRIFTLESS_ASSIGN_OR_RETURN(Value condition, Evaluate(node.args[1]));
    auto* expr = std::get_if<ApiExpr>(&condition);
    if (expr == nullptr) return Refused("join takes a table and a condition", node);
    on = std::move(*expr);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Table made, JoinTables(table, other, kind, on));
  return Value(std::move(made));
}

Result<Value> Interpreter::Limited(const Table& table, const Node& node) {
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t first, NumberArgument(node, 0));
  Table limited = table;
  limited.entry.reset();
  if (node.text == "offset") {
    limited.rows = flink::Limit(table.rows, first, std::nullopt);
  } else if (node.args.size() > 1) {
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t fetch, NumberArgument(node, 1));
    limited.rows = flink::Limit(table.rows, first, fetch);
  } else {
    limited.rows = flink::Limit(table.rows, 0, first);
  }
  return Value(std::move(limited));
}

Result<Value> Interpreter::OfGrouped(const Grouped& grouped, const Node& node) {
  if (node.text != "select") return Refused("a grouped table has only select(..)", node);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ApiExpr> items, Expressions(node));
  DRIFTLESS_ASSIGN_OR_RETURN(Table made, SelectAggregates(grouped.table, grouped.keys, items));
  return Value(std::move(made));
}

std::string Interpreter::Print(const flink::Relation& rows) const {
  return PrintRelation(rows, {.widths = flink::PrintWidths::kOfTypes, .with_op = !options_.batch});
}

Result<Value> Interpreter::Run(const Table& table) const {
  if (!table.has_rows) {
    return MakeError(ErrorKind::kUnsupported,
                     "the rows of this table come from a connector, which is not read here")
        .Hint("Run it on Flink, or make the rows with fromValues(..).");
  }
  return Value(Outcome{Print(table.rows)});
}

}  // namespace driftless::table_api
