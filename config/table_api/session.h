#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/sql/session.h"
#include "config/table_api/java_text.h"
#include "config/table_api/table.h"

namespace driftless::table_api {

struct TableOptions {
  bool batch = false;  // else streaming: print() shows the op of every row
  SchemaStyle schema_style = SchemaStyle::kResolved;
};

// Executes statements of a Java program that uses the Table API. One thread.
class TableSession {
 public:
  explicit TableSession(TableOptions options);
  ~TableSession();

  // Executes one statement and returns what it prints. Errors: "<exception class>: <message>" as
  // Flink has them, causes in lines that begin with "Caused by: "; other kinds for what Java itself
  // would refuse. With line and column.
  Result<std::string> Execute(const Statement& statement);

  // The arguments of a call as expressions over columns. Errors: as above.
  Result<std::vector<ApiExpr>> Arguments(const Node& call);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless::table_api
