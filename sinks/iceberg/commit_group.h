#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sinks/api/sink.h"

namespace driftless::iceberg {

// The tables of one cut, committed in one transaction of the catalog though the runtime commits
// them one by one: all tokens of a cut are sealed, and recorded, before the first is committed; so
// the first commit takes the others along, and they find their work done. Thread-safe.
class CommitGroups {
 public:
  using Commit = std::function<Result<void>(std::span<const CommitToken>)>;

  void Sealed(const CommitToken& token);
  // Commits the token, with the rest of its cut where that is possible. Where one of the others
  // fails, this one is committed alone: no table waits for another. Errors: this token's own.
  Result<void> Run(const CommitToken& token, const Commit& commit);

 private:
  struct Group {
    std::mutex mutex;  // held while the whole is committed; guards `tried` and `done`
    bool tried = false;
    bool done = false;
    std::vector<CommitToken> tokens;  // guarded by CommitGroups::mutex_
  };

  std::mutex mutex_;
  std::map<CutId, std::shared_ptr<Group>> groups_;
};

}  // namespace driftless::iceberg
