#include "config/sql/query_run.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/relation/operators.h"
#include "config/sql/function_names.h"
#include "config/sql/session.h"
#include "schema/base/clock.h"

namespace driftless::flink {
namespace {

constexpr int kDeepest = 100;

JoinKind KindOf(const std::string& join) {
  if (join.starts_with("LEFT")) return JoinKind::kLeft;
  if (join.starts_with("RIGHT")) return JoinKind::kRight;
  if (join.starts_with("FULL")) return JoinKind::kFull;
  return join.starts_with("CROSS") ? JoinKind::kCross : JoinKind::kInner;
}

bool HasAggregate(const Expr& e) {
  if (e.kind == ExprKind::kCall && e.over == nullptr && IsAggregateFunction(e.text)) return true;
  return std::any_of(e.args.begin(), e.args.end(), HasAggregate);
}

Expr ColumnExpr(std::string name) {
  Expr e;
  e.kind = ExprKind::kColumn;
  e.path = {std::move(name)};
  return e;
}

using Named = std::map<std::string, Relation>;

// Runs one query; subqueries have runs of their own.
class QueryRun {
 public:
  QueryRun(const Session& session, const TimeZone& zone, int64_t now_micros, Named named, int depth)
      : session_(session),
        zone_(zone),
        now_micros_(now_micros),
        named_(std::move(named)),
        depth_(depth) {}

  Result<Relation> Run(const Query& query) {
    if (depth_ > kDeepest) {
      return MakeError(ErrorKind::kUnsupported, "the views are nested too deeply");
    }
    for (const auto& [name, each] : query.with) {
      DRIFTLESS_ASSIGN_OR_RETURN(named_[name], Inner(*each));
    }
    Relation rows;
    if (!query.set_operation.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(rows, Both(query));
    } else if (!query.rows.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(rows, Values(query));
    } else {
      return Select(query);  // sorts before it leaves out what only ORDER BY needs
    }
    std::vector<SortColumn> by;
    for (const OrderItem& item : query.order_by) by.push_back(SortOf(item, *PlaceOf(item, rows)));
    return Limit(Sort(rows, by), query.offset, query.limit);
  }

 private:
  struct Source {
    std::string alias;
    std::vector<std::string> columns;
  };

  Result<Relation> Inner(const Query& query) const {
    return QueryRun(session_, zone_, now_micros_, named_, depth_ + 1).Run(query);
  }

  EvalContext Context() const {
    EvalContext context;
    context.scope.user_function = FunctionsOf(session_);
    context.scope.refuses_number_is_text = true;
    context.zone = zone_;
    context.now_micros = now_micros_;
    return context;
  }
  EvalContext ContextFor(const Relation& relation) const {
    EvalContext context = Context();
    context.scope.columns = ContextOf(relation).scope.columns;
    return context;
  }

  Result<Relation> Both(const Query& query) const {
    DRIFTLESS_ASSIGN_OR_RETURN(const Relation left, Inner(*query.left));
    DRIFTLESS_ASSIGN_OR_RETURN(const Relation right, Inner(*query.right));
    const std::string& word = query.set_operation;
    return Combine(left, right,
                   word == "UNION ALL"   ? SetOperation::kUnionAll
                   : word == "UNION"     ? SetOperation::kUnion
                   : word == "INTERSECT" ? SetOperation::kIntersect
                                         : SetOperation::kExcept);
  }

