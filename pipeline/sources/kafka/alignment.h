#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/sources/source.h"

namespace driftless {

// Holds the partitions of one topic together at statements. A statement stands in every partition,
// so the n-th of each is the same one: it goes on when all partitions have come to it, so that no
// row from before it comes behind it; one partition sends it, the others follow its schema.
// Thread-safe.
class StatementAlignment {
 public:
  explicit StatementAlignment(size_t partitions) : passed_(partitions, 0) {}

  // A partition begins behind its first `statements` ones (known from its position).
  void Begin(size_t partition, uint64_t statements);
  // The partition is read to its end, and holds nobody up.
  void End(size_t partition);

  enum class Turn : uint8_t { kSend, kFollow, kStop };
  // Called by the partition's thread in front of its next statement, its rows before it sent. Waits
  // until all have come here, and, where another one sends, until that has sent it.
  Turn Arrive(size_t partition, const SourceOutput& output);
  // The one whose turn it was to send has done so.
  void Sent(size_t partition);
  uint64_t passed(size_t partition) const;

  // Without statements the first rows of a partition show the table; all must show the same one.
  // True: this partition is the first and sends it, before it calls Sent for it. Errors:
  // kUnsupported where partitions differ.
  Result<bool> Announce(const StatementChange& change, const std::string& topic);

 private:
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::vector<uint64_t> passed_;   // statements behind each partition
  std::vector<uint64_t> arrived_;  // statements that each has come to
  uint64_t sent_ = 0;              // statements that were sent on in this process, or before it
  std::map<TablePath, TableSchemaPtr> announced_;
};

}  // namespace driftless
