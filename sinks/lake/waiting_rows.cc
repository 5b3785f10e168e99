#include "sinks/lake/waiting_rows.h"

#include <algorithm>

namespace driftless::lake {

Result<WaitingRows::Added> WaitingRows::Add(const ChangeBatchPtr& batch,
                                            const Projection& projection,
                                            std::span<const uint32_t> rows) {
  Added added;
  DRIFTLESS_ASSIGN_OR_RETURN(added.batch, ProjectedBatch::Make(batch, projection, rows, reporter_));
  added.image = static_cast<uint32_t>(images_.size());
  images_.push_back({added.batch->after()});
  images_.push_back({added.batch->before()});
  batch_bytes_ += static_cast<int64_t>(added.batch->charged_bytes()) *
                  static_cast<int64_t>(rows.size()) / batch->size();
  projected_bytes_ += added.batch->own_bytes();
  batches_.push_back(added.batch);
  return added;
}

void WaitingRows::Clear() {
  images_.clear();
  batches_.clear();
  batch_bytes_ = 0;
  projected_bytes_ = 0;
  row_count_ = 0;
}

void KeyedRows::Sort(const KeyOrder& order, std::span<const RowImage> images) {
  const auto by_prefix = [](const Entry& a, const Entry& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : a.index < b.index;
  };
  const auto by_key = [&](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int compared = Compare(a, b, order, images);
    return compared != 0 ? compared < 0 : a.index < b.index;
  };
  const auto sort = [&](const auto& less) {
    // Inserts with growing keys come sorted.
    if (!std::is_sorted(entries_.begin(), entries_.end(), less)) {
      std::sort(entries_.begin(), entries_.end(), less);
    }
  };
  if (order.prefix_is_whole()) {
    sort(by_prefix);
  } else {
    sort(by_key);
  }
}

Error NoKey() {
  return MakeError(ErrorKind::kInvalidInput, "a row has no value for its primary key")
      .Hint("key columns must be NOT NULL and must be sent with every change");
}

Error NoBeforeImage() {
  return MakeError(ErrorKind::kInvalidInput, "a delete has no before image")
      .Hint("the source must send at least the key of deleted rows");
}

Error NoWholeBeforeImage(const std::string& missing, const Point& at, std::string_view or_else) {
  return MakeError(
             ErrorKind::kInvalidInput,
             "an update or delete in a table without primary key has no whole before image: " +
                 missing + " was not sent")
      .Position(at.ToString())
      .Hint(
          "have the source send it (binlog_row_image = FULL, REPLICA IDENTITY FULL), or give the "
          "table a primary key" +
          std::string(or_else));
}

}  // namespace driftless::lake
