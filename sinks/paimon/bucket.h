#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"
#include "sinks/paimon/binary_row.h"

namespace driftless::paimon {

// Murmur3 x86-32 with seed 42 over 4-byte little-endian words, as Paimon hashes binary rows
// (Apache Paimon, `MurmurHashUtils.hashBytesByWords`). The length is a multiple of 4.
int32_t HashRowBytes(std::string_view row_bytes);

// abs(hash % buckets) with the truncating remainder of Java and C++.
inline int32_t BucketOfHash(int32_t hash, int32_t buckets) {
  const int32_t remainder = hash % buckets;
  return remainder < 0 ? -remainder : remainder;
}

enum class BucketFunction : uint8_t {
  kMurmur,  // bucket-function.type = default
  kMod,     // floorMod of one INT or BIGINT column
};

// Hashes key columns row by row; keeps its scratch memory. One thread.
class RowHasher {
 public:
  // `columns` are indices into the views that Hash gets, in key order; `types` stand beside them.
  RowHasher(std::vector<int> columns, std::vector<LogicalType> types);

  int32_t Hash(std::span<const ColumnView> views, int64_t row);
  // The bucket under `function`; kMod needs exactly one integer column.
  int32_t Bucket(BucketFunction function, std::span<const ColumnView> views, int64_t row,
                 int32_t buckets);

 private:
  std::vector<int> columns_;
  std::vector<LogicalType> types_;
  BinaryRowBuilder builder_;
  enum class Fast : uint8_t { kNone, kFixed32, kFixed64 };
  Fast fast_ = Fast::kNone;  // a single integer column, hashed without building a row
};

}  // namespace driftless::paimon
