#pragma once

#include <functional>
#include <span>
#include <string>

#include "sinks/api/sink.h"
#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/committable.h"

namespace driftless::iceberg {

struct CommitSettings {
  Catalog* catalog = nullptr;
  const Clock* clock = nullptr;
  std::function<void(int64_t ms)> wait_ms;  // null: sleeps
  std::function<void(const Error&)> warn;   // may be null
  int threads = 4;
};

// The key in snapshot summaries under which a commit's mark stands.
inline constexpr std::string_view kCommitMark = "driftless.commit";

// What Sink::Seal, LookUp, Commit, Abort and CleanUp mean for Iceberg tables.
class IcebergCommitter {
 public:
  explicit IcebergCommitter(CommitSettings settings) : settings_(std::move(settings)) {}

  Result<CommitToken> Seal(const CommitIdentity& identity,
                           std::span<const PreparedPart> parts) const;
  // kGone: the table is another one, or files of the token are not there any more.
  Result<CommitState> LookUp(const CommitToken& token) const;
  // Each token atomically, tables side by side, tokens of one table in their order. Another
  // writer's commit means another round. Files are deleted only where the commit certainly failed.
  Result<void> Commit(std::span<const CommitToken> tokens) const;
  Result<void> Abort(std::span<const CommitToken> tokens) const;
  // Deletes files of this owner for cuts after the last committed one that no recorded token and
  // no snapshot names.
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) const;

 private:
  CommitSettings settings_;
};

}  // namespace driftless::iceberg
