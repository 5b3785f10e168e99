#include "sinks/paimon/bucket.h"

#include <bit>
#include <cstring>

#include "schema/base/check.h"

namespace driftless::paimon {
namespace {

uint32_t MixWord(uint32_t hash, uint32_t word) {
  word *= 0xcc9e2d51u;
  word = std::rotl(word, 15);
  word *= 0x1b873593u;
  hash ^= word;
  hash = std::rotl(hash, 13);
  return hash * 5 + 0xe6546b64u;
}

int32_t Finish(uint32_t hash, uint32_t length) {
  hash ^= length;
  hash ^= hash >> 16;
  hash *= 0x85ebca6bu;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35u;
  hash ^= hash >> 16;
  return static_cast<int32_t>(hash);
}

// A row of one fixed-width field: 8 zero bytes of header and the slot.
int32_t HashOneSlot(uint64_t slot) {
  uint32_t hash = MixWord(MixWord(42, 0), 0);
  hash = MixWord(hash, static_cast<uint32_t>(slot));
  hash = MixWord(hash, static_cast<uint32_t>(slot >> 32));
  return Finish(hash, 16);
}

}  // namespace

int32_t HashRowBytes(std::string_view row_bytes) {
  DRIFTLESS_CHECK(row_bytes.size() % 4 == 0);
  uint32_t hash = 42;
  for (size_t at = 0; at < row_bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, row_bytes.data() + at, 4);
    hash = MixWord(hash, word);
  }
  return Finish(hash, static_cast<uint32_t>(row_bytes.size()));
}

RowHasher::RowHasher(std::vector<int> columns, std::vector<LogicalType> types)
    : columns_(std::move(columns)),
      types_(std::move(types)),
      builder_(static_cast<int>(columns_.size())) {
  DRIFTLESS_CHECK(columns_.size() == types_.size());
  if (types_.size() == 1) {
    if (types_[0].kind() == TypeKind::kBigInt) fast_ = Fast::kFixed64;
    if (types_[0].kind() == TypeKind::kInt) fast_ = Fast::kFixed32;
  }
}

int32_t RowHasher::Hash(std::span<const ColumnView> views, int64_t row) {
  if (fast_ != Fast::kNone) {
    const ColumnView& column = views[static_cast<size_t>(columns_[0])];
    if (!column.IsNull(row)) {
      return HashOneSlot(fast_ == Fast::kFixed64 ? column.Fixed<uint64_t>(row)
                                                 : column.Fixed<uint32_t>(row));
    }
  }
  builder_.Reset();
  for (size_t i = 0; i < columns_.size(); ++i) {
    builder_.SetFromColumn(static_cast<int>(i), types_[i], views[static_cast<size_t>(columns_[i])],
                           row);
  }
  return HashRowBytes(builder_.row_bytes());
}

int32_t RowHasher::Bucket(BucketFunction function, std::span<const ColumnView> views, int64_t row,
                          int32_t buckets) {
  if (function == BucketFunction::kMurmur) return BucketOfHash(Hash(views, row), buckets);
  DRIFTLESS_CHECK(types_.size() == 1);
  const ColumnView& column = views[static_cast<size_t>(columns_[0])];
  if (column.IsNull(row)) return 0;
  const int64_t value = types_[0].kind() == TypeKind::kBigInt ? column.Fixed<int64_t>(row)
                                                              : column.Fixed<int32_t>(row);
  const int64_t remainder = value % buckets;
  return static_cast<int32_t>(remainder < 0 ? remainder + buckets : remainder);
}

}  // namespace driftless::paimon
