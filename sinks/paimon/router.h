#pragma once

#include <span>
#include <string>

#include "sinks/api/sink.h"
#include "sinks/lake/key_order.h"
#include "sinks/paimon/key_layout.h"

namespace driftless::paimon {

// Says for one row image which partition, bucket and writer it belongs to. The inlet uses one to
// assign rows, every writer has its own; both must agree, so the rule stands here alone. Keeps
// scratch memory: one thread.
class Router {
 public:
  Router(const KeyLayout& layout, WriterIndex writers);

  // A serialised BinaryRow; the same object as for the last row where the partition is the same.
  const std::string& Partition(std::span<const ColumnView> views, int64_t row);
  int32_t KeyHash(std::span<const ColumnView> views, int64_t row) {
    return hasher_.Hash(views, row);
  }
  // kFixed: by the bucket key; else 0.
  int32_t Bucket(std::span<const ColumnView> views, int64_t row);
  // Writers own whole buckets, spread over the partitions.
  WriterIndex Writer(const std::string& partition, int32_t bucket) const;
  WriterIndex writers() const { return writers_; }
  // The columns that Partition and Bucket look at.
  std::span<const int> needed_columns() const { return needed_; }

  // Whether both images have the same key and partition.
  bool SameKey(std::span<const ColumnView> a, std::span<const ColumnView> b, int64_t row) const;

 private:
  BucketMode mode_;
  BucketFunction function_;
  int32_t buckets_;
  WriterIndex writers_;
  RowHasher hasher_;
  lake::KeyOrder identity_;  // partition columns and key
  std::vector<int> needed_;
  std::vector<int> partitions_;
  std::vector<LogicalType> partition_types_;
  BinaryRowBuilder partition_row_;
  std::string partition_;
};

}  // namespace driftless::paimon
