#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/sql/row_statement.h"
#include "schema/events/change_batch_builder.h"
#include "schema/model/table.h"
#include "schema/types/owned_column.h"
#include "schema/types/time.h"

namespace driftless {

// The rows that a script has put into one table, in memory. One thread.
class ScriptRows {
 public:
  // Sees every row that a statement changes, in order: `before` and `after` are rows of these
  // columns, -1 where there is none. False: stop.
  struct Change {
    Op op = Op::kInsert;
    const std::vector<OwnedColumn>* before = nullptr;
    int64_t before_row = -1;
    const std::vector<OwnedColumn>* after = nullptr;
    int64_t after_row = -1;
  };
  using Visit = std::function<bool(const Change&)>;

  ScriptRows(TableSchemaPtr schema, TimeZone zone);

  // Carries out a statement on rows. False: the visitor stopped. Errors, with the line and column
  // in the statement: a value that does not fit its column, NULL where it may not be, a column that
  // is not there, a key twice. Nothing has changed and nothing was visited then.
  Result<bool> Run(const flink::RowStatement& statement, const Visit& visit);
  // The rows go on under another version of the schema. Errors: a value that does not fit the new
  // type, NULL where it may not be.
  Result<void> SetSchema(TableSchemaPtr schema);
  void Clear();

  int64_t size() const { return size_; }

 private:
  Result<bool> Insert(const flink::RowStatement& statement, const Visit& visit);
  Result<bool> Update(const flink::RowStatement& statement, const Visit& visit);
  Result<bool> Delete(const flink::RowStatement& statement, const Visit& visit);

  Result<int> ColumnOf(const flink::NameAt& name) const;
  // The values of `expr` over rows of the table (`columns` empty: over one row without columns),
  // as values of the column.
  Result<void> Evaluate(const flink::Expr& expr, const std::vector<OwnedColumn>& over, int64_t rows,
                        int column, OwnedColumn* out) const;
  Result<std::vector<int64_t>> Matching(const flink::RowStatement& statement) const;
  std::string KeyOf(const std::vector<OwnedColumn>& columns, int64_t row) const;
  Result<void> IndexRows();
  // Empty columns of the schema's types, to append rows to.
  std::vector<OwnedColumn> NoRows() const;
  void Append(const std::vector<OwnedColumn>& from, int64_t row,
              std::vector<OwnedColumn>* to) const;

  TableSchemaPtr schema_;
  TimeZone zone_;
  std::vector<OwnedColumn> columns_;
  int64_t size_ = 0;
  std::map<std::string, int64_t> by_key_;  // where the table has a primary key
};

}  // namespace driftless
