#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/relation/operators.h"
#include "config/sql/session.h"
#include "config/table_api/java_text.h"
#include "config/table_api/session.h"
#include "config/table_api/value.h"

namespace driftless::table_api {

// Works out the statements of a program; the inside of TableSession.
class Interpreter {
 public:
  explicit Interpreter(TableOptions options);

  Result<std::string> Execute(const Statement& statement);
  Result<std::vector<ApiExpr>> Expressions(const Node& node);

 private:
  // An expression, by what stands in front.
  Result<Value> Evaluate(const Node& node);
  Result<Value> Name(const Node& node);
  Result<Value> New(const Node& node);
  Result<Value> Function(const Node& node);
  Result<Value> Literal(const Node& node);
  Result<Value> OfClass(const std::string& name, const Node& node);
  std::optional<ApiExpr> JavaTime(const std::string& name, const Node& node);
  Result<Value> DataType(const Node& node);
  Result<Value> OfEnvironment(const Node& node);
  Result<Value> OfTable(const Table& table, const Node& node);
  Result<Value> OfGrouped(const Grouped& grouped, const Node& node);
  Result<Value> OfExpr(ApiExpr receiver, const Node& node);

  // Arguments of a call.
  Result<std::string> OnlyText(const Node& node);
  Result<LogicalType> TypeArgument(const Node& node, size_t index);
  Result<Table> TableArgument(const Node& node);
  Result<int64_t> NumberArgument(const Node& node, size_t index);

  // Methods of the environment and of tables.
  Result<Value> ExecuteSql(const std::string& sql);
  Result<Value> SqlQuery(const std::string& sql);
  Result<Value> From(const Node& node);
  Result<Value> FromValuesCall(const Node& node);
  Result<Value> Aliased(const Table& table, const Node& node);
  Result<Value> Joined(const Table& table, flink::JoinKind kind, const Node& node);
  Result<Value> Limited(const Table& table, const Node& node);
  Result<Value> Run(const Table& table) const;
  std::string Print(const flink::Relation& rows) const;

  const TableOptions options_;
  flink::Session session_{{}, flink::Front::kTableEnvironment};
  std::map<std::string, Value> variables_;
  std::map<std::string, Node> methods_;
  std::string printed_;
};

}  // namespace driftless::table_api
