#include <algorithm>
#include <string_view>
#include <utility>

#include "config/sql/compat/shape_builder.h"

// One SELECT: its inputs, what stands between them and the output, and the output.
namespace driftless::flink {
namespace {

constexpr std::string_view kWindowColumns[] = {"window_start", "window_end", "window_time"};

bool IsNeeded(const std::set<std::string>* needed, const std::string& name) {
  return needed == nullptr || needed->contains(name);
}

Error NoTable(const Path& path) {
  std::string name;
  for (const std::string& part : path) name += (name.empty() ? "" : ".") + part;
  return MakeError(ErrorKind::kNotFound, "there is no table " + name);
}

// Marks what the query takes of its sources.
void MarkQuery(const Query& query, const std::set<std::string>* needed, ShapeBlock* block) {
  size_t index = 0;
  for (const SelectItem& item : query.items) {
    if (item.expr.kind != ExprKind::kStar) {
      const bool is_taken = IsNeeded(needed, ItemName(item, index++));
      if (is_taken || query.distinct) block->MarkUsed(item.expr);
      continue;
    }
    for (ShapeSource& source : block->sources) {
      if (!item.expr.path.empty() && item.expr.path[0] != source.alias) continue;
      for (const ShapeColumn& column : source.columns) {
        if (query.distinct || IsNeeded(needed, column.name)) source.used.insert(column.name);
      }
      source.by_star = needed == nullptr || query.distinct;
      index += source.columns.size();
    }
  }
  for (const TableUse& use : query.from) {
    if (use.on) block->MarkUsed(*use.on);
  }
  if (query.where) block->MarkUsed(*query.where);
  for (const Expr& key : query.group_by) block->MarkUsed(key);
  if (query.having) block->MarkUsed(*query.having);
  for (const OrderItem& item : query.order_by) block->MarkUsed(item.expr);
}

ShapeColumns Output(const Query& query, const std::set<std::string>* needed,
                    const ShapeBlock& block) {
  ShapeColumns columns;
  for (const SelectItem& item : query.items) {
    if (item.expr.kind == ExprKind::kStar) {
      for (const ShapeSource& source : block.sources) {
        if (!item.expr.path.empty() && item.expr.path[0] != source.alias) continue;
        for (const ShapeColumn& column : source.columns) {
          if (IsNeeded(needed, column.name)) columns.push_back(column);
        }
      }
      continue;
    }
    ShapeColumn column;
    column.name = ItemName(item, columns.size());
    column.expanded = item.expr;
    if (const ShapeColumn* from = block.Find(item.expr)) {
      column.proctime = from->proctime;
      column.rowtime = from->rowtime;
    }
    block.Expand(&column.expanded);
    if (IsNeeded(needed, column.name)) columns.push_back(std::move(column));
  }
  return columns;
}

// window_start, window_end and window_time: each is the call that cuts the windows.
void AddWindow(const TableUse& use, ShapeColumns* columns) {
  Expr window;
  window.kind = ExprKind::kCall;
  window.text = use.window_function;
  window.path = {use.window_function};
  for (const ShapeColumn& column : *columns) {
    if (column.name == use.window_time) window.args.push_back(column.expanded);
  }
  for (Expr size : use.window_sizes) {
    NormaliseInterval(&size);
    window.args.push_back(std::move(size));
  }
  for (const std::string_view name : kWindowColumns) {
    ShapeColumn column;
    column.name = name;
    column.expanded = window;
    column.rowtime = name == "window_time";
    columns->push_back(std::move(column));
  }
}

// The operator of calls with OVER; what it keeps of each row is for the caller to say.
ShapeOperator OverOperator(const std::vector<const Expr*>& calls, bool is_ranked,
                           const std::optional<RankLimit>& rank, const ShapeBlock& block) {
  const OverWindow& window = *calls.front()->over;
  ShapeOperator over;
  over.kind = OperatorKind::kOver;
  for (const Expr& key : window.partition) over.keys.push_back(block.Expanded(key));
  over.keys.emplace_back("ordered by");
  bool by_proctime = false;
  bool by_time = false;
  for (size_t i = 0; i < window.order.size(); ++i) {
    over.keys.push_back(block.Expanded(window.order[i]) + (window.descending[i] ? " DESC" : ""));
    const ShapeColumn* column = block.Find(window.order[i]);
    by_proctime = column != nullptr && column->proctime;
    by_time = column != nullptr && (column->proctime || column->rowtime);
  }
  if (is_ranked) {
    const bool one_by_time = rank->one && by_time && window.order.size() == 1;
    const bool is_first = one_by_time && by_proctime && !window.descending[0];
    over.kind = is_first      ? OperatorKind::kFirstRow
                : one_by_time ? OperatorKind::kDeduplication
                              : OperatorKind::kTopN;
    over.keys.push_back(rank->text);
    return over;
  }
  over.keys.push_back(window.frame);
  for (const Expr* each : calls) {
    over.aggregates.push_back(
        {ShapeText(*each), each->text + " of " + block.Arguments(*each), each->distinct});
  }
  return over;
}

}  // namespace

// ---- names -------------------------------------------------------------------------------------

Result<std::vector<std::string>> ShapeBuilder::NamesOf(const TableUse& use) const {
  if (!use.columns.empty()) return use.columns;
  std::shared_ptr<const Query> query = use.query;
  if (query == nullptr && use.name.size() == 1) {
    const auto named = named_.find(use.name[0]);
    if (named != named_.end()) query = named->second;
  }
  if (query != nullptr) return OutputNames(*query);
  const TableEntry* table = session_.FindTable(use.name);
  if (table == nullptr) return NoTable(use.name);
  std::vector<std::string> names;
  for (const Column& column : table->columns) names.push_back(column.name);
  return names;
}

Result<std::vector<std::string>> ShapeBuilder::OutputNames(const Query& query) const {
  if (!query.set_operation.empty()) return OutputNames(*query.left);
  std::vector<std::string> names;
  if (!query.rows.empty()) {
    for (size_t i = 0; i < query.rows[0].size(); ++i) {
      names.push_back("EXPR$" + std::to_string(i));
    }
    return names;
  }
  for (const SelectItem& item : query.items) {
    if (item.expr.kind != ExprKind::kStar) {
      names.push_back(ItemName(item, names.size()));
      continue;
    }
    for (const TableUse& use : query.from) {
      if (!item.expr.path.empty() && item.expr.path[0] != AliasOf(use)) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const auto more, NamesOf(use));
      names.insert(names.end(), more.begin(), more.end());
    }
  }
  return names;
}

