#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "schema/events/change_batch.h"
#include "schema/plan/schema_plan.h"

namespace driftless {

struct ReadRequest {
  std::optional<int64_t> snapshot;  // the sink's own number; none: the newest
  int64_t limit = -1;               // rows; -1: all
};

// Takes one row: values stand in `columns` at `row`, in the order of the table's columns. False
// stops.
using RowVisitor =
    std::function<bool(const SinkTable& table, std::span<const ColumnView> columns, int64_t row)>;

// Reads a sink's tables back, for users who look at them and for tests; not a fast path.
class TableReader {
 public:
  virtual ~TableReader() = default;
  // The table as a read of this request shows it. Errors: kNotFound.
  virtual Result<SinkTable> Describe(const TablePath& table, const ReadRequest& request) = 0;
  // Every row once, ordered by primary key; tables without key in the order of writing. Bounded
  // memory. Errors: kNotFound; kUnsupported for tables that need what Driftless does not read.
  virtual Result<void> ReadRows(const TablePath& table, const ReadRequest& request,
                                const RowVisitor& visit) = 0;
};

}  // namespace driftless
