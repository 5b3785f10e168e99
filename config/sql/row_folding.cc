#include "config/sql/row_folding.h"

#include <algorithm>
#include <memory>

#include "config/expr/lexer.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

constexpr int kDeepest = 100;

using Tables = std::vector<FoldedTable>;
// Queries that WITH gave names to, the innermost last.
using Named = std::vector<std::pair<std::string, std::shared_ptr<const Query>>>;

std::string Dotted(const Path& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

// What Flink's CDC connectors call their metadata, as transforms call it.
Result<Expr> Metadata(const Column& column) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"table_name", "__table_name__"},
      {"database_name", "__schema_name__"},
      {"schema_name", "__schema_name__"},
      {"op_ts", "op_ts"},
      {"row_kind", "__data_event_type__"},
      {"__table_name__", "__table_name__"},
      {"__schema_name__", "__schema_name__"},
      {"__namespace_name__", "__namespace_name__"},
      {"__data_event_type__", "__data_event_type__"},
      {"__source_position__", "__source_position__"},
      {"__transaction_id__", "__transaction_id__"}};
  const std::string key = column.metadata_key.value_or(column.name);
  for (const auto& [flink, own] : kNames) {
    if (key != flink) continue;
    Expr name;
    name.kind = ExprKind::kColumn;
    name.path = {std::string(own)};
    return CastTo(column.type, std::move(name));
  }
  return MakeError(ErrorKind::kUnsupported,
                   "the metadata '" + key + "' of column " + column.name +
                       " is not known here: table_name, database_name, schema_name, op_ts and "
                       "row_kind are");
}

// Puts what the columns of a query stand for in their place. `alias`: the name of the table that
// they are of, empty where it has none.
Result<void> Substitute(const std::string& alias, const FoldedTable& below, Expr* e) {
  if (e->kind != ExprKind::kColumn) {
    for (Expr& arg : e->args) {
      if (arg.kind != ExprKind::kStar) DRIFTLESS_TRY(Substitute(alias, below, &arg));
    }
    return {};
  }
  const auto find = [&](const std::string& name) {
    return std::find_if(below.columns.begin(), below.columns.end(),
                        [&](const auto& column) { return column.first == name; });
  };
  const bool is_qualified = e->path.size() > 1 && !alias.empty() && e->path[0] == alias &&
                            find(e->path[1]) != below.columns.end();
  const size_t at = is_qualified ? 1 : 0;
  const auto found = find(e->path[at]);
  if (found == below.columns.end()) {
    return SqlError(kCalciteValidator, "Column '" + Dotted(e->path) + "' not found in any table");
  }
  if (e->path.size() == at + 1) {
    *e = found->second;
    return {};
  }
  if (found->second.kind != ExprKind::kColumn) {
    return RunsOnFlink("the query takes the field " + Dotted(e->path) +
                       " of a value that is worked out");
  }
  Path path = found->second.path;
  path.insert(path.end(), e->path.begin() + static_cast<ptrdiff_t>(at) + 1, e->path.end());
  e->path = std::move(path);
  return {};
}

class Folding {
 public:
  explicit Folding(const Session& session) : session_(session) {}

  Result<Tables> Fold(const Query& query, Named named = {}) {
    if (++depth_ > kDeepest) return RunsOnFlink("the views are nested too deeply");
    named.insert(named.end(), query.with.begin(), query.with.end());
    auto tables = query.set_operation.empty() ? Select(query, named) : Union(query, named);
    --depth_;
    return tables;
  }

  std::set<ObjectName> names;  // that have been met

 private:
  Result<Tables> Select(const Query& query, const Named& named) {
    if (query.from.empty()) return RunsOnFlink("the query takes no rows of a table");
    if (query.from.size() > 1) return RunsOnFlink("the query joins rows of more than one table");
    const TableUse& use = query.from[0];
    if (!use.window_function.empty()) return RunsOnFlink("the query cuts time into windows");
    DRIFTLESS_ASSIGN_OR_RETURN(Tables tables, Rows(use, named));
    for (FoldedTable& table : tables) {
      for (size_t i = 0; i < use.columns.size(); ++i) table.columns[i].first = use.columns[i];
      DRIFTLESS_ASSIGN_OR_RETURN(table, Selected(query, use, table));
    }
    return tables;
  }

  // What the items of one SELECT make of a table's columns.
  static Result<FoldedTable> Selected(const Query& query, const TableUse& use,
                                      const FoldedTable& below) {
    const std::string alias = !use.alias.empty()     ? use.alias
                              : use.query != nullptr ? ""
                                                     : use.name.back();
    FoldedTable made = below;
    made.columns.clear();
    for (const SelectItem& item : query.items) {
      if (item.expr.kind == ExprKind::kStar) {
        made.columns.insert(made.columns.end(), below.columns.begin(), below.columns.end());
        continue;
      }
      Expr expr = item.expr;
      DRIFTLESS_TRY(Substitute(alias, below, &expr));
      std::string name = item.alias;
      if (name.empty() && item.expr.kind == ExprKind::kColumn) name = item.expr.path.back();
      if (name.empty()) name = "EXPR$" + std::to_string(made.columns.size());
      made.columns.emplace_back(std::move(name), std::move(expr));
    }
    if (query.where) {
      Expr where = *query.where;
      DRIFTLESS_TRY(Substitute(alias, below, &where));
      made.filters.push_back(std::move(where));
    }
    return made;
  }

