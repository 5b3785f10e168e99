#include "config/sql/compat/query_shape.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/relation/operators.h"

namespace driftless::flink {
namespace {

constexpr int kDeepest = 100;

// A column of a relation: its name, and the expression over columns of tables that it is.
struct Line {
  std::string name;
  Expr expanded;
  bool proctime = false;
  bool rowtime = false;
};
using Lines = std::vector<Line>;

std::string Text(const Expr& e) { return PrintExpr(e, PrintStyle::kValidated); }

// INTERVAL '1' MINUTE and INTERVAL '60' SECOND are one value.
void NormaliseInterval(Expr* e) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"SECOND", 1}, {"MINUTE", 60}, {"HOUR", 3600}, {"DAY", 86400}};
  if (e->path.empty() || e->text.empty() || e->text.size() > 9 ||
      e->text.find_first_not_of("0123456789") != std::string::npos) {
    return;
  }
  for (const auto& [unit, seconds] : kUnits) {
    if (e->path[0] != unit) continue;
    e->text = std::to_string(std::stoll(e->text) * seconds);
    e->path[0] = "SECOND";
    return;
  }
}

bool IsAggregate(const Expr& e) {
  return e.kind == ExprKind::kCall && e.over == nullptr && IsAggregateFunction(e.text);
}
bool HasAggregate(const Expr& e) {
  return IsAggregate(e) || std::any_of(e.args.begin(), e.args.end(), HasAggregate);
}
void CollectOver(const Expr& e, std::vector<const Expr*>* found) {
  if (e.over != nullptr) found->push_back(&e);
  for (const Expr& arg : e.args) CollectOver(arg, found);
}
void CollectAggregates(const Expr& e, std::vector<const Expr*>* found) {
  if (IsAggregate(e)) {
    found->push_back(&e);
    return;
  }
  for (const Expr& arg : e.args) CollectAggregates(arg, found);
}

// rn = 1, rn <= 10: the name of the rank that the condition limits, and whether to one row.
struct RankLimit {
  std::string column;
  bool one = false;
  std::string text;
};
std::optional<RankLimit> FindRankLimit(const Expr& e) {
  if (e.kind == ExprKind::kBinary && e.text == "AND") {
    for (const Expr& arg : e.args) {
      if (auto found = FindRankLimit(arg)) return found;
    }
    return std::nullopt;
  }
  const bool compares =
      e.kind == ExprKind::kBinary && (e.text == "=" || e.text == "<=" || e.text == "<");
  if (!compares || e.args[0].kind != ExprKind::kColumn || e.args[1].kind != ExprKind::kNumber) {
    return std::nullopt;
  }
  const std::string& number = e.args[1].text;
  const bool one = (number == "1" && e.text != "<") || (number == "2" && e.text == "<");
  return RankLimit{e.args[0].path.back(), one, e.text + " " + number};
}

class ShapeBuilder {
 public:
  explicit ShapeBuilder(const Session& session) : session_(session) {}

  Result<Lines> Visit(const Query& query, const std::set<std::string>* needed,
                      const std::optional<RankLimit>& rank, int depth) {
    if (depth > kDeepest) return Unclear("the query is nested too deeply");
    const auto outer = named_;
    for (const auto& [name, each] : query.with) named_[name] = each;
    auto lines = Body(query, needed, rank, depth);
    named_ = outer;
    return lines;
  }

  QueryShape shape;

 private:
  struct Source {
    std::string alias;
    Lines lines;
    std::set<std::string> used;
    bool by_star = false;
  };

  static Error Unclear(std::string text) {
    return MakeError(ErrorKind::kUnsupported, std::move(text));
  }

