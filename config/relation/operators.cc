#include "config/relation/operators.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "config/expr/eval/program.h"

namespace driftless::flink {
namespace {

struct Values {
  LogicalType type;
  OwnedColumn column;
};

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

Result<Values> Evaluate(const Relation& from, const Expr& expr, const EvalContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(Program program, Program::Compile(expr, context.scope, context.zone));
  const std::vector<ColumnView> views = from.views();
  const ColumnView view = program.Run({from.rows(), views, context.now_micros});
  if (!program.failed_rows().empty()) {
    return MakeError(ErrorKind::kInvalidInput, program.failure()).At(expr.line, expr.column);
  }
  Values values;
  values.type = program.type();
  values.column.Prepare(values.type, 0);
  if (from.rows() > 0) values.column.AppendRows(values.type, view, 0, from.rows());
  return values;
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

std::vector<size_t> AllColumns(const Relation& relation) {
  std::vector<size_t> columns(relation.fields().size());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

// Less than 0, 0 or more: the order of two values of a column that are not NULL.
int Compare(const LogicalType& type, const ColumnView& view, int64_t a, int64_t b) {
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
    DRIFTLESS_ASSIGN_OR_RETURN(Values values, Evaluate(from, expr, context));
    to.AddColumn({item.name, item.type.value_or(values.type)}, std::move(values.column));
  }
  to.SetRows(from.rows());
  return to;
}

Result<Relation> Filter(const Relation& from, const Expr& condition, const EvalContext& context) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Values holds, Evaluate(from, condition, context));
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
      DRIFTLESS_ASSIGN_OR_RETURN(const Values values,
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
  std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
    for (const SortColumn& each : by) {
      const ColumnView view = from.view(each.column);
      if (view.IsNull(a) != view.IsNull(b)) return view.IsNull(a) == each.nulls_first;
      if (view.IsNull(a)) continue;
      const int order = Compare(from.fields()[each.column].type, view, a, b);
      if (order != 0) return each.descending ? order > 0 : order < 0;
    }
    return false;
  });
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

// ---- aggregates --------------------------------------------------------------------------------

bool IsAggregateFunction(std::string_view upper) {
  return upper == "COUNT" || upper == "SUM" || upper == "AVG" || upper == "MIN" || upper == "MAX";
}

void TakeAggregates(Expr* expr, size_t first, std::vector<AggregateCall>* calls) {
  if (expr->kind != ExprKind::kCall || expr->over != nullptr || !IsAggregateFunction(expr->text)) {
    for (Expr& arg : expr->args) TakeAggregates(&arg, first, calls);
    return;
  }
  AggregateCall call;
  call.function = expr->text;
  call.distinct = expr->distinct;
  if (!expr->args.empty() && expr->args[0].kind != ExprKind::kStar) call.argument = expr->args[0];
  Expr column;
  column.kind = ExprKind::kColumn;
  column.path = {"$" + std::to_string(first + calls->size())};
  column.line = expr->line;
  column.column = expr->column;
  calls->push_back(std::move(call));
  *expr = std::move(column);
}

LogicalType AggregateType(std::string_view function, const LogicalType& argument) {
  if (function == "COUNT") return LogicalType::BigInt().NotNull();
  if (argument.kind() == TypeKind::kDecimal && function == "SUM") {
    return LogicalType::Decimal(LogicalType::kMaxDecimalPrecision, argument.scale())
        .WithNullability(argument.nullable());
  }
  if (argument.kind() == TypeKind::kDecimal && function == "AVG") {
    return LogicalType::Decimal(LogicalType::kMaxDecimalPrecision, std::max(argument.scale(), 6))
        .WithNullability(argument.nullable());
  }
  return argument;
}

namespace {

// The value of one aggregate over chosen rows, as an expression of constants: SUM and AVG are the
// sums that + and / give, so that types and rounding are the evaluator's.
class Folding {
 public:
  Folding(const Values& argument, const LogicalType& result) : in_(argument), result_(result) {}

  // Appends the value to `out`.
  void Add(std::string_view function, const std::vector<int64_t>& rows, OwnedColumn* out) {
    if (function == "MIN" || function == "MAX") return Extreme(function == "MAX", rows, out);
    OwnedColumn one;
    one.Prepare(result_, 1);
    const ColumnView view = in_.column.view();
    if (!rows.empty()) {
      one.SetValid(0);
      const bool average = function == "AVG";
      const auto count = static_cast<int64_t>(rows.size());
      switch (in_.type.kind()) {
        case TypeKind::kFloat:
        case TypeKind::kDouble: {
          double sum = 0;
          for (const int64_t row : rows) {
            sum += in_.type.kind() == TypeKind::kFloat ? static_cast<double>(view.Fixed<float>(row))
                                                       : view.Fixed<double>(row);
          }
          if (average) sum /= static_cast<double>(count);
          if (in_.type.kind() == TypeKind::kFloat) {
            one.data<float>()[0] = static_cast<float>(sum);
          } else {
            one.data<double>()[0] = sum;
          }
          break;
        }
        case TypeKind::kDecimal: {
          __int128 sum = 0;
          for (const int64_t row : rows) sum += view.Fixed<__int128>(row);
          if (average) {
            for (int i = in_.type.scale(); i < result_.scale(); ++i) sum *= 10;
            const __int128 half = count / 2;
            sum = (sum + (sum < 0 ? -half : half)) / count;
          }
          std::memcpy(one.values.data(), &sum, sizeof sum);
          break;
        }
        default: {
          int64_t sum = 0;
          for (const int64_t row : rows) {
            sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                                       static_cast<uint64_t>(Integer(view, row)));
          }
          if (average) sum /= count;
          std::memcpy(one.values.data(), &sum, one.values.size());
        }
      }
    }
    out->AppendRows(result_, one.view(), 0, 1);
  }

