#include "sinks/paimon/binary_row.h"

#include <bit>

#include "schema/base/check.h"
#include "sinks/paimon/physical_value.h"

namespace driftless::paimon {
namespace {

constexpr int kCompactDecimalPrecision = 18;
constexpr int kCompactTimestampPrecision = 3;

// Paimon, `BinaryRow.calculateBitSetWidthInBytes`: 8 bits of header, then one null bit a field.
size_t HeaderBytes(int arity) { return (static_cast<size_t>(arity) + 63 + 8) / 64 * 8; }

int Sign(int64_t a, int64_t b) { return a < b ? -1 : (a > b ? 1 : 0); }

// Java's Double.compare: -0.0 before 0.0, NaN behind everything.
template <typename Float, typename Bits>
int CompareFloats(Float a, Float b) {
  if (a < b) return -1;
  if (a > b) return 1;
  const bool a_nan = a != a;
  const bool b_nan = b != b;
  if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  return Sign(std::bit_cast<Bits>(a), std::bit_cast<Bits>(b));
}

Result<int> CompareField(const LogicalType& type, const BinaryRowView& a, const BinaryRowView& b,
                         int field) {
  if (a.IsNull(field) || b.IsNull(field)) {
    return static_cast<int>(b.IsNull(field)) - static_cast<int>(a.IsNull(field));
  }
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyInt: return Sign(a.Fixed<int8_t>(field), b.Fixed<int8_t>(field));
    case TypeKind::kSmallInt: return Sign(a.Fixed<int16_t>(field), b.Fixed<int16_t>(field));
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime: return Sign(a.Fixed<int32_t>(field), b.Fixed<int32_t>(field));
    case TypeKind::kBigInt: return Sign(a.Fixed<int64_t>(field), b.Fixed<int64_t>(field));
    case TypeKind::kFloat:
      return CompareFloats<float, int32_t>(a.Fixed<float>(field), b.Fixed<float>(field));
    case TypeKind::kDouble:
      return CompareFloats<double, int64_t>(a.Fixed<double>(field), b.Fixed<double>(field));
    case TypeKind::kDecimal: {
      DRIFTLESS_ASSIGN_OR_RETURN(const __int128 x, a.Decimal(field, type.precision()));
      DRIFTLESS_ASSIGN_OR_RETURN(const __int128 y, b.Decimal(field, type.precision()));
      return x < y ? -1 : (x > y ? 1 : 0);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: {
      int32_t a_nanos = 0;
      int32_t b_nanos = 0;
      DRIFTLESS_ASSIGN_OR_RETURN(const int64_t x,
                                 a.TimestampMillis(field, type.precision(), &a_nanos));
      DRIFTLESS_ASSIGN_OR_RETURN(const int64_t y,
                                 b.TimestampMillis(field, type.precision(), &b_nanos));
      return x != y ? Sign(x, y) : Sign(a_nanos, b_nanos);
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view x, a.Bytes(field));
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view y, b.Bytes(field));
      const int order = x.compare(y);  // char_traits<char>::compare orders unsigned bytes
      return order < 0 ? -1 : (order > 0 ? 1 : 0);
    }
    default: break;
  }
  return MakeError(ErrorKind::kUnsupported, "values of type " + type.ToString() + " have no order");
}

}  // namespace

BinaryRowBuilder::BinaryRowBuilder(int arity) : arity_(arity), header_bytes_(HeaderBytes(arity)) {
  Reset();
}

void BinaryRowBuilder::Reset() { row_.assign(header_bytes_ + static_cast<size_t>(arity_) * 8, 0); }

size_t BinaryRowBuilder::Reserve(size_t bytes) {
  const size_t offset = row_.size();
  row_.resize(offset + (bytes + 7) / 8 * 8, 0);
  return offset;
}

void BinaryRowBuilder::SetNull(int field) {
  const size_t bit = static_cast<size_t>(field) + 8;
  row_[bit / 8] |= static_cast<uint8_t>(1u << (bit % 8));
}

