#include "pipeline/runtime/sink_run.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace driftless {

std::shared_ptr<std::mutex> SinkRun::TableMutex(const TablePath& table) {
  const std::lock_guard<std::mutex> lock(mutexes_guard_);
  auto& mutex = mutexes_[table];
  if (mutex == nullptr) mutex = std::make_shared<std::mutex>();
  return mutex;
}

Result<CommitState> SinkRun::LookUpOne(const CommitToken& token, Metrics* metrics, int tries) {
  CommitState state = CommitState::kUnknown;
  int calls = 0;
  const auto ask = [&]() -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(state, sink()->LookUp(token));
    if (state == CommitState::kUnknown && (tries == 0 || ++calls < tries)) {
      return MakeError(ErrorKind::kUnavailable, "the sink cannot tell yet");
    }
    return {};
  };
  DRIFTLESS_TRY(io->Retry(ask, [&](const Error& error) {
    metrics->AddRetry(name(), "lookup");
    spdlog::warn("sink {}: table {}: looking up cut {}: {}", name(),
                 token.identity.table.ToString(), token.identity.cut, error.ToString());
  }));
  return state;
}

Result<CommitOutcome> SinkRun::CommitOne(const CommitToken& token, Metrics* metrics) {
  while (true) {
    Result<void> committed = io->Retry(
        [&] { return sink()->Commit(std::span<const CommitToken>(&token, 1)); },
        [&](const Error& error) {
          metrics->AddRetry(name(), "commit");
          spdlog::warn("sink {}: table {}: commit of cut {}: {}", name(),
                       token.identity.table.ToString(), token.identity.cut, error.ToString());
        });
    if (committed) return CommitOutcome::kCommitted;
    if (committed.error().kind() != ErrorKind::kCommitUnknown) return std::move(committed).error();
    spdlog::warn("sink {}: table {}: the answer to the commit of cut {} was lost: {}", name(),
                 token.identity.table.ToString(), token.identity.cut, committed.error().ToString());
    DRIFTLESS_ASSIGN_OR_RETURN(const CommitState state, LookUpOne(token, metrics, 0));
    if (state == CommitState::kCommitted) return CommitOutcome::kCommitted;
    if (state == CommitState::kGone) return CommitOutcome::kGone;
    metrics->AddRetry(name(), "commit");
  }
}

}  // namespace driftless
