#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/alter_table.h"
#include "config/sql/query.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"

// Materialized tables. Flink's client keeps none in an in-memory catalog, so that everything that
// names one ends in an error; which one depends on how far the statement is right. A table
// environment keeps them, and changes their schemas; neither refreshes them.
namespace driftless::flink {
namespace {

Error Invalid(std::string text) { return SqlError(kValidationException, std::move(text)); }

constexpr std::string_view kDone = "[INFO] Execute statement succeeded.\n";
constexpr std::string_view kUnsupportedOperation = "java.lang.UnsupportedOperationException";
constexpr const char* kFreshness = "INTERVAL '3' MINUTE";  // where a statement names none

Error NotMaterialized(const ObjectName& name) {
  return Invalid("Table " + name.Quoted() +
                 " is not a materialized table, does not support materialized table related "
                 "operation.");
}

Error ChangedQuery() {
  return SqlError(
      kUnsupportedOperation,
      "AlterMaterializedTableAsQueryOperation doesn't support ExecutableOperation yet.");
}

Error Beyond() {
  return MakeError(ErrorKind::kUnsupported,
                   "materialized tables need a catalog that keeps them, and a Flink cluster")
      .Hint("Create it on Flink.");
}

int64_t SecondsOf(const Expr& freshness) {
  const std::string unit = freshness.path.empty() ? "" : freshness.path[0];
  int64_t count = 0;
  const std::string& text = freshness.text;
  std::from_chars(text.data(), text.data() + text.size(), count);
  const int64_t one = unit == "SECOND" ? 1 : unit == "MINUTE" ? 60 : unit == "HOUR" ? 3600 : 86400;
  int64_t seconds = 0;
  return __builtin_mul_overflow(count, one, &seconds) ? std::numeric_limits<int64_t>::max()
                                                      : seconds;
}

Result<void> CheckFreshness(const Statement& s) {
  if (!s.freshness) return {};
  const std::string& value = s.freshness->text;
  const std::string unit = s.freshness->path.empty() ? "" : s.freshness->path[0];
  const bool is_number = !value.empty() && std::all_of(value.begin(), value.end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || value.find_first_not_of('0') == std::string::npos) {
    return Invalid(
        "The freshness interval currently only supports positive integer type values. But was: " +
        value);
  }
  for (const std::string_view known : {"SECOND", "MINUTE", "HOUR", "DAY", "WEEK"}) {
    if (unit == known) return {};
  }
  return Invalid(
      "Materialized table freshness only supports SECOND, MINUTE, HOUR, DAY, WEEK as the time "
      "unit.");
}

}  // namespace

Result<std::string> Session::RunMaterialized(const Statement& s, std::string_view sql) {
  if (s.verb == Verb::kDropMaterialized) return DropMaterialized(s);
  if (s.verb == Verb::kCreateMaterialized) return CreateMaterialized(s, sql);
  return AlterMaterialized(s, sql);
}

Result<std::string> Session::DropMaterialized(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry* table = FindAny(name);
  if (table != nullptr && table->kind == TableKind::kMaterialized) {
    FindDatabase(name)->tables.erase(name.object);
    ++changes_;
    return std::string(kDone);
  }
  if (table != nullptr && !IsEnvironment()) return NotMaterialized(name);
  if (s.if_exists) return std::string(kDone);
  if (IsEnvironment()) {
    return Invalid("Materialized Table with identifier '" + name.Summary() + "' does not exist.");
  }
  return Invalid("Materialized table with identifier " + name.Quoted() + " does not exist.");
}

Result<std::string> Session::AlterMaterialized(const Statement& s, std::string_view sql) {
  if (s.word == "SET" || s.word == "RESET") {
    std::string_view text = sql;
    if (IsEnvironment() && text.ends_with(';')) text.remove_suffix(1);
    return SqlError(kTableException, "Unsupported query: " + std::string(text));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry* table = FindAny(name);
  const bool is_job = s.word == "SUSPEND" || s.word == "RESUME" || s.word == "REFRESH";
  if (is_job && IsEnvironment()) {
    return SqlError(kUnsupportedOperation,
                    s.word == "REFRESH" ? "AlterMaterializedTableRefreshOperation does not support "
                                          "ExecutableOperation yet."
                                        : "AlterMaterializedTableResumeOperation doesn't support "
                                          "ExecutableOperation yet.");
  }
  if (table == nullptr) {
    return is_job ? Invalid("Cannot find table '" + name.Quoted() + "' in any of the catalogs [" +
                            CatalogNames() + "], nor as a temporary table.")
                  : Invalid("Materialized table " + name.Quoted() + " doesn't exist.");
  }
  if (table->kind != TableKind::kMaterialized) {
    if (is_job) return NotMaterialized(name);
    return Invalid("ALTER MATERIALIZED TABLE for a " + std::string(KindName(table->kind)) +
                   " is not allowed");
  }
  if (s.word == "AS") return ChangedQuery();
  if (is_job) return Beyond();
  DRIFTLESS_TRY(TableAlteration(this, s).Run());
  ++changes_;
  return std::string(kDone);
}

Result<void> Session::StoreMaterialized(const Statement& s, const ObjectName& name,
                                        const ResolvedQuery& query) {
  Database* database = FindDatabase(name);
  if (database == nullptr) {
    return SqlError(
        "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException",
        "Database " + name.database + " does not exist in Catalog " + name.catalog + ".");
  }
  TableEntry made;
  made.kind = TableKind::kMaterialized;
  made.columns = query.columns;
  for (Column& column : made.columns) column.rowtime = column.proctime = false;
  made.query = query.text;
  made.comment = s.comment.value_or("");
  made.partition_keys = s.partition_keys;
  made.distribution = s.distribution;
  for (const auto& [key, value] : s.options) made.options[key] = value;
  made.freshness = s.freshness ? PrintExpr(*s.freshness, PrintStyle::kValidated) : kFreshness;
  // Flink's materialized-table.refresh-mode.freshness-threshold is half an hour.
  made.refreshes_fully = s.refreshes_fully.value_or(s.freshness && SecondsOf(*s.freshness) >= 1800);
  if (database->tables.emplace(name.object, std::move(made)).second || s.if_exists) return {};
  return Invalid(
      "Could not execute CreateTable in path " + name.Quoted() +
      "\nCaused by: org.apache.flink.table.catalog.exceptions.TableAlreadyExistException:"
      " Table (or view) " +
      name.database + "." + name.object + " already exists in Catalog " + name.catalog + ".");
}

Result<std::string> Session::CreateMaterialized(const Statement& s, std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Query query, ParseQuery(s, sql));
  DRIFTLESS_ASSIGN_OR_RETURN(const ResolvedQuery resolved, ResolveQuery(*this, query));
  DRIFTLESS_TRY(CheckFreshness(s));
  std::vector<std::string> names;
  for (const Column& column : resolved.columns) names.push_back(column.name);
  for (const std::string& key : s.partition_keys) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    return Invalid("Partition column '" + key +
                   "' not defined in the query's schema. Available columns: [" + Join(names, "'") +
                   "].");
  }
  if (IsEnvironment()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
    const TableEntry* table = FindAny(name);
    if (s.or_alter && table != nullptr && table->kind == TableKind::kMaterialized) {
      if (resolved.columns.size() >= table->columns.size()) return ChangedQuery();
      return Invalid(
          "Failed to modify query because drop column is unsupported. When modifying a query, you "
          "can only append new columns at the end of original schema. The original schema has " +
          std::to_string(table->columns.size()) +
          " columns, but the newly derived schema from the query has " +
          std::to_string(resolved.columns.size()) + " columns.");
    }
    DRIFTLESS_TRY(StoreMaterialized(s, name, resolved));
    ++changes_;
    return std::string(kDone);
  }
  const bool has_connector = std::any_of(s.options.begin(), s.options.end(), [](const auto& each) {
    return each.first == "connector";
  });
  if (!has_connector) {
    return Invalid(
        "Table options do not contain an option key 'connector' for discovering a connector.");
  }
  return Beyond();
}

}  // namespace driftless::flink
