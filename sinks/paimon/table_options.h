#pragma once

#include <cstdint>
#include <string>

#include "schema/base/result.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// The table options that commits and expiry follow, with Paimon's keys and defaults (CoreOptions of
// Paimon 1.4).
struct TableOptions {
  std::string manifest_compression = "zstd";
  int64_t manifest_target_bytes = 8 << 20;
  int64_t manifest_merge_min_count = 30;
  int64_t manifest_full_compaction_bytes = 16 << 20;
  int64_t commit_max_retries = 10;
  int64_t commit_min_retry_wait_ms = 10;
  int64_t commit_max_retry_wait_ms = 10'000;
  bool write_only = false;
  int64_t snapshots_retained_min = 10;
  int64_t snapshots_retained_max = INT32_MAX;
  int64_t snapshot_time_retained_ms = 3'600'000;
  int64_t snapshot_expire_limit = 50;
  // changelog.num-retained.* or changelog.time-retained: changelogs outlive their snapshots, which
  // only Paimon's own expiry knows how to do.
  bool decoupled_changelog = false;
};

// Errors: kInvalidConfig that names the option.
Result<TableOptions> ReadTableOptions(const PaimonSchema& schema);

}  // namespace driftless::paimon
