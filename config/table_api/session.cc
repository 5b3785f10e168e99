#include "config/table_api/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/options/suggest.h"
#include "config/relation/print.h"
#include "config/table_api/data_types.h"

namespace driftless::table_api {
namespace {

using flink::ExprKind;

Error Invalid(std::string text) {
  return flink::SqlError(flink::kValidationException, std::move(text));
}
Error Refused(std::string text, const Node& at) {
  return MakeError(ErrorKind::kRefused, std::move(text)).At(at.line, at.column);
}

struct Environment {};  // tEnv
struct Row {
  std::vector<ApiExpr> values;
};
struct Grouped {
  Table table;
  std::vector<ApiExpr> keys;
};
struct Field {  // DataTypes.FIELD(name, type)
  flink::Field field;
};
struct Outcome {  // of execute() and executeSql(): what print() prints
  std::string text;
};
struct Names {
  std::vector<std::string> names;
};
struct Nothing {};
using Value = std::variant<Nothing, Environment, Table, Grouped, ApiExpr, LogicalType, Field, Row,
                           Outcome, Names>;

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

std::string KindOf(const Value& value) {
  static constexpr std::string_view kKinds[] = {"nothing",       "a table environment",
                                                "a table",       "a grouped table",
                                                "an expression", "a type",
                                                "a field",       "a row",
                                                "a result",      "names"};
  return std::string(kKinds[value.index()]);
}

// "value" of a Java text that stands bare.
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

}  // namespace

struct TableSession::Impl {
  explicit Impl(TableOptions given) : options(given) {
    if (options.batch) {
      (void)session.Execute("SET 'execution.runtime-mode' = 'batch'");
    }
  }

  // ---- statements ------------------------------------------------------------------------------

  Result<std::string> Execute(const Statement& statement) {
    printed.clear();
    if (statement.is_method) {
      methods[statement.variable] = statement.value;
      return std::string();
    }
    DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(statement.value));
    if (!statement.variable.empty()) variables[statement.variable] = std::move(value);
    return printed;
  }