  Result<Lines> Body(const Query& query, const std::set<std::string>* needed,
                     const std::optional<RankLimit>& rank, int depth) {
    Lines lines;
    if (!query.set_operation.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(lines, SetOperation(query, needed, depth));
    } else if (!query.rows.empty()) {
      for (size_t i = 0; i < query.rows[0].size(); ++i) {
        lines.push_back({"EXPR$" + std::to_string(i), query.rows[0][i]});
      }
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(lines, Select(query, needed, rank, depth));
    }
    if (query.order_by.empty() && !query.limit && query.offset == 0) return lines;
    ShapeOperator tail;
    tail.kind = query.order_by.empty() ? OperatorKind::kLimit
                : query.limit          ? OperatorKind::kTopN
                                       : OperatorKind::kSort;
    for (const OrderItem& item : query.order_by) {
      std::string text = Text(item.expr);
      for (const Line& line : lines) {
        if (item.expr.kind == ExprKind::kColumn && line.name == item.expr.path.back()) {
          text = Text(line.expanded);
        }
      }
      tail.keys.push_back(text + (item.descending ? " DESC" : ""));
    }
    tail.keys.push_back("limit " + (query.limit ? std::to_string(*query.limit) : "none") +
                        " from " + std::to_string(query.offset));
    for (const Line& line : lines) tail.input.push_back(Text(line.expanded));
    shape.operators.push_back(std::move(tail));
    return lines;
  }

  // ---- set operations --------------------------------------------------------------------------

  static void Flatten(const Query& query, const std::string& operation,
                      std::vector<const Query*>* inputs) {
    if (query.set_operation == operation && query.order_by.empty() && !query.limit) {
      Flatten(*query.left, operation, inputs);
      Flatten(*query.right, operation, inputs);
    } else {
      inputs->push_back(&query);
    }
  }

  Result<Lines> SetOperation(const Query& query, const std::set<std::string>* needed, int depth) {
    std::vector<const Query*> inputs;
    Flatten(query, query.set_operation, &inputs);
    struct Branch {
      std::string text;
      QueryShape shape;
      Lines lines;
    };
    std::vector<Branch> branches;
    for (const Query* input : inputs) {
      QueryShape outer = std::exchange(shape, QueryShape());
      // Columns of the other inputs have other names, so that all of them are needed.
      const bool all = input != inputs.front() || query.set_operation != "UNION ALL";
      auto lines = Visit(*input, all ? nullptr : needed, std::nullopt, depth + 1);
      Branch branch;
      branch.shape = std::exchange(shape, std::move(outer));
      if (!lines) return std::move(lines.error());
      branch.lines = std::move(*lines);
      for (const Line& line : branch.lines) branch.text += Text(line.expanded) + ";";
      branches.push_back(std::move(branch));
    }
    // Which input comes first makes no difference, except for the names.
    const Lines names = branches[0].lines;
    std::sort(branches.begin(), branches.end(),
              [](const Branch& a, const Branch& b) { return a.text < b.text; });
    Lines lines;
    for (size_t i = 0; i < names.size(); ++i) {
      Expr all;
      all.kind = ExprKind::kCall;
      all.text = "UNION";
      all.path = {"UNION"};
      for (const Branch& branch : branches) {
        if (i < branch.lines.size()) all.args.push_back(branch.lines[i].expanded);
      }
      lines.push_back({names[i].name, std::move(all)});
    }
    for (Branch& branch : branches) Take(std::move(branch.shape));
    shape.unions.push_back(branches.size());
    if (query.set_operation == "UNION ALL") return lines;
    ShapeOperator distinct;
    distinct.keys = {query.set_operation};
    for (const Line& line : lines) distinct.keys.push_back(Text(line.expanded));
    shape.operators.push_back(std::move(distinct));
    return lines;
  }

  void Take(QueryShape part) {
    for (ShapeFilter& filter : part.filters) {
      filter.operators_before += shape.operators.size();
      shape.filters.push_back(std::move(filter));
    }
    for (ShapeOperator& each : part.operators) shape.operators.push_back(std::move(each));
    shape.unions.insert(shape.unions.end(), part.unions.begin(), part.unions.end());
    for (auto& [table, columns] : part.tables) shape.tables[table].merge(columns);
  }

  // ---- tables ----------------------------------------------------------------------------------

