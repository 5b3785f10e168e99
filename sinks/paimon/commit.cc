#include "sinks/paimon/commit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "sinks/formats/avro/decode.h"
#include "sinks/lake/in_parallel.h"
#include "sinks/paimon/commit_attempt.h"
#include "sinks/paimon/expire.h"

namespace driftless::paimon {
namespace {

constexpr std::string_view kTokenMagic = "DLT1";

std::string RandomMark() {
  thread_local std::mt19937_64 engine{(static_cast<uint64_t>(std::random_device{}()) << 32) |
                                      std::random_device{}()};
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(engine()),
                static_cast<unsigned long long>(engine()));
  return text;
}

bool IsEmpty(const Committable& committable) {
  return committable.new_files.empty() && committable.changelog_files.empty() &&
         committable.index_files.empty();
}

void DeleteWritten(CommitAttempt* attempt) {
  // A file that stays behind is found by the next CleanUp.
  for (const std::string& path : attempt->written) (void)attempt->table.store()->Delete(path);
  attempt->written.clear();
}

// What became of an exclusive create whose answer was not a plain success. kLost: somebody else's
// snapshot is there. kAbsent: nothing is there now, but a late write may still arrive.
enum class Outcome : uint8_t { kOurs, kLost, kAbsent };
Result<Outcome> WhatIsThere(const CommitAttempt& attempt) {
  const Result<Snapshot> snapshot = attempt.table.SnapshotAt(attempt.snapshot.id);
  if (!snapshot) {
    if (snapshot.error().kind() == ErrorKind::kNotFound) return Outcome::kAbsent;
    return MakeError(ErrorKind::kCommitUnknown, "cannot find out whether snapshot " +
                                                    std::to_string(attempt.snapshot.id) +
                                                    " was created: " + snapshot.error().message());
  }
  const auto mark = snapshot->properties.find(std::string(kCommitMark));
  const bool ours = mark != snapshot->properties.end() && mark->second == attempt.payload.mark;
  return ours ? Outcome::kOurs : Outcome::kLost;
}

// Whether trying the whole attempt again can help.
bool MayRetry(const Error& error) {
  if (error.kind() == ErrorKind::kConflict) return false;  // PrepareSnapshot: never again
  return error.IsRetryable() || error.kind() == ErrorKind::kCommitUnknown ||
         error.kind() == ErrorKind::kAlreadyExists || error.kind() == ErrorKind::kNotFound;
}

// The state of one Commit call.
class CommitRun {
 public:
  CommitRun(const CommitSettings& settings, std::vector<CommitAttempt> attempts)
      : settings_(settings), attempts_(std::move(attempts)), outcomes_(attempts_.size()) {}

  Result<void> Run() {
    std::map<std::string, std::vector<size_t>> by_table;
    for (size_t i = 0; i < attempts_.size(); ++i) {
      by_table[attempts_[i].table.directory()].push_back(i);
    }
    int64_t wait_ms = 0;
    while (!by_table.empty()) {
      if (wait_ms > 0) Wait(wait_ms);
      std::vector<size_t> round;
      for (const auto& [directory, waiting] : by_table) round.push_back(waiting.front());
      Round(round);
      wait_ms = 0;
      for (auto it = by_table.begin(); it != by_table.end();) {
        std::vector<size_t>& waiting = it->second;
        CommitAttempt& attempt = attempts_[waiting.front()];
        if (attempt.committed) {
          waiting.erase(waiting.begin());
        } else if (!ShouldRetry(waiting.front())) {
          waiting.clear();  // later cuts must not overtake this one
        } else {
          ++attempt.round;
          wait_ms = std::max(wait_ms, BackOff(attempt));
        }
        it = waiting.empty() ? by_table.erase(it) : std::next(it);
      }
    }
    for (size_t i = 0; i < attempts_.size(); ++i) {
      if (attempts_[i].committed) continue;
      if (outcomes_[i]) continue;  // behind a failed one of its table
      return Failure(attempts_[i], outcomes_[i].error());
    }
    return {};
  }