void BinaryRowBuilder::SetBytes(int field, std::string_view bytes) {
  if (bytes.size() <= 7) {
    uint8_t* slot = row_.data() + SlotOffset(field);
    if (!bytes.empty()) std::memcpy(slot, bytes.data(), bytes.size());
    slot[7] = static_cast<uint8_t>(0x80 | bytes.size());
    return;
  }
  const size_t offset = Reserve(bytes.size());
  std::memcpy(row_.data() + offset, bytes.data(), bytes.size());
  SetFixed(field, (static_cast<uint64_t>(offset) << 32) | bytes.size(), 8);
}

void BinaryRowBuilder::SetWideDecimal(int field, __int128 unscaled) {
  uint8_t big_endian[16];
  for (int i = 0; i < 16; ++i) {
    big_endian[15 - i] = static_cast<uint8_t>(static_cast<unsigned __int128>(unscaled) >> (8 * i));
  }
  // Minimal two's complement, as Java's BigInteger.toByteArray gives it.
  int first = 0;
  while (first < 15 && ((big_endian[first] == 0x00 && big_endian[first + 1] < 0x80) ||
                        (big_endian[first] == 0xFF && big_endian[first + 1] >= 0x80))) {
    ++first;
  }
  const size_t length = static_cast<size_t>(16 - first);
  const size_t offset = Reserve(16);
  std::memcpy(row_.data() + offset, big_endian + first, length);
  SetFixed(field, (static_cast<uint64_t>(offset) << 32) | length, 8);
}

void BinaryRowBuilder::SetNullWideDecimal(int field) {
  SetNull(field);
  SetFixed(field, static_cast<uint64_t>(Reserve(16)) << 32, 8);
}

void BinaryRowBuilder::SetWideTimestamp(int field, int64_t millis, int32_t nanos_of_milli) {
  const size_t offset = Reserve(8);
  std::memcpy(row_.data() + offset, &millis, 8);
  SetFixed(field, (static_cast<uint64_t>(offset) << 32) | static_cast<uint32_t>(nanos_of_milli), 8);
}

void BinaryRowBuilder::SetNullWideTimestamp(int field) {
  SetNull(field);
  SetFixed(field, static_cast<uint64_t>(Reserve(8)) << 32, 8);
}

void BinaryRowBuilder::SetNullOf(int field, const LogicalType& type) {
  if (type.kind() == TypeKind::kDecimal && type.precision() > kCompactDecimalPrecision) {
    SetNullWideDecimal(field);
  } else if (type.IsTimestamp() && type.precision() > kCompactTimestampPrecision) {
    SetNullWideTimestamp(field);
  } else {
    SetNull(field);
  }
}

