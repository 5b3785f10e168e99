#pragma once

#include <cstdint>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"

namespace driftless {

// Room for `bits` bits, in bytes.
inline size_t BitmapBytes(int64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

// A column with buffers of its own, in the layout of a ColumnView: what a cast or a fill makes.
// Prepare keeps capacity, so that one column serves batch after batch without allocation.
class OwnedColumn {
 public:
  // Makes room for `length` values of `type`, all null, children included. Variable-length and list
  // columns are empty then: the filler appends value by value.
  void Prepare(const LogicalType& type, int64_t length);

  // Appends rows [begin, end) of a column of the same type, to a column that was prepared with
  // length 0 and grows by this function only.
  void AppendRows(const LogicalType& type, const ColumnView& from, int64_t begin, int64_t end);

  // Valid until the next Prepare; the column must not move meanwhile.
  ColumnView view() const;

  // Marks all values valid or takes over the null and absent bits of a column of the same length.
  void CopyPresence(const ColumnView& from);
  void SetNull(int64_t row) {
    validity[static_cast<size_t>(row >> 3)] &= static_cast<uint8_t>(~(1u << (row & 7)));
  }
  void SetValid(int64_t row) {
    validity[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
  }
  bool IsNull(int64_t row) const {
    return ((validity[static_cast<size_t>(row >> 3)] >> (row & 7)) & 1) == 0;
  }

  // A value that does not fit: null in the column, its bit set in `misfits`.
  void MarkMisfit(int64_t row) {
    misfits[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
    ++misfit_count;
    SetNull(row);
  }
  bool IsMisfit(int64_t row) const {
    return misfit_count > 0 && ((misfits[static_cast<size_t>(row >> 3)] >> (row & 7)) & 1) != 0;
  }

  template <typename T>
  T* data() {
    return reinterpret_cast<T*>(values.data());
  }
  int64_t length() const { return length_; }
  int64_t bytes() const;  // capacity held, children included

  std::vector<uint8_t> values;
  std::vector<uint8_t> validity;  // 1 = has a value
  std::vector<uint8_t> absent;    // empty: none
  std::vector<int32_t> offsets;   // length + 1 entries once filled
  std::vector<uint8_t> misfits;   // 1 = the value did not fit
  int64_t misfit_count = 0;
  std::vector<OwnedColumn> children;

 private:
  void AppendPresence(const ColumnView& from, int64_t begin, int64_t end);

  int64_t length_ = 0;
  mutable std::vector<ColumnView> child_views_;
};

}  // namespace driftless
