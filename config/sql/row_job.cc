#include "config/sql/row_job.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/sql/compat/query_shape.h"
#include "config/sql/function_names.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

constexpr int kDeepest = 100;

Error OnFlink(std::string text) {
  return MakeError(ErrorKind::kUnsupported, std::move(text))
      .Hint(
          "A pipeline takes rows one by one: projection, filter and expressions. Run the query on "
          "Apache Flink, and let a pipeline read what it writes.");
}

std::string Dotted(const Path& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

// A query that needs more than the row at hand is refused by what it keeps.
Result<void> CheckStateless(const Session& session, const Query& query) {
  DRIFTLESS_ASSIGN_OR_RETURN(const QueryShape shape, ShapeOf(session, query));
  if (shape.stateful()) {
    const ShapeOperator& keeps = shape.operators.front();
    std::string keys;
    for (const std::string& key : keeps.keys) keys += (keys.empty() ? " by " : ", ") + key;
    std::string tables;
    for (const auto& [table, used] : shape.tables) tables += (tables.empty() ? "" : ", ") + table;
    return OnFlink("the query keeps state (" + std::string(NameOf(keeps.kind)) + keys +
                   ") over rows that come without end from " + tables +
                   ", and Driftless keeps none");
  }
  if (shape.tables.size() > 1 || !shape.unions.empty()) {
    return OnFlink("the query takes rows of more than one table (UNION ALL)");
  }
  return {};
}

// A query over one table, as expressions over the columns of that table.
struct Folded {
  ObjectName source;
  const TableEntry* table = nullptr;
  std::vector<std::pair<std::string, Expr>> columns;  // what the query gives
  std::vector<Expr> filters;
};

class Folding {
 public:
  explicit Folding(const Session& session) : session_(session) {}

  Result<Folded> Fold(const Query& query, std::map<std::string, const Query*> named = {}) {
    if (++depth_ > kDeepest) return OnFlink("the views are nested too deeply");
    for (const auto& [name, each] : query.with) named[name] = each.get();
    if (query.from.empty()) return OnFlink("the query takes no rows of a table");
    if (query.from.size() > 1) return OnFlink("the query takes rows of more than one table");
    const TableUse& use = query.from[0];
    if (!use.window_function.empty()) return OnFlink("the query cuts time into windows");
    DRIFTLESS_ASSIGN_OR_RETURN(Folded below, Rows(use, named));
    if (!use.columns.empty()) {
      for (size_t i = 0; i < use.columns.size(); ++i) below.columns[i].first = use.columns[i];
    }
    const std::string alias = !use.alias.empty()     ? use.alias
                              : use.query != nullptr ? ""
                                                     : use.name.back();
    Folded made;
    made.source = below.source;
    made.table = below.table;
    made.filters = below.filters;
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
    --depth_;
    return made;
  }

 private:
  Result<Folded> Rows(const TableUse& use, const std::map<std::string, const Query*>& named) {
    if (use.query != nullptr) return Fold(*use.query, named);
    if (use.name.size() == 1) {
      const auto found = named.find(use.name[0]);
      if (found != named.end()) return Fold(*found->second, named);
    }
    const TableEntry* table = session_.FindTable(use.name);
    if (table == nullptr) return MakeError(ErrorKind::kInternal, "the table has gone");
    if (table->kind == TableKind::kView) {
      if (table->query.empty()) return OnFlink("the rows of the view are in memory");
      DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(table->query));
      DRIFTLESS_ASSIGN_OR_RETURN(Folded view, Fold(query));
      for (size_t i = 0; i < table->columns.size() && i < view.columns.size(); ++i) {
        view.columns[i].first = table->columns[i].name;
      }
      return view;
    }
    Folded own;
    DRIFTLESS_ASSIGN_OR_RETURN(own.source, session_.Resolve(use.name));
    own.table = table;
    for (const Column& column : table->columns) {
      Expr expr;
      expr.kind = ExprKind::kColumn;
      expr.path = {column.name};
      if (column.kind == ColumnKind::kMetadata) {
        DRIFTLESS_ASSIGN_OR_RETURN(expr, Metadata(column));
      }
      if (column.kind != ColumnKind::kComputed) {
        own.columns.emplace_back(column.name, std::move(expr));
      }
    }
    // A computed column stands for its expression over the others.
    const Folded stored = own;
    own.columns.clear();
    for (const Column& column : table->columns) {
      if (column.kind == ColumnKind::kComputed) {
        Expr expr = column.expr;
        DRIFTLESS_TRY(Substitute(use.name.back(), stored, &expr));
        own.columns.emplace_back(column.name, std::move(expr));
        continue;
      }
      for (const auto& each : stored.columns) {
        if (each.first == column.name) own.columns.push_back(each);
      }
    }
    return own;
  }

  // What Flink's CDC connectors call their metadata, as transforms call it.
  static Result<Expr> Metadata(const Column& column) {
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
      Expr cast;
      cast.kind = ExprKind::kCast;
      cast.text = "CAST";
      cast.type = column.type.Nullable();
      cast.args = {std::move(name)};
      return cast;
    }
    return MakeError(ErrorKind::kUnsupported,
                     "the metadata '" + key + "' of column " + column.name +
                         " is not known here: table_name, database_name, schema_name, op_ts and "
                         "row_kind are");
  }

  // Puts what the columns of a query stand for in their place.
  Result<void> Substitute(const std::string& alias, const Folded& below, Expr* e) const {
    if (e->kind == ExprKind::kColumn) {
      size_t at = 0;
      const auto has = [&](const std::string& name) {
        return std::find_if(below.columns.begin(), below.columns.end(),
                            [&](const auto& column) { return column.first == name; });
      };
      if (e->path.size() > 1 && !alias.empty() && e->path[0] == alias &&
          has(e->path[1]) != below.columns.end()) {
        at = 1;
      }
      const auto found = has(e->path[at]);
      if (found == below.columns.end()) {
        return SqlError(kCalciteValidator,
                        "Column '" + Dotted(e->path) + "' not found in any table");
      }
      if (e->path.size() == at + 1) {
        *e = found->second;
        return {};
      }
      if (found->second.kind != ExprKind::kColumn) {
        return OnFlink("the field " + Dotted(e->path) + " of a value that is worked out");
      }
      Path path = found->second.path;
      path.insert(path.end(), e->path.begin() + static_cast<ptrdiff_t>(at) + 1, e->path.end());
      e->path = std::move(path);
      return {};
    }
    for (Expr& arg : e->args) {
      if (arg.kind != ExprKind::kStar) DRIFTLESS_TRY(Substitute(alias, below, &arg));
    }
    return {};
  }

  const Session& session_;
  int depth_ = 0;
};

