#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
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
  // `topic` is for people.
  explicit StatementAlignment(size_t partitions, std::string topic = "")
      : topic_(std::move(topic)), lanes_(partitions) {}

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

  // kMayChange: rows between two statements may show that a table has changed, because they
  // describe themselves and every partition takes up what the others learn (Learnt).
  enum class Rows : uint8_t { kShowOneSchema, kMayChange };
  // Without statements the first rows of a partition show the table; all must show the same one.
  // True: this partition is the first and sends it, before it calls Announced; others wait for that
  // (false, also where the pipeline stops meanwhile). Errors: kUnsupported where partitions differ.
  Result<bool> Announce(size_t partition, Rows rows, const StatementChange& change,
                        const std::string& topic, const SourceOutput& output);
  void Announced(size_t partition, Rows rows, const TablePath& table);
  // What was announced behind the statement without a mark of this number, in front of the next
  // one; whole once all partitions have come there. A partition takes it up before the statement.
  std::vector<TableSchemaPtr> Learnt(uint64_t statement) const;

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

  uint64_t Behind(size_t partition, Rows rows) const {
    return rows == Rows::kMayChange ? lanes_[partition].unmarked : 0;
  }

  void TellOfWait(size_t partition) const;

  const std::string topic_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<Lane> lanes_;
  // That were sent on in this process, or before it.
  uint64_t sent_unmarked_ = 0;
  std::vector<StatementMark> sent_;  // with a mark: what a partition may still come to, in order
  // By the number of the statement before it (0 where rows show one schema): the last one, and all.
  std::map<std::pair<uint64_t, TablePath>, Shown> announced_;
  std::vector<std::pair<uint64_t, TableSchemaPtr>> learnt_;
};

}  // namespace driftless
