#include "config/sql/row_job.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/sql/compat/query_shape.h"
#include "config/sql/row_folding.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

// A query that needs more than the row at hand is refused by what it keeps.
Result<void> CheckStateless(const Session& session, const Query& query) {
  DRIFTLESS_ASSIGN_OR_RETURN(const QueryShape shape, ShapeOf(session, query));
  if (shape.stateful()) {
    const ShapeOperator& keeps = shape.operators.front();
    std::string keys;
    for (const std::string& key : keeps.keys) keys += (keys.empty() ? " by " : ", ") + key;
    std::string tables;
    for (const auto& [table, used] : shape.tables) tables += (tables.empty() ? "" : ", ") + table;
    return RunsOnFlink("the query keeps state (" + std::string(NameOf(keeps.kind)) + keys +
                       ") over rows that come without end from " + tables +
                       ", and Driftless keeps none");
  }
  return {};
}

std::string SchemaText(const std::vector<std::pair<std::string, LogicalType>>& fields) {
  std::string text;
  for (const auto& [name, type] : fields) {
    text += (text.empty() ? "" : ", ") + name + ": " + type.ToString();
  }
  return "[" + text + "]";
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

Path PathOf(const ObjectName& name) { return {name.catalog, name.database, name.object}; }

std::string ConditionOf(const std::vector<Expr>& filters) {
  if (filters.size() == 1) return PrintExpr(filters[0], PrintStyle::kValidated);
  std::string text;
  for (const Expr& filter : filters) {
    text += (text.empty() ? "(" : " AND (") + PrintExpr(filter, PrintStyle::kValidated) + ")";
  }
  return text;
}

// A column of a sink that nothing fills.
Result<Expr> NullOf(const Column& column) {
  if (!column.type.nullable()) {
    return SqlError(kCalciteValidator,
                    "Column '" + column.name + "' has no default value and does not allow NULLs");
  }
  Expr null;
  null.kind = ExprKind::kKeyword;
  null.text = "NULL";
  return CastTo(column.type, std::move(null));
}

// The SELECT list of a transform: every stored column of the sink, under its name.
Result<std::string> ProjectionOf(const FoldedTable& table, const std::vector<Column>& query,
                                 const TableEntry& sink, const std::vector<SinkColumn>& matched) {
  std::string text;
  for (const Column& column : StoredColumns(sink)) {
    const auto match = std::find_if(matched.begin(), matched.end(), [&](const SinkColumn& each) {
      return each.name == column.name;
    });
    Expr expr;
    if (match == matched.end()) {
      DRIFTLESS_ASSIGN_OR_RETURN(expr, NullOf(column));
    } else {
      expr = table.columns[match->from].second;
      const bool is_same = query[match->from].type.EqualsIgnoringNullability(column.type);
      if (!is_same) expr = CastTo(column.type, std::move(expr));
    }
    const bool keeps_name = expr.kind == ExprKind::kColumn && expr.path.back() == column.name;
    text += (text.empty() ? "" : ", ") + PrintExpr(expr, PrintStyle::kValidated);
    if (!keeps_name) text += " AS " + QuoteName(column.name);
  }
  return text;
}

// The tables of the query, and what each of them gives to the sink.
Result<void> AddInputs(const Session& session, const Query& query, const ResolvedQuery& resolved,
                       const std::vector<SinkColumn>& matched, RowInsert* insert) {
  DRIFTLESS_ASSIGN_OR_RETURN(FoldedQuery folded, FoldQuery(session, query));
  insert->reads = std::move(folded.names);
  RowJob& job = insert->job;
  for (const FoldedTable& table : folded.tables) {
    for (const RowInput& input : job.inputs) {
      if (input.name != table.name) continue;
      return RunsOnFlink("the query takes the rows of table " + table.name.Summary() +
                         " more than once (UNION ALL)");
    }
    RowInput input{table.name, *table.table, {}, ConditionOf(table.filters)};
    DRIFTLESS_ASSIGN_OR_RETURN(input.projection,
                               ProjectionOf(table, resolved.columns, job.sink_table, matched));
    job.inputs.push_back(std::move(input));
  }
  return {};
}

// A sink without columns takes those of the source's table, and follows them; columns that only
// the session knows stand behind them.
Result<RowInsert> MakeCopy(const Session& session, const Query& query, const ObjectName& sink,
                           const TableEntry& sink_table) {
  RowInsert insert;
  insert.query = "SELECT * FROM " + session.FullName(query.from[0].name);
  insert.job.sink = sink;
  insert.job.sink_table = sink_table;
  DRIFTLESS_ASSIGN_OR_RETURN(FoldedQuery folded, FoldQuery(session, query));
  insert.reads = std::move(folded.names);
  const FoldedTable& table = folded.tables[0];
  RowInput input{table.name, *table.table, {}, {}};
  for (const auto& [name, expr] : table.columns) {
    if (table.table->Find(name)->kind == ColumnKind::kPhysical) continue;
    input.projection += (input.projection.empty() ? "*, " : ", ") +
                        PrintExpr(expr, PrintStyle::kValidated) + " AS " + QuoteName(name);
  }
  insert.job.inputs.push_back(std::move(input));
  return insert;
}

// The column of the sink that the statement gave another name, and that name.
std::optional<std::pair<std::string, std::string>> RenamedColumn(const Session& session,
                                                                 const ObjectName& sink,
                                                                 const Statement& statement) {
  if (statement.verb != Verb::kAlterTableRenameColumn) return std::nullopt;
  const auto table = session.Resolve(statement.name);
  if (!table || *table != sink) return std::nullopt;
  return std::pair(statement.columns[0][0], statement.new_name[0]);
}

// What of a query goes where, behind a statement that has changed the sink's table.
Result<std::vector<SinkColumn>> MatchAgain(
    const RowInsert& insert, const TableEntry& table, const std::vector<Column>& query,
    const std::optional<std::pair<std::string, std::string>>& renamed) {
  const std::vector<Column> stored = StoredColumns(table);
  std::vector<SinkColumn> columns;
  for (SinkColumn column : insert.columns) {
    if (renamed && column.name == renamed->first) column.name = renamed->second;
    const auto now = std::find_if(stored.begin(), stored.end(),
                                  [&](const Column& each) { return each.name == column.name; });
    if (now == stored.end()) continue;
    column.type = now->type;
    if (!LeastRestrictive(query[column.from].type, column.type)) {
      return SqlError(kValidationException, "Incompatible types for sink column '" + column.name +
                                                "': " + query[column.from].type.ToString() +
                                                " of the query does not go into " +
                                                column.type.ToString());
    }
    columns.push_back(std::move(column));
  }
  if (!columns.empty()) return columns;
  return MakeError(ErrorKind::kConflict, "no column is left that its query fills");
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

Result<RowInsert> MakeRowInsert(const Session& session, const Query& query, const ObjectName& sink,
                                const std::vector<std::string>& columns) {
  TableEntry table = *session.FindTable(PathOf(sink));
  if (table.columns.empty() && IsStarAlone(session, query)) {
    return MakeCopy(session, query, sink, table);
  }
  DRIFTLESS_TRY(CheckStateless(session, query));
  DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(session, query));
  const bool has_columns = !table.columns.empty();
  if (!has_columns) table.columns = resolved.columns;
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<SinkColumn> matched,
                             MatchSink(sink, table, columns, resolved.columns));
  RowInsert insert;
  insert.query = resolved.text;
  insert.job.sink = sink;
  insert.job.sink_table = std::move(table);
  DRIFTLESS_TRY(AddInputs(session, query, resolved, matched, &insert));
  if (has_columns) insert.columns = std::move(matched);
  return insert;
}

Result<RowInsert> MakeAgain(const Session& session, const RowInsert& insert,
                            const Statement& statement) {
  const ObjectName& sink = insert.job.sink;
  const TableEntry* table = session.FindTable(PathOf(sink));
  if (table == nullptr) {
    return MakeError(ErrorKind::kConflict,
                     "there is no table " + sink.Summary() + " any more that its rows go to");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(insert.query));
  if (insert.columns.empty() != table->columns.empty()) {
    return MakeError(ErrorKind::kConflict, "table " + sink.Summary() +
                                               " had no columns of its own and takes those of the "
                                               "query");
  }
  RowInsert again;
  if (insert.columns.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(again, MakeRowInsert(session, query, sink, {}));
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(session, query));
    again.query = insert.query;
    again.job.sink = sink;
    again.job.sink_table = *table;
    const auto renamed = RenamedColumn(session, sink, statement);
    DRIFTLESS_ASSIGN_OR_RETURN(again.columns,
                               MatchAgain(insert, *table, resolved.columns, renamed));
    DRIFTLESS_TRY(AddInputs(session, query, resolved, again.columns, &again));
  }
  again.job.number = insert.job.number;
  return again;
}

}  // namespace driftless::flink