Result<ShapeBlock> ShapeBuilder::NamedSources(const Query& query) const {
  ShapeBlock block;
  for (const TableUse& use : query.from) {
    ShapeSource source;
    source.alias = AliasOf(use);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto names, NamesOf(use));
    for (const std::string& name : names) source.columns.push_back({name, Expr()});
    if (!use.window_function.empty()) {
      for (const std::string_view name : kWindowColumns) {
        source.columns.push_back({std::string(name), Expr()});
      }
      source.used.insert(use.window_time);
    }
    block.sources.push_back(std::move(source));
  }
  return block;
}

// ---- from the tables to the output -------------------------------------------------------------

Result<ShapeColumns> ShapeBuilder::Select(const Query& query, const std::set<std::string>* needed,
                                          const std::optional<RankLimit>& rank, int depth) {
  // First which columns of each source are used, by their names alone; then the sources.
  DRIFTLESS_ASSIGN_OR_RETURN(ShapeBlock block, NamedSources(query));
  MarkQuery(query, needed, &block);
  DRIFTLESS_TRY(From(query, &block, depth));
  if (query.where) {
    shape.filters.push_back({block.Expanded(*query.where), shape.operators.size()});
  }
  DRIFTLESS_TRY(Over(query, needed, rank, &block));
  Group(query, needed, block);
  ShapeColumns columns = Output(query, needed, block);
  if (query.having) {
    shape.filters.push_back({block.Expanded(*query.having), shape.operators.size()});
  }
  if (query.distinct) {
    ShapeOperator unique;
    for (const ShapeColumn& column : columns) unique.keys.push_back(ShapeText(column.expanded));
    shape.operators.push_back(std::move(unique));
  }
  return columns;
}

Result<void> ShapeBuilder::From(const Query& query, ShapeBlock* block, int depth) {
  for (size_t i = 0; i < query.from.size(); ++i) {
    const TableUse& use = query.from[i];
    ShapeSource& source = block->sources[i];
    std::optional<RankLimit> rank;
    if (query.where && query.from.size() == 1) rank = FindRankLimit(*query.where);
    DRIFTLESS_ASSIGN_OR_RETURN(source.columns, Rows(use, source.used, rank, depth));
    for (size_t k = 0; k < use.columns.size() && k < source.columns.size(); ++k) {
      source.columns[k].name = use.columns[k];
    }
    if (i == 0) continue;
    ShapeOperator join;
    join.kind = OperatorKind::kJoin;
    join.keys.push_back(use.join + (use.at_time ? " at a time" : ""));
    if (use.on) join.keys.push_back(block->Expanded(*use.on));
    for (size_t k = 0; k <= i; ++k) {
      for (std::string& column : block->sources[k].Input()) join.input.push_back(std::move(column));
      join.input.emplace_back("|");
    }
    shape.operators.push_back(std::move(join));
  }
  return {};
}

