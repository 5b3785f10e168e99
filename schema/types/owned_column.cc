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
