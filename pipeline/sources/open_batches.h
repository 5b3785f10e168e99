#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/sources/source.h"
#include "schema/events/change_batch_builder.h"

namespace driftless {

// The rows of one table that wait to be sent: a builder for its present schema version.
class OpenBatch {
 public:
  const TableSchemaPtr& schema() const { return schema_; }
  // Null until the first row under the present schema.
  ChangeBatchBuilder* builder() { return builder_.get(); }

 private:
  friend class OpenBatches;
  TableSchemaPtr schema_;
  std::unique_ptr<ChangeBatchBuilder> builder_;
  bool open_ = false;  // stands in OpenBatches::open_
};

// The open batches of one source stream. Seals them at the limits of the architecture's section 4:
// full, more than kOpenMax open (oldest first), before a schema change, or when the source says so.
// Inside a table batches go out in order; between tables any order is right, because a position is
// only reported (Progress) when nothing is open. All functions return false when the pipeline
// stops.
class OpenBatches {
 public:
  static constexpr size_t kOpenMax = 64;

  OpenBatches(StreamId stream, SourceOutput* output) : stream_(stream), output_(output) {}

  // The builder for one more row; opens the batch where it is not.
  bool Begin(OpenBatch* batch, ChangeBatchBuilder** builder) {
    if (batch->open_) [[likely]] {
      *builder = batch->builder_.get();
      return true;
    }
    return Open(batch, builder);
  }
  // After EndRow: sends the batch when it is full. `row_bytes` is the size of the row's record.
  bool End(OpenBatch* batch, size_t row_bytes) {
    // Sizes are counted every few rows, because counting walks all columns.
    if (++rows_since_check_ < kRowsPerCheck && row_bytes < kLargeRow) return true;
    rows_since_check_ = 0;
    return !batch->builder_->IsFull() || Seal(batch);
  }
  // Sends what is there, if anything.
  bool Seal(OpenBatch* batch);
  bool SealAll();
  // Sends the rows under the old schema and goes on with the new one (null: the table is gone).
  bool SetSchema(OpenBatch* batch, TableSchemaPtr schema);
  bool empty() const { return open_.empty(); }

 private:
  static constexpr int kRowsPerCheck = 16;
  static constexpr size_t kLargeRow = 16384;

  bool Open(OpenBatch* batch, ChangeBatchBuilder** builder);
  bool Send(OpenBatch* batch);

  StreamId stream_;
  SourceOutput* output_;
  std::vector<OpenBatch*> open_;  // oldest first
  int rows_since_check_ = 0;
};

}  // namespace driftless
