#include "schema/types/owned_column.h"

#include <algorithm>

namespace driftless {
namespace {

size_t Width(PhysicalKind kind) {
  switch (kind) {
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    case PhysicalKind::kFixed128: return 16;
    default: return 0;
  }
}

}  // namespace

void OwnedColumn::Prepare(const LogicalType& type, int64_t length) {
  length_ = length;
  const PhysicalKind physical = type.physical();
  const size_t value_bytes = physical == PhysicalKind::kBit
                                 ? BitmapBytes(length)
                                 : Width(physical) * static_cast<size_t>(length);
  values.assign(value_bytes, 0);
  validity.assign(BitmapBytes(length), 0);
  misfits.assign(BitmapBytes(length), 0);
  misfit_count = 0;
  absent.clear();
  offsets.clear();
  if (physical == PhysicalKind::kVariable || physical == PhysicalKind::kList) {
    offsets.reserve(static_cast<size_t>(length) + 1);
    offsets.push_back(0);
  }
  switch (type.kind()) {
    case TypeKind::kArray:
      children.resize(1);
      children[0].Prepare(type.children()[0].type, 0);
      break;
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      children.resize(1);
      children[0].Prepare(EntriesType(type), 0);
      break;
    case TypeKind::kRow:
      children.resize(type.children().size());
      for (size_t i = 0; i < children.size(); ++i) {
        children[i].Prepare(type.children()[i].type, length);
      }
      break;
    default: children.clear();
  }
}

void OwnedColumn::AppendPresence(const ColumnView& from, int64_t begin, int64_t end) {
  const int64_t new_length = length_ + (end - begin);
  validity.resize(BitmapBytes(new_length), 0);
  if (from.absent != nullptr || !absent.empty()) absent.resize(BitmapBytes(new_length), 0);
  for (int64_t i = 0; i < end - begin; ++i) {
    const int64_t row = length_ + i;
    const auto bit = static_cast<uint8_t>(1u << (row & 7));
    if (!from.IsNull(begin + i)) validity[static_cast<size_t>(row >> 3)] |= bit;
    if (from.IsAbsent(begin + i)) absent[static_cast<size_t>(row >> 3)] |= bit;
  }
}

void OwnedColumn::AppendRows(const LogicalType& type, const ColumnView& from, int64_t begin,
                             int64_t end) {
  AppendPresence(from, begin, end);
  const PhysicalKind physical = type.physical();
  switch (physical) {
    case PhysicalKind::kBit:
      values.resize(BitmapBytes(length_ + (end - begin)), 0);
      for (int64_t i = 0; i < end - begin; ++i) {
        const int64_t row = length_ + i;
        if (!from.IsNull(begin + i) && from.Bit(begin + i)) {
          values[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
        }
      }
      break;
    case PhysicalKind::kVariable: {
      const auto shift = static_cast<int32_t>(values.size()) - from.offsets[begin];
      values.insert(values.end(), from.values + from.offsets[begin],
                    from.values + from.offsets[end]);
      for (int64_t i = begin + 1; i <= end; ++i) offsets.push_back(from.offsets[i] + shift);
      break;
    }
    case PhysicalKind::kList: {
      const int32_t shift = offsets.back() - from.offsets[begin];
      const LogicalType child =
          type.kind() == TypeKind::kArray ? type.children()[0].type : EntriesType(type);
      children[0].AppendRows(child, from.children[0], from.offsets[begin], from.offsets[end]);
      for (int64_t i = begin + 1; i <= end; ++i) offsets.push_back(from.offsets[i] + shift);
      break;
    }
    case PhysicalKind::kStruct:
      for (size_t i = 0; i < children.size(); ++i) {
        children[i].AppendRows(type.children()[i].type, from.children[i], begin, end);
      }
      break;
    default: {
      const size_t width = Width(physical);
      values.insert(values.end(), from.values + static_cast<size_t>(begin) * width,
                    from.values + static_cast<size_t>(end) * width);
    }
  }
  length_ += end - begin;
}

ColumnView OwnedColumn::view() const {
  ColumnView view;
  view.length = length_;
  view.validity = validity.data();
  view.absent = absent.empty() ? nullptr : absent.data();
  view.values = values.data();
  view.offsets = offsets.empty() ? nullptr : offsets.data();
  if (!children.empty()) {
    child_views_.clear();
    for (const OwnedColumn& child : children) child_views_.push_back(child.view());
    view.children = child_views_.data();
    view.child_count = static_cast<int32_t>(children.size());
  }
  return view;
}

void OwnedColumn::CopyPresence(const ColumnView& from) {
  const size_t bytes = BitmapBytes(length_);
  if (from.validity == nullptr) {
    std::fill(validity.begin(), validity.end(), uint8_t{0xFF});
  } else {
    std::copy_n(from.validity, bytes, validity.begin());
  }
  if (from.absent == nullptr) {
    absent.clear();
  } else {
    absent.assign(from.absent, from.absent + bytes);
  }
}

int64_t OwnedColumn::bytes() const {
  size_t total = values.capacity() + validity.capacity() + absent.capacity() + misfits.capacity() +
                 offsets.capacity() * sizeof(int32_t);
  for (const OwnedColumn& child : children) total += static_cast<size_t>(child.bytes());
  return static_cast<int64_t>(total);
}

}  // namespace driftless
