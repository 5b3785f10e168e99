#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schema/types/time.h"
#include "sinks/lake/compactor.h"
#include "sinks/lake/merge_memory.h"
#include "sinks/paimon/commit.h"
#include "sinks/paimon/table.h"

namespace driftless::paimon {

// One sorted run of a bucket: a file of level 0, or all files of a higher level.
struct SortedRun {
  int32_t level = 0;
  int64_t bytes = 0;
  std::vector<ManifestEntry> files;
};

// The runs of one bucket, newest first.
std::vector<SortedRun> SortedRuns(const std::vector<ManifestEntry>& bucket_files);

// Which runs to merge: `runs` of them from the one at `first` on, newest first, into
// `output_level`. Deletes may be dropped where nothing older stays below.
struct CompactionPick {
  size_t first = 0;
  size_t runs = 0;
  int32_t output_level = 0;
  bool drops_deletes = false;
};

struct CompactionOptions {
  int64_t trigger = 5;               // num-sorted-run.compaction-trigger
  int64_t stop_trigger = 8;          // num-sorted-run.stop-trigger: with more, writers wait
  int32_t levels = 6;                // num-levels
  int64_t size_amplification = 200;  // compaction.max-size-amplification-percent
  int64_t size_ratio = 1;            // compaction.size-ratio, percent
  bool write_only = false;
  int64_t min_file_num = 5;  // compaction.min.file-num, of tables without primary key

  static Result<CompactionOptions> Read(const PaimonSchema& schema);
};

// Paimon's universal compaction (`UniversalCompaction.pick`): everything when the newer runs are
// larger than twice the oldest; else newer runs of like size; else as many as bring the number of
// runs down to the trigger. nullopt: nothing need be done.
std::optional<CompactionPick> PickCompaction(const std::vector<SortedRun>& runs,
                                             const CompactionOptions& options);

// What to merge first of a pick whose files may not all be open at one time: at least two runs next
// to each other, as many as `fits` lets in, into a level that is free for them. The oldest files of
// level 0 go to the highest free level; where none is left, higher levels are joined. Merging such
// parts and picking again comes to the same rows as the pick.
using RunsFit = std::function<bool(size_t first, size_t runs)>;
CompactionPick FirstPart(const std::vector<SortedRun>& runs, const CompactionPick& pick,
                         const CompactionOptions& options, const RunsFit& fits);

// Which files of a bucket of a table without primary key to join, oldest first: small ones that
// nothing larger stands between, so that their rows keep their order. Empty: nothing need be done.
std::vector<ManifestEntry> PickAppends(const std::vector<ManifestEntry>& bucket_files,
                                       int64_t target_bytes, const CompactionOptions& options);

// PaimonCommitter::CommitCompaction, or a caller's wrapper of it.
using CommitCompactionFn =
    std::function<Result<void>(const CommitIdentity&, const Committable&, int64_t base)>;

// Compacts every bucket of a table that needs it, newest schema: one COMPACT snapshot per bucket,
// or several where more files would have to be open than `memory` has room for. In memory are one
// batch and one page of each column per open file, and one row group. Write-only tables are left
// alone.
// `stop` is looked at between batches: a stopped compaction has changed nothing. Errors: the
// store's; a lost race is none.
Result<lake::CompactionReport> CompactTable(const PaimonTable& table,
                                            const CommitIdentity& identity,
                                            const CommitCompactionFn& commit, const TimeZone& zone,
                                            const Clock* clock, const std::atomic<bool>& stop,
                                            const lake::MergeMemory& memory = lake::MergeMemory());

}  // namespace driftless::paimon
