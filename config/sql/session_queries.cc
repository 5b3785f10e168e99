#include <charconv>
#include <memory>
#include <utility>

#include "config/expr/lexer.h"
#include "config/relation/print.h"
#include "config/relation/relation.h"
#include "config/sql/compat/query_shape.h"
#include "config/sql/query.h"
#include "config/sql/query_run.h"
#include "config/sql/session.h"
#include "config/sql/statement_parser.h"
#include "config/sql/tableau.h"

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
  DRIFTLESS_ASSIGN_OR_RETURN(Relation rows, RunInMemory(query));
  return std::optional<Relation>(std::move(rows));
}

Result<Relation> Session::RunInMemory(const Query& query) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const TimeZone zone, Zone());
  auto rows = flink::RunQuery(*this, query, zone);
  if (!rows) return AsSqlError(std::move(rows.error()));
  return rows;
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
