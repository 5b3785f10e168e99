#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "sinks/paimon/table.h"
#include "sinks/paimon/table_options.h"

namespace driftless::paimon {

// Removes old snapshots and what only they need, as Paimon's options say (snapshot.num-retained.*,
// snapshot.time-retained, snapshot.expire.limit); tags, branches and consumers hold what they need.
// Does nothing for tables that are write-only or keep changelogs longer than snapshots. Interrupted
// at any point it leaves every retained snapshot whole, and the next run goes on.
Result<void> ExpireSnapshots(const PaimonTable& table, const TableOptions& options, int64_t now_ms);

// Snapshots that expiry never looks at: those of tags and branches.
Result<std::vector<Snapshot>> PinnedSnapshots(const PaimonTable& table);

// Names of every file that a snapshot needs: manifests, lists, index and statistics files (with
// their folder: "manifest/...", "index/...") and, with_data_files, data and changelog files (bare
// names). Into one set: first all snapshots with data files, then those without.
Result<void> CollectNeeded(const PaimonTable& table, const Snapshot& snapshot, bool with_data_files,
                           std::unordered_set<std::string>* needed);

// The same for every snapshot, tag and branch of the table, with data files.
Result<std::unordered_set<std::string>> EverythingNeeded(const PaimonTable& table);

}  // namespace driftless::paimon
