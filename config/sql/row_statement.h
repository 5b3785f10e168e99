#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/sql/statement.h"
#include "schema/base/result.h"

namespace driftless::flink {

// INSERT INTO t [(a, b)] VALUES (..), ..; UPDATE t SET a = .. [WHERE ..]; DELETE FROM t [WHERE ..].
struct RowStatement {
  enum class Kind : uint8_t { kInsert, kUpdate, kDelete } kind = Kind::kInsert;
  Path table;
  std::vector<NameAt> columns;          // kInsert: empty where not given; kUpdate: what is set
  std::vector<std::vector<Expr>> rows;  // kUpdate: one row, the new values
  std::optional<Expr> where;
};

// Errors: in Flink's words, with line and column; kUnsupported for INSERT of a query.
Result<RowStatement> ParseRowStatement(std::string_view sql);

}  // namespace driftless::flink