std::string SchemaText(const std::vector<std::pair<std::string, LogicalType>>& fields) {
  std::string text;
  for (const auto& [name, type] : fields) {
    text += (text.empty() ? "" : ", ") + name + ": " + type.ToString();
  }
  return "[" + text + "]";
}

Expr CastTo(const LogicalType& type, Expr value) {
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.text = "CAST";
  cast.type = type.Nullable();
  cast.args = {std::move(value)};
  return cast;
}

// All of a table as it is: no view, no condition.
bool IsStarAlone(const Session& session, const Query& query) {
  if (query.items.size() != 1 || query.items[0].expr.kind != ExprKind::kStar || query.where ||
      query.distinct || !query.with.empty() || query.from.size() != 1 ||
      !query.from[0].columns.empty() || query.from[0].query != nullptr) {
    return false;
  }
  const TableEntry* table = session.FindTable(query.from[0].name);
  return table != nullptr && table->kind == TableKind::kTable;
}

}  // namespace

std::vector<Column> StoredColumns(const TableEntry& table) {
  std::vector<Column> columns = table.columns;
  std::erase_if(columns, [](const Column& c) {
    return c.kind == ColumnKind::kComputed || (c.kind == ColumnKind::kMetadata && c.is_virtual);
  });
  return columns;
}

Result<std::vector<SinkColumn>> MatchSink(const ObjectName& name, const TableEntry& table,
                                          const std::vector<std::string>& columns,
                                          const std::vector<Column>& query) {
  const std::vector<Column> all = StoredColumns(table);
  std::vector<std::pair<std::string, LogicalType>> sink;
  for (const Column& column : all) {
    const bool given =
        columns.empty() || std::find(columns.begin(), columns.end(), column.name) != columns.end();
    if (given) sink.emplace_back(column.name, column.type);
  }
  for (const std::string& column : columns) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Column& each) { return each.name == column; });
    if (!known) return SqlError(kCalciteValidator, "Unknown target column '" + column + "'");
  }
  std::vector<SinkColumn> matched;
  std::string cause;
  if (sink.size() != query.size()) cause = "Different number of columns.";
  for (size_t i = 0; i < sink.size() && cause.empty(); ++i) {
    // With a list of columns the values stand in its order.
    const std::string& wanted = columns.empty() ? sink[i].first : columns[i];
    const auto to = std::find_if(sink.begin(), sink.end(),
                                 [&](const auto& field) { return field.first == wanted; });
    if (!LeastRestrictive(query[i].type, to->second)) {
      cause = "Incompatible types for sink column '" + to->first + "' at position " +
              std::to_string(i) + ".";
    }
    matched.push_back({to->first, to->second, i});
  }
  if (cause.empty()) return matched;
  std::vector<std::pair<std::string, LogicalType>> given;
  for (const Column& column : query) given.emplace_back(column.name, column.type);
  return SqlError(kValidationException, "Column types of query result and sink for '" +
                                            name.Summary() + "' do not match.\nCause: " + cause +
                                            "\n\nQuery schema: " + SchemaText(given) +
                                            "\nSink schema:  " + SchemaText(sink));
}

