#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sinks/paimon/commit.h"
#include "sinks/paimon/manifest_roller.h"

namespace driftless::paimon {

// The cut number of compactions: Paimon's identifier of maintenance commits (Long.MAX). Files that
// carry it are leftovers once no snapshot refers to them.
inline constexpr CutId kMaintenanceCut = INT64_MAX;

// One token on its way to a snapshot.
struct CommitAttempt {
  const CommitToken* token = nullptr;
  TokenPayload payload;
  PaimonTable table;
  std::string user;
  std::string owner;
  // Of the current round.
  TableOptions options;
  Snapshot snapshot;
  std::vector<std::string> written;
  bool committed = false;
  int64_t round = 0;
};

// Whether one of the snapshots after the token's is this commit. `gap`, if given, is set when some
// of those snapshots have expired, so that "no" is no proof.
Result<bool> IsCommitted(const PaimonTable& table, const TokenPayload& payload, int64_t latest_id,
                         bool* gap);

// Whether a retained snapshot, tag or branch names a data, changelog or index file of the token:
// what is left to ask where the snapshot itself has expired.
Result<bool> IsReferenced(const PaimonTable& table, const TokenPayload& payload);

// Whether every file that the committable takes out of the table is in it at `latest` (null: there
// is no snapshot).
Result<bool> RemovedFilesAreLive(const PaimonTable& table, const Committable& committable,
                                 const Snapshot* latest);

// Whether every file of the token is there.
Result<bool> FilesExist(const PaimonTable& table, const Committable& committable);

// Writes manifests and lists for the next snapshot and fills in `attempt->snapshot`, or finds that
// the commit is there already (`attempt->committed`). Errors: kConflict where the token can never
// be committed: the table was re-created or its buckets were changed by somebody else.
Result<void> PrepareSnapshot(CommitAttempt* attempt, int64_t now_ms);

}  // namespace driftless::paimon