  // Both sides get the names of the first one, and the types of both.
  Result<Tables> Union(const Query& query, const Named& named) {
    if (query.set_operation != "UNION ALL") {
      return RunsOnFlink("the query keeps state (" + query.set_operation + ")");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery both, Resolved(query, named));
    Tables all;
    for (const auto& side : {query.left, query.right}) {
      DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery own, Resolved(*side, named));
      DRIFTLESS_ASSIGN_OR_RETURN(Tables tables, Fold(*side, named));
      for (FoldedTable& table : tables) {
        for (size_t i = 0; i < table.columns.size(); ++i) {
          auto& [name, expr] = table.columns[i];
          name = both.columns[i].name;
          const LogicalType& type = both.columns[i].type;
          if (own.columns[i].type.EqualsIgnoringNullability(type)) continue;
          expr = CastTo(type, std::move(expr));
        }
        all.push_back(std::move(table));
      }
    }
    return all;
  }

  Result<ResolvedQuery> Resolved(const Query& query, const Named& named) const {
    Query whole = query;
    whole.with.insert(whole.with.begin(), named.begin(), named.end());
    return ResolveQuery(session_, whole);
  }

  // The rows that one place of FROM gives.
  Result<Tables> Rows(const TableUse& use, const Named& named) {
    if (use.query != nullptr) return Fold(*use.query, named);
    if (use.name.size() == 1) {
      const auto found = std::find_if(named.rbegin(), named.rend(),
                                      [&](const auto& each) { return each.first == use.name[0]; });
      if (found != named.rend()) return Fold(*found->second, named);
    }
    const TableEntry* table = session_.FindTable(use.name);
    if (table == nullptr) return MakeError(ErrorKind::kInternal, "the table has gone");
    DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Resolve(use.name));
    names.insert(name);
    if (table->kind == TableKind::kView) return View(*table);
    DRIFTLESS_ASSIGN_OR_RETURN(FoldedTable own, Stored(name, *table));
    return Tables{std::move(own)};
  }

  Result<Tables> View(const TableEntry& view) {
    if (view.query.empty()) return RunsOnFlink("the rows of the view are in memory");
    DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(view.query));
    DRIFTLESS_ASSIGN_OR_RETURN(Tables tables, Fold(query));
    for (FoldedTable& table : tables) {
      for (size_t i = 0; i < view.columns.size() && i < table.columns.size(); ++i) {
        table.columns[i].first = view.columns[i].name;
      }
    }
    return tables;
  }

  // The columns of a table; a computed one stands for its expression over the others.
  static Result<FoldedTable> Stored(const ObjectName& name, const TableEntry& table) {
    FoldedTable stored{name, &table, {}, {}};
    for (const Column& column : table.columns) {
      if (column.kind == ColumnKind::kComputed) continue;
      Expr expr;
      expr.kind = ExprKind::kColumn;
      expr.path = {column.name};
      if (column.kind == ColumnKind::kMetadata) {
        DRIFTLESS_ASSIGN_OR_RETURN(expr, Metadata(column));
      }
      stored.columns.emplace_back(column.name, std::move(expr));
    }
    FoldedTable all{name, &table, {}, {}};
    size_t next = 0;
    for (const Column& column : table.columns) {
      if (column.kind != ColumnKind::kComputed) {
        all.columns.push_back(stored.columns[next++]);
        continue;
      }
      Expr expr = column.expr;
      DRIFTLESS_TRY(Substitute(name.object, stored, &expr));
      all.columns.emplace_back(column.name, std::move(expr));
    }
    return all;
  }

  const Session& session_;
  int depth_ = 0;
};

}  // namespace

Error RunsOnFlink(std::string text) {
  return MakeError(ErrorKind::kUnsupported, std::move(text))
      .Hint(
          "A pipeline takes rows one by one: projection, filter and expressions. Run the query on "
          "Apache Flink, and let a pipeline read what it writes.");
}

Expr CastTo(const LogicalType& type, Expr value) {
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.text = "CAST";
  cast.type = type.Nullable();
  cast.args = {std::move(value)};
  return cast;
}

Result<FoldedQuery> FoldQuery(const Session& session, const Query& query) {
  Folding folding(session);
  FoldedQuery folded;
  DRIFTLESS_ASSIGN_OR_RETURN(folded.tables, folding.Fold(query));
  folded.names = std::move(folding.names);
  return folded;
}

}  // namespace driftless::flink
