#include "config/relation/evaluate.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "config/expr/eval/program.h"

namespace driftless::flink {

Result<EvaluatedColumn> Evaluate(const Relation& from, const Expr& expr,
                                 const EvalContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(Program program, Program::Compile(expr, context.scope, context.zone));
  const std::vector<ColumnView> views = from.views();
  const ColumnView view = program.Run({from.rows(), views, context.now_micros});
  if (!program.failed_rows().empty()) {
    return MakeError(ErrorKind::kInvalidInput, program.failure()).At(expr.line, expr.column);
  }
  EvaluatedColumn values;
  values.type = program.type();
  values.column.Prepare(values.type, 0);
  if (from.rows() > 0) values.column.AppendRows(values.type, view, 0, from.rows());
  return values;
}

std::vector<size_t> AllColumns(const Relation& relation) {
  std::vector<size_t> columns(relation.fields().size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

int CompareValues(const LogicalType& type, const ColumnView& view, int64_t a, int64_t b) {
  const auto order = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
  switch (type.kind()) {
    case TypeKind::kFloat: return order(view.Fixed<float>(a), view.Fixed<float>(b));
    case TypeKind::kDouble: return order(view.Fixed<double>(a), view.Fixed<double>(b));
    default: break;
  }
  switch (type.physical()) {
    case PhysicalKind::kBit: return order(view.Bit(a), view.Bit(b));
    case PhysicalKind::kFixed8: return order(view.Fixed<int8_t>(a), view.Fixed<int8_t>(b));
    case PhysicalKind::kFixed16: return order(view.Fixed<int16_t>(a), view.Fixed<int16_t>(b));
    case PhysicalKind::kFixed32: return order(view.Fixed<int32_t>(a), view.Fixed<int32_t>(b));
    case PhysicalKind::kFixed64: return order(view.Fixed<int64_t>(a), view.Fixed<int64_t>(b));
    case PhysicalKind::kFixed128: return order(view.Fixed<__int128>(a), view.Fixed<__int128>(b));
    case PhysicalKind::kVariable: return order(view.Bytes(a), view.Bytes(b));
    default: return 0;
  }
}

void SortRows(const Relation& from, const std::vector<SortColumn>& by, std::vector<int64_t>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [&](int64_t a, int64_t b) {
    for (const SortColumn& each : by) {
      const ColumnView view = from.view(each.column);
      if (view.IsNull(a) != view.IsNull(b)) return view.IsNull(a) == each.nulls_first;
      if (view.IsNull(a)) continue;
      const int order = CompareValues(from.fields()[each.column].type, view, a, b);
      if (order != 0) return each.descending ? order > 0 : order < 0;
    }
    return false;
  });
}

}  // namespace driftless::flink
