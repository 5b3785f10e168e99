#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/relation/relation.h"
#include "config/table_api/api_expr.h"
#include "config/table_api/java_text.h"
#include "config/table_api/table.h"

// What a Java expression of a program can be.
namespace driftless::table_api {

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

// "a table", as messages call it.
std::string KindOf(const Value& value);
// The text in double quotes, or the whole number, that stands bare; nothing: the value is none.
std::optional<std::string> TextOf(const Value& value);
std::optional<int64_t> IntegerOf(const Value& value);
// A Java literal, with its place.
Value Bare(ApiExpr expr, const Node& node);
// "12_000L", "-1.5f". Errors: kRefused.
Result<Value> NumberOf(const Node& node);

// What Java's compiler would refuse, at its place.
Error Refused(std::string text, const Node& at);

}  // namespace driftless::table_api
