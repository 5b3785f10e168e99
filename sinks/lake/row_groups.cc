#include "sinks/lake/row_groups.h"

#include <algorithm>

namespace driftless::lake {
namespace {

constexpr size_t kGroupRowsMax = 1 << 16;

}  // namespace

// Each batch is kept once.
uint32_t RowGroups::AddBatch(const FileRowsPtr& rows) {
  const auto [known, is_new] =
      index_.try_emplace(rows.get(), static_cast<uint32_t>(batches_.size()));
  if (is_new) {
    batches_.push_back(rows);
    images_.push_back({rows->values->after()});
    bytes_ += static_cast<int64_t>(rows->values->charged_bytes());
    charge_.Set(bytes_);
  }
  return known->second;
}

Result<void> RowGroups::Add(const MergedRow& row) {
  if (row.source >= last_.size()) last_.resize(row.source + 1);
  LastOfSource& last = last_[row.source];
  if (last.rows != row.rows.get()) last = {row.rows.get(), AddBatch(row.rows)};
  rows_.emplace_back(last.image, row.row, row.kind);
  sequences_.push_back(row.sequence);
  if (rows_.size() >= kGroupRowsMax || bytes_ >= bytes_max_) return Flush();
  return {};
}

Result<void> RowGroups::Flush() {
  if (rows_.empty()) return {};
  if (order_) Sort();
  DRIFTLESS_TRY(take_(images_, rows_, sequences_));
  batches_.clear();
  images_.clear();
  index_.clear();
  last_.clear();
  rows_.clear();
  sequences_.clear();
  bytes_ = 0;
  charge_.Set(0);
  return {};
}

void RowGroups::Sort() {
  sequences_.clear();
  struct Entry {
    uint64_t prefix;
    RowRef row;
  };
  std::vector<Entry> entries;
  entries.reserve(rows_.size());
  for (const RowRef row : rows_) {
    entries.push_back({order_->Prefix(images_[row.image].columns, row.row), row});
  }
  const bool whole = order_->prefix_is_whole();
  const auto less = [&](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix || whole) return a.prefix < b.prefix;
    return order_->Compare(images_[a.row.image].columns, a.row.row, images_[b.row.image].columns,
                           b.row.row) < 0;
  };
  if (std::is_sorted(entries.begin(), entries.end(), less)) return;
  std::stable_sort(entries.begin(), entries.end(), less);
  std::ranges::transform(entries, rows_.begin(), &Entry::row);
}

}  // namespace driftless::lake
