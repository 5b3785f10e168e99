#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/check.h"
#include "schema/events/change_batch.h"

namespace driftless {

// Grows one column value by value. The Append functions are the decoders' hot path: inline, no
// virtual call, no Result, no allocation once the buffers have their working size.
// Exactly one Append per row; the caller chooses the one that fits physical().
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const LogicalType& type);
  ColumnBuilder(ColumnBuilder&&) noexcept = default;

  PhysicalKind physical() const { return physical_; }
  int64_t length() const { return length_; }
  // Bytes held by values so far, children included.
  size_t bytes() const;

  void AppendNull() { AppendEmpty(/*bitmap_null=*/1, /*bitmap_absent=*/0); }
  void AppendAbsent() { AppendEmpty(/*bitmap_null=*/1, /*bitmap_absent=*/1); }
  void AppendBit(bool value) {
    if ((length_ & 7) == 0) values_.push_back(0);
    values_.back() |= static_cast<uint8_t>(value) << (length_ & 7);
    ++length_;
  }
  // kFixed8..kFixed64: the low bytes of `value` at the column's width.
  void AppendFixed(uint64_t value) {
    const size_t at = values_.size();
    values_.resize(at + width_);
    std::memcpy(values_.data() + at, &value, width_);
    ++length_;
  }
  void AppendInt(int64_t value) { AppendFixed(static_cast<uint64_t>(value)); }
  void AppendFloat(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    AppendFixed(bits);
  }
  void AppendDouble(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    AppendFixed(bits);
  }
  // kFixed128: two's complement, the unscaled value of a decimal.
  void AppendInt128(__int128 value) {
    const size_t at = values_.size();
    values_.resize(at + 16);
    std::memcpy(values_.data() + at, &value, 16);
    ++length_;
  }
  void AppendBytes(std::string_view bytes) {
    const size_t at = values_.size();
    values_.resize(at + bytes.size());
    if (!bytes.empty()) std::memcpy(values_.data() + at, bytes.data(), bytes.size());
    offsets_.push_back(static_cast<int32_t>(values_.size()));
    ++length_;
  }
  // Room for `size` bytes that the caller fills before the next call; ends the value. For decoders
  // that unescape or transcode in place: reserve the upper bound, then Shrink to what was used.
  uint8_t* AppendUninitialized(size_t size) {
    const size_t at = values_.size();
    values_.resize(at + size);
    offsets_.push_back(static_cast<int32_t>(values_.size()));
    ++length_;
    return values_.data() + at;
  }
  void ShrinkLast(size_t unused_bytes) {
    values_.resize(values_.size() - unused_bytes);
    offsets_.back() -= static_cast<int32_t>(unused_bytes);
  }

  // kList: append the elements to child(0) (kMap: key and value to child(0).child(0) and (1), the
  // struct's own row by child(0).CloseStruct()), then close the list. kStruct: append one value to
  // every child, then close.
  ColumnBuilder& child(int index) { return children_[index]; }
  int child_count() const { return static_cast<int>(children_.size()); }
  void CloseList() {
    offsets_.push_back(static_cast<int32_t>(children_[0].length_));
    ++length_;
  }
  void CloseStruct() { ++length_; }

  // Takes back the values after the first `length` ones: a row that turned out bad leaves nothing.
  void Truncate(int64_t length);
  // Keeps capacity.
  void Clear();

 private:
  friend class ChangeBatchBuilder;
  void AppendEmpty(int bitmap_null, int bitmap_absent);
  static void SetBit(std::vector<uint8_t>* bitmap, int64_t bit);

  TypeKind kind_;
  PhysicalKind physical_;
  size_t width_ = 0;  // bytes a value, kFixed*
  int64_t length_ = 0;
  std::vector<uint8_t> values_;
  std::vector<int32_t> offsets_;
  std::vector<uint8_t> nulls_;   // 1 = null; inverted when sealed; empty where there is none
  std::vector<uint8_t> absent_;  // 1 = absent
  std::vector<ColumnBuilder> children_;
};

// Collects changes of one table under one schema version, then seals them into a ChangeBatch. Use:
//   b.BeginRow(Op::kUpdate, point, commit_time_ms);
//   for every column: b.after(i).Append...();   [and, for a before image: b.before(i).Append...()]
//   b.EndRow();              // or b.AbandonRow() to leave no trace of it
// One thread. Reuse one builder per table and version: Seal keeps the buffers.
class ChangeBatchBuilder {
 public:
  static constexpr int64_t kMaxRows = 4096;
  static constexpr size_t kMaxBytes = 1 << 20;

  explicit ChangeBatchBuilder(TableSchemaPtr schema, StreamId stream);
  ~ChangeBatchBuilder();

  const TableSchemaPtr& schema() const { return schema_; }
  int64_t size() const { return static_cast<int64_t>(ops_.size()); }
  size_t bytes() const;
  bool IsFull() const { return size() >= kMaxRows || bytes() >= kMaxBytes; }

  void BeginRow(Op op, const Point& point, int64_t commit_time_ms);
  void SetTransaction(std::string_view id);  // of the open row
  ColumnBuilder& after(int column) { return after_[column]; }
  ColumnBuilder& before(int column) {
    ColumnBuilder& builder = before_[column];
    // Rows without a before image are filled in when the next one comes, so that streams without
    // before images never pay for them.
    while (builder.length() + 1 < size()) builder.AppendAbsent();
    return builder;
  }
  // Columns that got no value in this row become absent; a row without any before value has no
  // before image.
  void EndRow();
  void AbandonRow();

  // The rows so far as one sealed batch; null when there are none. The builder is empty after it.
  ChangeBatchPtr Seal();

 private:
  TableSchemaPtr schema_;
  StreamId stream_;
  std::vector<ColumnBuilder> after_;
  std::vector<ColumnBuilder> before_;
  bool any_before_ = false;
  std::vector<Op> ops_;
  std::vector<uint64_t> epochs_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> rows_;
  std::vector<int64_t> commit_times_ms_;
  std::vector<int32_t> transaction_offsets_;
  std::string transactions_;
  std::vector<uint8_t> has_before_;
};

}  // namespace driftless
