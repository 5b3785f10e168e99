#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schema/events/change_batch.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/lake/row_ref.h"

namespace driftless {
class ColumnBuilder;
}

namespace driftless::lake {

// A run of rows of one data file in file order: the values as the `after` columns of a batch, and
// beside each row what the lake says of it.
struct FileRows {
  ChangeBatchPtr values;           // after(): one column per requested column
  std::vector<int64_t> sequences;  // empty where the file has none
  std::vector<RowKind> kinds;      // empty: all inserts
};
using FileRowsPtr = std::shared_ptr<const FileRows>;

// Gives the rows of something run by run. One thread.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual Result<FileRowsPtr> Next() = 0;  // null at the end
};

struct ParquetRowsRequest {
  // The columns to read, as the file's own schema names and types them; a column that the file
  // lacks is null, or what `fills` appends for it (beside the columns; empty ones are nulls).
  std::vector<RowField> columns;
  std::vector<std::function<void(ColumnBuilder*)>> fills;
  // Beside the columns too, or empty: what stands for a null, and for a column that the file lacks,
  // by the row's position in the file.
  std::vector<std::function<void(int64_t position, ColumnBuilder*)>> null_fills;
  std::string sequence_column;  // empty: none
  std::string kind_column;      // empty: none
  int64_t batch_rows = 4096;
};

// Reads a Parquet file. Memory: one row group's pages of the columns at a time, one batch of
// values. Errors: the store's; kCorrupt for what is no Parquet file or has other types than asked
// for.
Result<std::unique_ptr<RowSource>> OpenParquetRows(std::shared_ptr<ObjectStore> store,
                                                   const std::string& path,
                                                   ParquetRowsRequest request);

// The names of a file's columns, and of what lies inside them, by the field ids that stand in its
// schema; what has none is left out. Errors: as OpenParquetRows.
Result<std::map<int32_t, std::string>> ReadParquetFieldIds(
    const std::shared_ptr<ObjectStore>& store, const std::string& path);

}  // namespace driftless::lake
