#include "sinks/lake/merge_reader.h"

#include <algorithm>

namespace driftless::lake {

struct MergeReader::Cursor {
  std::unique_ptr<RowSource> source;
  FileRowsPtr rows;
  uint32_t row = 0;
  uint64_t prefix = 0;

  std::span<const ColumnView> columns() const { return rows->values->after(); }
  int64_t sequence() const { return rows->sequences.empty() ? 0 : rows->sequences[row]; }
  RowKind kind() const { return rows->kinds.empty() ? RowKind::kInsert : rows->kinds[row]; }
};

MergeReader::MergeReader(KeyOrder order, std::vector<std::unique_ptr<RowSource>> sources,
                         Retractions retractions)
    : order_(std::move(order)), retractions_(retractions) {
  for (auto& source : sources) {
    cursors_.push_back(std::make_unique<Cursor>());
    cursors_.back()->source = std::move(source);
  }
}

MergeReader::~MergeReader() = default;

// False when the source has no more rows.
Result<bool> MergeReader::Advance(Cursor* cursor) {
  if (cursor->rows != nullptr && cursor->row + 1 < cursor->rows->values->size()) {
    ++cursor->row;
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(cursor->rows, cursor->source->Next());
    cursor->row = 0;
    if (cursor->rows == nullptr) {
      cursor->source.reset();  // an open file holds buffers
      return false;
    }
  }
  cursor->prefix = order_.Prefix(cursor->columns(), cursor->row);
  return true;
}

bool MergeReader::SameKey(const Cursor& a, const Cursor& b) const {
  if (a.prefix != b.prefix) return false;
  return order_.Compare(a.columns(), a.row, b.columns(), b.row) == 0;
}

// By key; inside a key the newest first.
bool MergeReader::Before(const Cursor& a, const Cursor& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = order_.Compare(a.columns(), a.row, b.columns(), b.row);
  return order != 0 ? order < 0 : a.sequence() > b.sequence();
}

void MergeReader::SiftUp() {
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](const Cursor* a, const Cursor* b) { return Before(*b, *a); });
}

void MergeReader::SiftDown() {
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](const Cursor* a, const Cursor* b) { return Before(*b, *a); });
}

Result<bool> MergeReader::Next(MergedRow* out) {
  if (!started_) {
    started_ = true;
    for (const auto& cursor : cursors_) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool more, Advance(cursor.get()));
      if (!more) continue;
      heap_.push_back(cursor.get());
      SiftUp();
    }
  }
  while (!heap_.empty()) {
    Cursor* winner = heap_.front();
    Cursor kept;
    kept.rows = winner->rows;
    kept.row = winner->row;
    kept.prefix = winner->prefix;
    // The winner and everything older of its key moves on.
    while (!heap_.empty() && SameKey(*heap_.front(), kept)) {
      SiftDown();
      Cursor* cursor = heap_.back();
      heap_.pop_back();
      DRIFTLESS_ASSIGN_OR_RETURN(const bool more, Advance(cursor));
      if (!more) continue;
      heap_.push_back(cursor);
      SiftUp();
    }
    if (retractions_ == Retractions::kDrop && IsRetract(kept.kind())) continue;
    out->sequence = kept.sequence();
    out->kind = kept.kind();
    out->row = kept.row;
    out->rows = std::move(kept.rows);
    return true;
  }
  return false;
}

Result<FileRowsPtr> ChainedRows::Next() {
  while (true) {
    if (open_ == nullptr) {
      if (next_ == files_.size()) return FileRowsPtr();
      DRIFTLESS_ASSIGN_OR_RETURN(open_, files_[next_++]());
    }
    DRIFTLESS_ASSIGN_OR_RETURN(FileRowsPtr rows, open_->Next());
    if (rows != nullptr) return rows;
    open_.reset();
  }
}

Result<bool> PlainReader::Next(MergedRow* out) {
  while (rows_ == nullptr || row_ >= rows_->values->size()) {
    if (source_ == nullptr) return false;
    DRIFTLESS_ASSIGN_OR_RETURN(rows_, source_->Next());
    row_ = 0;
    if (rows_ == nullptr) source_.reset();
  }
  out->rows = rows_;
  out->row = row_++;
  out->sequence = rows_->sequences.empty() ? 0 : rows_->sequences[out->row];
  out->kind = rows_->kinds.empty() ? RowKind::kInsert : rows_->kinds[out->row];
  return true;
}

}  // namespace driftless::lake
