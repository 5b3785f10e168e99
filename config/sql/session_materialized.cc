#include <algorithm>

#include "config/expr/lexer.h"
#include "config/sql/query.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"

// Materialized tables, as far as Flink's in-memory catalog takes them: it stores none, so that
// everything that names one ends in an error; which one depends on how far the statement is right.
namespace driftless::flink {
namespace {

Error Invalid(std::string text) { return SqlError(kValidationException, std::move(text)); }

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
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  const TableEntry* table = FindAny(name);
  const Error not_one = Invalid("Table " + name.Quoted() +
                                " is not a materialized table, does not support materialized "
                                "table related operation.");
  if (s.verb == Verb::kDropMaterialized) {
    if (table != nullptr) return not_one;
    if (s.if_exists) return std::string("[INFO] Execute statement succeeded.\n");
    return Invalid("Materialized table with identifier " + name.Quoted() + " does not exist.");
  }
  if (s.verb == Verb::kCreateMaterialized) return CreateMaterialized(s, sql);
  if (s.word == "SET" || s.word == "RESET") {
    return SqlError(kTableException, "Unsupported query: " + std::string(sql));
  }
  if (s.word == "SUSPEND" || s.word == "RESUME" || s.word == "REFRESH") {
    if (table != nullptr) return not_one;
    return Invalid("Cannot find table '" + name.Quoted() + "' in any of the catalogs [" +
                   CatalogNames() + "], nor as a temporary table.");
  }
  if (table != nullptr) return Invalid("ALTER MATERIALIZED TABLE for a table is not allowed");
  return Invalid("Materialized table " + name.Quoted() + " doesn't exist.");
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
  const bool has_connector = std::any_of(s.options.begin(), s.options.end(), [](const auto& each) {
    return each.first == "connector";
  });
  if (!has_connector) {
    return Invalid(
        "Table options do not contain an option key 'connector' for discovering a connector.");
  }
  return MakeError(ErrorKind::kUnsupported,
                   "materialized tables need a catalog that keeps them, and a Flink cluster")
      .Hint("Create it on Flink.");
}

}  // namespace driftless::flink
