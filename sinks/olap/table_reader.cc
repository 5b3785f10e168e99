#include "sinks/olap/table_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schema/types/casts.h"
#include "schema/types/owned_column.h"
#include "sinks/olap/schema_steps.h"

namespace driftless::olap {
namespace {

constexpr int64_t kPageRows = 20'000;

// The texts of one column of an answer, as values of its type.
class TextColumn {
 public:
  TextColumn(const LogicalType& type, const SqlRows& rows, size_t index) {
    OwnedColumn texts;
    const auto count = static_cast<int64_t>(rows.rows.size());
    texts.Prepare(LogicalType::String(), count);
    texts.offsets.assign(1, 0);
    for (int64_t row = 0; row < count; ++row) {
      const std::optional<std::string>& text = rows.rows[static_cast<size_t>(row)][index];
      if (text) {
        texts.values.insert(texts.values.end(), text->begin(), text->end());
        texts.SetValid(row);
      }
      texts.offsets.push_back(static_cast<int32_t>(texts.values.size()));
    }
    ColumnCast(LogicalType::String(), type, TimeZone()).Run(texts.view(), &column_);
  }
  ColumnView view() const { return column_.view(); }

 private:
  OwnedColumn column_;
};

class OlapReader : public TableReader {
 public:
  OlapReader(const Dialect* dialect, std::unique_ptr<SchemaPlanner> planner,
             const OlapOptions& options, std::unique_ptr<Statements> statements)
      : planner_(std::move(planner)),
        sql_(*statements),
        steps_(dialect, options, planner_.get(), std::move(statements)) {}

  Result<SinkTable> Describe(const TablePath& path, const ReadRequest& request) override {
    if (request.snapshot) {
      return MakeError(ErrorKind::kUnsupported,
                       "table " + path.ToString() + " has no snapshots to read: only what is now");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::optional<SinkTable> table, steps_.Read(path));
    if (table) return *std::move(table);
    return MakeError(ErrorKind::kNotFound, "there is no table " + path.ToString());
  }

  Result<void> ReadRows(const TablePath& path, const ReadRequest& request,
                        const RowVisitor& visit) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const SinkTable table, Describe(path, request));
    std::vector<std::string> names;
    for (const SinkColumn& column : table.columns) names.push_back(column.name);
    std::string select = "SELECT " + QuoteNames(names) + " FROM " + QuotePath(path);
    const bool has_key = !table.primary_key.empty();
    if (has_key) select += " ORDER BY " + QuoteNames(table.primary_key);
    const int64_t limit = request.limit < 0 ? INT64_MAX : request.limit;
    for (int64_t first = 0; first < limit;) {
      // Without a key there is no order that pages could follow.
      const int64_t count = has_key ? std::min(kPageRows, limit - first) : limit;
      std::string page = select;
      if (has_key) {
        page += " LIMIT " + std::to_string(first) + ", " + std::to_string(count);
      } else if (request.limit >= 0) {
        page += " LIMIT " + std::to_string(count);
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const SqlRows rows, sql_.Query(page));
      if (!Visit(table, rows, visit)) return {};
      if (static_cast<int64_t>(rows.rows.size()) < count) return {};
      first += count;
    }
    return {};
  }

 private:
  // False: the visitor has enough.
  static bool Visit(const SinkTable& table, const SqlRows& rows, const RowVisitor& visit) {
    std::vector<TextColumn> columns;
    columns.reserve(table.columns.size());
    for (size_t i = 0; i < table.columns.size(); ++i) {
      columns.emplace_back(table.columns[i].type, rows, i);
    }
    std::vector<ColumnView> views;
    for (const TextColumn& column : columns) views.push_back(column.view());
    for (size_t row = 0; row < rows.rows.size(); ++row) {
      if (!visit(table, views, static_cast<int64_t>(row))) return false;
    }
    return true;
  }

  const std::unique_ptr<SchemaPlanner> planner_;
  Statements& sql_;  // of steps_
  SchemaSteps steps_;
};

}  // namespace

std::unique_ptr<TableReader> MakeReader(const Dialect* dialect,
                                        std::unique_ptr<SchemaPlanner> planner,
                                        const OlapOptions& options,
                                        std::unique_ptr<Statements> statements) {
  return std::make_unique<OlapReader>(dialect, std::move(planner), options, std::move(statements));
}

}  // namespace driftless::olap
