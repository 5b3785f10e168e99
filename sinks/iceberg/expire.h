#pragma once

#include <string>
#include <vector>

#include "sinks/iceberg/maintenance.h"

namespace driftless::iceberg {

// The snapshots that may go now: not held by any tag or branch, and beyond the limits of main
// (specification, "Snapshot Retention Policy"). Empty for a table that does not ask for expiry: one
// without history.expire.max-snapshot-age-ms and history.expire.min-snapshots-to-keep, or with
// gc.enabled = false.
std::vector<int64_t> ExpiredSnapshots(const TableMetadata& metadata, int64_t now_ms);

// Takes those snapshots out of the table, then deletes what only they could reach. What is to be
// deleted is written down before, so that CleanUp finishes the work of a process that died. Gives
// the number of snapshots. A lost race is no error: the next call tries again.
Result<int64_t> ExpireSnapshots(const MaintenanceContext& context);

// Deletes what the list at `path` (ExpireSnapshots') names, unless it is in `needed`, and the list.
Result<void> FinishExpiry(const TableFiles& files, const std::string& path,
                          const std::function<bool(const std::string& uri)>& needed);

inline constexpr std::string_view kExpiryPrefix = "expired-";  // of the list's file name

}  // namespace driftless::iceberg