bool ReadsConnector(const Session& session, const Query& query) {
  for (const auto& [name, each] : query.with) {
    if (ReadsConnector(session, *each)) return true;
  }
  if (query.left != nullptr && ReadsConnector(session, *query.left)) return true;
  if (query.right != nullptr && ReadsConnector(session, *query.right)) return true;
  for (const TableUse& use : query.from) {
    if (use.query != nullptr) {
      if (ReadsConnector(session, *use.query)) return true;
      continue;
    }
    const auto is_named = [&](const auto& each) {
      return use.name.size() == 1 && each.first == use.name[0];
    };
    if (std::any_of(query.with.begin(), query.with.end(), is_named)) continue;
    const TableEntry* table = session.FindTable(use.name);
    if (table == nullptr || table->rows != nullptr) continue;
    if (table->kind != TableKind::kView) return true;
    const auto view = ParseQuery(table->query);
    if (view && ReadsConnector(session, *view)) return true;
  }
  return false;
}

Result<RowJob> MakeRowsJob(const ObjectName& sink, const TableEntry& table, const RowTexts& texts,
                           size_t rows) {
  constexpr size_t kRowsPerStatement = 1000;
  RowJob job;
  job.sink = sink;
  job.sink_table = table;
  const std::vector<Column> columns = StoredColumns(table);
  std::string list;
  for (const Column& column : columns) {
    if (column.type.IsNested()) {
      return MakeError(ErrorKind::kUnsupported, "column " + column.name + " of " + sink.Summary() +
                                                    " takes values inside of others, which rows "
                                                    "in memory are not written with");
    }
    list += (list.empty() ? "" : ", ") + QuoteName(column.name) + " " + DdlTypeText(column.type);
  }
  if (table.key) {
    std::string keys;
    for (const std::string& key : table.key->columns) {
      keys += (keys.empty() ? "" : ", ") + QuoteName(key);
    }
    list += ", PRIMARY KEY (" + keys + ") NOT ENFORCED";
  }
  job.script = "CREATE DATABASE IF NOT EXISTS " + QuoteName(sink.database) + ";\nUSE " +
               QuoteName(sink.database) + ";\nCREATE TABLE " + QuoteName(sink.object) + " (" +
               list + ");\n";
  for (size_t row = 0; row < rows; ++row) {
    job.script += row % kRowsPerStatement == 0
                      ? "INSERT INTO " + QuoteName(sink.object) + " VALUES\n("
                      : ",\n(";
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::optional<std::string>& text = texts[i][row];
      const LogicalType& type = columns[i].type;
      if (i > 0) job.script += ", ";
      job.script += !text            ? "NULL"
                    : type.IsBytes() ? *text
                                     : "CAST(" + QuoteString(*text) + " AS " +
                                           type.ToStringIgnoringNullability() + ")";
    }
    job.script += ")";
    if (row + 1 == rows || (row + 1) % kRowsPerStatement == 0) job.script += ";\n";
  }
  return job;
}

Result<RowJob> MakeRowJob(const Session& session, const Query& query, const ObjectName& sink,
                          const std::vector<std::string>& columns) {
  RowJob job;
  job.sink = sink;
  job.sink_table = *session.FindTable({sink.catalog, sink.database, sink.object});
  DRIFTLESS_TRY(CheckStateless(session, query));
  DRIFTLESS_ASSIGN_OR_RETURN(const Folded folded, Folding(session).Fold(query));
  job.source = folded.source;
  job.source_table = *folded.table;
  for (const Expr& filter : folded.filters) {
    const std::string text = PrintExpr(filter, PrintStyle::kValidated);
    job.filter += job.filter.empty() ? text : " AND (" + text + ")";
    if (&filter == &folded.filters.front() && folded.filters.size() > 1) {
      job.filter = "(" + job.filter + ")";
    }
  }
  // A sink without columns takes the source's, and follows them.
  if (job.sink_table.columns.empty() && IsStarAlone(session, query)) return job;
  DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(session, query));
  if (job.sink_table.columns.empty()) job.sink_table.columns = resolved.columns;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<SinkColumn> matched,
                             MatchSink(sink, job.sink_table, columns, resolved.columns));
  for (const Column& column : StoredColumns(job.sink_table)) {
    const auto match = std::find_if(matched.begin(), matched.end(), [&](const SinkColumn& each) {
      return each.name == column.name;
    });
    Expr expr;
    expr.kind = ExprKind::kKeyword;
    expr.text = "NULL";
    bool is_same = false;
    if (match != matched.end()) {
      expr = folded.columns[match->from].second;
      is_same = resolved.columns[match->from].type.EqualsIgnoringNullability(column.type);
    }
    if (!is_same) expr = CastTo(column.type, std::move(expr));
    const bool keeps_name = expr.kind == ExprKind::kColumn && expr.path.back() == column.name;
    job.projection +=
        (job.projection.empty() ? "" : ", ") + PrintExpr(expr, PrintStyle::kValidated);
    if (!keeps_name) job.projection += " AS " + QuoteName(column.name);
  }
  return job;
}

}  // namespace driftless::flink
