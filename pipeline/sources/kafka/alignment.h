#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/sources/kafka/statement_mark.h"
#include "pipeline/sources/source.h"

namespace driftless {

// Holds the partitions of one topic together at statements. A statement stands in every partition:
// it goes on when all partitions have come to it, so that no row from before it comes behind it;
// one partition sends it, the others follow its schema. Statements have one order in all
// partitions, by their marks (our sink's) or by how many there were. Thread-safe.
class StatementAlignment {
 public:
  explicit StatementAlignment(size_t partitions) : lanes_(partitions) {}

  // A partition begins behind the statement with the mark `last`, and behind its first `unmarked`
  // ones without a mark (known from its position).
  void Begin(size_t partition, uint64_t unmarked, StatementMark last = {});
  // The partition is read to its end, its rows are sent, and it holds nobody up.
  void End(size_t partition);

  enum class Turn : uint8_t {
    kSend,
    kFollow,  // another partition has sent it
    // It was carried out before, or some partitions do not have it: its writer was killed while it
    // sent it. Then it has not taken effect, and comes again.
    kSkip,
    kStop,
  };
  // Called by the partition's thread in front of a statement, its rows before it sent. Waits until
  // all have come here, and, where another one sends, until that has sent it. `knows`: the
  // partition has met the same statement before, under another mark; whoever has not follows.
  Turn Arrive(size_t partition, StatementMark mark, bool knows, const SourceOutput& output);
  // The same for the partition's next statement without a mark.
  Turn ArriveUnmarked(size_t partition, const SourceOutput& output);
  // The one whose turn it was to send has done so.
  void Sent(size_t partition);
  uint64_t unmarked(size_t partition) const;

  // Without statements the first rows of a partition show the table; all must show the same one.
  // True: this partition is the first and sends it, before it calls Announced; others wait for that
  // (false, also where the pipeline stops meanwhile). Errors: kUnsupported where partitions differ.
  Result<bool> Announce(const StatementChange& change, const std::string& topic,
                        const SourceOutput& output);
  void Announced(const TablePath& table);

 private:
  struct Lane {
    uint64_t unmarked = 0;  // statements without a mark behind it
    StatementMark arrived;  // the statement that it has come to, or went on from
    bool has_arrived = false;
    bool knows = false;  // it stood there before, and was carried out
    bool has_ended = false;
  };
  struct Shown {
    TableSchemaPtr schema;
    bool is_sent = false;
  };
  bool IsSent(StatementMark mark) const;
  void TakeForSent(StatementMark mark);
  // The first of the statements that partitions wait at.
  struct Meeting {
    StatementMark first;
    size_t sender = 0;
    bool in_all = true;  // all wait at it
    bool is_known = false;
  };
  std::optional<Meeting> Meet() const;  // none while a partition is still on its way

  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<Lane> lanes_;
  // That were sent on in this process, or before it.
  uint64_t sent_unmarked_ = 0;
  std::vector<StatementMark> sent_;  // with a mark: what a partition may still come to, in order
  std::map<TablePath, Shown> announced_;
};

}  // namespace driftless
