#include "sinks/lake/merge_reader.h"

#include <algorithm>

namespace driftless::lake {

struct MergeReader::Cursor {
  std::unique_ptr<RowSource> source;
  FileRowsPtr rows;
  uint32_t row = 0;
  uint32_t index = 0;  // among the sources

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
    cursors_.back()->index = static_cast<uint32_t>(cursors_.size() - 1);
  }
}

MergeReader::~MergeReader() = default;

// False when the source has no more rows.
Result<bool> MergeReader::Advance(Cursor* cursor) {
  if (cursor->rows != nullptr && cursor->row + 1 < cursor->rows->values->size()) {
    ++cursor->row;
    return true;
  }
  cursor->rows.reset();  // before the next ones are read: not both in memory
  DRIFTLESS_ASSIGN_OR_RETURN(cursor->rows, cursor->source->Next());
  cursor->row = 0;
  if (cursor->rows != nullptr) return true;
  cursor->source.reset();  // an open file holds buffers
  return false;
}

// By key; inside a key the newest first.
bool MergeReader::Before(const Head& a, const Head& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const Cursor& x = *a.cursor;
  const Cursor& y = *b.cursor;
  const int order = order_.Compare(x.columns(), x.row, y.columns(), y.row);
  return order != 0 ? order < 0 : x.sequence() > y.sequence();
}

void MergeReader::SiftDown(size_t at) {
  const Head moved = heap_[at];
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], moved)) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = moved;
}

Result<void> MergeReader::Start() {
  started_ = true;
  for (const auto& cursor : cursors_) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, Advance(cursor.get()));
    if (more) heap_.push_back({order_.Prefix(cursor->columns(), cursor->row), cursor.get()});
  }
  for (size_t at = heap_.size() / 2; at-- > 0;) SiftDown(at);
  return {};
}

// The front's source goes on to its next row and finds its place.
Result<void> MergeReader::AdvanceFront() {
  Cursor* cursor = heap_.front().cursor;
  DRIFTLESS_ASSIGN_OR_RETURN(const bool more, Advance(cursor));
  if (more) {
    heap_.front().prefix = order_.Prefix(cursor->columns(), cursor->row);
  } else {
    heap_.front() = heap_.back();
    heap_.pop_back();
  }
  if (!heap_.empty()) SiftDown(0);
  return {};
}

Result<bool> MergeReader::Next(MergedRow* out) {
  if (!started_) DRIFTLESS_TRY(Start());
  while (!heap_.empty()) {
    const uint64_t prefix = heap_.front().prefix;
    const Cursor& winner = *heap_.front().cursor;
    out->rows = winner.rows;
    out->row = winner.row;
    out->sequence = winner.sequence();
    out->kind = winner.kind();
    out->source = winner.index;
    // The winner and everything older of its key moves on.
    do {
      DRIFTLESS_TRY(AdvanceFront());
    } while (!heap_.empty() && heap_.front().prefix == prefix &&
             order_.Compare(heap_.front().cursor->columns(), heap_.front().cursor->row,
                            out->columns(), out->row) == 0);
    if (retractions_ == Retractions::kDrop && IsRetract(out->kind)) continue;
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
