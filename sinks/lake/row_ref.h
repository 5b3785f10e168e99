#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schema/events/change_batch.h"

namespace driftless::lake {

// What a lake's row does to its key. The numbers are Paimon's row kinds.
enum class RowKind : uint8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

inline bool IsRetract(RowKind kind) {
  return kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
}

// One row of one image, 8 bytes: writers keep these and the batches, never copies of rows.
struct RowRef {
  uint32_t image = 0;
  uint32_t row : 30 = 0;
  uint32_t kind : 2 = 0;

  RowRef() = default;
  RowRef(uint32_t image_index, uint32_t row_index, RowKind row_kind)
      : image(image_index), row(row_index), kind(static_cast<uint32_t>(row_kind)) {}
  RowKind row_kind() const { return static_cast<RowKind>(kind); }
};
static_assert(sizeof(RowRef) == 8);

// The columns of one image (after or before) of one batch, in the sink's order and types, as
// ProjectedBatch gives them: a value that is still absent is null.
struct RowImage {
  std::span<const ColumnView> columns;
};

}  // namespace driftless::lake
