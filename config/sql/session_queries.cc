#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <utility>

#include "config/expr/lexer.h"
#include "config/relation/operators.h"
#include "config/relation/print.h"
#include "config/relation/relation.h"
#include "config/sql/compat/query_shape.h"
#include "config/sql/create_table.h"
#include "config/sql/query.h"
#include "config/sql/query_run.h"
#include "config/sql/row_job.h"
#include "config/sql/session.h"
#include "config/sql/sql_host.h"
#include "config/sql/statement_parser.h"
#include "config/sql/tableau.h"
#include "schema/base/clock.h"

// Queries: those whose rows are in memory are run here.
namespace driftless::flink {
namespace {

// Errors of the evaluator in the form of Flink's client.
Error AsSqlError(Error error) {
  const std::string& text = error.message();
  if (error.kind() != ErrorKind::kInvalidInput || text.find("Exception: ") != std::string::npos) {
    return error;
  }
  // A text that is no number, as Java words it.
  const size_t quote = text.starts_with("CAST('") ? text.find("' AS ") : std::string::npos;
  if (quote != std::string::npos && text.ends_with("says no value")) {
    return std::move(SqlError("java.lang.NumberFormatException", "For input string: '" +
                                                                     text.substr(6, quote - 6) +
                                                                     "'. Invalid character found."))
        .At(error.line(), error.column());
  }
  return std::move(SqlError("org.apache.flink.table.api.TableRuntimeException", text))
      .At(error.line(), error.column());
}

}  // namespace

Result<std::optional<Relation>> Session::TryQuery(std::string_view sql) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement, ParseStatement(sql));
  if (statement.verb != Verb::kQuery) return std::optional<Relation>();
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(statement, sql));
  DRIFTLESS_TRY(ResolveQuery(*this, query));
  DRIFTLESS_ASSIGN_OR_RETURN(const TimeZone zone, Zone());
  auto rows = flink::RunQuery(*this, query, zone);
  if (!rows) return AsSqlError(std::move(rows.error()));
  return std::optional<Relation>(std::move(*rows));
}

namespace {

// The message of Flink's client for what goes to a cluster; here it is done when it is printed.
std::string Submitted() {
  static uint64_t number = 0;
  const uint64_t hash =
      (++number * 0x9E3779B97F4A7C15ull) ^ static_cast<uint64_t>(SystemClock()->NowMillis());
  char id[40];
  std::snprintf(id, sizeof id, "%016llx%016llx", static_cast<unsigned long long>(hash),
                static_cast<unsigned long long>(hash * 0xBF58476D1CE4E5B9ull));
  return "[INFO] Submitting SQL update statement to the cluster...\n"
         "[INFO] SQL update statement has been successfully submitted to the cluster:\nJob ID: " +
         std::string(id) + "\n\n";
}

}  // namespace

namespace {

bool IsFilledHere(const TableEntry& table) {
  const auto connector = table.options.find("connector");
  return connector != table.options.end() &&
         (connector->second == "print" || connector->second == "blackhole");
}

}  // namespace

Result<void> Session::CheckSink(const ObjectName& name, const TableEntry& table) const {
  if (table.kind == TableKind::kView) {
    return SqlError(kValidationException, "Cannot find table '" + name.Quoted() +
                                              "' in any of the catalogs [" + CatalogNames() +
                                              "], nor as a temporary table.");
  }
  if (host_ != nullptr || IsFilledHere(table)) return {};
  return MakeError(ErrorKind::kUnsupported,
                   "the statement is right, and a session fills tables of the connectors print and "
                   "blackhole only")
      .Hint("A pipeline moves rows into lakes and warehouses; a job of Flink does the rest.");
}

