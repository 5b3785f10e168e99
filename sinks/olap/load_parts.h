#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sinks/olap/load_body.h"

namespace driftless::olap {

// Rows that travel together: those that carry the same columns in the same format.
struct LoadPart {
  // Indices of the columns that the rows carry, ascending: the others keep what they have at the
  // sink. Empty: all of them, and whether the row is written or deleted.
  std::vector<uint32_t> columns;
  bool is_arrow = false;  // else JSON
  LoadBody body;
  int64_t rows = 0;
  std::vector<uint32_t> waiting;  // rows of the batch at hand that go into an Arrow body
};

// The rows of one cut, sorted into parts that become visible one after the other. A server updates
// some columns of a row only where all rows of a load have the same ones; so a row goes into the
// first part with its columns that does not stand in front of an older row of the same key. With
// rows that carry everything there is one part, and keys are not looked at. One thread.
class LoadParts {
 public:
  // Whether the next row with these columns needs a key: For's `key_hash` counts.
  bool NeedsKey(const std::vector<uint32_t>& columns, bool is_arrow) const {
    return parts_.size() > 1 || (parts_.size() == 1 && !Suits(*parts_.front(), columns, is_arrow));
  }
  // The part that a row goes to. Keys with the same hash count as the same key.
  LoadPart* For(const std::vector<uint32_t>& columns, bool is_arrow, uint64_t key_hash);

  const std::vector<std::unique_ptr<LoadPart>>& parts() const { return parts_; }
  int64_t rows() const;
  size_t bytes() const;  // bodies, and what is remembered of keys
  // The bodies are sent: the parts stay, for later rows of the same cut.
  void ClearBodies(size_t kept);
  // The cut is over.
  void Reset();

 private:
  static bool Suits(const LoadPart& part, const std::vector<uint32_t>& columns, bool is_arrow) {
    return part.is_arrow == is_arrow && part.columns == columns;
  }
  LoadPart* Add(const std::vector<uint32_t>& columns, bool is_arrow);

  std::vector<std::unique_ptr<LoadPart>> parts_;
  // By hash, where a row of the key stands; keys that are not in here stand in the first part, or
  // nowhere.
  std::unordered_map<uint64_t, uint32_t> part_of_key_;
};

}  // namespace driftless::olap
