#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "sinks/api/sink.h"
#include "sinks/paimon/table.h"

// Paimon's commit protocol: a snapshot file is created exclusively, everything else hangs on it.
// The functions here are what Sink::Seal, LookUp, Commit, Abort and CleanUp mean for Paimon tables.
namespace driftless::paimon {

struct CommitSettings {
  std::string commit_user_prefix = "driftless";
  const Clock* clock = nullptr;  // null: the machine's
  // Waits between attempts; null sleeps. Tests and the simulator give their own.
  std::function<void(int64_t ms)> wait_ms;
  int threads = 4;  // tables whose metadata is written at the same time
};

// "<prefix>-<pipeline>-<sink>": stable over restarts; the table's directory tells tables apart.
std::string CommitUser(const CommitSettings& settings, const CommitIdentity& identity);

// The key in a snapshot's properties under which a commit's mark stands.
inline constexpr std::string_view kCommitMark = "driftless.commit";

// The token for a committable, made at Seal. `latest_snapshot_id`: of the table at that moment, 0
// where there is none; only later snapshots can hold this commit. The payload also carries a random
// mark that goes into the snapshot's properties, so that a cut number that was used before (a lost
// state folder) is never mistaken for this commit.
CommitToken MakeToken(const CommitIdentity& identity, const Committable& committable,
                      int64_t latest_snapshot_id);

// What a token's payload holds.
struct TokenPayload {
  std::string mark;
  int64_t latest_snapshot_id = 0;
  Committable committable;
};
Result<TokenPayload> ReadToken(const CommitToken& token);

class PaimonCommitter {
 public:
  PaimonCommitter(std::shared_ptr<ObjectStore> store, CommitSettings settings);

  // kGone: the table or data files of the token are not there any more.
  Result<CommitState> LookUp(const CommitToken& token) const;

  // Makes all tokens visible, each atomically: metadata of all tables first, then all snapshots at
  // once. Another writer's snapshot means another round with back-off for that table; tokens of one
  // table are committed in their order. Repeating a commit that took effect is a success. A token
  // without files makes no snapshot. Errors: of the first token that failed; the others are done.
  // kCommitUnknown: look it up.
  Result<void> Commit(std::span<const CommitToken> tokens) const;

  // Makes a compaction visible as a COMPACT snapshot of the user "<commit user>-maint", unless the
  // files that it read are not live any more or its level was filled by somebody else (kConflict:
  // nothing was committed, and the new files are of no use). `base` is the snapshot that was read.
  Result<void> CommitCompaction(const CommitIdentity& identity, const Committable& committable,
                                int64_t base) const;

  // Deletes the data, changelog and index files that the tokens name, unless they are committed.
  Result<void> Abort(std::span<const CommitToken> tokens) const;

  // Deletes files of this owner that were written for cuts after the last committed one, that no
  // recorded token names and that no snapshot, tag or branch refers to. Files of others are never
  // touched.
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) const;

 private:
  std::shared_ptr<ObjectStore> store_;
  CommitSettings settings_;
};

}  // namespace driftless::paimon
