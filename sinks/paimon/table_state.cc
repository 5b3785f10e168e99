#include "sinks/paimon/table_state.h"

#include <algorithm>

namespace driftless::paimon {
namespace {

// A writer looks at files of its last few cuts only (RowRemover); this is far more.
constexpr size_t kCompactedMax = 50'000;

}  // namespace

Result<std::shared_ptr<TableState>> TableState::Load(const PaimonTable& table) {
  auto state = std::make_shared<TableState>();
  DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<Snapshot> snapshot, table.LatestSnapshot());
  if (!snapshot) return state;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<ManifestEntry> live, table.LiveFiles(*snapshot));
  for (const ManifestEntry& entry : live) {
    int64_t& next = state->next_sequence_[{entry.partition, entry.bucket}];
    next = std::max(next, entry.file.max_sequence_number + 1);
    state->total_buckets_[entry.partition] = entry.total_buckets;
  }
  return state;
}

int64_t TableState::NextSequence(const std::string& partition, int32_t bucket) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = next_sequence_.find({partition, bucket});
  return found == next_sequence_.end() ? 0 : found->second;
}

void TableState::SetNextSequence(const std::string& partition, int32_t bucket, int64_t next) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t& stored = next_sequence_[{partition, bucket}];
  stored = std::max(stored, next);
}

std::optional<int32_t> TableState::TotalBuckets(const std::string& partition) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = total_buckets_.find(partition);
  if (found == total_buckets_.end()) return std::nullopt;
  return found->second;
}

void TableState::BeginRemovals(CutId cut) {
  const std::lock_guard<std::mutex> lock(removals_mutex_);
  removals_.insert(cut);
}

void TableState::Settle(CutId cut) {
  const std::lock_guard<std::mutex> lock(removals_mutex_);
  removals_.erase(removals_.begin(), removals_.upper_bound(cut));
}

Result<void> TableState::CommitCompaction(const Committable& compaction,
                                          const std::function<Result<void>()>& commit) {
  const std::lock_guard<std::mutex> lock(removals_mutex_);
  if (!removals_.empty()) {
    return MakeError(ErrorKind::kConflict, "rows are being taken out of the table's files");
  }
  auto done = commit();
  // After anything but a plain refusal the commit may have taken effect.
  if (!done && done.error().kind() == ErrorKind::kConflict) return done;
  for (const ManifestEntry& entry : compaction.new_files) {
    const std::string& name = entry.file.file_name;
    if (entry.kind == FileKind::kDelete && known_.insert(name).second) compacted_.push_back(name);
  }
  while (compacted_.size() > kCompactedMax) {
    known_.erase(compacted_.front());
    compacted_.pop_front();
  }
  return done;
}

bool TableState::WasCompacted(const std::string& file_name) const {
  const std::lock_guard<std::mutex> lock(removals_mutex_);
  return known_.contains(file_name);
}

}  // namespace driftless::paimon
