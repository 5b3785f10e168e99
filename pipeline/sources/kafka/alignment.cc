#include "pipeline/sources/kafka/alignment.h"

#include <algorithm>
#include <chrono>

namespace driftless {
namespace {

constexpr uint64_t kEnded = UINT64_MAX;

// Identities aside: what partitions must agree about.
bool SameShape(const TableSchema& a, const TableSchema& b) {
  return a.columns == b.columns && a.primary_key == b.primary_key;
}

}  // namespace

void StatementAlignment::Begin(size_t partition, uint64_t statements) {
  const std::lock_guard<std::mutex> lock(mutex_);
  arrived_.resize(passed_.size(), 0);
  passed_[partition] = std::max(passed_[partition], statements);
  arrived_[partition] = std::max(arrived_[partition], statements);
  // What one partition has behind it in its position was carried out by every table.
  sent_ = std::max(sent_, statements);
  moved_.notify_all();
}

void StatementAlignment::End(size_t partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  arrived_.resize(passed_.size(), 0);
  arrived_[partition] = kEnded;
  moved_.notify_all();
}

StatementAlignment::Turn StatementAlignment::Arrive(size_t partition, const SourceOutput& output) {
  std::unique_lock<std::mutex> lock(mutex_);
  arrived_.resize(passed_.size(), 0);
  const uint64_t number = passed_[partition] + 1;
  arrived_[partition] = number;
  moved_.notify_all();
  const auto all_here = [&] {
    return std::all_of(arrived_.begin(), arrived_.end(),
                       [&](uint64_t arrived) { return arrived >= number; });
  };
  // The first partition that has not ended sends; the others wait for it.
  const auto sends = [&] {
    for (size_t i = 0; i < arrived_.size(); ++i) {
      if (arrived_[i] == number) return i == partition;
    }
    return true;
  };
  while (true) {
    if (output.stopping()) return Turn::kStop;
    if (sent_ >= number) {
      passed_[partition] = number;
      return Turn::kFollow;
    }
    if (all_here() && sends()) return Turn::kSend;
    moved_.wait_for(lock, std::chrono::milliseconds(50));
  }
}

void StatementAlignment::Sent(size_t partition) {
  const std::lock_guard<std::mutex> lock(mutex_);
  passed_[partition] += 1;
  sent_ = std::max(sent_, passed_[partition]);
  moved_.notify_all();
}

uint64_t StatementAlignment::passed(size_t partition) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return passed_[partition];
}

Result<bool> StatementAlignment::Announce(const StatementChange& change, const std::string& topic) {
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
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!creates) return refuse("changes its schema");
  const TableSchemaPtr schema = change.after();
  const auto [known, is_first] = announced_.emplace(change.table, schema);
  if (is_first) return true;
  if (!SameShape(*known->second, *schema)) return refuse("looks different by partition");
  return false;
}

}  // namespace driftless
