#include "sinks/olap/dialect.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "schema/base/check.h"
#include "schema/base/letter_case.h"

namespace driftless::olap {
namespace {

// MySQL's zero moment, which both servers refuse, is what the reference sink writes for it.
constexpr std::string_view kZeroMoment = "0000-00-00 00:00:00";
constexpr std::string_view kFirstMoment = "1970-01-01 00:00:00";

std::string DefaultClause(const SinkColumn& column) {
  const DefaultValue& value = column.default_value;
  if (value.kind == DefaultValue::Kind::kLiteral && !column.type.IsBytes()) {
    const bool is_zero =
        column.type.IsTimestamp() && std::string_view(value.text).starts_with(kZeroMoment);
    return " DEFAULT " + QuoteText(is_zero ? kFirstMoment : std::string_view(value.text));
  }
  // Of functions, both servers know this one, and for moments only.
  if (value.kind == DefaultValue::Kind::kExpression && column.type.IsTimestamp() &&
      std::string_view(LowerCase(value.text)).starts_with("current_timestamp")) {
    return " DEFAULT CURRENT_TIMESTAMP";
  }
  return "";
}

std::string ColumnText(const Dialect& dialect, const SinkColumn& column) {
  std::string text = QuoteName(column.name) + " " + dialect.TypeText(column.type) +
                     (column.type.nullable() ? " NULL" : " NOT NULL") + DefaultClause(column);
  if (!column.comment.empty()) text += " COMMENT " + QuoteText(column.comment);
  return text;
}

std::string CreateTable(const Dialect& dialect, const SinkTable& table,
                        const CreateOptions& options) {
  std::string sql = "CREATE TABLE " + QuotePath(table.path) + " (";
  for (const SinkColumn& column : table.columns) {
    if (&column != &table.columns.front()) sql += ", ";
    sql += ColumnText(dialect, column);
  }
  return sql + ")" + dialect.TableClauses(table, options);
}

std::string PlaceClause(const SinkTable& after, size_t index) {
  if (index + 1 == after.columns.size()) return "";
  if (index == 0) return " FIRST";
  return " AFTER " + QuoteName(after.columns[index - 1].name);
}

bool SameButComment(const SinkColumn& a, const SinkColumn& b) {
  return a.name == b.name && a.type == b.type && a.comment != b.comment;
}

// The one column that differs, as indices into before and after. A step has one difference.
Statement ChangeOfColumns(const Dialect& dialect, const SinkTable& before, const SinkTable& after,
                          int64_t timeout_ms) {
  for (size_t i = 0; i < after.columns.size(); ++i) {
    const SinkColumn& column = after.columns[i];
    if (after.columns.size() > before.columns.size() && before.FindName(column.name) == nullptr) {
      return {StatementKind::kAddColumn, "ADD COLUMN " + ColumnText(dialect, column) +
                                             PlaceClause(after, i) +
                                             dialect.JobClauses(timeout_ms)};
    }
  }
  for (const SinkColumn& column : before.columns) {
    if (after.columns.size() < before.columns.size() && after.FindName(column.name) == nullptr) {
      return {StatementKind::kDropColumn,
              "DROP COLUMN " + QuoteName(column.name) + dialect.JobClauses(timeout_ms)};
    }
  }
  for (size_t i = 0; i < after.columns.size() && i < before.columns.size(); ++i) {
    const SinkColumn& from = before.columns[i];
    const SinkColumn& to = after.columns[i];
    if (from.name != to.name) {
      return {StatementKind::kRenameColumn, dialect.RenameColumn(from.name, to.name)};
    }
    if (SameButComment(from, to)) {
      return {StatementKind::kCommentColumn,
              "MODIFY COLUMN " + QuoteName(to.name) + " COMMENT " + QuoteText(to.comment)};
    }
    if (from.type != to.type) {
      return {StatementKind::kModifyColumn,
              "MODIFY COLUMN " + ColumnText(dialect, to) + dialect.JobClauses(timeout_ms)};
    }
  }
  return {StatementKind::kCommentTable, dialect.CommentTable(after.comment)};
}

}  // namespace

std::string QuoteText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\0': quoted += "\\0"; break;
      default: quoted += c;
    }
  }
  return quoted + "\"";
}

std::string QuoteName(std::string_view name) {
  std::string quoted = "`";
  for (const char c : name) {
    if (c == '`') quoted += '`';
    quoted += c;
  }
  return quoted + "`";
}

std::string QuoteNames(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list += QuoteName(name);
  }
  return list;
}

std::string QuotePath(const TablePath& table) {
  return QuoteName(table.database) + "." + QuoteName(table.table);
}

Statement StatementOf(const Dialect& dialect, const Step& step, const CreateOptions& options,
                      int64_t timeout_ms) {
  const std::string path = QuotePath(step.before.path);
  if (!step.after) return {StatementKind::kDropTable, "DROP TABLE IF EXISTS " + path};
  if (step.creates_table) {
    const bool is_partitioned =
        !step.after->partition_keys.empty() ||
        (options.auto_partition != nullptr && options.auto_partition(*step.after).has_value());
    return {is_partitioned ? StatementKind::kCreatePartitionedTable : StatementKind::kCreateTable,
            CreateTable(dialect, *step.after, options)};
  }
  if (step.before == *step.after) {
    return {StatementKind::kTruncateTable, "TRUNCATE TABLE " + path};
  }
  Statement change = ChangeOfColumns(dialect, step.before, *step.after, timeout_ms);
  change.sql = "ALTER TABLE " + path + " " + change.sql;
  return change;
}

bool CreatesTable(StatementKind kind) {
  return kind == StatementKind::kCreateTable || kind == StatementKind::kCreatePartitionedTable;
}

bool StartsJob(StatementKind kind) {
  return kind == StatementKind::kAddColumn || kind == StatementKind::kDropColumn ||
         kind == StatementKind::kModifyColumn || kind == StatementKind::kCommentColumn ||
         kind == StatementKind::kRenameColumn;
}

NativeType SplitNativeType(std::string_view text) {
  NativeType type;
  size_t at = 0;
  while (at < text.size() && text[at] != '(' && text[at] != ' ') type.word += text[at++];
  type.word = LowerCase(type.word);
  if (at >= text.size() || text[at] != '(') return type;
  for (int64_t* number : {&type.first, &type.second}) {
    ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), *number);
    if (error != std::errc()) return type;
    at = static_cast<size_t>(end - text.data());
    if (at >= text.size() || text[at] != ',') break;
  }
  return type;
}

}  // namespace driftless::olap
