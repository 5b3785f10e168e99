#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/point.h"
#include "schema/model/table.h"

namespace driftless {

enum class Op : uint8_t { kInsert, kUpdate, kDelete, kRead };  // kRead: a row of a snapshot

// One column of one image, a slice of the batch's slab, in Arrow's layout (see LogicalType).
// Bitmaps are LSB first, one bit a value; a null pointer means all valid, or none absent.
struct ColumnView {
  int64_t length = 0;
  const uint8_t* validity = nullptr;  // 1 = has a value
  const uint8_t* absent = nullptr;    // 1 = the source did not send it (not NULL: unknown)
  const uint8_t* values = nullptr;    // fixed width, bits, or the bytes of kVariable
  const int32_t* offsets = nullptr;   // kVariable, kList: length + 1 entries
  const ColumnView* children = nullptr;
  int32_t child_count = 0;

  bool IsNull(int64_t row) const {
    return validity != nullptr && ((validity[row >> 3] >> (row & 7)) & 1) == 0;
  }
  bool IsAbsent(int64_t row) const {
    return absent != nullptr && ((absent[row >> 3] >> (row & 7)) & 1) != 0;
  }
  bool Bit(int64_t row) const { return ((values[row >> 3] >> (row & 7)) & 1) != 0; }
  template <typename T>
  T Fixed(int64_t row) const {
    T value;
    __builtin_memcpy(&value, values + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
  std::string_view Bytes(int64_t row) const {
    return {reinterpret_cast<const char*>(values) + offsets[row],
            static_cast<size_t>(offsets[row + 1] - offsets[row])};
  }
};

// A sealed run of changes of one table under one schema version: immutable, shared by reference.
// Everything lies in one allocation, so that a batch costs one malloc whatever its width.
class ChangeBatch {
 public:
  const TableSchemaPtr& schema() const { return schema_; }
  const TablePath& table() const { return schema_->path; }
  StreamId stream() const { return stream_; }
  int64_t size() const { return size_; }
  std::span<const Op> ops() const { return {ops_, static_cast<size_t>(size_)}; }
  // One per column of the schema, in its order. A deletes's `after` values are all absent.
  std::span<const ColumnView> after() const { return after_; }
  // Empty where no row has a before image; else one per column. Rows without one are absent.
  std::span<const ColumnView> before() const { return before_; }
  bool HasBefore(int64_t row) const {
    return has_before_ != nullptr && ((has_before_[row >> 3] >> (row & 7)) & 1) != 0;
  }
  // Point of a row; all rows of a batch belong to one stream.
  Point point(int64_t row) const {
    return Point{stream_, epochs_[row], offsets_[row], rows_[row], 0};
  }
  Point last_point() const { return point(size_ - 1); }
  std::span<const int64_t> commit_times_ms() const {
    return {commit_times_ms_, static_cast<size_t>(size_)};
  }
  // Transaction id of a row; empty where the source has none.
  std::string_view transaction(int64_t row) const;
  // What the memory budget is charged: slab capacity and 2 KiB for the objects around it.
  size_t charged_bytes() const { return slab_bytes_ + 2048; }

 private:
  friend class ChangeBatchBuilder;
  friend class ChangeBatchImage;
  friend class DerivedBatch;
  ChangeBatch() = default;

  TableSchemaPtr schema_;
  StreamId stream_ = 0;
  int64_t size_ = 0;
  std::unique_ptr<uint8_t[]> slab_;
  size_t slab_bytes_ = 0;
  const Op* ops_ = nullptr;
  const uint64_t* epochs_ = nullptr;
  const uint64_t* offsets_ = nullptr;
  const uint32_t* rows_ = nullptr;
  const int64_t* commit_times_ms_ = nullptr;
  const int32_t* transaction_offsets_ = nullptr;  // null: no ids; else size + 1 entries
  const char* transactions_ = nullptr;
  const uint8_t* has_before_ = nullptr;
  std::span<const ColumnView> after_;
  std::span<const ColumnView> before_;
  std::vector<ColumnView> views_;  // after, before, and their children
};

using ChangeBatchPtr = std::shared_ptr<const ChangeBatch>;

}  // namespace driftless
