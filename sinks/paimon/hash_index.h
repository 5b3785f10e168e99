#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sinks/api/memory_budget.h"
#include "sinks/paimon/metadata.h"
#include "sinks/paimon/table.h"

namespace driftless::paimon {

// Key hashes of one partition and their buckets: open addressing, 6 bytes a slot, at most 3/4 full.
class HashBuckets {
 public:
  static constexpr uint16_t kNone = 0xFFFF;
  static constexpr int32_t kMaxBuckets = 32767;  // Paimon keeps bucket numbers as 16-bit integers

  // The bucket of a hash, or kNone.
  uint16_t Find(int32_t hash) const;
  void Insert(int32_t hash, uint16_t bucket);  // the hash must not be there
  int64_t size() const { return size_; }
  int64_t bytes() const {
    return static_cast<int64_t>(hashes_.size() * sizeof(int32_t) +
                                buckets_.size() * sizeof(uint16_t));
  }
  // All hashes of a bucket.
  std::vector<int32_t> Of(uint16_t bucket) const;

 private:
  void Grow();
  size_t Slot(int32_t hash) const;

  std::vector<int32_t> hashes_;
  std::vector<uint16_t> buckets_;
  int64_t size_ = 0;
};

// The key to bucket assignment of a table with dynamic buckets (bucket = -1): a known hash keeps
// its bucket, a new one goes to the first bucket that has room for more. Belongs to the table's one
// writer. Partitions are loaded when first touched, and the least recently used ones that are saved
// are dropped when the budget's share is used up.
class HashIndex {
 public:
  // `index_files` are the live HASH entries of the newest snapshot.
  HashIndex(const PaimonTable& table, std::vector<IndexManifestEntry> index_files,
            const PaimonSchema& schema, MemoryBudget* budget);
  ~HashIndex();
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  // Errors: the store's, kCorrupt (an index file of an odd length).
  Result<int32_t> Assign(const std::string& partition, int32_t hash);

  // Writes whole new index files for the buckets that got keys since the last call.
  Result<std::vector<IndexManifestEntry>> Save(FileNames* names);

  int64_t bytes() const { return charged_; }

 private:
  struct Partition {
    HashBuckets buckets;
    std::vector<int64_t> rows;  // by bucket
    std::set<uint16_t> unsaved;
    uint64_t last_use = 0;
  };
  struct SavedFile {
    int32_t bucket = 0;
    std::string name;
    int64_t rows = 0;
  };

  Result<Partition*> Load(const std::string& partition);
  void Recharge();
  void EvictIfLarge(const Partition* keep);

  PaimonTable table_;
  std::map<std::string, std::vector<SavedFile>> files_;  // by partition: where to load from
  std::map<std::string, std::unique_ptr<Partition>> partitions_;
  std::string last_partition_;
  Partition* last_ = nullptr;
  int64_t target_rows_;
  int32_t max_buckets_;
  int32_t initial_buckets_;
  MemoryBudget* budget_;
  int64_t charged_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace driftless::paimon
