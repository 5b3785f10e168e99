#pragma once

#include "schema/events/change_batch.h"
#include "schema/events/change_batch_builder.h"

namespace driftless {

// Appends one value of a column of the builder's type; NULL and absent stay what they are.
void CopyValue(const ColumnView& view, int64_t row, ColumnBuilder* out);

// Makes a batch out of chosen rows of another one, with their points, times and transactions.
class ChangeBatchCopy {
 public:
  explicit ChangeBatchCopy(const ChangeBatch& batch)
      : batch_(batch), builder_(batch.schema(), batch.stream()) {}

  void Row(int64_t row);
  // The two halves of an update, each with all that both images know of it.
  void DeleteOfUpdate(int64_t row);
  void InsertOfUpdate(int64_t row);

  // Null when no row was chosen.
  ChangeBatchPtr Seal() { return builder_.Seal(); }

 private:
  int Width() const { return static_cast<int>(batch_.schema()->columns.size()); }
  void Begin(Op op, int64_t row);
  void After(int column, const ColumnView& view, int64_t row);
  void Before(int column, const ColumnView& view, int64_t row);

  const ChangeBatch& batch_;
  ChangeBatchBuilder builder_;
};

}  // namespace driftless