  Lines LinesOf(const std::string& full_name, const TableEntry& table) const {
    Lines lines;
    for (const Column& column : table.columns) {
      if (column.kind == ColumnKind::kComputed) continue;
      Line line;
      line.name = column.name;
      line.expanded.kind = ExprKind::kColumn;
      // A key makes its columns NOT NULL without a word: that is no change of the column.
      const bool in_key =
          table.key && std::find(table.key->columns.begin(), table.key->columns.end(),
                                 column.name) != table.key->columns.end();
      const LogicalType type = in_key ? column.type.Nullable() : column.type;
      line.expanded.path = {full_name + "." + column.name + ": " + type.ToString() +
                            (column.kind == ColumnKind::kMetadata ? " METADATA" : "")};
      line.rowtime = table.watermark && table.watermark->column[0] == column.name;
      lines.push_back(std::move(line));
    }
    Source physical{"", lines, {}, false};
    Lines all;
    for (const Column& column : table.columns) {
      if (column.kind != ColumnKind::kComputed) {
        all.push_back(*std::find_if(lines.begin(), lines.end(),
                                    [&](const Line& line) { return line.name == column.name; }));
        continue;
      }
      Line line;
      line.name = column.name;
      line.expanded = column.expr;
      Expand(&line.expanded, {&physical});
      line.proctime = column.proctime;
      line.rowtime = table.watermark && table.watermark->column[0] == column.name;
      all.push_back(std::move(line));
    }
    return all;
  }

  // Columns become what they are made of. Names that are not there stay.
  static void Expand(Expr* e, const std::vector<const Source*>& sources) {
    if (e->kind == ExprKind::kInterval) return NormaliseInterval(e);
    if (e->kind == ExprKind::kColumn) {
      for (const Source* source : sources) {
        const bool qualified = e->path.size() > 1 && e->path[0] == source->alias;
        const std::string& name = e->path[qualified ? 1 : 0];
        for (const Line& line : source->lines) {
          if (line.name != name) continue;
          Expr found = line.expanded;
          for (size_t i = qualified ? 2 : 1; i < e->path.size(); ++i)
            found.path.push_back(e->path[i]);
          *e = std::move(found);
          return;
        }
      }
      return;
    }
    for (Expr& arg : e->args) Expand(&arg, sources);
  }

  // ---- one SELECT ------------------------------------------------------------------------------

  struct Block {
    std::vector<Source> sources;

    std::vector<const Source*> all() const {
      std::vector<const Source*> list;
      for (const Source& source : sources) list.push_back(&source);
      return list;
    }
    std::string Expanded(const Expr& e) const {
      Expr copy = e;
      Expand(&copy, all());
      return Text(copy);
    }
  };

  Result<std::vector<std::string>> NamesOf(const TableUse& use) const {
    std::vector<std::string> names;
    if (!use.columns.empty()) return use.columns;
    std::shared_ptr<const Query> query = use.query;
    if (query == nullptr && use.name.size() == 1) {
      const auto named = named_.find(use.name[0]);
      if (named != named_.end()) query = named->second;
    }
    if (query != nullptr) return OutputNames(*query);
    const TableEntry* table = session_.FindTable(use.name);
    if (table == nullptr) {
      return MakeError(ErrorKind::kNotFound, "there is no table " + Join(use.name));
    }
    for (const Column& column : table->columns) names.push_back(column.name);
    return names;
  }
  static std::string Join(const Path& path) {
    std::string text;
    for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
    return text;
  }

  Result<std::vector<std::string>> OutputNames(const Query& query) const {
    if (!query.set_operation.empty()) return OutputNames(*query.left);
    std::vector<std::string> names;
    if (!query.rows.empty()) {
      for (size_t i = 0; i < query.rows[0].size(); ++i)
        names.push_back("EXPR$" + std::to_string(i));
      return names;
    }
    for (const SelectItem& item : query.items) {
      if (item.expr.kind != ExprKind::kStar) {
        names.push_back(NameOf(item, names.size()));
        continue;
      }
      for (const TableUse& use : query.from) {
        const std::string alias = AliasOf(use);
        if (!item.expr.path.empty() && item.expr.path[0] != alias) continue;
        DRIFTLESS_ASSIGN_OR_RETURN(const auto more, NamesOf(use));
        names.insert(names.end(), more.begin(), more.end());
      }
    }
    return names;
  }
  static std::string NameOf(const SelectItem& item, size_t index) {
    if (!item.alias.empty()) return item.alias;
    if (item.expr.kind == ExprKind::kColumn) return item.expr.path.back();
    return "EXPR$" + std::to_string(index);
  }
  static std::string AliasOf(const TableUse& use) {
    return !use.alias.empty() ? use.alias : use.name.empty() ? "" : use.name.back();
  }

