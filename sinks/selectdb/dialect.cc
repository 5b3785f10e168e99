#include <string>

#include "sinks/api/server_version.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless::selectdb {
namespace {

using olap::NativeType;
using olap::QuoteName;
using olap::QuoteText;
using olap::StatementKind;

Result<LogicalType> ReadType(std::string_view text) {
  const NativeType type = olap::SplitNativeType(text);
  const auto first = static_cast<int32_t>(type.first);
  if (type.word == "boolean") return LogicalType::Boolean();
  if (type.word == "tinyint") return first == 1 ? LogicalType::Boolean() : LogicalType::TinyInt();
  if (type.word == "smallint") return LogicalType::SmallInt();
  if (type.word == "int") return LogicalType::Int();
  if (type.word == "bigint") return LogicalType::BigInt();
  if (type.word == "float") return LogicalType::Float();
  if (type.word == "double") return LogicalType::Double();
  if (type.word == "decimal" || type.word == "decimalv3") {
    return LogicalType::Decimal(first, static_cast<int32_t>(type.second < 0 ? 0 : type.second));
  }
  if (type.word == "char") return LogicalType::Char(first);
  if (type.word == "varchar") return LogicalType::VarChar(first < 0 ? 65533 : first);
  if (type.word == "string" || type.word == "text") return LogicalType::String();
  if (type.word == "date" || type.word == "datev2") return LogicalType::Date();
  if (type.word == "datetime" || type.word == "datetimev2") {
    return LogicalType::Timestamp(first < 0 ? 0 : first);
  }
  return MakeError(ErrorKind::kUnsupported, "its type " + std::string(text) + " has no form here");
}

class DorisDialect : public olap::Dialect {
 public:
  std::string_view product() const override { return "Apache Doris"; }
  std::string VersionQuery() const override { return "SHOW VARIABLES LIKE 'version_comment'"; }
  // Everything else that is sent here is as old as light schema change (1.2), which the tables
  // need.
  std::string VersionProblem(StatementKind kind, std::string_view version) const override {
    if (kind == StatementKind::kCreatePartitionedTable && IsOlderVersion(version, "2.1.6")) {
      return "Doris makes partitions by itself from 2.1.6 on";
    }
    return "";
  }

  // Apache Doris pull request 48990, in 3.0.5.
  std::string_view PackingVersion() const override { return "3.0.5"; }

  // "Stream Load", header format: arrow, since version 2.1.0.
  std::string_view ArrowVersion() const override { return "2.1.0"; }

  std::string TypeText(const LogicalType& type) const override {
    switch (type.kind()) {
      case TypeKind::kDecimal:
        return "DECIMALV3(" + std::to_string(type.precision()) + ", " +
               std::to_string(type.scale()) + ")";
      case TypeKind::kDate: return "DATEV2";
      case TypeKind::kTimestamp: return "DATETIMEV2(" + std::to_string(type.precision()) + ")";
      case TypeKind::kChar: return "CHAR(" + std::to_string(type.length()) + ")";
      case TypeKind::kVarChar:
        if (type.length() == LogicalType::kMaxLength) return "STRING";
        return "VARCHAR(" + std::to_string(type.length()) + ")";
      default: return type.ToStringIgnoringNullability();
    }
  }

  std::string TableClauses(const SinkTable& table,
                           const olap::CreateOptions& options) const override {
    const bool has_key = !table.primary_key.empty();
    const std::string keys =
        has_key ? olap::QuoteNames(table.primary_key) : QuoteName(table.columns.front().name);
    std::string sql = std::string(has_key ? " UNIQUE KEY (" : " DUPLICATE KEY (") + keys + ")";
    if (!table.comment.empty()) sql += " COMMENT " + QuoteText(table.comment);
    if (!table.partition_keys.empty()) {
      sql += " AUTO PARTITION BY LIST (" + olap::QuoteNames(table.partition_keys) + ") ()";
    } else if (options.auto_partition != nullptr) {
      if (const auto range = options.auto_partition(table)) {
        sql += " AUTO PARTITION BY RANGE (date_trunc(" + QuoteName(range->column) + ", '" +
               range->unit + "')) ()";
      }
    }
    sql += " DISTRIBUTED BY HASH (" + keys + ") BUCKETS ";
    sql += options.buckets > 0 ? std::to_string(options.buckets) : "AUTO";
    std::map<std::string, std::string> properties = options.properties;
    properties.emplace("light_schema_change", "true");
    if (has_key) properties.emplace("enable_unique_key_merge_on_write", "true");
    std::string list;
    for (const auto& [key, value] : properties) {
      if (!list.empty()) list += ", ";
      list += QuoteText(key) + " = " + QuoteText(value);
    }
    return sql + " PROPERTIES (" + list + ")";
  }

  std::string RenameColumn(std::string_view from, std::string_view to) const override {
    return "RENAME COLUMN " + QuoteName(from) + " " + QuoteName(to);
  }
  std::string CommentTable(std::string_view comment) const override {
    return "MODIFY COMMENT " + QuoteText(comment);
  }
  std::string JobClauses(int64_t) const override { return ""; }

  // "default_cluster:" may stand in front of names in information_schema; this one is exact.
  std::string ColumnsQuery(const TablePath& table) const override {
    return "SHOW FULL COLUMNS FROM " + olap::QuotePath(table);
  }

  Result<SinkColumn> ReadColumn(const SqlRows& rows, size_t row, bool* is_key) const override {
    SinkColumn column;
    column.name = rows.Value(row, "Field").value_or("");
    auto type = ReadType(rows.Value(row, "Type").value_or(""));
    if (!type) return std::move(type).error().Context("column " + column.name);
    const bool nullable = EqualsIgnoringCase(rows.Value(row, "Null").value_or(""), "YES");
    column.type = type->WithNullability(nullable);
    column.native_type = TypeText(column.type);
    column.comment = rows.Value(row, "Comment").value_or("");
    const std::string key = LowerCase(rows.Value(row, "Key").value_or(""));
    *is_key = key == "yes" || key == "true" || key == "uni" || key == "pri";
    return column;
  }

  std::string JobsQuery(const TablePath& table) const override {
    return "SHOW ALTER TABLE COLUMN FROM " + QuoteName(table.database) +
           " WHERE TableName = " + QuoteText(table.table) + " ORDER BY CreateTime DESC LIMIT 1";
  }
};

}  // namespace

const olap::Dialect& SqlDialect() {
  static const auto* const kDialect = new DorisDialect;
  return *kDialect;
}

}  // namespace driftless::selectdb