  Result<Value> Evaluate(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kString: {
        ApiExpr text = LiteralExpr(ExprKind::kString, node.text, "'" + node.text + "'");
        return Bare(std::move(text), node);
      }
      case Node::Kind::kNumber: return Number(node);
      case Node::Kind::kNew: return New(node);
      case Node::Kind::kName: return Name(node);
      case Node::Kind::kCall: break;
    }
    if (node.receiver == nullptr) return Function(node);
    const std::string front = DottedName(*node.receiver);
    if (!front.empty() && !variables.contains(front)) {
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
      printed += outcome->text;
      return Value(Nothing());
    }
    return Refused(KindOf(receiver) + " has no method " + node.text, node);
  }

  static Value Bare(ApiExpr expr, const Node& node) {
    expr.is_bare = true;
    expr.sql.line = node.line;
    expr.sql.column = node.column;
    return expr;
  }

  static Result<Value> Number(const Node& node) {
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

  Result<Value> Name(const Node& node) {
    if (node.receiver == nullptr) {
      const auto found = variables.find(node.text);
      if (found != variables.end()) return found->second;
      if (node.text == "tEnv" || node.text == "tableEnv") return Value(Environment());
      if (node.text == "true" || node.text == "false") {
        return Bare(
            LiteralExpr(ExprKind::kKeyword, node.text == "true" ? "TRUE" : "FALSE", node.text),
            node);
      }
      if (node.text == "null") return Bare(LiteralExpr(ExprKind::kKeyword, "NULL", "null"), node);
      std::vector<std::string_view> known = {"tEnv"};
      for (const auto& [name, value] : variables) known.push_back(name);
      return std::move(Refused("there is no variable " + node.text, node))
          .Hint(Suggest(node.text, known));
    }
    return Refused("there is no " + node.text + " here", node);
  }

  Result<Value> New(const Node& node) {
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

  // ---- functions and classes -------------------------------------------------------------------

  Result<std::vector<ApiExpr>> Expressions(const Node& node) {
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

  Result<std::string> OnlyText(const Node& node) {
    if (node.args.size() == 1) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[0]));
      if (const auto text = TextOf(value)) return *text;
    }
    return Refused(node.text + " takes one text in double quotes", node);
  }

  Result<Value> Function(const Node& node) {
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
    if (const auto method = methods.find(node.text); method != methods.end()) {
      return Evaluate(method->second);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ApiExpr> args, Expressions(node));
    DRIFTLESS_ASSIGN_OR_RETURN(ApiExpr made,
                               CallMethod(node.text, std::move(args), node.line, node.column));
    return Value(std::move(made));
  }

  Result<Value> Literal(const Node& node) {
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

  Result<LogicalType> TypeArgument(const Node& node, size_t index) {
    if (index < node.args.size()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[index]));
      if (const auto* type = std::get_if<LogicalType>(&value)) return *type;
    }
    return std::move(Refused(node.text + " takes a data type", node))
        .Hint("Write DataTypes.STRING(), DataTypes.INT() and so on.");
  }

  Result<Value> OfClass(const std::string& name, const Node& node) {
    if (name == "Expressions") {
      Node bare = node;
      bare.receiver.reset();
      return Function(bare);
    }
    if (name == "DataTypes") return DataType(node);
    if (name == "System.out" && node.text.starts_with("print")) {
      for (const Node& arg : node.args) {
        DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(arg));
        if (const auto* outcome = std::get_if<Outcome>(&value)) printed += outcome->text;
        if (const auto text = TextOf(value)) printed += *text;
      }
      if (node.text == "println") printed += "\n";
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
  std::optional<ApiExpr> JavaTime(const std::string& name, const Node& node) {
    const std::string plain = name.starts_with("java.time.") ? name.substr(10) : name;
    const bool date = plain == "LocalDate";
    const bool time = plain == "LocalTime";
    if (!date && !time && plain != "LocalDateTime") return std::nullopt;
    std::string text;
    if (node.text == "parse") {
      const auto given = OnlyText(node);
      if (!given) return std::nullopt;
      text = *given;
      std::replace(text.begin(), text.end(), 'T', ' ');
    } else if (node.text == "of") {
      std::vector<int64_t> numbers;
      for (const Node& arg : node.args) {
        const auto value = Evaluate(arg);
        const auto number = value ? IntegerOf(*value) : std::nullopt;
        if (!number) return std::nullopt;
        numbers.push_back(*number);
      }
      const auto two = [](int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
      size_t at = 0;
      if (!time) {
        if (numbers.size() < 3) return std::nullopt;
        std::string year = std::to_string(numbers[0]);
        year.insert(0, year.size() < 4 ? 4 - year.size() : 0, '0');
        text = year + "-" + two(numbers[1]) + "-" + two(numbers[2]);
        at = 3;
      }
      if (!date) {
        if (numbers.size() < at + 2) return std::nullopt;
        text += (time ? "" : " ") + two(numbers[at]) + ":" + two(numbers[at + 1]) + ":" +
                two(numbers.size() > at + 2 ? numbers[at + 2] : 0);
      }
    } else {
      return std::nullopt;
    }
    ApiExpr literal = LiteralExpr(ExprKind::kTyped,
                                  date   ? "DATE"
                                  : time ? "TIME"
                                         : "TIMESTAMP",
                                  text);
    literal.sql.path = {text};
    return literal;
  }

  Result<Value> DataType(const Node& node) {
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

  // ---- the environment -------------------------------------------------------------------------

  Result<Value> OfEnvironment(const Node& node) {
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
      DRIFTLESS_TRY(session.AddTemporaryView(flink::Path{*text}, table->rows, table->has_rows));
      return Value(Nothing());
    }
    if (node.text == "listTables") {
      Names names;
      for (const auto& [name, entry] : session.TablesAndViews()) names.names.push_back(name.object);
      return Value(std::move(names));
    }
    return Refused("tEnv has no method " + node.text + " here", node);
  }

  Result<Value> ExecuteSql(const std::string& sql) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<flink::Relation> rows, session.TryQuery(sql));
    if (rows) return Value(Outcome{Print(*rows)});
    DRIFTLESS_ASSIGN_OR_RETURN(std::string text, session.Execute(sql));
    return Value(Outcome{std::move(text)});
  }

  Result<Value> SqlQuery(const std::string& sql) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<flink::Relation> rows, session.TryQuery(sql));
    if (!rows) return Invalid("Unsupported SQL query! sqlQuery() only accepts a single SQL query.");
    Table table;
    table.rows = std::move(*rows);
    return Value(std::move(table));
  }

  Result<Value> From(const Node& node) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, OnlyText(node));
    flink::Path path;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t dot = std::min(text.find('.', begin), text.size());
      path.push_back(text.substr(begin, dot - begin));
      begin = dot + 1;
    }
    const flink::TableEntry* entry = session.FindTable(path);
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

  Result<Value> FromValuesCall(const Node& node) {
    std::vector<flink::Field> declared;
    std::vector<std::vector<ApiExpr>> rows;
    for (const Node& arg : node.args) {
      DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(arg));
      if (const auto* type = std::get_if<LogicalType>(&value); type != nullptr && rows.empty()) {
        if (type->kind() == TypeKind::kRow) {
          for (const RowField& field : type->children())
            declared.push_back({field.name, field.type});
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

  // ---- tables ----------------------------------------------------------------------------------

  Result<Table> TableArgument(const Node& node) {
    if (!node.args.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(Value value, Evaluate(node.args[0]));
      if (auto* table = std::get_if<Table>(&value)) return std::move(*table);
    }
    return Refused(node.text + " takes a table", node);
  }

  Result<int64_t> NumberArgument(const Node& node, size_t index) {
    if (index < node.args.size()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Value value, Evaluate(node.args[index]));
      if (const auto number = IntegerOf(value)) return *number;
    }
    return Refused(node.text + " takes a number", node);
  }

  Result<Value> Aliased(const Table& table, const Node& node) {
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

  Result<Value> OfTable(const Table& table, const Node& node) {
    const std::string& method = node.text;
    if (method == "printSchema") {
      printed += SchemaText(table, options.schema_style);
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
    Result<Table> made = MakeError(ErrorKind::kInternal, "");
    if (method == "select") {
      made = Select(table, exprs);
    } else if (method == "addColumns") {
      made = AddColumns(table, exprs, false);
    } else if (method == "addOrReplaceColumns") {
      made = AddColumns(table, exprs, true);
    } else if (method == "renameColumns") {
      made = RenameColumns(table, exprs);
    } else if (method == "dropColumns") {
      made = DropColumns(table, exprs);
    } else if ((method == "where" || method == "filter") && exprs.size() == 1) {
      made = Where(table, exprs[0]);
    } else if (method == "orderBy") {
      made = OrderBy(table, exprs);
    } else {
      return std::move(Refused("a table has no method " + method + " here", node))
          .Hint(Suggest(method, kTableMethods));
    }
    if (!made) {
      if (made.error().line() > 0) return std::move(made.error());
      return std::move(made.error()).At(node.line, node.column);
    }
    return Value(std::move(*made));
  }

  Result<Value> Joined(const Table& table, flink::JoinKind kind, const Node& node) {
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

  Result<Value> Limited(const Table& table, const Node& node) {
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

  Result<Value> OfGrouped(const Grouped& grouped, const Node& node) {
    if (node.text != "select") return Refused("a grouped table has only select(..)", node);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ApiExpr> items, Expressions(node));
    DRIFTLESS_ASSIGN_OR_RETURN(Table made, SelectAggregates(grouped.table, grouped.keys, items));
    return Value(std::move(made));
  }

  std::string Print(const flink::Relation& rows) const {
    return PrintRelation(rows, {.widths = flink::PrintWidths::kOfTypes, .with_op = !options.batch});
  }

  Result<Value> Run(const Table& table) const {
    if (!table.has_rows) {
      return MakeError(ErrorKind::kUnsupported,
                       "the rows of this table come from a connector, which is not read here")
          .Hint("Run it on Flink, or make the rows with fromValues(..).");
    }
    return Value(Outcome{Print(table.rows)});
  }

  // ---- expressions -----------------------------------------------------------------------------

  Result<Value> OfExpr(ApiExpr receiver, const Node& node) {
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

  const TableOptions options;
  flink::Session session{{}, flink::Front::kTableEnvironment};
  std::map<std::string, Value> variables;
  std::map<std::string, Node> methods;
  std::string printed;
};

TableSession::TableSession(TableOptions options) : impl_(std::make_unique<Impl>(options)) {}
TableSession::~TableSession() = default;

Result<std::string> TableSession::Execute(const Statement& statement) {
  return impl_->Execute(statement);
}

Result<std::vector<ApiExpr>> TableSession::Arguments(const Node& call) {
  return impl_->Expressions(call);
}

}  // namespace driftless::table_api
