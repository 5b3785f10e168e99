#include "pipeline/sources/kafka/alignment.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

namespace driftless {
namespace {

constexpr std::chrono::milliseconds kLookAgain(50);  // whether the pipeline stops
constexpr std::chrono::seconds kTellOfWait(30);

// Identities aside: what partitions must agree about.
bool SameShape(const TableSchema& a, const TableSchema& b) {
  return a.columns == b.columns && a.primary_key == b.primary_key;
}

}  // namespace

void StatementAlignment::Begin(size_t partition, uint64_t unmarked, StatementMark last) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lanes_[partition].unmarked = std::max(lanes_[partition].unmarked, unmarked);
  // What one partition has behind it in its position was carried out by every table.
  sent_unmarked_ = std::max(sent_unmarked_, unmarked);
  if (last.run != 0) TakeForSent(last);
  moved_.notify_all();
}

void StatementAlignment::End(size_t partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lanes_[partition].has_ended = true;
  moved_.notify_all();
}

bool StatementAlignment::IsSent(StatementMark mark) const {
  if (mark.run == 0) return mark.number <= sent_unmarked_;
  return std::find(sent_.begin(), sent_.end(), mark) != sent_.end();
}

// Partitions are never further apart than one statement, each of which is kept.
void StatementAlignment::TakeForSent(StatementMark mark) {
  if (mark.run == 0) {
    sent_unmarked_ = std::max(sent_unmarked_, mark.number);
    return;
  }
  if (IsSent(mark)) return;
  sent_.push_back(mark);
  constexpr size_t kMax = 16;
  if (sent_.size() > kMax) sent_.erase(sent_.begin());
}

std::optional<StatementAlignment::Meeting> StatementAlignment::Meet() const {
  std::optional<Meeting> meeting;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    if (lane.has_ended) continue;
    // One that may go on from where it is has not come to its next statement.
    if (!lane.has_arrived || IsSent(lane.arrived)) return std::nullopt;
    if (!meeting) meeting = Meeting{lane.arrived, i};
    if (lane.arrived != meeting->first) meeting->in_all = false;
    if (lane.arrived < meeting->first) {
      meeting->first = lane.arrived;
      meeting->sender = i;
    }
    meeting->is_known |= lane.knows;
  }
  return meeting;
}

StatementAlignment::Turn StatementAlignment::Arrive(size_t partition, StatementMark mark,
                                                    bool knows, const SourceOutput& output) {
  std::unique_lock<std::mutex> lock(mutex_);
  Lane& lane = lanes_[partition];
  lane.arrived = mark;
  lane.has_arrived = true;
  lane.knows = knows;
  moved_.notify_all();
  const auto go_on = [&](Turn turn) {
    lane.has_arrived = false;
    if (turn == Turn::kFollow && mark.run == 0) lane.unmarked = mark.number;
    return turn;
  };
  const auto tell_at = std::chrono::steady_clock::now() + kTellOfWait;
  bool is_told = false;
  while (true) {
    if (output.stopping()) return go_on(Turn::kStop);
    if (!is_told && std::chrono::steady_clock::now() >= tell_at) {
      is_told = true;
      TellOfWait(partition);
    }
    if (IsSent(mark)) return go_on(knows ? Turn::kSkip : Turn::kFollow);
    if (const auto meeting = Meet(); meeting && meeting->first == mark) {
      if (!meeting->in_all) return go_on(Turn::kSkip);
      if (meeting->is_known) {
        TakeForSent(mark);
        moved_.notify_all();
        continue;
      }
      if (meeting->sender == partition) return Turn::kSend;
    }
    moved_.wait_for(lock, kLookAgain);
  }
}

// A statement that stands in some partitions only would be waited for in silence.
void StatementAlignment::TellOfWait(size_t partition) const {
  std::string others;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const bool is_here =
        lanes_[i].has_ended || (lanes_[i].has_arrived && !IsSent(lanes_[i].arrived));
    if (!is_here) others += (others.empty() ? "" : ", ") + std::to_string(i);
  }
  spdlog::warn(
      "kafka source: {}: partition {} waits at a statement until partitions {} have come to it: a "
      "statement takes effect when it has been reached in all of them",
      topic_, partition, others);
}

StatementAlignment::Turn StatementAlignment::ArriveUnmarked(size_t partition,
                                                            const SourceOutput& output) {
  return Arrive(partition, {0, unmarked(partition) + 1}, /*knows=*/false, output);
}

void StatementAlignment::Sent(size_t partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Lane& lane = lanes_[partition];
  if (lane.arrived.run == 0) lane.unmarked = lane.arrived.number;
  lane.has_arrived = false;
  TakeForSent(lane.arrived);
  moved_.notify_all();
}

uint64_t StatementAlignment::unmarked(size_t partition) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lanes_[partition].unmarked;
}

Result<bool> StatementAlignment::Announce(size_t partition, Rows rows,
                                          const StatementChange& change, const std::string& topic,
                                          const SourceOutput& output) {
  const bool creates =
      change.parts.size() == 1 && change.parts.front().kind() == EventKind::kCreateTable;
  const auto refuse = [&](const std::string& what) {
    return MakeError(ErrorKind::kUnsupported,
                     "table " + change.table.ToString() + " " + what + " in topic " + topic +
                         ", which has several partitions and no statements between the rows")
        .Hint(
            "Partitions see changes at different rows. Write the topic with statements in every "
            "partition (schema.change.events: inline), or with one partition.");
  };
  if (!creates && rows == Rows::kShowOneSchema) return refuse("changes its schema");
  std::unique_lock<std::mutex> lock(mutex_);
  const TableSchemaPtr schema = change.after();
  const uint64_t behind = Behind(partition, rows);
  const auto [known, is_first] =
      announced_.emplace(std::pair(behind, change.table), Shown{schema, false});
  Shown& shown = known->second;
  if (!is_first && SameShape(*shown.schema, *schema)) {
    // No row may come in front of the table.
    while (!shown.is_sent && !output.stopping()) moved_.wait_for(lock, kLookAgain);
    return false;
  }
  const bool goes_on = rows == Rows::kMayChange && change.before() != nullptr &&
                       SameShape(*change.before(), *shown.schema);
  if (!is_first && !goes_on) return refuse("looks different by partition");
  shown = Shown{schema, false};
  if (rows == Rows::kMayChange) learnt_.emplace_back(behind, schema);
  return true;
}

void StatementAlignment::Announced(size_t partition, Rows rows, const TablePath& table) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t behind = Behind(partition, rows);
  announced_[{behind, table}].is_sent = true;
  moved_.notify_all();
}

std::vector<TableSchemaPtr> StatementAlignment::Learnt(uint64_t statement) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<TableSchemaPtr> learnt;
  for (const auto& [behind, schema] : learnt_) {
    if (behind == statement) learnt.push_back(schema);
  }
  return learnt;
}

}  // namespace driftless
