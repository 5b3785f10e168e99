#include "schema/events/change_batch_builder.h"

#include <algorithm>

namespace driftless {
namespace {

constexpr size_t kAlignment = 8;

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
size_t BitmapBytes(int64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

size_t FixedWidth(PhysicalKind kind) {
  switch (kind) {
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    case PhysicalKind::kFixed128: return 16;
    default: return 0;
  }
}

// Lays buffers one after the other into the slab.
class SlabWriter {
 public:
  explicit SlabWriter(uint8_t* slab) : at_(slab) {}
  uint8_t* Copy(const void* data, size_t bytes) {
    uint8_t* begin = at_;
    if (bytes > 0) std::memcpy(begin, data, bytes);
    at_ += Aligned(bytes);
    return begin;
  }
  uint8_t* CopyInverted(const std::vector<uint8_t>& bitmap, size_t bytes) {
    uint8_t* begin = at_;
    for (size_t i = 0; i < bytes; ++i) begin[i] = i < bitmap.size() ? ~bitmap[i] : 0xFF;
    at_ += Aligned(bytes);
    return begin;
  }
  uint8_t* CopyPadded(const std::vector<uint8_t>& bitmap, size_t bytes) {
    uint8_t* begin = at_;
    std::memset(begin, 0, bytes);
    std::memcpy(begin, bitmap.data(), std::min(bytes, bitmap.size()));
    at_ += Aligned(bytes);
    return begin;
  }
  uint8_t* at() const { return at_; }

 private:
  uint8_t* at_;
};

}  // namespace

ColumnBuilder::ColumnBuilder(const LogicalType& type)
    : kind_(type.kind()), physical_(type.physical()), width_(FixedWidth(physical_)) {
  switch (physical_) {
    case PhysicalKind::kVariable: offsets_.push_back(0); break;
    case PhysicalKind::kList: {
      offsets_.push_back(0);
      children_.emplace_back(kind_ == TypeKind::kArray ? type.children()[0].type
                                                       : EntriesType(type));
      break;
    }
    case PhysicalKind::kStruct:
      for (const RowField& field : type.children()) children_.emplace_back(field.type);
      break;
    default: break;
  }
}

size_t ColumnBuilder::bytes() const {
  size_t total = values_.size() + offsets_.size() * sizeof(int32_t);
  for (const ColumnBuilder& child : children_) total += child.bytes();
  return total;
}

// A bitmap may be longer than its column: it grows in steps, since most of its bytes come one by
// one.
void ColumnBuilder::SetBit(std::vector<uint8_t>* bitmap, int64_t bit) {
  constexpr size_t kStep = 128;
  const auto byte = static_cast<size_t>(bit >> 3);
  if (bitmap->size() <= byte) bitmap->resize((byte / kStep + 1) * kStep, 0);
  (*bitmap)[byte] |= static_cast<uint8_t>(1u << (bit & 7));
}

void ColumnBuilder::AppendEmpty(int bitmap_null, int bitmap_absent) {
  if (bitmap_null != 0) SetBit(&nulls_, length_);
  if (bitmap_absent != 0) SetBit(&absent_, length_);
  switch (physical_) {
    case PhysicalKind::kBit:
      if ((length_ & 7) == 0) values_.push_back(0);
      break;
    case PhysicalKind::kVariable: offsets_.push_back(static_cast<int32_t>(values_.size())); break;
    case PhysicalKind::kList: offsets_.push_back(static_cast<int32_t>(children_[0].length_)); break;
    case PhysicalKind::kStruct:
      for (ColumnBuilder& child : children_) child.AppendNull();
      break;
    default: values_.resize(values_.size() + width_); break;
  }
  ++length_;
}

void ColumnBuilder::Truncate(int64_t length) {
  if (length > length_) return;
  // At the same length there may still be children of a value that was never closed.
  const auto clear_bits = [&](std::vector<uint8_t>* bitmap) {
    const size_t bytes = BitmapBytes(length);
    if (bitmap->size() > bytes) bitmap->resize(bytes);
    if ((length & 7) != 0 && bitmap->size() == bytes) {
      bitmap->back() &= static_cast<uint8_t>((1u << (length & 7)) - 1);
    }
  };
  clear_bits(&nulls_);
  clear_bits(&absent_);
  switch (physical_) {
    case PhysicalKind::kBit: clear_bits(&values_); break;
    case PhysicalKind::kVariable:
      offsets_.resize(static_cast<size_t>(length) + 1);
      values_.resize(static_cast<size_t>(offsets_.back()));
      break;
    case PhysicalKind::kList:
      offsets_.resize(static_cast<size_t>(length) + 1);
      children_[0].Truncate(offsets_.back());
      break;
    case PhysicalKind::kStruct:
      for (ColumnBuilder& child : children_) child.Truncate(length);
      break;
    default: values_.resize(static_cast<size_t>(length) * width_); break;
  }
  length_ = length;
}

void ColumnBuilder::Clear() {
  length_ = 0;
  values_.clear();
  nulls_.clear();
  absent_.clear();
  if (!offsets_.empty()) offsets_.resize(1);
  for (ColumnBuilder& child : children_) child.Clear();
}

ChangeBatchBuilder::ChangeBatchBuilder(TableSchemaPtr schema, StreamId stream)
    : schema_(std::move(schema)), stream_(stream) {
  after_.reserve(schema_->columns.size());
  before_.reserve(schema_->columns.size());
  for (const Column& column : schema_->columns) {
    after_.emplace_back(column.type);
    before_.emplace_back(column.type);
  }
}

ChangeBatchBuilder::~ChangeBatchBuilder() = default;

size_t ChangeBatchBuilder::bytes() const {
  size_t total = ops_.size() * 32 + transactions_.size();
  for (const ColumnBuilder& column : after_) total += column.bytes();
  if (any_before_) {
    for (const ColumnBuilder& column : before_) total += column.bytes();
  }
  return total;
}

void ChangeBatchBuilder::BeginRow(Op op, const Point& point, int64_t commit_time_ms) {
  DRIFTLESS_CHECK(point.stream == stream_);
  ops_.push_back(op);
  epochs_.push_back(point.epoch);
  offsets_.push_back(point.offset);
  rows_.push_back(point.row);
  commit_times_ms_.push_back(commit_time_ms);
}

void ChangeBatchBuilder::SetTransaction(std::string_view id) {
  // Rows before this one that had no id get empty ones.
  transaction_offsets_.resize(ops_.size(), static_cast<int32_t>(transactions_.size()));
  transactions_ += id;
}

void ChangeBatchBuilder::EndRow() {
  const auto rows = static_cast<int64_t>(ops_.size());
  for (ColumnBuilder& column : after_) {
    if (column.length() < rows) column.AppendAbsent();
  }
  bool row_has_before = false;
  for (const ColumnBuilder& column : before_) row_has_before |= column.length() == rows;
  if (row_has_before) {
    // Earlier rows without a before image are absent in every column.
    for (ColumnBuilder& column : before_) {
      while (column.length() < rows) column.AppendAbsent();
    }
    any_before_ = true;
    ColumnBuilder::SetBit(&has_before_, rows - 1);
  }
}

void ChangeBatchBuilder::AbandonRow() {
  const auto rows = static_cast<int64_t>(ops_.size()) - 1;
  for (ColumnBuilder& column : after_) column.Truncate(rows);
  for (ColumnBuilder& column : before_) column.Truncate(rows);
  ops_.pop_back();
  epochs_.pop_back();
  offsets_.pop_back();
  rows_.pop_back();
  commit_times_ms_.pop_back();
  if (transaction_offsets_.size() > ops_.size()) {
    transactions_.resize(static_cast<size_t>(transaction_offsets_.back()));
    transaction_offsets_.pop_back();
  }
}

ChangeBatchPtr ChangeBatchBuilder::Seal() {
  if (ops_.empty()) return nullptr;
  const auto rows = static_cast<int64_t>(ops_.size());
  for (ColumnBuilder& column : before_) {
    while (any_before_ && column.length() < rows) column.AppendAbsent();
  }
  const bool has_transactions = !transaction_offsets_.empty();
  if (has_transactions) {
    transaction_offsets_.resize(ops_.size() + 1, static_cast<int32_t>(transactions_.size()));
  }

  size_t view_count = 0;
  size_t slab_bytes = 0;
  const auto measure = [&](auto&& self, const ColumnBuilder& c) -> void {
    ++view_count;
    slab_bytes += Aligned(c.values_.size()) + Aligned(c.offsets_.size() * sizeof(int32_t));
    if (!c.nulls_.empty()) slab_bytes += Aligned(BitmapBytes(c.length_));
    if (!c.absent_.empty()) slab_bytes += Aligned(BitmapBytes(c.length_));
    for (const ColumnBuilder& child : c.children_) self(self, child);
  };
  for (const ColumnBuilder& c : after_) measure(measure, c);
  if (any_before_) {
    for (const ColumnBuilder& c : before_) measure(measure, c);
  }
  const size_t n = ops_.size();
  slab_bytes += Aligned(n) + 3 * Aligned(n * 8) + Aligned(n * 4) + Aligned(BitmapBytes(rows)) +
                Aligned((n + 1) * 4) + Aligned(transactions_.size());

  auto batch = std::shared_ptr<ChangeBatch>(new ChangeBatch());
  batch->schema_ = schema_;
  batch->stream_ = stream_;
  batch->size_ = rows;
  batch->slab_.reset(new uint8_t[slab_bytes]);
  batch->slab_bytes_ = slab_bytes;
  batch->views_.reserve(view_count);

  SlabWriter slab(batch->slab_.get());
  batch->ops_ = reinterpret_cast<const Op*>(slab.Copy(ops_.data(), n));
  batch->epochs_ = reinterpret_cast<const uint64_t*>(slab.Copy(epochs_.data(), n * 8));
  batch->offsets_ = reinterpret_cast<const uint64_t*>(slab.Copy(offsets_.data(), n * 8));
  batch->rows_ = reinterpret_cast<const uint32_t*>(slab.Copy(rows_.data(), n * 4));
  batch->commit_times_ms_ =
      reinterpret_cast<const int64_t*>(slab.Copy(commit_times_ms_.data(), n * 8));
  if (has_transactions) {
    batch->transaction_offsets_ =
        reinterpret_cast<const int32_t*>(slab.Copy(transaction_offsets_.data(), (n + 1) * 4));
    batch->transactions_ =
        reinterpret_cast<const char*>(slab.Copy(transactions_.data(), transactions_.size()));
  }
  if (any_before_) batch->has_before_ = slab.CopyPadded(has_before_, BitmapBytes(rows));

  const auto seal = [&](const ColumnBuilder& c) {
    ColumnView view;
    view.length = c.length_;
    const size_t bitmap = BitmapBytes(c.length_);
    if (!c.nulls_.empty()) view.validity = slab.CopyInverted(c.nulls_, bitmap);
    if (!c.absent_.empty()) view.absent = slab.CopyPadded(c.absent_, bitmap);
    view.values = slab.Copy(c.values_.data(), c.values_.size());
    if (!c.offsets_.empty()) {
      view.offsets = reinterpret_cast<const int32_t*>(
          slab.Copy(c.offsets_.data(), c.offsets_.size() * sizeof(int32_t)));
    }
    return view;
  };
  // Siblings stand together: first all views of one level, then each one's children behind them.
  // views_ never reallocates (reserved above), so pointers into it stay.
  const auto place = [&](auto&& self, const std::vector<ColumnBuilder>& columns) -> ColumnView* {
    const size_t first = batch->views_.size();
    for (const ColumnBuilder& c : columns) batch->views_.push_back(seal(c));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].children_.empty()) continue;
      const ColumnView* children = self(self, columns[i].children_);
      batch->views_[first + i].children = children;
      batch->views_[first + i].child_count = static_cast<int32_t>(columns[i].children_.size());
    }
    return batch->views_.data() + first;
  };
  batch->after_ = {place(place, after_), after_.size()};
  if (any_before_) batch->before_ = {place(place, before_), before_.size()};
  DRIFTLESS_CHECK(slab.at() <= batch->slab_.get() + slab_bytes);

  for (ColumnBuilder& c : after_) c.Clear();
  for (ColumnBuilder& c : before_) c.Clear();
  any_before_ = false;
  ops_.clear();
  epochs_.clear();
  offsets_.clear();
  rows_.clear();
  commit_times_ms_.clear();
  transaction_offsets_.clear();
  transactions_.clear();
  has_before_.clear();
  return batch;
}

std::string_view ChangeBatch::transaction(int64_t row) const {
  if (transaction_offsets_ == nullptr) return {};
  return {transactions_ + transaction_offsets_[row],
          static_cast<size_t>(transaction_offsets_[row + 1] - transaction_offsets_[row])};
}

}  // namespace driftless
