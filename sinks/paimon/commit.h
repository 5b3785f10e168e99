#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "sinks/api/sink.h"
#include "sinks/paimon/table.h"

// Paimon's commit protocol: a snapshot file is created exclusively, everything else hangs on it. The
// functions here are what Sink::LookUp, Commit, Abort and CleanUp mean for Paimon tables.
namespace driftless::paimon {

struct CommitSettings {
  std::string commit_user_prefix = "driftless";
  const Clock* clock = nullptr;
  // Waits between attempts; null sleeps. Tests and the simulator give their own.
  std::function<void(int64_t ms)> wait_ms;
};

// "<prefix>-<pipeline>-<sink>": stable over restarts; the table's directory tells tables apart.
std::string CommitUser(const CommitSettings& settings, const CommitIdentity& identity);

// The token for a committable. Its payload also carries a random mark that goes into the snapshot's
// properties, so that a cut number that was used before (a lost state folder) is never mistaken for
// this commit.
CommitToken MakeToken(const CommitIdentity& identity, const Committable& committable,
                      int64_t latest_snapshot_id);

class PaimonCommitter {
 public:
  PaimonCommitter(std::shared_ptr<ObjectStore> store, CommitSettings settings)
      : store_(std::move(store)), settings_(std::move(settings)) {}

  Result<CommitState> LookUp(const CommitToken& token) const;

  // Makes all tokens visible, each table atomically: manifests of all tables, then all snapshots.
  // Another writer's snapshot means another round with back-off for that table. Repeating a commit
  // that took effect is a success. Errors: of the first table that failed; the others are done.
  Result<void> Commit(std::span<const CommitToken> tokens) const;

  // Deletes the data, changelog and index files that the tokens name, unless they are committed.
  Result<void> Abort(std::span<const CommitToken> tokens) const;

  // Deletes files of this owner that were written for cuts after the last committed one, that no
  // recorded token names and no snapshot, tag, branch or changelog refers to.
  Result<void> CleanUp(const std::string& pipeline, const std::string& sink, const TablePath& table,
                       std::span<const CommitToken> recorded) const;

 private:
  std::shared_ptr<ObjectStore> store_;
  CommitSettings settings_;
};

}  // namespace driftless::paimon
