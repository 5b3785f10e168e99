#include "config/sql/compat/query_shape.h"

#include <algorithm>
#include <utility>

#include "config/sql/compat/shape_builder.h"

// A query as a whole: WITH, set operations, ORDER BY and LIMIT. One SELECT is in shape_select.cc.
namespace driftless::flink {
namespace {

constexpr int kDeepest = 100;

// The inputs of a chain of one operation.
void Flatten(const Query& query, const std::string& operation, std::vector<const Query*>* inputs) {
  if (query.set_operation == operation && query.order_by.empty() && !query.limit) {
    Flatten(*query.left, operation, inputs);
    Flatten(*query.right, operation, inputs);
  } else {
    inputs->push_back(&query);
  }
}

// One input of a set operation.
struct Branch {
  std::string text;  // of its columns
  QueryShape shape;
  ShapeColumns columns;
};

// A column of a set operation is made of those of all inputs.
ShapeColumns Combined(const ShapeColumns& names, const std::vector<Branch>& branches) {
  ShapeColumns columns;
  for (size_t i = 0; i < names.size(); ++i) {
    Expr all;
    all.kind = ExprKind::kCall;
    all.text = "UNION";
    all.path = {"UNION"};
    for (const Branch& branch : branches) {
      if (i < branch.columns.size()) all.args.push_back(branch.columns[i].expanded);
    }
    columns.push_back({names[i].name, std::move(all)});
  }
  return columns;
}

}  // namespace

Result<ShapeColumns> ShapeBuilder::Visit(const Query& query, const std::set<std::string>* needed,
                                         const std::optional<RankLimit>& rank, int depth) {
  if (depth > kDeepest) {
    return MakeError(ErrorKind::kUnsupported, "the query is nested too deeply");
  }
  const auto outer = named_;
  for (const auto& [name, each] : query.with) named_[name] = each;
  auto columns = Body(query, needed, rank, depth);
  named_ = outer;
  return columns;
}

Result<ShapeColumns> ShapeBuilder::Body(const Query& query, const std::set<std::string>* needed,
                                        const std::optional<RankLimit>& rank, int depth) {
  ShapeColumns columns;
  if (!query.set_operation.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(columns, SetOperation(query, needed, depth));
  } else if (!query.rows.empty()) {
    for (size_t i = 0; i < query.rows[0].size(); ++i) {
      columns.push_back({"EXPR$" + std::to_string(i), query.rows[0][i]});
    }
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(columns, Select(query, needed, rank, depth));
  }
  if (!query.order_by.empty() || query.limit || query.offset != 0) AddTail(query, columns);
  return columns;
}

// ORDER BY, LIMIT and OFFSET.
void ShapeBuilder::AddTail(const Query& query, const ShapeColumns& columns) {
  ShapeOperator tail;
  tail.kind = query.order_by.empty() ? OperatorKind::kLimit
              : query.limit          ? OperatorKind::kTopN
                                     : OperatorKind::kSort;
  for (const OrderItem& item : query.order_by) {
    std::string text = ShapeText(item.expr);
    for (const ShapeColumn& column : columns) {
      if (item.expr.kind == ExprKind::kColumn && column.name == item.expr.path.back()) {
        text = ShapeText(column.expanded);
      }
    }
    tail.keys.push_back(text + (item.descending ? " DESC" : ""));
  }
  tail.keys.push_back("limit " + (query.limit ? std::to_string(*query.limit) : "none") + " from " +
                      std::to_string(query.offset));
  for (const ShapeColumn& column : columns) tail.input.push_back(ShapeText(column.expanded));
  shape.operators.push_back(std::move(tail));
}

Result<ShapeColumns> ShapeBuilder::SetOperation(const Query& query,
                                                const std::set<std::string>* needed, int depth) {
  std::vector<const Query*> inputs;
  Flatten(query, query.set_operation, &inputs);
  std::vector<Branch> branches;
  for (const Query* input : inputs) {
    QueryShape outer = std::exchange(shape, QueryShape());
    // Columns of the other inputs have other names, so that all of them are needed.
    const bool all = input != inputs.front() || query.set_operation != "UNION ALL";
    auto columns = Visit(*input, all ? nullptr : needed, std::nullopt, depth + 1);
    Branch branch;
    branch.shape = std::exchange(shape, std::move(outer));
    if (!columns) return std::move(columns.error());
    branch.columns = std::move(*columns);
    for (const ShapeColumn& column : branch.columns)
      branch.text += ShapeText(column.expanded) + ";";
    branches.push_back(std::move(branch));
  }
  // Which input comes first makes no difference, except for the names.
  const ShapeColumns names = branches[0].columns;
  std::sort(branches.begin(), branches.end(),
            [](const Branch& a, const Branch& b) { return a.text < b.text; });
  ShapeColumns columns = Combined(names, branches);
  for (Branch& branch : branches) Take(std::move(branch.shape));
  shape.unions.push_back(branches.size());
  if (query.set_operation == "UNION ALL") return columns;
  ShapeOperator distinct;
  distinct.keys = {query.set_operation};
  for (const ShapeColumn& column : columns) distinct.keys.push_back(ShapeText(column.expanded));
  shape.operators.push_back(std::move(distinct));
  return columns;
}

void ShapeBuilder::Take(QueryShape part) {
  for (ShapeFilter& filter : part.filters) {
    filter.operators_before += shape.operators.size();
    shape.filters.push_back(std::move(filter));
  }
  for (ShapeOperator& each : part.operators) shape.operators.push_back(std::move(each));
  shape.unions.insert(shape.unions.end(), part.unions.begin(), part.unions.end());
  for (auto& [table, columns] : part.tables) shape.tables[table].merge(columns);
}

std::string_view NameOf(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::kJoin: return "join";
    case OperatorKind::kAggregate: return "aggregate";
    case OperatorKind::kWindowAggregate: return "window aggregate";
    case OperatorKind::kOver: return "OVER aggregate";
    case OperatorKind::kFirstRow: return "deduplication (first row)";
    case OperatorKind::kDeduplication: return "deduplication";
    case OperatorKind::kTopN: return "Top-N";
    case OperatorKind::kLimit: return "LIMIT";
    case OperatorKind::kSort: return "sort";
  }
  return "operator";
}

Result<QueryShape> ShapeOf(const Session& session, const Query& query) {
  ShapeBuilder builder(session);
  DRIFTLESS_TRY(builder.Visit(query, nullptr, std::nullopt, 0));
  return std::move(builder.shape);
}

}  // namespace driftless::flink