  // Marks the columns of the sources that the expression names.
  static void MarkUsed(const Expr& e, Block* block) {
    if (e.kind == ExprKind::kColumn) {
      for (Source& source : block->sources) {
        const bool qualified = e.path.size() > 1 && e.path[0] == source.alias;
        const std::string& name = e.path[qualified ? 1 : 0];
        const bool has = std::any_of(source.lines.begin(), source.lines.end(),
                                     [&](const Line& line) { return line.name == name; });
        if (!has) continue;
        source.used.insert(name);
        return;
      }
      return;
    }
    if (e.over != nullptr) {
      for (const Expr& key : e.over->partition) MarkUsed(key, block);
      for (const Expr& key : e.over->order) MarkUsed(key, block);
    }
    for (const Expr& arg : e.args) MarkUsed(arg, block);
  }

  static bool IsNeeded(const std::set<std::string>* needed, const std::string& name) {
    return needed == nullptr || needed->contains(name);
  }

  Result<Lines> Select(const Query& query, const std::set<std::string>* needed,
                       const std::optional<RankLimit>& rank, int depth) {
    // First which columns of each source are used, by their names alone; then the sources.
    Block block;
    for (const TableUse& use : query.from) {
      Source source;
      source.alias = AliasOf(use);
      DRIFTLESS_ASSIGN_OR_RETURN(const auto names, NamesOf(use));
      for (const std::string& name : names) source.lines.push_back({name, Expr()});
      if (!use.window_function.empty()) {
        for (const std::string_view name : {"window_start", "window_end", "window_time"}) {
          source.lines.push_back({std::string(name), Expr()});
        }
        source.used.insert(use.window_time);
      }
      block.sources.push_back(std::move(source));
    }
    const bool distinct = query.distinct;
    size_t index = 0;
    for (const SelectItem& item : query.items) {
      if (item.expr.kind != ExprKind::kStar) {
        if (distinct || IsNeeded(needed, NameOf(item, index++))) MarkUsed(item.expr, &block);
        continue;
      }
      for (Source& source : block.sources) {
        if (!item.expr.path.empty() && item.expr.path[0] != source.alias) continue;
        for (const Line& line : source.lines) {
          if (!distinct && !IsNeeded(needed, line.name)) continue;
          source.used.insert(line.name);
        }
        source.by_star = needed == nullptr || distinct;
        index += source.lines.size();
      }
    }
    for (const TableUse& use : query.from) {
      if (use.on) MarkUsed(*use.on, &block);
    }
    if (query.where) MarkUsed(*query.where, &block);
    for (const Expr& key : query.group_by) MarkUsed(key, &block);
    if (query.having) MarkUsed(*query.having, &block);
    for (const OrderItem& item : query.order_by) MarkUsed(item.expr, &block);

    DRIFTLESS_TRY(From(query, &block, depth));
    if (query.where) {
      shape.filters.push_back({block.Expanded(*query.where), shape.operators.size()});
    }
    DRIFTLESS_TRY(Over(query, needed, rank, &block));
    Group(query, needed, block);
    Lines lines = Output(query, needed, block);
    if (query.having) {
      shape.filters.push_back({block.Expanded(*query.having), shape.operators.size()});
    }
    if (distinct) {
      ShapeOperator unique;
      for (const Line& line : lines) unique.keys.push_back(Text(line.expanded));
      shape.operators.push_back(std::move(unique));
    }
    return lines;
  }

  Result<void> From(const Query& query, Block* block, int depth) {
    for (size_t i = 0; i < query.from.size(); ++i) {
      const TableUse& use = query.from[i];
      Source& source = block->sources[i];
      std::optional<RankLimit> rank;
      if (query.where && query.from.size() == 1) rank = FindRankLimit(*query.where);
      DRIFTLESS_ASSIGN_OR_RETURN(source.lines, Rows(use, source.used, rank, depth));
      for (size_t k = 0; k < use.columns.size() && k < source.lines.size(); ++k) {
        source.lines[k].name = use.columns[k];
      }
      if (i == 0) continue;
      ShapeOperator join;
      join.kind = OperatorKind::kJoin;
      join.keys.push_back(use.join + (use.at_time ? " at a time" : ""));
      if (use.on) join.keys.push_back(block->Expanded(*use.on));
      for (size_t k = 0; k <= i; ++k) {
        for (std::string& column : InputOf(block->sources[k]))
          join.input.push_back(std::move(column));
        join.input.emplace_back("|");
      }
      shape.operators.push_back(std::move(join));
    }
    return {};
  }

