#include "sinks/olap/load_parts.h"

namespace driftless::olap {
namespace {

constexpr size_t kBytesPerKey = 32;  // of a node of the map

}  // namespace

LoadPart* LoadParts::Add(const std::vector<uint32_t>& columns, bool is_arrow) {
  LoadPart& part = *parts_.emplace_back(std::make_unique<LoadPart>());
  part.columns = columns;
  part.is_arrow = is_arrow;
  return &part;
}

LoadPart* LoadParts::For(const std::vector<uint32_t>& columns, bool is_arrow, uint64_t key_hash) {
  if (!NeedsKey(columns, is_arrow)) {
    return parts_.empty() ? Add(columns, is_arrow) : parts_.front().get();
  }
  uint32_t& at = part_of_key_.try_emplace(key_hash, 0).first->second;
  while (at < parts_.size() && !Suits(*parts_[at], columns, is_arrow)) ++at;
  return at == parts_.size() ? Add(columns, is_arrow) : parts_[at].get();
}

int64_t LoadParts::rows() const {
  int64_t rows = 0;
  for (const auto& part : parts_) rows += part->rows;
  return rows;
}

size_t LoadParts::bytes() const {
  size_t bytes = part_of_key_.size() * kBytesPerKey;
  for (const auto& part : parts_) bytes += part->body.size();
  return bytes;
}

void LoadParts::ClearBodies(size_t kept) {
  for (const auto& part : parts_) {
    part->body.Clear(kept);
    part->rows = 0;
  }
}

void LoadParts::Reset() {
  part_of_key_.clear();
  // The room of the only part serves the next cut.
  if (parts_.size() == 1 && parts_.front()->columns.empty()) return;
  parts_.clear();
}

}  // namespace driftless::olap
