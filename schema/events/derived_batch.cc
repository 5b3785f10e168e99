#include "schema/events/derived_batch.h"

#include <cstring>
#include <utility>

#include "schema/base/check.h"
#include "schema/types/owned_column.h"

namespace driftless {
namespace {

constexpr size_t Aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

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

std::vector<LogicalType> ChildTypes(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return {type.children()[0].type};
    case TypeKind::kMap:
    case TypeKind::kMultiset: return {EntriesType(type)};
    case TypeKind::kRow: {
      std::vector<LogicalType> types;
      for (const RowField& field : type.children()) types.push_back(field.type);
      return types;
    }
    default: return {};
  }
}

bool HasOffsets(PhysicalKind kind) {
  return kind == PhysicalKind::kVariable || kind == PhysicalKind::kList;
}

// Bytes of the values buffer of a column.
size_t ValueBytes(PhysicalKind kind, const ColumnView& view) {
  if (kind == PhysicalKind::kBit) return BitmapBytes(view.length);
  if (kind == PhysicalKind::kVariable) {
    return view.offsets == nullptr ? 0 : static_cast<size_t>(view.offsets[view.length]);
  }
  return FixedWidth(kind) * static_cast<size_t>(view.length);
}

struct Size {
  size_t bytes = 0;
  size_t views = 0;
};

void Measure(const LogicalType& type, const ColumnView& view, Size* size) {
  const PhysicalKind kind = type.physical();
  ++size->views;
  if (view.validity != nullptr) size->bytes += Aligned(BitmapBytes(view.length));
  if (view.absent != nullptr) size->bytes += Aligned(BitmapBytes(view.length));
  size->bytes += Aligned(ValueBytes(kind, view));
  if (HasOffsets(kind)) {
    size->bytes += Aligned((static_cast<size_t>(view.length) + 1) * sizeof(int32_t));
  }
  const std::vector<LogicalType> children = ChildTypes(type);
  for (size_t i = 0; i < children.size(); ++i) Measure(children[i], view.children[i], size);
}

class Slab {
 public:
  explicit Slab(uint8_t* at) : at_(at) {}
  const uint8_t* Copy(const void* from, size_t bytes) {
    uint8_t* const to = at_;
    if (bytes > 0) std::memcpy(to, from, bytes);
    at_ += Aligned(bytes);
    return to;
  }
  template <typename T>
  const T* Copy(const std::vector<T>& values) {
    return reinterpret_cast<const T*>(Copy(values.data(), values.size() * sizeof(T)));
  }
  const uint8_t* at() const { return at_; }

 private:
  uint8_t* at_;
};

ColumnView CopyColumn(const LogicalType& type, const ColumnView& from, Slab* slab) {
  const PhysicalKind kind = type.physical();
  ColumnView view;
  view.length = from.length;
  const size_t bitmap = BitmapBytes(from.length);
  if (from.validity != nullptr) view.validity = slab->Copy(from.validity, bitmap);
  if (from.absent != nullptr) view.absent = slab->Copy(from.absent, bitmap);
  if (HasOffsets(kind)) {
    view.offsets = reinterpret_cast<const int32_t*>(
        slab->Copy(from.offsets, (static_cast<size_t>(from.length) + 1) * sizeof(int32_t)));
  }
  view.values = slab->Copy(from.values, ValueBytes(kind, from));
  return view;
}

// The rows of a column that are kept, compact.
void Gather(const LogicalType& type, const ColumnView& from, std::span<const int64_t> rows,
            OwnedColumn* out) {
  out->Prepare(type, 0);
  size_t begin = 0;
  while (begin < rows.size()) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    out->AppendRows(type, from, rows[begin], rows[end - 1] + 1);
    begin = end;
  }
}

}  // namespace