  // The row of a source as an operator gets it: with `*` in the table's order, else by name.
  static std::vector<std::string> InputOf(const Source& source) {
    std::vector<std::string> columns;
    for (const Line& line : source.lines) {
      if (source.used.contains(line.name)) columns.push_back(Text(line.expanded));
    }
    if (!source.by_star) std::sort(columns.begin(), columns.end());
    return columns;
  }

  Result<Lines> Rows(const TableUse& use, const std::set<std::string>& used,
                     const std::optional<RankLimit>& rank, int depth) {
    if (use.query != nullptr) {
      // With other names for the columns all of them count as needed.
      return Visit(*use.query, use.columns.empty() ? &used : nullptr, rank, depth + 1);
    }
    if (use.name.size() == 1) {
      const auto named = named_.find(use.name[0]);
      if (named != named_.end()) {
        const std::shared_ptr<const Query> query = named->second;
        return Visit(*query, use.columns.empty() ? &used : nullptr, rank, depth + 1);
      }
    }
    const TableEntry* table = session_.FindTable(use.name);
    if (table == nullptr) {
      return MakeError(ErrorKind::kNotFound, "there is no table " + Join(use.name));
    }
    if (table->kind == TableKind::kView) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(table->query));
      const auto outer = std::exchange(named_, {});
      auto lines = Visit(query, nullptr, rank, depth + 1);
      named_ = outer;
      if (!lines) return std::move(lines.error());
      for (size_t i = 0; i < lines->size() && i < table->columns.size(); ++i) {
        (*lines)[i].name = table->columns[i].name;
      }
      return lines;
    }
    const auto full = session_.Resolve(use.name);
    if (!full) return full.error();
    const std::string name = full->Summary();
    shape.tables[name].insert(used.begin(), used.end());
    Lines lines = LinesOf(name, *table);
    if (use.window_function.empty()) return lines;
    Expr window;
    window.kind = ExprKind::kCall;
    window.text = use.window_function;
    window.path = {use.window_function};
    for (const Line& line : lines) {
      if (line.name == use.window_time) window.args.push_back(line.expanded);
    }
    for (Expr size : use.window_sizes) {
      NormaliseInterval(&size);
      window.args.push_back(std::move(size));
    }
    for (const std::string_view each : {"window_start", "window_end", "window_time"}) {
      Line line;
      line.name = each;
      line.expanded = window;
      line.rowtime = each == "window_time";
      lines.push_back(std::move(line));
    }
    return lines;
  }

  Result<void> Over(const Query& query, const std::set<std::string>* needed,
                    const std::optional<RankLimit>& rank, Block* block) {
    size_t index = 0;
    for (const SelectItem& item : query.items) {
      if (item.expr.kind == ExprKind::kStar) {
        for (const Source& source : block->sources) index += source.lines.size();
        continue;
      }
      const std::string name = NameOf(item, index++);
      std::vector<const Expr*> calls;
      CollectOver(item.expr, &calls);
      if (calls.empty() || (!IsNeeded(needed, name) && !(rank && rank->column == name))) continue;
      const Expr& call = *calls.front();
      if (!call.over->name.empty()) return Unclear("there is no window " + call.over->name);
      ShapeOperator over;
      over.kind = OperatorKind::kOver;
      for (const Expr& key : call.over->partition) over.keys.push_back(block->Expanded(key));
      over.keys.emplace_back("ordered by");
      bool by_proctime = false;
      bool by_time = false;
      for (size_t i = 0; i < call.over->order.size(); ++i) {
        over.keys.push_back(block->Expanded(call.over->order[i]) +
                            (call.over->descending[i] ? " DESC" : ""));
        const Line* line = FindLine(call.over->order[i], *block);
        by_proctime = line != nullptr && line->proctime;
        by_time = line != nullptr && (line->proctime || line->rowtime);
      }
      const bool ranks = call.text == "ROW_NUMBER" || call.text == "RANK";
      if (ranks && rank && rank->column == name) {
        const bool one_by_time = rank->one && by_time && call.over->order.size() == 1;
        const bool first = one_by_time && by_proctime && !call.over->descending[0];
        over.kind = first         ? OperatorKind::kFirstRow
                    : one_by_time ? OperatorKind::kDeduplication
                                  : OperatorKind::kTopN;
        over.keys.push_back(rank->text);
        if (first) {
          shape.operators.push_back(std::move(over));
          continue;
        }
      } else {
        over.keys.push_back(call.over->frame);
        for (const Expr* each : calls) {
          over.aggregates.push_back(
              {Text(*each), each->text + " of " + Arguments(*each, *block), each->distinct});
        }
      }
      for (const Source& source : block->sources) {
        for (std::string& column : InputOf(source)) over.input.push_back(std::move(column));
      }
      shape.operators.push_back(std::move(over));
    }
    return {};
  }

  static const Line* FindLine(const Expr& e, const Block& block) {
    if (e.kind != ExprKind::kColumn) return nullptr;
    for (const Source& source : block.sources) {
      for (const Line& line : source.lines) {
        if (line.name == e.path.back()) return &line;
      }
    }
    return nullptr;
  }

  static std::string Arguments(const Expr& call, const Block& block) {
    std::string text;
    for (const Expr& arg : call.args) {
      if (arg.kind == ExprKind::kStar) return "*";
      text += (text.empty() ? "" : ", ") + block.Expanded(arg);
    }
    return text;
  }

  void Group(const Query& query, const std::set<std::string>* needed, const Block& block) {
    std::vector<const Expr*> calls;
    size_t index = 0;
    for (const SelectItem& item : query.items) {
      if (item.expr.kind == ExprKind::kStar) continue;
      if (IsNeeded(needed, NameOf(item, index++))) CollectAggregates(item.expr, &calls);
    }
    if (query.having) CollectAggregates(*query.having, &calls);
    if (query.group_by.empty() && calls.empty()) return;
    ShapeOperator group;
    for (const Expr& key : query.group_by) {
      Expr expanded = key;
      Expand(&expanded, block.all());
      const bool window = expanded.kind == ExprKind::kCall &&
                          (expanded.text == "TUMBLE" || expanded.text == "HOP" ||
                           expanded.text == "SESSION" || expanded.text == "CUMULATE");
      if (window) group.kind = OperatorKind::kWindowAggregate;
      group.keys.push_back(Text(expanded));
    }
    std::sort(group.keys.begin(), group.keys.end());
    group.keys.erase(std::unique(group.keys.begin(), group.keys.end()), group.keys.end());
    for (const Expr* call : calls) {
      ShapeAggregate aggregate{Text(*call), call->text + " of " + Arguments(*call, block),
                               call->distinct};
      if (call->distinct) aggregate.expanded = "DISTINCT " + aggregate.expanded;
      const bool known = std::any_of(
          group.aggregates.begin(), group.aggregates.end(),
          [&](const ShapeAggregate& each) { return each.expanded == aggregate.expanded; });
      if (!known) group.aggregates.push_back(std::move(aggregate));
    }
    shape.operators.push_back(std::move(group));
  }

  static Lines Output(const Query& query, const std::set<std::string>* needed, const Block& block) {
    Lines lines;
    for (const SelectItem& item : query.items) {
      if (item.expr.kind == ExprKind::kStar) {
        for (const Source& source : block.sources) {
          if (!item.expr.path.empty() && item.expr.path[0] != source.alias) continue;
          for (const Line& line : source.lines) {
            if (IsNeeded(needed, line.name)) lines.push_back(line);
          }
        }
        continue;
      }
      Line line;
      line.name = NameOf(item, lines.size());
      line.expanded = item.expr;
      if (const Line* from = FindLine(item.expr, block)) {
        line.proctime = from->proctime;
        line.rowtime = from->rowtime;
      }
      Expand(&line.expanded, block.all());
      if (IsNeeded(needed, line.name)) lines.push_back(std::move(line));
    }
    return lines;
  }

  const Session& session_;
  std::map<std::string, std::shared_ptr<const Query>> named_;
};

}  // namespace

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
