#include <algorithm>
#include <map>

#include "sinks/iceberg/compaction.h"
#include "sinks/lake/run_policy.h"

namespace driftless::iceberg {
namespace {

// Readers keep the keys of equality deletes in memory, and so does a compaction.
constexpr int64_t kDeletedKeysMax = 1'000'000;
// Newer runs may be half as large as the base: every reader looks at their keys for each row.
constexpr lake::RunPolicy kRuns{.trigger = 5, .size_amplification = 50, .size_ratio = 1};
constexpr lake::RunPolicy kSmallFiles{.trigger = 5, .size_amplification = 200, .size_ratio = 1};

bool IsSmall(const ManifestEntry& entry, int64_t target_bytes) {
  return entry.file.size < target_bytes / 4 * 3;
}

int64_t SequenceOf(const ManifestEntry& entry) { return entry.sequence_number.value_or(0); }

struct Run {
  std::vector<ManifestEntry> data;
  std::vector<ManifestEntry> deletes;
  int64_t bytes = 0;
};

PartitionPlan JoinSmallFiles(const PartitionFiles& files, int64_t target_bytes) {
  std::vector<ManifestEntry> small;
  for (const ManifestEntry& entry : files.data) {
    if (IsSmall(entry, target_bytes)) small.push_back(entry);
  }
  std::ranges::stable_sort(small, std::greater<>(), SequenceOf);
  std::vector<int64_t> sizes;
  for (const ManifestEntry& entry : small) sizes.push_back(entry.file.size);
  PartitionPlan plan;
  const size_t count = lake::PickRuns(sizes, kSmallFiles);
  if (count == 0) return plan;
  plan.rewritten.assign(small.begin(), small.begin() + static_cast<ptrdiff_t>(count));
  plan.sequence = SequenceOf(plan.rewritten.front());
  return plan;
}

}  // namespace

PartitionPlan PlanPartition(const PartitionFiles& files, int64_t target_bytes, KeyReach reach) {
  if (files.equality.empty()) return JoinSmallFiles(files, target_bytes);
  const int64_t oldest_delete = SequenceOf(std::ranges::min(files.equality, {}, SequenceOf));
  std::map<int64_t, Run, std::greater<>> runs;
  int64_t base_bytes = 0;
  int64_t keys = 0;
  for (const ManifestEntry& entry : files.data) {
    if (SequenceOf(entry) < oldest_delete) {
      base_bytes += entry.file.size;
      continue;
    }
    Run& run = runs[SequenceOf(entry)];
    run.data.push_back(entry);
    run.bytes += entry.file.size;
  }
  for (const ManifestEntry& entry : files.equality) {
    Run& run = runs[SequenceOf(entry)];
    run.deletes.push_back(entry);
    run.bytes += entry.file.size;
    keys += entry.file.record_count;
  }
  std::vector<int64_t> sizes;
  for (const auto& [sequence, run] : runs) sizes.push_back(run.bytes);
  if (base_bytes > 0) sizes.push_back(base_bytes);
  PartitionPlan plan;
  const bool keys_stay = reach == KeyReach::kBeyond;
  const size_t count =
      keys > kDeletedKeysMax && !keys_stay ? sizes.size() : lake::PickRuns(sizes, kRuns);
  if (count == 0) return plan;
  plan.sequence = runs.begin()->first;
  plan.keeps_keys = count < sizes.size() || keys_stay;
  if (!plan.keeps_keys) {
    plan.dropped = files.equality;
    for (const ManifestEntry& entry : files.data) {
      (IsSmall(entry, target_bytes) ? plan.rewritten : plan.searched).push_back(entry);
    }
    return plan;
  }
  size_t taken = 0;
  for (const auto& [sequence, run] : runs) {
    if (taken++ == count) break;
    plan.rewritten.insert(plan.rewritten.end(), run.data.begin(), run.data.end());
    plan.dropped.insert(plan.dropped.end(), run.deletes.begin(), run.deletes.end());
  }
  return plan;
}

}  // namespace driftless::iceberg