  Result<Relation> Values(const Query& query) const {
    Relation one;
    one.SetRows(1);
    std::optional<Relation> all;
    for (const std::vector<Expr>& row : query.rows) {
      std::vector<NamedExpr> items;
      for (size_t i = 0; i < row.size(); ++i) {
        items.push_back({"EXPR$" + std::to_string(i), row[i], std::nullopt});
      }
      DRIFTLESS_ASSIGN_OR_RETURN(Relation made, Project(one, items, Context()));
      if (!all) {
        all = std::move(made);
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(all, Combine(*all, made, SetOperation::kUnionAll));
    }
    return std::move(*all);
  }

  // ---- FROM ------------------------------------------------------------------------------------

  Result<Relation> RowsOf(const TableUse& use) const {
    if (!use.window_function.empty() || use.at_time) {
      return MakeError(ErrorKind::kUnsupported,
                       use.at_time ? "joins at a time need a stream" : "windows need a stream")
          .Hint("Run the query on Flink.");
    }
    if (use.query != nullptr) return Inner(*use.query);
    if (use.name.size() == 1) {
      const auto named = named_.find(use.name[0]);
      if (named != named_.end()) return named->second;
    }
    const TableEntry* table = session_.FindTable(use.name);
    if (table == nullptr) return MakeError(ErrorKind::kInternal, "the table has gone");
    if (table->rows != nullptr) return *table->rows;
    if (table->kind != TableKind::kView) {
      return MakeError(ErrorKind::kUnsupported,
                       "the rows of " + session_.FullName(use.name) +
                           " come from a connector, which a session does not read")
          .Hint("Run the query on Flink; here it runs over VALUES and views of them.");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(table->query));
    // A view sees no names of the query that it stands in.
    DRIFTLESS_ASSIGN_OR_RETURN(Relation rows,
                               QueryRun(session_, zone_, now_micros_, {}, depth_ + 1).Run(query));
    for (size_t i = 0; i < table->columns.size(); ++i) {
      rows.fields()[i].name = table->columns[i].name;
    }
    return rows;
  }

  void AddSource(const TableUse& use, Relation* rows) {
    for (size_t i = 0; i < use.columns.size(); ++i) rows->fields()[i].name = use.columns[i];
    Source source;
    source.alias = !use.alias.empty()     ? use.alias
                   : use.query != nullptr ? "(" + std::to_string(sources_.size())
                                          : use.name.back();
    for (Field& field : rows->fields()) {
      source.columns.push_back(field.name);
      field.name = source.alias + "." + field.name;
    }
    sources_.push_back(std::move(source));
  }

  Result<Relation> From(const Query& query) {
    Relation rows;
    rows.SetRows(1);
    for (const TableUse& use : query.from) {
      DRIFTLESS_ASSIGN_OR_RETURN(Relation next, RowsOf(use));
      AddSource(use, &next);
      if (&use == &query.from.front()) {
        rows = std::move(next);
        continue;
      }
      EvalContext context = ContextFor(rows);
      for (const Field& field : next.fields()) {
        context.scope.columns.emplace_back(field.name, field.type);
      }
      std::optional<Expr> on = use.on;
      if (on) Qualify(&*on);
      DRIFTLESS_ASSIGN_OR_RETURN(rows, Join(rows, next, KindOf(use.join), on, context));
    }
    return rows;
  }

  // Puts the table in front of every column.
  void Qualify(Expr* e) const {
    if (e->kind == ExprKind::kColumn) {
      for (const Source& source : sources_) {
        const auto has = [&](const std::string& name) {
          return std::find(source.columns.begin(), source.columns.end(), name) !=
                 source.columns.end();
        };
        if (e->path.size() > 1 && source.alias == e->path[0] && has(e->path[1])) {
          e->path.erase(e->path.begin());
        } else if (!has(e->path[0])) {
          continue;
        }
        e->path[0] = source.alias + "." + e->path[0];
        return;
      }
      return;
    }
    for (Expr& arg : e->args) Qualify(&arg);
  }

  // ---- SELECT ----------------------------------------------------------------------------------

  std::vector<NamedExpr> Items(const Query& query) const {
    std::vector<NamedExpr> items;
    for (const SelectItem& item : query.items) {
      if (item.expr.kind == ExprKind::kStar) {
        for (const Source& source : sources_) {
          if (!item.expr.path.empty() && source.alias != item.expr.path[0]) continue;
          for (const std::string& column : source.columns) {
            items.push_back({column, ColumnExpr(source.alias + "." + column), std::nullopt});
          }
        }
        continue;
      }
      NamedExpr made;
      made.name = !item.alias.empty()                   ? item.alias
                  : item.expr.kind == ExprKind::kColumn ? item.expr.path.back()
                                                        : "EXPR$" + std::to_string(items.size());
      made.expr = item.expr;
      Qualify(&made.expr);
      items.push_back(std::move(made));
    }
    MakeUnique(&items);
    return items;
  }

  // A name that is there already gets a number: a, a0, a1.
  static void MakeUnique(std::vector<NamedExpr>* items) {
    for (size_t i = 0; i < items->size(); ++i) {
      const auto taken = [&](const std::string& name) {
        return std::any_of(items->begin(), items->begin() + static_cast<ptrdiff_t>(i),
                           [&](const NamedExpr& item) { return item.name == name; });
      };
      const std::string name = (*items)[i].name;
      for (int number = 0; taken((*items)[i].name); ++number) {
        (*items)[i].name = name + std::to_string(number);
      }
    }
  }

  static SortColumn SortOf(const OrderItem& item, size_t column) {
    return {column, item.descending, item.nulls_first.value_or(!item.descending)};
  }

  // The item that ORDER BY means; nothing: an expression of its own.
  template <typename Items>
  static std::optional<size_t> FindPlace(const OrderItem& item, const Items& items) {
    const Expr& e = item.expr;
    if (e.kind == ExprKind::kNumber) return std::stoul(e.text) - 1;
    for (size_t i = 0; i < items.size(); ++i) {
      if (e.kind == ExprKind::kColumn && e.path.size() == 1 && items[i].name == e.path[0]) return i;
    }
    return std::nullopt;
  }
  static std::optional<size_t> PlaceOf(const OrderItem& item, const Relation& rows) {
    return FindPlace(item, rows.fields()).value_or(0);
  }

  Result<Relation> Select(const Query& query) {
    DRIFTLESS_ASSIGN_OR_RETURN(Relation rows, From(query));
    if (query.where) {
      Expr where = *query.where;
      Qualify(&where);
      DRIFTLESS_ASSIGN_OR_RETURN(rows, Filter(rows, where, ContextFor(rows)));
    }
    std::vector<NamedExpr> items = Items(query);
    const size_t wanted = items.size();
    std::vector<SortColumn> by;
    for (const OrderItem& order : query.order_by) {
      auto place = FindPlace(order, items);
      if (!place) {
        place = items.size();
        NamedExpr key{"(" + std::to_string(items.size()), order.expr, std::nullopt};
        Qualify(&key.expr);
        items.push_back(std::move(key));
      }
      by.push_back(SortOf(order, *place));
    }
    std::optional<Expr> having = query.having;
    if (having) Qualify(&*having);
    bool grouped = !query.group_by.empty() || having;
    for (const NamedExpr& item : items) grouped = grouped || HasAggregate(item.expr);
    if (grouped) DRIFTLESS_TRY(Group(query, &rows, &items, &having));
    if (having) {
      DRIFTLESS_ASSIGN_OR_RETURN(rows, Filter(rows, *having, ContextFor(rows)));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(rows, Project(rows, items, ContextFor(rows)));
    if (query.distinct) {
      if (items.size() > wanted) {
        return MakeError(ErrorKind::kUnsupported,
                         "SELECT DISTINCT is ordered by what it selects only");
      }
      rows = Distinct(rows);
    }
    rows = Limit(Sort(rows, by), query.offset, query.limit);
    if (items.size() == wanted) return rows;
    std::vector<NamedExpr> kept;
    for (size_t i = 0; i < wanted; ++i) {
      kept.push_back({items[i].name, ColumnExpr(items[i].name), std::nullopt});
    }
    return Project(rows, kept, ContextFor(rows));
  }

  // Rows become groups; what the items say of keys and aggregates becomes columns of them.
  Result<void> Group(const Query& query, Relation* rows, std::vector<NamedExpr>* items,
                     std::optional<Expr>* having) const {
    std::vector<Expr> keys;
    std::vector<std::string> texts;
    for (const Expr& key : query.group_by) {
      keys.push_back(key);
      Qualify(&keys.back());
      texts.push_back(PrintExpr(keys.back(), PrintStyle::kValidated));
    }
    std::vector<AggregateCall> calls;
    const auto take = [&](Expr* e) {
      TakeKeys(e, texts);
      TakeAggregates(e, keys.size(), &calls);
    };
    for (NamedExpr& item : *items) take(&item.expr);
    if (*having) take(&**having);
    DRIFTLESS_ASSIGN_OR_RETURN(*rows, Aggregate(*rows, keys, calls, ContextFor(*rows)));
    return {};
  }

  static void TakeKeys(Expr* e, const std::vector<std::string>& texts) {
    if (e->kind == ExprKind::kCall && IsAggregateFunction(e->text)) return;
    if (e->kind == ExprKind::kStar) return;
    const std::string text = PrintExpr(*e, PrintStyle::kValidated);
    for (size_t i = 0; i < texts.size(); ++i) {
      if (text == texts[i]) {
        *e = ColumnExpr("$" + std::to_string(i));
        return;
      }
    }
    for (Expr& arg : e->args) TakeKeys(&arg, texts);
  }

  const Session& session_;
  const TimeZone zone_;
  const int64_t now_micros_;
  Named named_;
  const int depth_;
  std::vector<Source> sources_;
};

}  // namespace

Result<Relation> RunQuery(const Session& session, const Query& query, const TimeZone& zone) {
  return QueryRun(session, zone, SystemClock()->NowMillis() * 1000, {}, 0).Run(query);
}

}  // namespace driftless::flink
