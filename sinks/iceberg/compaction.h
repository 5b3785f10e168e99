#pragma once

#include <string>
#include <vector>

#include "sinks/iceberg/maintenance.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/lake/compactor.h"

namespace driftless::iceberg {

// The live files of one partition.
struct PartitionFiles {
  int32_t spec_id = 0;
  PartitionTuple partition;
  std::vector<ManifestEntry> data;
  std::vector<ManifestEntry> equality;
  std::vector<ManifestEntry> positions;
};

// What to do with a partition.
struct PartitionPlan {
  std::vector<ManifestEntry> rewritten;  // data files whose live rows go into new files
  std::vector<ManifestEntry> dropped;    // equality deletes that go
  // Large data files that the dropped deletes may hit: rows there are deleted by position.
  std::vector<ManifestEntry> searched;
  // Older files stay below: the dropped keys are written anew, as one delete.
  bool keeps_keys = false;
  int64_t sequence = 0;  // of the new files

  bool IsEmpty() const { return rewritten.empty() && dropped.empty(); }
};

// Whether a partition's equality deletes hold for its own files alone, or for older files of other
// partition specs too: then all keys are written anew.
enum class KeyReach : uint8_t { kPartition, kBeyond };

// Universal compaction over commits. A run is what one commit, or a compaction, left: the data and
// the equality deletes of one sequence number; everything older than the oldest delete is the base.
// Where everything is merged, files near the target size stay. A partition without equality deletes
// has its small files joined. `target_bytes`: write.target-file-size-bytes.
PartitionPlan PlanPartition(const PartitionFiles& files, int64_t target_bytes, KeyReach reach);

// Compacts every partition of the table that needs it: small data files, equality deletes and
// position deletes; in format version 3 deletion vectors, and rows keep their row ids. Files of
// older partition specs are compacted under their own. Memory: the keys that are dropped, one row
// group, and where sorted files are merged a batch of each. Errors: the catalog's and the store's;
// a lost race is none.
Result<lake::CompactionReport> CompactTable(const MaintenanceContext& context);

}  // namespace driftless::iceberg
