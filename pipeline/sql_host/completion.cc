#include "pipeline/sql_host/completion.h"

#include <algorithm>
#include <set>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

constexpr std::string_view kWords[] = {
    "ADD",         "AFTER",         "ALTER",      "AND",      "AS",           "BEGIN",
    "BETWEEN",     "BOOLEAN",       "BIGINT",     "BUCKETS",  "BY",           "BYTES",
    "CASCADE",     "CASE",          "CAST",       "CATALOG",  "CATALOGS",     "COLUMNS",
    "COMMENT",     "CONCAT",        "CONSTRAINT", "CREATE",   "CURRENT",      "DATABASE",
    "DATABASES",   "DATE",          "DECIMAL",    "DESCRIBE", "DISTINCT",     "DISTRIBUTED",
    "DOUBLE",      "DROP",          "ELSE",       "END",      "ENFORCED",     "EXECUTE",
    "EXISTS",      "EXPLAIN",       "EXTENDED",   "FIRST",    "FROM",         "FUNCTION",
    "FUNCTIONS",   "GROUP",         "HAVING",     "INSERT",   "INTERVAL",     "INTO",
    "JOIN",        "LEFT",          "LIKE",       "LIMIT",    "MATERIALIZED", "METADATA",
    "MODEL",       "MODELS",        "MODIFY",     "NULL",     "ORDER",        "PARTITION",
    "PARTITIONED", "PARTITIONS",    "PRIMARY",    "RENAME",   "RESET",        "SELECT",
    "SHOW",        "STATEMENT",     "STRING",     "TABLE",    "TABLES",       "TEMPORARY",
    "TIMESTAMP",   "TIMESTAMP_LTZ", "TRUNCATE",   "UNION",    "UPDATE",       "VALUES",
    "VARCHAR",     "VIEW",          "VIEWS",      "VIRTUAL",  "WATERMARK",    "WHERE",
    "WITH"};

bool IsPartOfWord(char c) {
  return c == '_' || c == '$' || (static_cast<unsigned char>(c) & 0x80) != 0 ||
         (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  }
  return upper;
}

}  // namespace

Completion CompleteWord(std::string_view before_cursor, const std::vector<std::string>& names) {
  size_t begin = before_cursor.size();
  while (begin > 0 && IsPartOfWord(before_cursor[begin - 1])) --begin;
  const std::string_view word = before_cursor.substr(begin);
  Completion completion;
  if (word.empty()) return completion;
  std::set<std::string> found;
  for (const std::string& name : names) {
    if (name.starts_with(word)) found.insert(name);
  }
  const bool is_behind_dot = begin > 0 && before_cursor[begin - 1] == '.';
  const std::string upper = UpperCase(word);
  const bool is_small = LowerCase(word) == word;  // as the person writes
  for (const std::string_view each : kWords) {
    if (is_behind_dot || !each.starts_with(upper)) continue;
    found.insert(is_small ? LowerCase(each) : std::string(each));
  }
  if (found.empty()) return completion;
  std::string common = *found.begin();
  for (const std::string& each : found) {
    const auto differ = std::mismatch(common.begin(), common.end(), each.begin(), each.end());
    common.erase(differ.first, common.end());
  }
  if (common.size() > word.size()) completion.insert = common.substr(word.size());
  if (found.size() == 1) {
    completion.insert += " ";
  } else if (completion.insert.empty()) {
    completion.candidates.assign(found.begin(), found.end());
  }
  return completion;
}

std::string HistoryEntry(std::string_view statement) {
  const std::string lower = LowerCase(statement);
  for (const std::string_view secret : {"password", "secret", "access-key", "token"}) {
    if (lower.find(secret) != std::string::npos) return "";
  }
  std::string entry(statement);
  const bool has_line_comment =
      entry.find("--") != std::string::npos || entry.find("//") != std::string::npos;
  // A line feed in a text is part of it.
  const bool has_text = entry.find('\'') != std::string::npos;
  if (!has_line_comment && !has_text) std::replace(entry.begin(), entry.end(), '\n', ' ');
  return entry;
}

}  // namespace driftless
