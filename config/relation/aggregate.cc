#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "config/relation/evaluate.h"
#include "config/relation/operators.h"

// GROUP BY and aggregate functions.
namespace driftless::flink {

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

// The value of one aggregate over chosen rows.
class Folding {
 public:
  Folding(const EvaluatedColumn& argument, const LogicalType& result)
      : in_(argument), view_(argument.column.view()), result_(result) {}

  // Appends the value to `out`. `rows`: those whose argument counts.
  void Add(std::string_view function, const std::vector<int64_t>& rows, OwnedColumn* out) const {
    if (function == "COUNT") return AddCount(static_cast<int64_t>(rows.size()), out);
    if (function == "MIN" || function == "MAX") return AddExtreme(function == "MAX", rows, out);
    OwnedColumn one;
    one.Prepare(result_, 1);
    if (!rows.empty()) {
      one.SetValid(0);
      SetSum(rows, function == "AVG", &one);
    }
    out->AppendRows(result_, one.view(), 0, 1);
  }

 private:
  void AddCount(int64_t count, OwnedColumn* out) const {
    OwnedColumn one;
    one.Prepare(result_, 1);
    one.SetValid(0);
    one.data<int64_t>()[0] = count;
    out->AppendRows(result_, one.view(), 0, 1);
  }

  // The sum, or the average, in the way of the argument's kind of number.
  void SetSum(const std::vector<int64_t>& rows, bool is_average, OwnedColumn* one) const {
    const auto count = static_cast<int64_t>(rows.size());
    switch (in_.type.kind()) {
      case TypeKind::kFloat:
        one->data<float>()[0] = static_cast<float>(FloatingSum<float>(rows, is_average));
        break;
      case TypeKind::kDouble: one->data<double>()[0] = FloatingSum<double>(rows, is_average); break;
      case TypeKind::kDecimal: {
        __int128 sum = 0;
        for (const int64_t row : rows) sum += view_.Fixed<__int128>(row);
        if (is_average) {
          for (int i = in_.type.scale(); i < result_.scale(); ++i) sum *= 10;
          const __int128 half = count / 2;
          sum = (sum + (sum < 0 ? -half : half)) / count;
        }
        std::memcpy(one->values.data(), &sum, sizeof sum);
        break;
      }
      default: {
        int64_t sum = 0;
        for (const int64_t row : rows) {
          sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                                     static_cast<uint64_t>(Integer(row)));
        }
        if (is_average) sum /= count;
        std::memcpy(one->values.data(), &sum, one->values.size());
      }
    }
  }

  template <typename T>
  double FloatingSum(const std::vector<int64_t>& rows, bool is_average) const {
    double sum = 0;
    for (const int64_t row : rows) sum += static_cast<double>(view_.Fixed<T>(row));
    return is_average ? sum / static_cast<double>(rows.size()) : sum;
  }

  int64_t Integer(int64_t row) const {
    switch (in_.type.physical()) {
      case PhysicalKind::kFixed8: return view_.Fixed<int8_t>(row);
      case PhysicalKind::kFixed16: return view_.Fixed<int16_t>(row);
      case PhysicalKind::kFixed32: return view_.Fixed<int32_t>(row);
      default: return view_.Fixed<int64_t>(row);
    }
  }

  void AddExtreme(bool is_largest, const std::vector<int64_t>& rows, OwnedColumn* out) const {
    int64_t best = -1;
    for (const int64_t row : rows) {
      const int order = best < 0 ? 0 : CompareValues(in_.type, view_, row, best);
      if (best < 0 || (is_largest ? order > 0 : order < 0)) best = row;
    }
    if (best >= 0) return out->AppendRows(result_, view_, best, best + 1);
    Relation null({{"", result_}});
    null.AppendRow(null, -1);
    out->AppendRows(result_, null.view(0), 0, 1);
  }

  const EvaluatedColumn& in_;
  const ColumnView view_;
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

// The rows of each key, in the order of the keys.
struct Groups {
  std::vector<int64_t> firsts;  // one row of each
  std::vector<std::vector<int64_t>> members;
};

Groups GroupRows(const Relation& keys) {
  const std::vector<size_t> columns = AllColumns(keys);
  std::map<std::string, std::vector<int64_t>> by_key;
  Groups groups;
  for (int64_t row = 0; row < keys.rows(); ++row) {
    std::vector<int64_t>& members = by_key[keys.KeyOf(row, columns)];
    if (members.empty()) groups.firsts.push_back(row);
    members.push_back(row);
  }
  std::vector<SortColumn> by;
  for (const size_t column : columns) by.push_back({column});
  SortRows(keys, by, &groups.firsts);
  for (const int64_t first : groups.firsts) {
    groups.members.push_back(std::move(by_key[keys.KeyOf(first, columns)]));
  }
  return groups;
}

// One aggregate, a value for each group.
Result<std::pair<LogicalType, OwnedColumn>> Aggregated(const Relation& from,
                                                       const AggregateCall& call,
                                                       const Groups& groups, bool has_keys,
                                                       const EvalContext& context) {
  EvaluatedColumn argument;
  if (call.argument) {
    DRIFTLESS_ASSIGN_OR_RETURN(argument, Evaluate(from, *call.argument, context));
    DRIFTLESS_TRY(CheckArgument(call, argument.type));
  }
  LogicalType type = AggregateType(call.function, argument.type);
  if (!has_keys && call.function != "COUNT") type = type.Nullable();
  Relation values;
  if (call.argument) values.AddColumn({"", argument.type}, argument.column);
  const Folding folding(argument, type);
  OwnedColumn out;
  out.Prepare(type, 0);
  for (const std::vector<int64_t>& group : groups.members) {
    std::vector<int64_t> rows;
    std::set<std::string> seen;
    for (const int64_t row : group) {
      if (call.argument && argument.column.view().IsNull(row)) continue;
      if (call.distinct && !seen.insert(values.KeyOf(row, {0})).second) continue;
      rows.push_back(row);
    }
    folding.Add(call.function, rows, &out);
  }
  return std::pair(std::move(type), std::move(out));
}

}  // namespace

Result<Relation> Aggregate(const Relation& from, const std::vector<Expr>& keys,
                           const std::vector<AggregateCall>& calls, const EvalContext& context) {
  Relation key_values;
  for (const Expr& key : keys) {
    DRIFTLESS_ASSIGN_OR_RETURN(EvaluatedColumn values, Evaluate(from, key, context));
    const std::string name = "$" + std::to_string(key_values.fields().size());
    key_values.AddColumn({name, values.type}, std::move(values.column));
  }
  key_values.SetRows(from.rows());
  Groups groups = GroupRows(key_values);
  // Without keys there is one group, also of no rows.
  if (keys.empty() && groups.members.empty()) groups.members.emplace_back();
  Relation to = keys.empty() ? Relation() : key_values.Take(groups.firsts);
  for (const AggregateCall& call : calls) {
    DRIFTLESS_ASSIGN_OR_RETURN(auto made, Aggregated(from, call, groups, !keys.empty(), context));
    const std::string name = "$" + std::to_string(to.fields().size());
    to.AddColumn({name, made.first}, std::move(made.second));
  }
  return to;
}

}  // namespace driftless::flink