 private:
  static Error Failure(const CommitAttempt& attempt, Error error) {
    if (error.kind() == ErrorKind::kAlreadyExists) {
      error = MakeError(ErrorKind::kUnavailable,
                        "other writers were faster " + std::to_string(attempt.round + 1) + " times")
                  .Hint("Raise commit.max-retries of the table, or write from one place.");
    }
    return std::move(error).Context("commit of " + attempt.table.directory());
  }
  int64_t Now() const {
    return (settings_.clock != nullptr ? settings_.clock : SystemClock())->NowMillis();
  }
  void Wait(int64_t ms) const {
    if (settings_.wait_ms) return settings_.wait_ms(ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
  }
  static int64_t BackOff(const CommitAttempt& attempt) {
    const int64_t shift = std::min<int64_t>(attempt.round - 1, 20);
    return std::min(attempt.options.commit_min_retry_wait_ms << shift,
                    attempt.options.commit_max_retry_wait_ms);
  }
  bool ShouldRetry(size_t index) const {
    return MayRetry(outcomes_[index].error()) &&
           attempts_[index].round < attempts_[index].options.commit_max_retries;
  }

  void Round(const std::vector<size_t>& round) {
    lake::InParallel(round.size(), settings_.threads, [&](size_t i) {
      CommitAttempt& attempt = attempts_[round[i]];
      outcomes_[round[i]] = PrepareSnapshot(&attempt, Now());
      if (!outcomes_[round[i]]) DeleteWritten(&attempt);
    });
    std::vector<size_t> ready;
    std::vector<NewObject> objects;
    for (const size_t index : round) {
      const CommitAttempt& attempt = attempts_[index];
      if (!outcomes_[index] || attempt.committed) continue;
      ready.push_back(index);
      objects.push_back(
          {attempt.table.SnapshotPath(attempt.snapshot.id), SnapshotToJson(attempt.snapshot)});
    }
    if (ready.empty()) return;
    std::vector<Result<void>> created =
        attempts_[ready.front()].table.store()->CreateExclusive(objects);
    lake::InParallel(ready.size(), settings_.threads, [&](size_t i) {
      outcomes_[ready[i]] = Settle(&attempts_[ready[i]], std::move(created[i]));
    });
  }

  Result<void> Settle(CommitAttempt* attempt, Result<void> created) {
    if (!created) {
      const bool certain = created.error().kind() == ErrorKind::kAlreadyExists;
      DRIFTLESS_ASSIGN_OR_RETURN(const Outcome outcome, WhatIsThere(*attempt));
      if (outcome == Outcome::kLost || (outcome == Outcome::kAbsent && !certain &&
                                        created.error().kind() != ErrorKind::kCommitUnknown)) {
        DeleteWritten(attempt);
      }
      if (outcome != Outcome::kOurs) return created;
    }
    attempt->committed = true;
    attempt->written.clear();
    AfterCommit(*attempt);
    return {};
  }

  // Hints and expiry may fail: readers probe beyond a stale hint, and the next commit expires
  // again.
  void AfterCommit(const CommitAttempt& attempt) const {
    ObjectStore* store = attempt.table.store();
    const std::string id = std::to_string(attempt.snapshot.id);
    if (attempt.snapshot.id == 1) (void)store->PutHint(attempt.table.Path("snapshot/EARLIEST"), id);
    (void)store->PutHint(attempt.table.Path("snapshot/LATEST"), id);
    (void)ExpireSnapshots(attempt.table, attempt.options, Now());
  }

  const CommitSettings& settings_;
  std::vector<CommitAttempt> attempts_;
  std::vector<Result<void>> outcomes_;
};

}  // namespace

std::string CommitUser(const CommitSettings& settings, const CommitIdentity& identity) {
  return settings.commit_user_prefix + "-" + identity.pipeline + "-" + identity.sink;
}

CommitToken MakeToken(const CommitIdentity& identity, const Committable& committable,
                      int64_t latest_snapshot_id) {
  CommitToken token{identity, std::string(kTokenMagic)};
  avro::Encoder out(&token.payload);
  out.String(RandomMark());
  out.Long(latest_snapshot_id);
  out.Bytes(EncodeCommittable(committable));
  return token;
}

Result<TokenPayload> ReadToken(const CommitToken& token) {
  static const avro::SchemaPtr schema = *avro::ParseSchema(
      R"({"type":"record","name":"token","fields":[{"name":"mark","type":"string"},)"
      R"({"name":"latest","type":"long"},{"name":"committable","type":"bytes"}]})");
  std::string_view bytes = token.payload;
  if (!bytes.starts_with(kTokenMagic)) {
    return MakeError(ErrorKind::kCorrupt, "not a Paimon commit token of this version");
  }
  bytes.remove_prefix(kTokenMagic.size());
  avro::Datum record;
  DRIFTLESS_TRY(avro::DecodeDatum(*schema, &bytes, &record));
  TokenPayload payload;
  payload.mark = record.children[0].text;
  payload.latest_snapshot_id = record.children[1].number;
  DRIFTLESS_ASSIGN_OR_RETURN(payload.committable, DecodeCommittable(record.children[2].text));
  return payload;
}

PaimonCommitter::PaimonCommitter(std::shared_ptr<ObjectStore> store, CommitSettings settings)
    : store_(std::move(store)), settings_(std::move(settings)) {}

Result<void> PaimonCommitter::Commit(std::span<const CommitToken> tokens) const {
  std::vector<CommitAttempt> attempts;
  for (const CommitToken& token : tokens) {
    DRIFTLESS_ASSIGN_OR_RETURN(TokenPayload payload, ReadToken(token));
    if (IsEmpty(payload.committable)) continue;
    const CommitIdentity& identity = token.identity;
    CommitAttempt attempt{.token = &token,
                          .payload = std::move(payload),
                          .table = PaimonTable(store_, TableDirectory(identity.table)),
                          .user = CommitUser(settings_, identity),
                          .owner = FileOwner(identity.pipeline, identity.sink, identity.table)};
    attempts.push_back(std::move(attempt));
  }
  return CommitRun(settings_, std::move(attempts)).Run();
}

Result<void> PaimonCommitter::CommitCompaction(const CommitIdentity& identity,
                                               const Committable& committable, int64_t base) const {
  CommitToken token;
  token.identity = identity;
  token.identity.cut = kMaintenanceCut;
  CommitAttempt attempt{.token = &token,
                        .payload = {RandomMark(), base, committable},
                        .table = PaimonTable(store_, TableDirectory(identity.table)),
                        .user = CommitUser(settings_, identity) + "-maint",
                        .owner = FileOwner(identity.pipeline, identity.sink, identity.table)};
  std::vector<CommitAttempt> attempts;
  attempts.push_back(std::move(attempt));
  return CommitRun(settings_, std::move(attempts)).Run();
}

}  // namespace driftless::paimon
