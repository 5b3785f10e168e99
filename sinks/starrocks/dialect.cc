#include <string>

#include "sinks/api/server_version.h"
#include "sinks/starrocks/starrocks.h"

namespace driftless::starrocks {
namespace {

using olap::NativeType;
using olap::QuoteName;
using olap::QuoteText;
using olap::StatementKind;

constexpr int32_t kVarBinaryMax = 1048576;

Result<LogicalType> ReadType(const SqlRows& rows, size_t row) {
  const std::string word = LowerCase(rows.Value(row, "DATA_TYPE").value_or(""));
  const auto number = [&](std::string_view column) {
    const NativeType text =
        olap::SplitNativeType("x(" + rows.Value(row, column).value_or("") + ")");
    return static_cast<int32_t>(text.first);
  };
  const int32_t size = number("COLUMN_SIZE");
  // A BOOLEAN is shown as a tinyint without a size.
  if (word == "tinyint") return size < 0 ? LogicalType::Boolean() : LogicalType::TinyInt();
  if (word == "boolean") return LogicalType::Boolean();
  if (word == "smallint") return LogicalType::SmallInt();
  if (word == "int") return LogicalType::Int();
  if (word == "bigint") return LogicalType::BigInt();
  if (word == "float") return LogicalType::Float();
  if (word == "double") return LogicalType::Double();
  if (word == "decimal") return LogicalType::Decimal(size, number("DECIMAL_DIGITS"));
  if (word == "char") return LogicalType::Char(size);
  if (word == "varchar") return LogicalType::VarChar(size);
  if (word == "varbinary") return LogicalType::VarBinary(kVarBinaryMax);
  if (word == "date") return LogicalType::Date();
  if (word == "datetime") return LogicalType::Timestamp(6);
  return MakeError(ErrorKind::kUnsupported, "its type " + word + " has no form here");
}

class StarRocksDialect : public olap::Dialect {
 public:
  std::string_view product() const override { return "StarRocks"; }
  // VERSION() is the MySQL version that it pretends to be.
  std::string VersionQuery() const override { return "SELECT current_version()"; }

  std::string VersionProblem(StatementKind kind, std::string_view version) const override {
    if (kind == StatementKind::kRenameColumn && IsOlderVersion(version, "3.3.2")) {
      return "StarRocks renames columns from 3.3.2 on";
    }
    if (kind == StatementKind::kCommentTable && IsOlderVersion(version, "3.1")) {
      return "StarRocks changes table comments from 3.1 on";
    }
    if (kind == StatementKind::kCreatePartitionedTable && IsOlderVersion(version, "3.1")) {
      return "StarRocks partitions tables by the values of columns from 3.1 on";
    }
    return "";
  }

  // "STREAM LOAD", since v3.2.7.
  std::string_view PackingVersion() const override { return "3.2.7"; }

  std::string TypeText(const LogicalType& type) const override {
    switch (type.kind()) {
      case TypeKind::kDecimal:
        return "DECIMAL(" + std::to_string(type.precision()) + ", " + std::to_string(type.scale()) +
               ")";
      case TypeKind::kVarBinary: return "VARBINARY";
      case TypeKind::kTimestamp: return "DATETIME";
      case TypeKind::kChar: return "CHAR(" + std::to_string(type.length()) + ")";
      case TypeKind::kVarChar: return "VARCHAR(" + std::to_string(type.length()) + ")";
      default: return type.ToStringIgnoringNullability();
    }
  }

  std::string TableClauses(const SinkTable& table,
                           const olap::CreateOptions& options) const override {
    const std::string keys = olap::QuoteNames(table.primary_key);
    std::string sql = " ENGINE=OLAP PRIMARY KEY (" + keys + ")";
    if (!table.comment.empty()) sql += " COMMENT " + QuoteText(table.comment);
    if (!table.partition_keys.empty()) {
      sql += " PARTITION BY (" + olap::QuoteNames(table.partition_keys) + ")";
    }
    sql += " DISTRIBUTED BY HASH (" + keys + ")";
    if (options.buckets > 0) sql += " BUCKETS " + std::to_string(options.buckets);
    return sql + PropertyList(options.properties);
  }

  std::string RenameColumn(std::string_view from, std::string_view to) const override {
    return "RENAME COLUMN " + QuoteName(from) + " TO " + QuoteName(to);
  }
  std::string CommentTable(std::string_view comment) const override {
    return "COMMENT = " + QuoteText(comment);
  }
  std::string JobClauses(int64_t timeout_ms) const override {
    return " PROPERTIES (\"timeout\" = \"" + std::to_string(timeout_ms / 1000) + "\")";
  }

  std::string ColumnsQuery(const TablePath& table) const override {
    return "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_SIZE, DECIMAL_DIGITS, IS_NULLABLE, COLUMN_KEY, "
           "COLUMN_DEFAULT, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " +
           QuoteText(table.database) + " AND TABLE_NAME = " + QuoteText(table.table) +
           " ORDER BY ORDINAL_POSITION";
  }

  Result<SinkColumn> ReadColumn(const SqlRows& rows, size_t row, bool* is_key) const override {
    SinkColumn column;
    column.name = rows.Value(row, "COLUMN_NAME").value_or("");
    auto type = ReadType(rows, row);
    if (!type) return std::move(type).error().Context("column " + column.name);
    const bool nullable = EqualsIgnoringCase(rows.Value(row, "IS_NULLABLE").value_or(""), "YES");
    column.type = type->WithNullability(nullable);
    column.native_type = TypeText(column.type);
    column.comment = rows.Value(row, "COLUMN_COMMENT").value_or("");
    *is_key = rows.Value(row, "COLUMN_KEY").value_or("") == "PRI";
    return column;
  }

  std::string JobsQuery(const TablePath& table) const override {
    return "SHOW ALTER TABLE COLUMN FROM " + QuoteName(table.database) +
           " WHERE TableName = " + QuoteText(table.table) + " ORDER BY JobId DESC LIMIT 1";
  }

 private:
  static std::string PropertyList(const std::map<std::string, std::string>& properties) {
    std::string list;
    for (const auto& [key, value] : properties) {
      if (!list.empty()) list += ", ";
      list += QuoteText(LowerCase(key)) + " = " + QuoteText(value);
    }
    return list.empty() ? "" : " PROPERTIES (" + list + ")";
  }
};

}  // namespace

const olap::Dialect& SqlDialect() {
  static const auto* const kDialect = new StarRocksDialect;
  return *kDialect;
}

}  // namespace driftless::starrocks
