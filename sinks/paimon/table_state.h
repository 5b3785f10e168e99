#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "sinks/api/sink.h"
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

  // Rows are about to be taken out of files (RowRemover) for this cut or a later one: until the cut
  // is settled no compaction may take those files away. Waits for one that commits just now.
  void BeginRemovals(CutId cut);
  // The cut, and all before it, was committed or given up.
  void Settle(CutId cut);
  // Commits a compaction of the table. Errors: kConflict while removals wait; those of `commit`.
  Result<void> CommitCompaction(const Committable& compaction,
                                const std::function<Result<void>()>& commit);
  // Whether a compaction of this process has removed the file, lately.
  bool WasCompacted(const std::string& file_name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int32_t>, int64_t> next_sequence_;
  std::map<std::string, int32_t> total_buckets_;
  mutable std::mutex removals_mutex_;
  std::set<CutId> removals_;               // cuts that are not settled
  std::deque<std::string> compacted_;      // file names, oldest first
  std::unordered_set<std::string> known_;  // the same
};

}  // namespace driftless::paimon
