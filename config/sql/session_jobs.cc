#include <algorithm>
#include <cstdio>
#include <utility>

#include "config/expr/lexer.h"
#include "config/relation/operators.h"
#include "config/relation/print.h"
#include "config/relation/relation.h"
#include "config/sql/create_table.h"
#include "config/sql/interval_columns.h"
#include "config/sql/query.h"
#include "config/sql/row_job.h"
#include "config/sql/session.h"
#include "config/sql/sql_host.h"
#include "schema/base/clock.h"

// INSERTs: rows in memory are put into tables here, others are carried by pipelines, which follow
// what is altered while they run.
namespace driftless::flink {
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
    RowInsert insert;
    DRIFTLESS_ASSIGN_OR_RETURN(insert.job,
                               MakeRowsJob(name, table, texts, static_cast<size_t>(rows.rows())));
    return SubmitInsert(std::move(insert));
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
  DRIFTLESS_TRY(CheckNoIntervals(query));
  if (in_statement_set_) {
    statement_set_.emplace_back(sql);
    ++changes_;
    return std::string("[INFO] Execute statement succeeded.\n");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry table = *FindAny(name);
  std::vector<std::string> columns;
  for (const Path& column : s.columns) columns.push_back(column[0]);
  const auto rows = RunInMemory(query);
  if (!rows && host_ != nullptr && ReadsConnector(*this, query)) {
    DRIFTLESS_TRY(Carry(query, name, columns));
    return Submitted();
  }
  DRIFTLESS_TRY(CheckSink(name, table));
  if (!rows) return rows.error();
  DRIFTLESS_TRY(Fill(name, table, columns, *rows));
  return Submitted();
}

// Lets a pipeline carry the rows of a query.
Result<void> Session::Carry(const Query& query, const ObjectName& sink,
                            const std::vector<std::string>& columns) {
  DRIFTLESS_ASSIGN_OR_RETURN(RowInsert insert, MakeRowInsert(*this, query, sink, columns));
  return SubmitInsert(std::move(insert));
}

// Rows that go by a pipeline: at once, or with the rest of a statement set.
Result<void> Session::SubmitInsert(RowInsert insert) {
  if (set_inserts_ == nullptr) return Submit({std::move(insert)});
  set_inserts_->push_back(std::move(insert));
  return {};
}

Result<void> Session::Submit(std::vector<RowInsert> inserts) {
  std::vector<RowJob> jobs;
  for (RowInsert& insert : inserts) {
    insert.job.number = ++last_job_;
    jobs.push_back(insert.job);
  }
  DRIFTLESS_TRY(host_->Submit(jobs, settings_));
  for (RowInsert& insert : inserts) {
    if (!insert.query.empty()) running_.push_back(std::move(insert));
  }
  return {};
}

// A statement while pipelines run: what an ALTER changes is changed for them too, or not at all.
Result<std::string> Session::RunBesidePipelines(const Statement& s, std::string_view sql) {
  std::erase_if(running_, [&](const RowInsert& insert) { return !host_->Runs(insert.job.number); });
  const bool alters = s.verb >= Verb::kAlterTableRename && s.verb <= Verb::kAlterViewAs;
  if (!alters || running_.empty()) return Run(s, sql);
  const auto catalogs = catalogs_;
  const auto temporary_tables = temporary_tables_;
  const uint64_t changes = changes_;
  auto text = Run(s, sql);
  if (!text || changes_ == changes) return text;
  auto altered = AlterRunning(s);
  if (altered) return text;
  catalogs_ = catalogs;
  temporary_tables_ = temporary_tables;
  changes_ = changes;
  return std::move(altered).error();
}

Result<void> Session::AlterRunning(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  std::vector<RowInsert> all = running_;
  std::vector<RowJob> jobs;
  for (RowInsert& insert : all) {
    const ObjectName& sink = insert.job.sink;
    if (name != sink && !insert.reads.contains(name)) continue;
    auto again = MakeAgain(*this, insert, s);
    if (!again) {
      return MakeError(ErrorKind::kConflict, "the pipeline of the INSERT into " + sink.Summary() +
                                                 " runs and cannot go on behind this statement: " +
                                                 again.error().message())
          .Hint("End the session first; an INSERT goes on where its pipeline stood.");
    }
    insert = std::move(*again);
    jobs.push_back(insert.job);
  }
  if (jobs.empty()) return {};
  DRIFTLESS_TRY(host_->Change(jobs));
  running_ = std::move(all);
  return {};
}

Result<std::string> Session::CreateTableAs(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(s, sql));
  DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(*this, query));
  DRIFTLESS_TRY(CheckNoIntervals(query));
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
  const auto rows = RunInMemory(query);
  const bool is_carried = !rows && host_ != nullptr && ReadsConnector(*this, query);
  if (!rows && !is_carried) return rows.error();
  DRIFTLESS_TRY(TableCreation(this, create).Run());
  ++changes_;
  if (existed) return std::string("[INFO] Execute statement succeeded.\n");  // IF NOT EXISTS
  std::vector<std::string> columns;
  for (const Column& column : resolved.columns) columns.push_back(column.name);
  auto filled =
      is_carried ? Carry(query, name, columns) : Fill(name, *FindAny(name), columns, *rows);
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
  std::vector<RowInsert> carried;
  for (const std::string& insert : inserts) {
    set_inserts_ = &carried;
    auto outcome = Execute(insert);
    set_inserts_ = nullptr;
    if (!outcome) return outcome;
    text = std::move(*outcome);
  }
  if (!carried.empty()) DRIFTLESS_TRY(Submit(std::move(carried)));
  return text;
}

}  // namespace driftless::flink