 private:
  int64_t Integer(const ColumnView& view, int64_t row) const {
    switch (in_.type.physical()) {
      case PhysicalKind::kFixed8: return view.Fixed<int8_t>(row);
      case PhysicalKind::kFixed16: return view.Fixed<int16_t>(row);
      case PhysicalKind::kFixed32: return view.Fixed<int32_t>(row);
      default: return view.Fixed<int64_t>(row);
    }
  }

  void Extreme(bool largest, const std::vector<int64_t>& rows, OwnedColumn* out) {
    const ColumnView view = in_.column.view();
    int64_t best = -1;
    for (const int64_t row : rows) {
      if (best < 0) {
        best = row;
        continue;
      }
      const int order = Compare(in_.type, view, row, best);
      if (largest ? order > 0 : order < 0) best = row;
    }
    if (best >= 0) return out->AppendRows(result_, view, best, best + 1);
    Relation null({{"", result_}});
    null.AppendRow(null, -1);
    out->AppendRows(result_, null.view(0), 0, 1);
  }

  const Values& in_;
  const LogicalType& result_;
};

Result<void> CheckArgument(const AggregateCall& call, const LogicalType& type) {
  const bool numeric = type.IsInteger() || type.kind() == TypeKind::kFloat ||
                       type.kind() == TypeKind::kDouble || type.kind() == TypeKind::kDecimal;
  if (call.function == "COUNT" || numeric) return {};
  if (call.function != "SUM" && call.function != "AVG") return {};
  return MakeError(ErrorKind::kRefused,
                   call.function + " takes numbers, not " + type.ToStringIgnoringNullability())
      .At(call.argument->line, call.argument->column);
}

}  // namespace

Result<Relation> Aggregate(const Relation& from, const std::vector<Expr>& keys,
                           const std::vector<AggregateCall>& calls, const EvalContext& context) {
  Relation key_values;
  for (const Expr& key : keys) {
    DRIFTLESS_ASSIGN_OR_RETURN(Values values, Evaluate(from, key, context));
    const std::string name = "$" + std::to_string(key_values.fields().size());
    key_values.AddColumn({name, values.type}, std::move(values.column));
  }
  key_values.SetRows(from.rows());
  std::map<std::string, std::vector<int64_t>> groups;
  std::vector<int64_t> firsts;
  for (int64_t row = 0; row < from.rows(); ++row) {
    std::vector<int64_t>& group = groups[key_values.KeyOf(row, AllColumns(key_values))];
    if (group.empty()) firsts.push_back(row);
    group.push_back(row);
  }
  // Groups in the order of their keys.
  Relation order = key_values.Take(firsts);
  OwnedColumn numbers;
  numbers.Prepare(LogicalType::BigInt(), order.rows());
  for (int64_t i = 0; i < order.rows(); ++i) {
    numbers.SetValid(i);
    numbers.data<int64_t>()[i] = firsts[static_cast<size_t>(i)];
  }
  order.AddColumn({"row", LogicalType::BigInt()}, std::move(numbers));
  std::vector<SortColumn> by;
  for (size_t i = 0; i < keys.size(); ++i) by.push_back({i});
  order = Sort(order, by);
  std::vector<std::vector<int64_t>> members;
  firsts.clear();
  for (int64_t i = 0; i < order.rows(); ++i) {
    firsts.push_back(order.view(keys.size()).Fixed<int64_t>(i));
    members.push_back(groups[key_values.KeyOf(firsts.back(), AllColumns(key_values))]);
  }
  if (keys.empty() && members.empty()) members.emplace_back();
  Relation to = keys.empty() ? Relation() : key_values.Take(firsts);

  for (const AggregateCall& call : calls) {
    Values argument;
    if (call.argument) {
      DRIFTLESS_ASSIGN_OR_RETURN(argument, Evaluate(from, *call.argument, context));
      DRIFTLESS_TRY(CheckArgument(call, argument.type));
    }
    LogicalType type = AggregateType(call.function, argument.type);
    if (keys.empty() && call.function != "COUNT") type = type.Nullable();
    OwnedColumn out;
    out.Prepare(type, 0);
    Relation values;
    if (call.argument) values.AddColumn({"", argument.type}, argument.column);
    for (const std::vector<int64_t>& group : members) {
      std::vector<int64_t> rows;
      std::set<std::string> seen;
      for (const int64_t row : group) {
        if (call.argument && argument.column.view().IsNull(row)) continue;
        if (call.distinct && !seen.insert(values.KeyOf(row, {0})).second) continue;
        rows.push_back(row);
      }
      if (call.function != "COUNT") {
        Folding(argument, type).Add(call.function, rows, &out);
        continue;
      }
      OwnedColumn one;
      one.Prepare(type, 1);
      one.SetValid(0);
      one.data<int64_t>()[0] = static_cast<int64_t>(rows.size());
      out.AppendRows(type, one.view(), 0, 1);
    }
    const std::string name = "$" + std::to_string(to.fields().size());
    to.AddColumn({name, type}, std::move(out));
  }
  return to;
}

}  // namespace driftless::flink