ChangeBatchPtr DerivedBatch::Make(const ChangeBatch& source, Parts parts) {
  const size_t n = parts.ops.size();
  if (n == 0) return nullptr;
  DRIFTLESS_CHECK(parts.rows.empty() ? static_cast<int64_t>(n) == source.size()
                                     : parts.rows.size() == n);
  const std::vector<Column>& columns = parts.schema->columns;
  DRIFTLESS_CHECK(parts.after.size() == columns.size());
  std::vector<OwnedColumn> gathered;
  if (!parts.rows.empty()) {
    gathered.resize(parts.after.size() + parts.before.size());
    for (size_t i = 0; i < gathered.size(); ++i) {
      const size_t column = i % columns.size();
      ColumnView& view = i < columns.size() ? parts.after[column] : parts.before[column];
      Gather(columns[column].type, view, parts.rows, &gathered[i]);
      view = gathered[i].view();
    }
  }

  const auto row_of = [&](size_t i) {
    return parts.rows.empty() ? static_cast<int64_t>(i) : parts.rows[i];
  };
  std::vector<uint64_t> epochs(n);
  std::vector<uint64_t> offsets(n);
  std::vector<uint32_t> rows(n);
  std::vector<int64_t> times(n);
  std::vector<int32_t> transaction_offsets;
  std::string transactions;
  const bool has_transactions = source.transaction_offsets_ != nullptr;
  if (has_transactions) transaction_offsets.push_back(0);
  for (size_t i = 0; i < n; ++i) {
    const int64_t row = row_of(i);
    epochs[i] = source.epochs_[row];
    offsets[i] = source.offsets_[row];
    rows[i] = source.rows_[row];
    times[i] = source.commit_times_ms_[row];
    if (!has_transactions) continue;
    transactions += source.transaction(row);
    transaction_offsets.push_back(static_cast<int32_t>(transactions.size()));
  }

  Size size;
  for (size_t i = 0; i < columns.size(); ++i) Measure(columns[i].type, parts.after[i], &size);
  for (size_t i = 0; i < parts.before.size(); ++i) {
    Measure(columns[i].type, parts.before[i], &size);
  }
  size.bytes += Aligned(n) + 3 * Aligned(n * 8) + Aligned(n * 4) + Aligned((n + 1) * 4) +
                Aligned(transactions.size()) + Aligned(parts.has_before.size());

  auto batch = std::shared_ptr<ChangeBatch>(new ChangeBatch());
  batch->stream_ = source.stream_;
  batch->size_ = static_cast<int64_t>(n);
  batch->slab_.reset(new uint8_t[size.bytes]);
  batch->slab_bytes_ = size.bytes;
  batch->views_.reserve(size.views);
  Slab slab(batch->slab_.get());
  batch->ops_ = slab.Copy(parts.ops);
  batch->epochs_ = slab.Copy(epochs);
  batch->offsets_ = slab.Copy(offsets);
  batch->rows_ = slab.Copy(rows);
  batch->commit_times_ms_ = slab.Copy(times);
  if (has_transactions) {
    batch->transaction_offsets_ = slab.Copy(transaction_offsets);
    batch->transactions_ =
        reinterpret_cast<const char*>(slab.Copy(transactions.data(), transactions.size()));
  }
  if (!parts.before.empty()) batch->has_before_ = slab.Copy(parts.has_before);

  // Siblings stand together, each one's children behind them; views_ never reallocates.
  const auto place = [&](auto&& self, const std::vector<LogicalType>& types,
                         const ColumnView* views) -> ColumnView* {
    const size_t first = batch->views_.size();
    for (size_t i = 0; i < types.size(); ++i) {
      batch->views_.push_back(CopyColumn(types[i], views[i], &slab));
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const std::vector<LogicalType> children = ChildTypes(types[i]);
      if (children.empty()) continue;
      const ColumnView* placed = self(self, children, views[i].children);
      batch->views_[first + i].children = placed;
      batch->views_[first + i].child_count = static_cast<int32_t>(children.size());
    }
    return batch->views_.data() + first;
  };
  std::vector<LogicalType> types;
  for (const Column& column : columns) types.push_back(column.type);
  batch->after_ = {place(place, types, parts.after.data()), columns.size()};
  if (!parts.before.empty()) {
    batch->before_ = {place(place, types, parts.before.data()), columns.size()};
  }
  DRIFTLESS_CHECK(slab.at() <= batch->slab_.get() + size.bytes);
  batch->schema_ = std::move(parts.schema);
  return batch;
}

}  // namespace driftless