Result<void> Session::Fill(const ObjectName& name, const TableEntry& table,
                           const std::vector<std::string>& columns, const Relation& rows) {
  const std::vector<Column> all = StoredColumns(table);
  std::vector<Column> given;
  for (const Field& field : rows.fields()) {
    given.emplace_back();
    given.back().name = field.name;
    given.back().type = field.type;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<SinkColumn> matched,
                             MatchSink(name, table, columns, given));
  std::vector<NamedExpr> items;
  for (const SinkColumn& each : matched) {
    NamedExpr item;
    item.name = each.name;
    item.expr.kind = ExprKind::kColumn;
    item.expr.path = {"$" + std::to_string(each.from)};
    item.type = each.type;
    items.push_back(std::move(item));
  }
  EvalContext context;
  for (size_t i = 0; i < rows.fields().size(); ++i) {
    context.scope.columns.emplace_back("$" + std::to_string(i), rows.fields()[i].type);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const Relation cast, Project(rows, items, context));
  RowTexts texts;
  for (const Column& column : all) {
    texts.emplace_back(static_cast<size_t>(rows.rows()));
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].name == column.name) texts.back() = CellTexts(column.type, cast.view(i));
    }
    for (const auto& text : texts.back()) {
      if (text || column.type.nullable()) continue;
      return SqlError("org.apache.flink.table.api.TableRuntimeException",
                      "Column '" + column.name +
                          "' is NOT NULL, however, a null value is being written into it.");
    }
  }
  const auto connector = table.options.find("connector");
  if (host_ != nullptr && !IsFilledHere(table)) {
    DRIFTLESS_ASSIGN_OR_RETURN(RowJob job,
                               MakeRowsJob(name, table, texts, static_cast<size_t>(rows.rows())));
    return SubmitJob(std::move(job));
  }
  if (!print_ || connector == table.options.end() || connector->second != "print") return {};
  for (size_t row = 0; row < static_cast<size_t>(rows.rows()); ++row) {
    std::string line;
    for (const auto& column : texts) {
      line += (line.empty() ? "" : ", ") + column[row].value_or("null");
    }
    print_("+I[" + line + "]");
  }
  return {};
}

Result<std::string> Session::RunInsert(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(s, sql));
  DRIFTLESS_TRY(ResolveQuery(*this, query));
  if (in_statement_set_) {
    statement_set_.emplace_back(sql);
    ++changes_;
    return std::string("[INFO] Execute statement succeeded.\n");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry table = *FindAny(name);
  std::vector<std::string> columns;
  for (const Path& column : s.columns) columns.push_back(column[0]);
  DRIFTLESS_ASSIGN_OR_RETURN(const TimeZone zone, Zone());
  auto rows = flink::RunQuery(*this, query, zone);
  if (!rows && host_ != nullptr && ReadsConnector(*this, query)) {
    DRIFTLESS_ASSIGN_OR_RETURN(RowJob job, MakeRowJob(*this, query, name, columns));
    DRIFTLESS_TRY(SubmitJob(std::move(job)));
    return Submitted();
  }
  DRIFTLESS_TRY(CheckSink(name, table));
  if (!rows) return AsSqlError(std::move(rows.error()));
  DRIFTLESS_TRY(Fill(name, table, columns, *rows));
  return Submitted();
}

// Rows that go by a pipeline: at once, or with the rest of a statement set.
Result<void> Session::SubmitJob(RowJob job) {
  if (set_jobs_ == nullptr) return host_->Submit({std::move(job)}, settings_);
  set_jobs_->push_back(std::move(job));
  return {};
}

Result<std::string> Session::CreateTableAs(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(s, sql));
  DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(*this, query));
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  // The table has the query's columns behind those that the statement gives it.
  Statement create = s;
  create.query.clear();
  for (const Column& column : resolved.columns) {
    const bool given = std::any_of(create.schema.columns.begin(), create.schema.columns.end(),
                                   [&](const ColumnSpec& spec) {
                                     return spec.name.size() == 1 && spec.name[0] == column.name;
                                   });
    if (given) continue;
    ColumnSpec spec;
    spec.name = {column.name};
    spec.type = column.type;
    create.schema.columns.push_back(std::move(spec));
  }
  const bool existed = FindAny(name) != nullptr;
  // A connector that cannot be filled here: the table is not made either.
  TableEntry wanted;
  for (const auto& [key, value] : s.options) wanted.options[key] = value;
  if (!wanted.options.contains("connector")) {
    return SqlError(kValidationException,
                    "Table options do not contain an option key 'connector' for discovering a "
                    "connector.");
  }
  DRIFTLESS_TRY(CheckSink(name, wanted));
  DRIFTLESS_ASSIGN_OR_RETURN(const TimeZone zone, Zone());
  auto rows = flink::RunQuery(*this, query, zone);
  if (!rows) return AsSqlError(std::move(rows.error()));
  DRIFTLESS_TRY(TableCreation(this, create).Run());
  ++changes_;
  if (existed) return std::string("[INFO] Execute statement succeeded.\n");  // IF NOT EXISTS
  std::vector<std::string> columns;
  for (const Column& column : resolved.columns) columns.push_back(column.name);
  auto filled = Fill(name, *FindAny(name), columns, *rows);
  if (filled) return Submitted();
  (s.temporary ? temporary_tables_.erase(name) : FindDatabase(name)->tables.erase(name.object));
  return std::move(filled.error());
}