void BinaryRowBuilder::SetFromColumn(int field, const LogicalType& type, const ColumnView& column,
                                     int64_t row) {
  if (column.IsNull(row)) {
    SetNullOf(field, type);
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBoolean: SetFixed(field, column.Bit(row) ? 1 : 0, 1); return;
    case TypeKind::kTinyInt: SetFixed(field, column.Fixed<uint8_t>(row), 1); return;
    case TypeKind::kSmallInt: SetFixed(field, column.Fixed<uint16_t>(row), 2); return;
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kFloat: SetFixed(field, column.Fixed<uint32_t>(row), 4); return;
    case TypeKind::kBigInt:
    case TypeKind::kDouble: SetFixed(field, column.Fixed<uint64_t>(row), 8); return;
    case TypeKind::kTime:
      SetFixed(field, static_cast<uint32_t>(TimeMillis(type, column.Fixed<int64_t>(row))), 4);
      return;
    case TypeKind::kDecimal: {
      const auto unscaled = column.Fixed<__int128>(row);
      if (type.precision() > kCompactDecimalPrecision) {
        SetWideDecimal(field, unscaled);
      } else {
        SetFixed(field, static_cast<uint64_t>(unscaled), 8);
      }
      return;
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: {
      const TimestampParts parts = SplitTimestamp(type, column.Fixed<int64_t>(row));
      if (type.precision() > kCompactTimestampPrecision) {
        SetWideTimestamp(field, parts.millis, parts.nanos_of_milli);
      } else {
        SetFixed(field, static_cast<uint64_t>(parts.millis), 8);
      }
      return;
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: SetBytes(field, column.Bytes(row)); return;
    default: break;
  }
  DRIFTLESS_CHECK(false && "type cannot stand in a key or partition");
}

std::string BinaryRowBuilder::Serialized() const {
  std::string bytes(4, '\0');
  for (int i = 0; i < 4; ++i) {
    bytes[static_cast<size_t>(i)] =
        static_cast<char>(static_cast<uint32_t>(arity_) >> (24 - 8 * i));
  }
  bytes.append(row_bytes());
  return bytes;
}

std::string EmptyBinaryRow() { return std::string(12, '\0'); }

Result<BinaryRowView> BinaryRowView::Parse(std::string_view serialized, int arity) {
  uint32_t stored = 0;
  if (serialized.size() < 4) return MakeError(ErrorKind::kCorrupt, "binary row without arity");
  for (size_t i = 0; i < 4; ++i) stored = stored << 8 | static_cast<uint8_t>(serialized[i]);
  if (stored != static_cast<uint32_t>(arity)) {
    return MakeError(ErrorKind::kCorrupt, "binary row has " + std::to_string(stored) +
                                              " fields where " + std::to_string(arity) +
                                              " were expected");
  }
  BinaryRowView view;
  view.arity_ = arity;
  view.header_bytes_ = HeaderBytes(arity);
  view.row_ = serialized.substr(4);
  if (view.row_.size() < view.header_bytes_ + static_cast<size_t>(arity) * 8) {
    return MakeError(ErrorKind::kCorrupt, "binary row is cut off");
  }
  return view;
}

Result<std::string_view> BinaryRowView::Bytes(int field) const {
  const auto slot = Fixed<uint64_t>(field);
  if ((slot >> 63) != 0) {
    const size_t length = (slot >> 56) & 0x7F;
    if (length > 7) return MakeError(ErrorKind::kCorrupt, "binary row: inline value is too long");
    return row_.substr(header_bytes_ + static_cast<size_t>(field) * 8, length);
  }
  const size_t offset = slot >> 32;
  const size_t length = slot & 0xFFFFFFFF;
  if (offset > row_.size() || length > row_.size() - offset) {
    return MakeError(ErrorKind::kCorrupt, "binary row: value lies outside the row");
  }
  return row_.substr(offset, length);
}

Result<__int128> BinaryRowView::Decimal(int field, int32_t precision) const {
  if (precision <= kCompactDecimalPrecision) return static_cast<__int128>(Fixed<int64_t>(field));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view bytes, Bytes(field));
  if (bytes.empty() || bytes.size() > 16) {
    return MakeError(ErrorKind::kCorrupt, "binary row: decimal of a wrong length");
  }
  __int128 value = static_cast<int8_t>(bytes[0]);
  for (size_t i = 1; i < bytes.size(); ++i) value = value * 256 + static_cast<uint8_t>(bytes[i]);
  return value;
}

Result<int64_t> BinaryRowView::TimestampMillis(int field, int32_t precision,
                                               int32_t* nanos_of_milli) const {
  *nanos_of_milli = 0;
  if (precision <= kCompactTimestampPrecision) return Fixed<int64_t>(field);
  const auto slot = Fixed<uint64_t>(field);
  const size_t offset = slot >> 32;
  if (offset + 8 > row_.size()) {
    return MakeError(ErrorKind::kCorrupt, "binary row: timestamp lies outside the row");
  }
  *nanos_of_milli = static_cast<int32_t>(slot & 0xFFFFFFFF);
  int64_t millis;
  std::memcpy(&millis, row_.data() + offset, 8);
  return millis;
}

Result<int> CompareBinaryRows(const std::vector<LogicalType>& types, std::string_view a,
                              std::string_view b) {
  const int arity = static_cast<int>(types.size());
  DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView x, BinaryRowView::Parse(a, arity));
  DRIFTLESS_ASSIGN_OR_RETURN(const BinaryRowView y, BinaryRowView::Parse(b, arity));
  for (int field = 0; field < arity; ++field) {
    DRIFTLESS_ASSIGN_OR_RETURN(const int order,
                               CompareField(types[static_cast<size_t>(field)], x, y, field));
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace driftless::paimon
