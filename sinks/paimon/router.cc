#include "sinks/paimon/router.h"

namespace driftless::paimon {
namespace {

lake::KeyOrder Identity(const KeyLayout& layout) {
  std::vector<int> columns = layout.partitions;
  std::vector<LogicalType> types = layout.partition_types;
  columns.insert(columns.end(), layout.keys.begin(), layout.keys.end());
  types.insert(types.end(), layout.key_types.begin(), layout.key_types.end());
  return lake::KeyOrder(std::move(columns), std::move(types));
}

}  // namespace

Router::Router(const KeyLayout& layout, WriterIndex writers)
    : mode_(layout.mode),
      function_(layout.function),
      buckets_(layout.buckets),
      writers_(writers),
      hasher_(layout.mode == BucketMode::kDynamic ? layout.keys : layout.bucket_keys,
              layout.mode == BucketMode::kDynamic ? layout.key_types : layout.bucket_key_types),
      identity_(Identity(layout)),
      partitions_(layout.partitions),
      partition_types_(layout.partition_types),
      partition_row_(static_cast<int>(layout.partitions.size())),
      partition_(EmptyBinaryRow()) {
  needed_ = layout.partitions;
  if (mode_ == BucketMode::kFixed) {
    needed_.insert(needed_.end(), layout.bucket_keys.begin(), layout.bucket_keys.end());
  }
}

const std::string& Router::Partition(std::span<const ColumnView> views, int64_t row) {
  if (partitions_.empty()) return partition_;
  partition_row_.Reset();
  for (size_t i = 0; i < partitions_.size(); ++i) {
    partition_row_.SetFromColumn(static_cast<int>(i), partition_types_[i],
                                 views[static_cast<size_t>(partitions_[i])], row);
  }
  const std::string_view bytes = partition_row_.row_bytes();
  // The arity stands in front of the row bytes.
  if (partition_.size() == bytes.size() + 4 && std::string_view(partition_).substr(4) == bytes) {
    return partition_;
  }
  partition_ = partition_row_.Serialized();
  return partition_;
}

int32_t Router::Bucket(std::span<const ColumnView> views, int64_t row) {
  if (mode_ != BucketMode::kFixed) return 0;
  return hasher_.Bucket(function_, views, row, buckets_);
}

WriterIndex Router::Writer(const std::string& partition, int32_t bucket) const {
  if (writers_ == 1) return 0;
  uint32_t offset = 0;
  if (!partitions_.empty()) {
    offset = static_cast<uint32_t>(HashRowBytes(std::string_view(partition).substr(4)));
  }
  return (offset + static_cast<uint32_t>(bucket)) % writers_;
}

bool Router::SameKey(std::span<const ColumnView> a, std::span<const ColumnView> b,
                     int64_t row) const {
  return identity_.Compare(a, row, b, row) == 0;
}

}  // namespace driftless::paimon
