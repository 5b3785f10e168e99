#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"

namespace driftless::paimon {

// Builds rows in Paimon's binary row layout, which keys, partitions, statistics and bucket hashes
// use (Apache Paimon, `BinaryRow` and `BinaryRowWriter`): a header byte and null bits, one 8-byte
// slot a field, then the variable part. Fields must be set in ascending order, each exactly once,
// since the order of the variable part is part of the hash. Reuse one builder: no allocation a row.
class BinaryRowBuilder {
 public:
  explicit BinaryRowBuilder(int arity);

  int arity() const { return arity_; }
  void Reset();

  void SetNull(int field);
  // BOOLEAN, TINYINT, SMALLINT, INT, DATE, TIME (milliseconds), FLOAT, BIGINT, DOUBLE and DECIMAL
  // of at most 18 digits: the value's low bytes; the bytes above `width` become zero.
  void SetFixed(int field, uint64_t value, int width) {
    if (width < 8) value &= (uint64_t{1} << (8 * width)) - 1;
    std::memcpy(row_.data() + SlotOffset(field), &value, 8);
  }
  void SetBytes(int field, std::string_view bytes);
  // DECIMAL of more than 18 digits.
  void SetWideDecimal(int field, __int128 unscaled);
  void SetNullWideDecimal(int field);
  // TIMESTAMP and TIMESTAMP_LTZ of a precision above 3; `nanos` is 0..999,999.
  void SetWideTimestamp(int field, int64_t millis, int32_t nanos_of_milli);
  void SetNullWideTimestamp(int field);

  // The value of one column at one row, null or not, in the form that `type` asks for. Nested types
  // and VARIANT are refused by a check: they can be neither key nor partition column.
  void SetFromColumn(int field, const LogicalType& type, const ColumnView& column, int64_t row);
  void SetNullOf(int field, const LogicalType& type);

  // Without the arity in front: what is hashed. Valid until the next call.
  std::string_view row_bytes() const {
    return {reinterpret_cast<const char*>(row_.data()), row_.size()};
  }
  // With the big-endian arity in front: what stands in Avro.
  std::string Serialized() const;

 private:
  size_t SlotOffset(int field) const { return header_bytes_ + static_cast<size_t>(field) * 8; }
  // Grows the variable part by `bytes`, padded with zeros to a multiple of 8; returns its offset.
  size_t Reserve(size_t bytes);

  int arity_;
  size_t header_bytes_;
  std::vector<uint8_t> row_;
};

// The serialised row without fields: partition of unpartitioned tables, keys of append tables and
// statistics that are not kept.
std::string EmptyBinaryRow();

// Reads a serialised row. Does not own the bytes.
class BinaryRowView {
 public:
  BinaryRowView() = default;
  // Errors: kCorrupt when the bytes are too short for their arity, or the arity is not `arity`.
  static Result<BinaryRowView> Parse(std::string_view serialized, int arity);

  int arity() const { return arity_; }
  bool IsNull(int field) const {
    const size_t bit = static_cast<size_t>(field) + 8;
    return ((static_cast<uint8_t>(row_[bit / 8]) >> (bit % 8)) & 1) != 0;
  }
  // The slot's low `sizeof(T)` bytes.
  template <typename T>
  T Fixed(int field) const {
    T value;
    std::memcpy(&value, row_.data() + header_bytes_ + static_cast<size_t>(field) * 8, sizeof(T));
    return value;
  }
  // Errors: kCorrupt when the slot points out of the row.
  Result<std::string_view> Bytes(int field) const;
  Result<__int128> Decimal(int field, int32_t precision) const;
  // Nanoseconds within the millisecond are returned in `nanos_of_milli`.
  Result<int64_t> TimestampMillis(int field, int32_t precision, int32_t* nanos_of_milli) const;

 private:
  int arity_ = 0;
  size_t header_bytes_ = 0;
  std::string_view row_;
};

// Orders two serialised rows of the same field types: field by field, null first, text by unsigned
// bytes, floating point as Java's compare does (NaN last). Errors: kCorrupt.
Result<int> CompareBinaryRows(const std::vector<LogicalType>& types, std::string_view a,
                              std::string_view b);

}  // namespace driftless::paimon
