#include "config/relation/operators.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "config/relation/evaluate.h"

namespace driftless::flink {
namespace {

Expr CastTo(const LogicalType& type, const Expr& value) {
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.text = "CAST";
  cast.type = type;
  cast.args = {value};
  cast.line = value.line;
  cast.column = value.column;
  return cast;
}

// The relation with its columns cast; types that are the same stay.
Result<Relation> CastColumns(const Relation& from, const std::vector<LogicalType>& types) {
  EvalContext context = ContextOf(from);
  std::vector<NamedExpr> items;
  for (size_t i = 0; i < types.size(); ++i) {
    // Two fields may have one name: they are told apart by their number here.
    context.scope.columns[i].first = "$" + std::to_string(i);
    NamedExpr item;
    item.name = from.fields()[i].name;
    item.expr.kind = ExprKind::kColumn;
    item.expr.path = {context.scope.columns[i].first};
    if (!types[i].EqualsIgnoringNullability(from.fields()[i].type)) item.type = types[i];
    items.push_back(std::move(item));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Relation cast, Project(from, items, context));
  for (size_t i = 0; i < types.size(); ++i) cast.fields()[i].type = types[i];
  return cast;
}

}  // namespace

EvalContext ContextOf(const Relation& relation) {
  EvalContext context;
  for (const Field& field : relation.fields()) {
    context.scope.columns.emplace_back(field.name, field.type);
  }
  return context;
}

Result<Relation> Project(const Relation& from, const std::vector<NamedExpr>& items,
                         const EvalContext& context) {
  Relation to;
  for (const NamedExpr& item : items) {
    const Expr expr = item.type ? CastTo(*item.type, item.expr) : item.expr;
    DRIFTLESS_ASSIGN_OR_RETURN(EvaluatedColumn values, Evaluate(from, expr, context));
    to.AddColumn({item.name, item.type.value_or(values.type)}, std::move(values.column));
  }
  to.SetRows(from.rows());
  return to;
}

Result<Relation> Filter(const Relation& from, const Expr& condition, const EvalContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(const EvaluatedColumn holds, Evaluate(from, condition, context));
  const ColumnView view = holds.column.view();
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < from.rows(); ++row) {
    if (!view.IsNull(row) && view.Bit(row)) rows.push_back(row);
  }
  return from.Take(rows);
}

Result<Relation> Join(const Relation& left, const Relation& right, JoinKind kind,
                      const std::optional<Expr>& on, const EvalContext& context) {
  std::vector<int64_t> left_rows;
  std::vector<int64_t> right_rows;
  std::vector<bool> right_used(static_cast<size_t>(right.rows()), false);
  const bool keeps_left = kind == JoinKind::kLeft || kind == JoinKind::kFull;
  const bool keeps_right = kind == JoinKind::kRight || kind == JoinKind::kFull;
  for (int64_t row = 0; row < left.rows(); ++row) {
    // One row of the left beside all of the right: the condition is worked out over them at once.
    std::vector<bool> holds(static_cast<size_t>(right.rows()), true);
    if (on) {
      const Relation repeated =
          left.Take(std::vector<int64_t>(static_cast<size_t>(right.rows()), row));
      DRIFTLESS_ASSIGN_OR_RETURN(const EvaluatedColumn values,
                                 Evaluate(Relation::Beside(repeated, right), *on, context));
      const ColumnView view = values.column.view();
      for (int64_t i = 0; i < right.rows(); ++i) {
        holds[static_cast<size_t>(i)] = !view.IsNull(i) && view.Bit(i);
      }
    }
    bool any = false;
    for (int64_t i = 0; i < right.rows(); ++i) {
      if (!holds[static_cast<size_t>(i)]) continue;
      any = true;
      right_used[static_cast<size_t>(i)] = true;
      left_rows.push_back(row);
      right_rows.push_back(i);
    }
    if (any || !keeps_left) continue;
    left_rows.push_back(row);
    right_rows.push_back(-1);
  }
  for (int64_t i = 0; keeps_right && i < right.rows(); ++i) {
    if (right_used[static_cast<size_t>(i)]) continue;
    left_rows.push_back(-1);
    right_rows.push_back(i);
  }
  Relation left_side = left.Take(left_rows);
  Relation right_side = right.Take(right_rows);
  for (Field& field : left_side.fields()) {
    if (keeps_right) field.type = field.type.Nullable();
  }
  for (Field& field : right_side.fields()) {
    if (keeps_left) field.type = field.type.Nullable();
  }
  return Relation::Beside(left_side, right_side);
}

Relation Sort(const Relation& from, const std::vector<SortColumn>& by) {
  std::vector<int64_t> rows(static_cast<size_t>(from.rows()));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  SortRows(from, by, &rows);
  return from.Take(rows);
}

Relation Distinct(const Relation& from) {
  std::set<std::string> seen;
  std::vector<int64_t> rows;
  const std::vector<size_t> all = AllColumns(from);
  for (int64_t row = 0; row < from.rows(); ++row) {
    if (seen.insert(from.KeyOf(row, all)).second) rows.push_back(row);
  }
  return from.Take(rows);
}

Relation Limit(const Relation& from, int64_t offset, std::optional<int64_t> rows) {
  std::vector<int64_t> kept;
  for (int64_t row = offset; row < from.rows(); ++row) {
    if (rows && static_cast<int64_t>(kept.size()) >= *rows) break;
    kept.push_back(row);
  }
  return from.Take(kept);
}

Result<Relation> Combine(const Relation& left, const Relation& right, SetOperation operation) {
  std::vector<LogicalType> types;
  for (size_t i = 0; i < left.fields().size(); ++i) {
    const auto type = i < right.fields().size()
                          ? LeastRestrictive(left.fields()[i].type, right.fields()[i].type)
                          : std::nullopt;
    if (!type || left.fields().size() != right.fields().size()) {
      return MakeError(ErrorKind::kRefused, "the two sides have columns of other types");
    }
    types.push_back(*type);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(Relation all, CastColumns(left, types));
  DRIFTLESS_ASSIGN_OR_RETURN(const Relation more, CastColumns(right, types));
  if (operation == SetOperation::kUnionAll || operation == SetOperation::kUnion) {
    for (int64_t row = 0; row < more.rows(); ++row) all.AppendRow(more, row);
    return operation == SetOperation::kUnion ? Distinct(all) : all;
  }
  std::set<std::string> there;
  for (int64_t row = 0; row < more.rows(); ++row) there.insert(more.KeyOf(row, AllColumns(more)));
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < all.rows(); ++row) {
    const bool both = there.contains(all.KeyOf(row, AllColumns(all)));
    if (both == (operation == SetOperation::kIntersect)) rows.push_back(row);
  }
  return Distinct(all.Take(rows));
}

}  // namespace driftless::flink
