#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schema/events/change_batch.h"

namespace driftless {

// Makes a batch out of another one: other columns, fewer rows, other ops. What a transform emits.
class DerivedBatch {
 public:
  struct Parts {
    TableSchemaPtr schema;
    std::vector<Op> ops;        // one per row of the new batch
    std::vector<int64_t> rows;  // its row in the source, ascending; empty: all, in their order
    std::vector<uint8_t> has_before;  // bitmap over the new rows; empty: none has a before image
    // One per column of `schema`, of as many rows as the *source* has; they may lie anywhere.
    std::vector<ColumnView> after;
    std::vector<ColumnView> before;  // empty where no row has a before image
  };

  // Points, times and transactions come from the source's rows. Everything is copied into one slab
  // of the new batch. Null where no row is left.
  static ChangeBatchPtr Make(const ChangeBatch& source, Parts parts);
};

}  // namespace driftless
