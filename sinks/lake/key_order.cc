#include "sinks/lake/key_order.h"

#include <algorithm>
#include <bit>

#include "schema/base/check.h"

namespace driftless::lake {
namespace {

// Bytes of the order-preserving form; 0: as long as the value is.
int OrderedWidth(const LogicalType& type) {
  switch (type.physical()) {
    case PhysicalKind::kBit:
    case PhysicalKind::kFixed8: return 1;
    case PhysicalKind::kFixed16: return 2;
    case PhysicalKind::kFixed32: return 4;
    case PhysicalKind::kFixed64: return 8;
    case PhysicalKind::kFixed128: return type.precision() <= 18 ? 8 : 16;
    default: return 0;
  }
}

uint64_t Flip(int64_t value) { return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63); }

// IEEE bits whose unsigned order is Java's order of the numbers.
uint64_t OrderedDouble(double value) {
  if (value != value) return 0xFFF8000000000000u;  // every NaN is the same, behind infinity
  const auto bits = std::bit_cast<uint64_t>(value);
  return (bits >> 63) != 0 ? ~bits : bits | (uint64_t{1} << 63);
}
uint32_t OrderedFloat(float value) {
  if (value != value) return 0xFFC00000u;
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | (uint32_t{1} << 31);
}

// The fixed-width value as an unsigned number of OrderedWidth bytes (16 become their upper 8).
uint64_t OrderedFixed(const LogicalType& type, const ColumnView& view, int64_t row) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return view.Bit(row) ? 1 : 0;
    case TypeKind::kTinyInt: return static_cast<uint8_t>(view.Fixed<uint8_t>(row) ^ 0x80);
    case TypeKind::kSmallInt: return static_cast<uint16_t>(view.Fixed<uint16_t>(row) ^ 0x8000);
    case TypeKind::kInt:
    case TypeKind::kDate: return view.Fixed<uint32_t>(row) ^ 0x80000000u;
    case TypeKind::kFloat: return OrderedFloat(view.Fixed<float>(row));
    case TypeKind::kDouble: return OrderedDouble(view.Fixed<double>(row));
    case TypeKind::kDecimal:
      return Flip(view.Fixed<int64_t>(type.precision() <= 18 ? 2 * row : 2 * row + 1));
    default: return Flip(view.Fixed<int64_t>(row));
  }
}

template <typename T>
int ThreeWay(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace

int CompareValues(const LogicalType& type, const ColumnView& a, int64_t a_row, const ColumnView& b,
                  int64_t b_row) {
  switch (type.physical()) {
    case PhysicalKind::kFixed128:
      return ThreeWay(a.Fixed<__int128>(a_row), b.Fixed<__int128>(b_row));
    case PhysicalKind::kVariable: {
      const int order = a.Bytes(a_row).compare(b.Bytes(b_row));
      return ThreeWay(order, 0);
    }
    case PhysicalKind::kList:
    case PhysicalKind::kStruct: break;
    default: return ThreeWay(OrderedFixed(type, a, a_row), OrderedFixed(type, b, b_row));
  }
  DRIFTLESS_CHECK(false && "nested values have no order");
  return 0;
}

KeyOrder::KeyOrder(std::vector<int> columns, std::vector<LogicalType> types)
    : columns_(std::move(columns)), types_(std::move(types)) {
  DRIFTLESS_CHECK(columns_.size() == types_.size());
  int width = 0;
  bool fixed = true;
  for (const LogicalType& type : types_) {
    const int one = OrderedWidth(type);
    fixed &= one != 0;
    width += one;
  }
  prefix_is_whole_ = fixed && width <= 8;
}

uint64_t KeyOrder::Prefix(std::span<const ColumnView> views, int64_t row) const {
  uint64_t prefix = 0;
  int room = 8;
  for (size_t i = 0; i < columns_.size() && room > 0; ++i) {
    const ColumnView& view = views[static_cast<size_t>(columns_[i])];
    const bool is_null = view.IsNull(row);
    const int width = OrderedWidth(types_[i]);
    if (width == 0) {
      // What follows a string can only be compared where the strings are equal: stop here.
      const std::string_view bytes = is_null ? std::string_view() : view.Bytes(row);
      const int take = std::min(room, static_cast<int>(bytes.size()));
      for (int b = 0; b < take; ++b) {
        prefix = prefix << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(b)]);
      }
      room -= take;
      break;
    }
    const uint64_t value = is_null ? 0 : OrderedFixed(types_[i], view, row);
    const int bytes = std::min(width, 8);
    if (bytes <= room) {
      prefix = bytes == 8 ? value : prefix << (8 * bytes) | value;
      room -= bytes;
    } else {
      prefix = prefix << (8 * room) | value >> (8 * (bytes - room));
      room = 0;
    }
    if (width > 8) break;
  }
  return room == 8 ? 0 : prefix << (8 * room);
}

int KeyOrder::Compare(std::span<const ColumnView> a, int64_t a_row, std::span<const ColumnView> b,
                      int64_t b_row) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnView& x = a[static_cast<size_t>(columns_[i])];
    const ColumnView& y = b[static_cast<size_t>(columns_[i])];
    const bool x_null = x.IsNull(a_row);
    const bool y_null = y.IsNull(b_row);
    if (x_null || y_null) {
      if (x_null && y_null) continue;
      return x_null ? -1 : 1;
    }
    const int order = CompareValues(types_[i], x, a_row, y, b_row);
    if (order != 0) return order;
  }
  return 0;
}

bool KeyOrder::HasNull(std::span<const ColumnView> views, int64_t row) const {
  for (const int column : columns_) {
    const ColumnView& view = views[static_cast<size_t>(column)];
    if (view.IsNull(row) || view.IsAbsent(row)) return true;
  }
  return false;
}

}  // namespace driftless::lake
