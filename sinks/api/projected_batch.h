#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/owned_column.h"
#include "sinks/api/projection.h"

namespace driftless {

// What happened to single rows on their way into a sink table. Called on the writer's thread, for
// rare rows only. The runtime keeps the dead letters durably before it commits the cut.
class RowReporter {
 public:
  enum class Loss : uint8_t {
    kMisfit,  // a value that did not fit was written as NULL
    kNull,    // a NULL was written as the column's default
    kAbsent,  // a value that the source did not send was written as NULL
  };
  virtual ~RowReporter() = default;
  // The row is not written. `why` names table, column, value and point.
  virtual void DeadLetter(const ChangeBatch& batch, uint32_t row, const Error& why) = 0;
  virtual void Count(const TablePath& sink_table, std::string_view column, Loss loss,
                     int64_t rows) = 0;
};

// One batch as the sink's columns: what a writer works on. A column that needs nothing is the
// batch's own view, without a copy. Immutable; keeps the batch alive.
class ProjectedBatch {
 public:
  // Projects the whole batch, but looks at (fails for, counts, reports) only the values of `rows`,
  // the rows of one writer in ascending order. Errors: kInvalidInput for the first value that does
  // not fit, is NULL in a NOT NULL column, or is missing, where the policy says fail; nothing has
  // been taken over then. `reporter` may be null: losses are not counted, and a row that should be
  // a dead letter is an error.
  static Result<std::shared_ptr<const ProjectedBatch>> Make(ChangeBatchPtr batch,
                                                            const Projection& projection,
                                                            std::span<const uint32_t> rows,
                                                            RowReporter* reporter);

  const ChangeBatch& source() const { return *batch_; }
  const ChangeBatchPtr& batch() const { return batch_; }
  // One view per column of the evolved schema, in its order. Rows of deletes have no values here.
  std::span<const ColumnView> after() const { return after_; }
  // Empty where no row of the batch has a before image; else one view per column. Only key columns
  // are promised: other values may be absent, and those that do not fit are NULL.
  std::span<const ColumnView> before() const { return before_; }
  // The rows to write: `rows` without dead letters.
  std::span<const uint32_t> rows() const { return rows_; }

  // Bytes held beside the batch's slab.
  int64_t own_bytes() const { return own_bytes_; }
  // What the memory budget is charged for it, the batch included.
  int64_t charged_bytes() const {
    return static_cast<int64_t>(batch_->charged_bytes()) + own_bytes_;
  }

 private:
  friend class BatchProjector;
  ProjectedBatch() = default;

  ChangeBatchPtr batch_;
  std::vector<ColumnView> after_;
  std::vector<ColumnView> before_;
  std::vector<uint32_t> rows_;
  std::vector<std::unique_ptr<OwnedColumn>> owned_;
  int64_t own_bytes_ = 0;
};

}  // namespace driftless
