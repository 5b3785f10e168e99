#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "sinks/iceberg/maintenance.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/lake/file_names.h"

namespace driftless::iceberg {

// Files that take the place of others without changing a row of the table.
struct Rewrite {
  const LoadedTable* base = nullptr;        // what was read
  std::unordered_set<std::string> removed;  // data and delete files (EntryKey)
  // The manifests of the base that hold them.
  std::unordered_set<std::string> holders;
  // New files; their sequence number is the one that readers shall go by, or none for the
  // snapshot's own.
  std::vector<ManifestEntry> added;
  // The data files that get a new deletion vector, of which a file may have one.
  std::unordered_set<std::string> with_vector;
  // By partition (PartitionKey): the newest sequence number of what was read there.
  std::map<std::string, int64_t> newest;

  bool IsEmpty() const { return removed.empty() && added.empty(); }
};

// Makes it visible as one "replace" snapshot. Errors: kConflict: somebody took one of the files
// away, or deleted rows of one by position, or added files behind our back with old sequence
// numbers: nothing happened and the new files are of no use. kCommitUnknown: it may have happened.
Result<void> CommitRewrite(const MaintenanceContext& context, const Rewrite& rewrite,
                           lake::FileNames* names);

}  // namespace driftless::iceberg
