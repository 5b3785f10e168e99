#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "schema/plan/schema_plan.h"
#include "sinks/clients/mysql/sql_session.h"

namespace driftless::olap {

// Partitions that the server makes for itself as rows come: one for each `unit` of `column`.
struct RangePartition {
  std::string column;
  std::string unit;  // "day"
};
// The partitions of a table that is created; none: it has no such ones. Null where no table has.
using AutoPartitionOf = std::function<std::optional<RangePartition>(const SinkTable&)>;

// What the user says about tables that are created.
struct CreateOptions {
  int64_t buckets = 0;  // 0: the server decides
  std::map<std::string, std::string> properties;
  AutoPartitionOf auto_partition;
};

// The kinds of statements that differ in what a server must be able to do.
enum class StatementKind : uint8_t {
  kCreateTable,
  kCreatePartitionedTable,
  kDropTable,
  kTruncateTable,
  kAddColumn,
  kDropColumn,
  kRenameColumn,
  kModifyColumn,
  kCommentColumn,
  kCommentTable,
};

// What differs between StarRocks and Doris in SQL. Stateless.
class Dialect {
 public:
  virtual ~Dialect() = default;

  virtual std::string_view product() const = 0;
  virtual std::string VersionQuery() const = 0;
  // Empty where the statement is as old as the product, or the version is new enough.
  virtual std::string VersionProblem(StatementKind kind, std::string_view version) const = 0;

  // From which version on the server takes compressed JSON.
  virtual std::string_view PackingVersion() const = 0;
  // From which version on it takes Arrow; empty: not asked for.
  virtual std::string_view ArrowVersion() const { return ""; }

  // The column type of a logical type in the sink's normal form: "VARCHAR(60)".
  virtual std::string TypeText(const LogicalType& type) const = 0;
  // Everything of CREATE TABLE behind the list of columns, with a leading blank.
  virtual std::string TableClauses(const SinkTable& table, const CreateOptions& options) const = 0;
  virtual std::string RenameColumn(std::string_view from, std::string_view to) const = 0;
  virtual std::string CommentTable(std::string_view comment) const = 0;
  // Behind statements that start a job: " PROPERTIES (...)", or nothing.
  virtual std::string JobClauses(int64_t timeout_ms) const = 0;

  // A statement that gives one row per column of the table, in order; no row: no such table.
  virtual std::string ColumnsQuery(const TablePath& table) const = 0;
  // One row of its answer. Errors: kUnsupported for a type that Driftless has no form for.
  virtual Result<SinkColumn> ReadColumn(const SqlRows& rows, size_t row, bool* is_key) const = 0;
  // The jobs of a table, the newest first.
  virtual std::string JobsQuery(const TablePath& table) const = 0;
};

// "text" with everything escaped that the servers' lexers take for something else.
std::string QuoteText(std::string_view text);
// "`a`, `b`"
std::string QuoteNames(const std::vector<std::string>& names);
// `name`
std::string QuoteName(std::string_view name);
std::string QuotePath(const TablePath& table);

// The statement that a step of the model's plan stands for, and its kind. `timeout_ms`: how long
// its job may take.
struct Statement {
  StatementKind kind = StatementKind::kCreateTable;
  std::string sql;
};
Statement StatementOf(const Dialect& dialect, const Step& step, const CreateOptions& options,
                      int64_t timeout_ms);
bool CreatesTable(StatementKind kind);
// Whether the server carries it out as a job of its own.
bool StartsJob(StatementKind kind);

// Reads what `SHOW` and information_schema print: "decimal(10,2)", "varchar(60)", "datetime(6)".
// Splits it into its word in lower case and up to two numbers (-1: not given).
struct NativeType {
  std::string word;
  int64_t first = -1;
  int64_t second = -1;
};
NativeType SplitNativeType(std::string_view text);

}  // namespace driftless::olap