Result<ShapeColumns> ShapeBuilder::Rows(const TableUse& use, const std::set<std::string>& used,
                                        const std::optional<RankLimit>& rank, int depth) {
  // With other names for the columns all of them count as needed.
  const std::set<std::string>* needed = use.columns.empty() ? &used : nullptr;
  if (use.query != nullptr) return Visit(*use.query, needed, rank, depth + 1);
  if (use.name.size() == 1) {
    const auto named = named_.find(use.name[0]);
    if (named != named_.end()) {
      const std::shared_ptr<const Query> query = named->second;
      return Visit(*query, needed, rank, depth + 1);
    }
  }
  const TableEntry* table = session_.FindTable(use.name);
  if (table == nullptr) return NoTable(use.name);
  if (table->kind == TableKind::kView) return View(*table, rank, depth);
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName full, session_.Resolve(use.name));
  const std::string name = full.Summary();
  shape.tables[name].insert(used.begin(), used.end());
  ShapeColumns columns = ColumnsOf(name, *table);
  if (!use.window_function.empty()) AddWindow(use, &columns);
  return columns;
}

Result<ShapeColumns> ShapeBuilder::View(const TableEntry& view,
                                        const std::optional<RankLimit>& rank, int depth) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(view.query));
  const auto outer = std::exchange(named_, {});
  auto columns = Visit(query, nullptr, rank, depth + 1);
  named_ = outer;
  if (!columns) return std::move(columns.error());
  for (size_t i = 0; i < columns->size() && i < view.columns.size(); ++i) {
    (*columns)[i].name = view.columns[i].name;
  }
  return columns;
}

Result<void> ShapeBuilder::Over(const Query& query, const std::set<std::string>* needed,
                                const std::optional<RankLimit>& rank, ShapeBlock* block) {
  size_t index = 0;
  for (const SelectItem& item : query.items) {
    if (item.expr.kind == ExprKind::kStar) {
      for (const ShapeSource& source : block->sources) index += source.columns.size();
      continue;
    }
    const std::string name = ItemName(item, index++);
    const bool limits = rank && rank->column == name;
    std::vector<const Expr*> calls;
    CollectOver(item.expr, &calls);
    if (calls.empty() || (!IsNeeded(needed, name) && !limits)) continue;
    const Expr& call = *calls.front();
    if (!call.over->name.empty()) {
      return MakeError(ErrorKind::kUnsupported, "there is no window " + call.over->name);
    }
    const bool is_ranked = limits && (call.text == "ROW_NUMBER" || call.text == "RANK");
    ShapeOperator over = OverOperator(calls, is_ranked, rank, *block);
    // The first row by processing time is known by its key alone.
    const bool keeps_rows = over.kind != OperatorKind::kFirstRow;
    for (const ShapeSource& source : block->sources) {
      if (!keeps_rows) break;
      for (std::string& column : source.Input()) over.input.push_back(std::move(column));
    }
    shape.operators.push_back(std::move(over));
  }
  return {};
}

void ShapeBuilder::Group(const Query& query, const std::set<std::string>* needed,
                         const ShapeBlock& block) {
  std::vector<const Expr*> calls;
  size_t index = 0;
  for (const SelectItem& item : query.items) {
    if (item.expr.kind == ExprKind::kStar) continue;
    if (IsNeeded(needed, ItemName(item, index++))) CollectAggregates(item.expr, &calls);
  }
  if (query.having) CollectAggregates(*query.having, &calls);
  if (query.group_by.empty() && calls.empty()) return;
  ShapeOperator group;
  for (const Expr& key : query.group_by) {
    Expr expanded = key;
    block.Expand(&expanded);
    const bool is_window = expanded.kind == ExprKind::kCall &&
                           (expanded.text == "TUMBLE" || expanded.text == "HOP" ||
                            expanded.text == "SESSION" || expanded.text == "CUMULATE");
    if (is_window) group.kind = OperatorKind::kWindowAggregate;
    group.keys.push_back(ShapeText(expanded));
  }
  std::sort(group.keys.begin(), group.keys.end());
  group.keys.erase(std::unique(group.keys.begin(), group.keys.end()), group.keys.end());
  for (const Expr* call : calls) {
    ShapeAggregate aggregate{ShapeText(*call), call->text + " of " + block.Arguments(*call),
                             call->distinct};
    if (call->distinct) aggregate.expanded = "DISTINCT " + aggregate.expanded;
    const bool known = std::any_of(
        group.aggregates.begin(), group.aggregates.end(),
        [&](const ShapeAggregate& each) { return each.expanded == aggregate.expanded; });
    if (!known) group.aggregates.push_back(std::move(aggregate));
  }
  shape.operators.push_back(std::move(group));
}

}  // namespace driftless::flink
