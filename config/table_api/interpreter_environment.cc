#include "config/table_api/interpreter.h"

#include <algorithm>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/relation/print.h"

namespace driftless::table_api {

// Methods of the table environment.
namespace {

Error Invalid(std::string text) {
  return flink::SqlError(flink::kValidationException, std::move(text));
}

}  // namespace

Result<Value> Interpreter::OfEnvironment(const Node& node) {
  if (node.text == "fromValues") return FromValuesCall(node);
  if (node.text == "from") return From(node);
  if (node.text == "executeSql" || node.text == "sqlQuery") {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string sql, OnlyText(node));
    return node.text == "sqlQuery" ? SqlQuery(sql) : ExecuteSql(sql);
  }
  if (node.text == "createTemporaryView" && node.args.size() == 2) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Value name, Evaluate(node.args[0]));
    DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[1]));
    const auto* table = std::get_if<Table>(&value);
    const auto text = TextOf(name);
    if (table == nullptr || !text)
      return Refused("createTemporaryView takes a name and a table", node);
    DRIFTLESS_TRY(session_.AddTemporaryView(flink::Path{*text}, table->rows, table->has_rows));
    return Value(Nothing());
  }
  if (node.text == "listTables") {
    Names names;
    for (const auto& [name, entry] : session_.TablesAndViews()) names.names.push_back(name.object);
    return Value(std::move(names));
  }
  return Refused("tEnv has no method " + node.text + " here", node);
}

Result<Value> Interpreter::ExecuteSql(const std::string& sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<flink::Relation> rows, session_.TryQuery(sql));
  if (rows) return Value(Outcome{Print(*rows)});
  DRIFTLESS_ASSIGN_OR_RETURN(std::string text, session_.Execute(sql));
  return Value(Outcome{std::move(text)});
}

Result<Value> Interpreter::SqlQuery(const std::string& sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::optional<flink::Relation> rows, session_.TryQuery(sql));
  if (!rows) return Invalid("Unsupported SQL query! sqlQuery() only accepts a single SQL query.");
  Table table;
  table.rows = std::move(*rows);
  return Value(std::move(table));
}

Result<Value> Interpreter::From(const Node& node) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, OnlyText(node));
  flink::Path path;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t dot = std::min(text.find('.', begin), text.size());
    path.push_back(text.substr(begin, dot - begin));
    begin = dot + 1;
  }
  const flink::TableEntry* entry = session_.FindTable(path);
  if (entry == nullptr) {
    std::string quoted;
    for (const std::string& part : path) {
      quoted += (quoted.empty() ? "" : ".") + flink::QuoteName(part);
    }
    return Invalid("Table " + quoted + " was not found.");
  }
  Table table;
  if (entry->rows != nullptr) {
    table.rows = *entry->rows;
    return Value(std::move(table));
  }
  std::vector<flink::Field> fields;
  for (const flink::Column& column : entry->columns) fields.push_back({column.name, column.type});
  table.rows = flink::Relation(std::move(fields));
  table.has_rows = false;
  table.entry = std::make_shared<const flink::TableEntry>(*entry);
  return Value(std::move(table));
}

Result<Value> Interpreter::FromValuesCall(const Node& node) {
  std::vector<flink::Field> declared;
  std::vector<std::vector<ApiExpr>> rows;
  for (const Node& arg : node.args) {
    DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(arg));
    if (const auto* type = std::get_if<LogicalType>(&value); type != nullptr && rows.empty()) {
      if (type->kind() == TypeKind::kRow) {
        for (const RowField& field : type->children()) declared.push_back({field.name, field.type});
      } else {
        declared.push_back({"f0", *type});
      }
    } else if (auto* row = std::get_if<Row>(&value)) {
      rows.push_back(std::move(row->values));
    } else if (auto* expr = std::get_if<ApiExpr>(&value)) {
      rows.push_back({std::move(*expr)});
    } else {
      return Refused("fromValues takes rows, not " + KindOf(value), arg);
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Table table, FromValues(declared, rows));
  return Value(std::move(table));
}

}  // namespace driftless::table_api