Result<std::string> Session::RunStatementSet(const Statement& s) {
  std::vector<std::string> inserts = s.keys;
  if (s.verb == Verb::kBeginStatementSet) {
    in_statement_set_ = true;
    statement_set_.clear();
    ++changes_;
    return std::string("[INFO] Execute statement succeeded.\n");
  }
  if (s.verb == Verb::kEndStatementSet) {
    if (!in_statement_set_) {
      return SqlError("org.apache.flink.table.gateway.service.utils.SqlExecutionException",
                      "No Statement Set to submit. 'END' statement should be used after 'BEGIN "
                      "STATEMENT SET'.");
    }
    in_statement_set_ = false;
    ++changes_;
    inserts = std::exchange(statement_set_, {});
  }
  std::string text = "[INFO] Execute statement succeeded.\n";
  std::vector<RowJob> jobs;
  for (const std::string& insert : inserts) {
    set_jobs_ = &jobs;
    auto outcome = Execute(insert);
    set_jobs_ = nullptr;
    if (!outcome) return outcome;
    text = std::move(*outcome);
  }
  if (!jobs.empty()) DRIFTLESS_TRY(host_->Submit(jobs, settings_));
  return text;
}

Result<std::string> Session::Explain(const Statement& s, std::string_view) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement inner, ParseStatement(s.query));
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(inner, s.query));
  DRIFTLESS_TRY(ResolveQuery(*this, query));
  DRIFTLESS_ASSIGN_OR_RETURN(const QueryShape shape, ShapeOf(*this, query));
  std::string text = "== Plan ==\n";
  const auto list = [](const auto& items) {
    std::string joined;
    for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + item;
    return joined;
  };
  for (const auto& [table, columns] : shape.tables) {
    text += "read " + table + ": " + (columns.empty() ? "rows only" : list(columns)) + "\n";
  }
  for (const ShapeFilter& filter : shape.filters) text += "filter " + filter.condition + "\n";
  for (const ShapeOperator& each : shape.operators) {
    text += std::string(NameOf(each.kind)) + " by " + list(each.keys);
    for (const ShapeAggregate& aggregate : each.aggregates) text += ", " + aggregate.text;
    text += " (keeps state)\n";
  }
  if (inner.verb == Verb::kInsert) text += "write " + FullName(inner.name) + "\n";
  const bool reads = !shape.tables.empty();
  text += !reads ? "All rows are in memory: it runs here.\n"
          : shape.stateful()
              ? "Rows come from connectors and operators keep state: it runs on Flink.\n"
              : "Rows come from connectors: a pipeline or Flink runs it.\n";
  return Tableau({"result"}, {{text}});
}

Result<TimeZone> Session::Zone() const {
  const auto name = settings_.find("table.local-time-zone");
  if (name == settings_.end()) return TimeZone();
  return TimeZone::Load(name->second);
}

Result<std::string> Session::RunQuery(const Statement&, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Relation> rows, TryQuery(sql));
  PrintOptions options;
  if (const auto width = settings_.find("table.display.max-column-width");
      width != settings_.end()) {
    const std::string& text = width->second;
    std::from_chars(text.data(), text.data() + text.size(), options.widest);
  }
  if (!IsBatch()) {
    options.widths = PrintWidths::kOfTypes;
    options.with_op = true;
  }
  std::string text = PrintRelation(*rows, options);
  if (IsBatch()) return text;
  // In streaming mode nobody knows when the rows end, until they have.
  const size_t footer = text.rfind('\n', text.size() - 2);
  const int64_t count = rows->rows();
  text = count == 0 ? "" : text.substr(0, footer + 1);
  return text + "Received a total of " + std::to_string(count) + (count < 2 ? " row\n" : " rows\n");
}

Result<void> Session::AddTemporaryView(const Path& name, const Relation& rows, bool has_rows) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName full, Qualify(name));
  if (temporary_tables_.contains(full)) {
    return SqlError(kValidationException, "Temporary table '" + full.Quoted() + "' already exists");
  }
  TableEntry entry;
  entry.kind = TableKind::kView;
  for (const Field& field : rows.fields()) {
    Column column;
    column.name = field.name;
    column.type = field.type;
    entry.columns.push_back(std::move(column));
  }
  if (has_rows) entry.rows = std::make_shared<const Relation>(rows);
  temporary_tables_[full] = std::move(entry);
  ++changes_;
  return {};
}

std::map<ObjectName, const TableEntry*> Session::TablesAndViews() const {
  std::map<ObjectName, const TableEntry*> tables;
  const Database* database = FindDatabase({catalog_, database_, ""});
  if (database != nullptr) {
    for (const auto& [name, table] : database->tables) {
      tables[{catalog_, database_, name}] = &table;
    }
  }
  for (const auto& [name, table] : temporary_tables_) {
    if (name.catalog == catalog_ && name.database == database_) tables[name] = &table;
  }
  return tables;
}

}  // namespace driftless::flink
