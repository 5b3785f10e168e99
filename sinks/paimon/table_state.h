#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sinks/paimon/table.h"

namespace driftless::paimon {

// What the writers of one table know of its files: which sequence number comes next in every bucket
// and how many buckets a partition was written with. Loaded once from the live files, kept up to
// date by the writers, so that a writer that is opened again reads nothing. Thread-safe.
class TableState {
 public:
  // Reads the newest snapshot. Errors: the store's; kCorrupt.
  static Result<std::shared_ptr<TableState>> Load(const PaimonTable& table);

  // The first sequence number that no row of the bucket has.
  int64_t NextSequence(const std::string& partition, int32_t bucket) const;
  void SetNextSequence(const std::string& partition, int32_t bucket, int64_t next);
  // The number of buckets that the partition's files were written for; nullopt: no files.
  std::optional<int32_t> TotalBuckets(const std::string& partition) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int32_t>, int64_t> next_sequence_;
  std::map<std::string, int32_t> total_buckets_;
};

}  // namespace driftless::paimon
