#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sinks/api/projected_batch.h"
#include "sinks/olap/load_body.h"

namespace arrow {
class Schema;
}  // namespace arrow

namespace driftless::olap {

// A value of a batch: a row of it, and a column of the sink's table.
struct ValueAt {
  uint32_t row = 0;
  uint32_t column = 0;
  friend auto operator<=>(const ValueAt&, const ValueAt&) = default;
};

// Why Doris would not take rows of the table from Arrow as they are; empty: it takes them.
// `carries_deletes`: a hidden column says whether a row is written or deleted.
// - The planners of 2.1 to 3.0 give a hidden column no type there (Load.initColumns: colToType has
//   those of getBaseSchema()).
// - DataTypeDateTimeV2SerDe::read_column_from_arrow reads a DATETIME as an unsigned count in the
//   fixed zone +08:00 (ArrowStreamReader, TimezoneUtils::default_time_zone), at least up to 4.1.3.
// - Names are looked up in lower case before 4.0's pull request 65616.
std::string ArrowProblem(const EvolvedSchema& table, bool carries_deletes);

// Writes rows as an Arrow IPC stream ("Arrow Columnar Format", IPC Streaming Format), column by
// column. One thread.
class ArrowRows {
 public:
  explicit ArrowRows(const EvolvedSchema& table);
  ~ArrowRows();

  // Appends the rows, ascending, to the stream in `body`, which begins it where that is empty.
  // `nulled`, ascending: values that are written as NULL. Errors: kInternal.
  Result<void> Append(const ProjectedBatch& batch, std::span<const uint32_t> rows,
                      std::span<const ValueAt> nulled, LoadBody* body);
  // The stream is whole then.
  static void End(LoadBody* body);

 private:
  std::vector<LogicalType> types_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace driftless::olap
