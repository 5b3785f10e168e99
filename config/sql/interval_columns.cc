#include "config/sql/interval_columns.h"

#include "config/expr/eval/interval.h"

namespace driftless::flink {

Result<void> CheckNoIntervals(const Query& query) {
  for (const auto& side : {query.left, query.right}) {
    if (side != nullptr) DRIFTLESS_TRY(CheckNoIntervals(*side));
  }
  const auto check = [](const Expr& expr) -> Result<void> {
    if (!IsInterval(expr)) return {};
    return std::move(MakeError(ErrorKind::kUnsupported,
                               "a column of the query is an INTERVAL, which no table keeps here")
                         .At(expr.line, expr.column))
        .Hint("Write CAST(.. AS STRING), or run the statement on Apache Flink.");
  };
  for (const SelectItem& item : query.items) DRIFTLESS_TRY(check(item.expr));
  for (const std::vector<Expr>& row : query.rows) {
    for (const Expr& value : row) DRIFTLESS_TRY(check(value));
  }
  return {};
}

}  // namespace driftless::flink
