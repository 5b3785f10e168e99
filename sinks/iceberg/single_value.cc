#include "sinks/iceberg/single_value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace driftless::iceberg {
namespace {

template <typename T>
void AppendLittle(T value, std::string* out) {
  static_assert(std::endian::native == std::endian::little);
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
T Little(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

int64_t LittleInteger(std::string_view bytes) {
  // A bound from before a promotion keeps its old width.
  return bytes.size() <= 4 ? Little<int32_t>(bytes) : Little<int64_t>(bytes);
}

double LittleReal(std::string_view bytes) {
  return bytes.size() <= 4 ? Little<float>(bytes) : Little<double>(bytes);
}

int64_t IntegerAt(const LogicalType& type, const ColumnView& view, int64_t row) {
  switch (type.physical()) {
    case PhysicalKind::kFixed8: return view.Fixed<int8_t>(row);
    case PhysicalKind::kFixed16: return view.Fixed<int16_t>(row);
    case PhysicalKind::kFixed32: return view.Fixed<int32_t>(row);
    default: return view.Fixed<int64_t>(row);
  }
}

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

// The end of the first `length` code points.
size_t PrefixEnd(std::string_view text, size_t length) {
  size_t at = 0;
  for (size_t points = 0; at < text.size() && points < length; ++points) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

// The last code point and where it begins; false for what is no UTF-8.
bool LastPoint(std::string_view text, uint32_t* point, size_t* begin) {
  size_t at = text.size() - 1;
  while (at > 0 && IsContinuation(text[at]) && text.size() - at < 4) --at;
  const auto lead = static_cast<uint8_t>(text[at]);
  const size_t bytes = text.size() - at;
  const uint8_t mask = bytes == 1 ? 0x7f : bytes == 2 ? 0x1f : bytes == 3 ? 0x0f : 0x07;
  *point = lead & mask;
  for (size_t i = at + 1; i < text.size(); ++i) {
    *point = (*point << 6) | (static_cast<uint8_t>(text[i]) & 0x3f);
  }
  *begin = at;
  return (bytes == 1) == (lead < 0x80);
}

void AppendPoint(uint32_t point, std::string* out) {
  if (point < 0x80) {
    out->push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out->push_back(static_cast<char>(0xc0 | (point >> 6)));
    out->push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else if (point < 0x10000) {
    out->push_back(static_cast<char>(0xe0 | (point >> 12)));
    out->push_back(static_cast<char>(0x80 | ((point >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (point & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xf0 | (point >> 18)));
    out->push_back(static_cast<char>(0x80 | ((point >> 12) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | ((point >> 6) & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (point & 0x3f)));
  }
}

std::optional<std::string> RaisedText(std::string text) {
  while (!text.empty()) {
    uint32_t point = 0;
    size_t begin = 0;
    if (!LastPoint(text, &point, &begin)) return std::nullopt;
    text.resize(begin);
    if (point == 0x10ffff) continue;
    ++point;
    if (point == 0xd800) point = 0xe000;  // surrogates are no characters
    AppendPoint(point, &text);
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> RaisedBytes(std::string bytes) {
  while (!bytes.empty() && static_cast<uint8_t>(bytes.back()) == 0xff) bytes.pop_back();
  if (bytes.empty()) return std::nullopt;
  bytes.back() = static_cast<char>(static_cast<uint8_t>(bytes.back()) + 1);
  return bytes;
}

std::string FixedBound(const LogicalType& type, int64_t value) {
  std::string bytes;
  switch (type.kind()) {
    case TypeKind::kBoolean: bytes.push_back(static_cast<char>(value != 0 ? 1 : 0)); break;
    case TypeKind::kInt:
    case TypeKind::kDate: AppendLittle(static_cast<int32_t>(value), &bytes); break;
    case TypeKind::kDecimal: return DecimalBytes(value);
    default: AppendLittle(value, &bytes);
  }
  return bytes;
}

std::string RealBound(const LogicalType& type, double value) {
  std::string bytes;
  if (type.kind() == TypeKind::kFloat) {
    AppendLittle(static_cast<float>(value), &bytes);
  } else {
    AppendLittle(value, &bytes);
  }
  return bytes;
}

uint32_t Block(const uint8_t* data) {
  uint32_t value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

std::string DecimalBytes(__int128 unscaled) {
  std::string bytes;
  for (int shift = 120; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(static_cast<uint8_t>(unscaled >> shift)));
  }
  const char fill = unscaled < 0 ? '\xff' : '\0';
  size_t drop = 0;
  while (drop + 1 < bytes.size() && bytes[drop] == fill &&
         ((static_cast<uint8_t>(bytes[drop + 1]) & 0x80) != 0) == (unscaled < 0)) {
    ++drop;
  }
  return bytes.substr(drop);
}

__int128 DecimalFromBytes(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 16) return 0;
  unsigned __int128 value = (static_cast<uint8_t>(bytes[0]) & 0x80) != 0 ? ~__int128{0} : 0;
  for (const char c : bytes) value = (value << 8) | static_cast<uint8_t>(c);
  return static_cast<__int128>(value);
}

void AppendSingleValue(const LogicalType& type, const ColumnView& view, int64_t row,
                       std::string* out) {
  switch (type.physical()) {
    case PhysicalKind::kBit: out->push_back(view.Bit(row) ? '\1' : '\0'); break;
    case PhysicalKind::kFixed8:
    case PhysicalKind::kFixed16:
    case PhysicalKind::kFixed32:
    case PhysicalKind::kFixed64: {
      const size_t width = type.physical() == PhysicalKind::kFixed64 ? 8 : 4;
      if (width == 8 || type.physical() == PhysicalKind::kFixed32) {
        out->append(reinterpret_cast<const char*>(view.values) + row * static_cast<int64_t>(width),
                    width);
      } else {
        AppendLittle(static_cast<int32_t>(IntegerAt(type, view, row)), out);
      }
      break;
    }
    case PhysicalKind::kFixed128: *out += DecimalBytes(view.Fixed<__int128>(row)); break;
    case PhysicalKind::kVariable: *out += view.Bytes(row); break;
    default: break;
  }
}

int CompareSingleValues(const LogicalType& type, std::string_view a, std::string_view b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : (y < x ? 1 : 0); };
  switch (type.kind()) {
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return a.compare(b);
    case TypeKind::kBoolean: return a.compare(b);
    case TypeKind::kDecimal: return order(DecimalFromBytes(a), DecimalFromBytes(b));
    case TypeKind::kFloat:
    case TypeKind::kDouble: return order(LittleReal(a), LittleReal(b));
    default: return order(LittleInteger(a), LittleInteger(b));
  }
}

std::string TruncateLower(const LogicalType& type, std::string_view value, size_t length) {
  if (type.IsCharacter()) return std::string(value.substr(0, PrefixEnd(value, length)));
  return std::string(value.substr(0, length));
}

std::optional<std::string> TruncateUpper(const LogicalType& type, std::string_view value,
                                         size_t length) {
  std::string cut = TruncateLower(type, value, length);
  if (cut.size() == value.size()) return cut;
  return type.IsCharacter() ? RaisedText(std::move(cut)) : RaisedBytes(std::move(cut));
}

StoredBounds ToStoredBounds(const LogicalType& type, const lake::ColumnBounds& bounds,
                            size_t truncate) {
  StoredBounds stored;
  if (!bounds.has_bounds || type.IsNested()) return stored;
  if (const auto* low = std::get_if<int64_t>(&bounds.min)) {
    stored.lower = FixedBound(type, *low);
    stored.upper = FixedBound(type, std::get<int64_t>(bounds.max));
  } else if (const auto* real = std::get_if<double>(&bounds.min)) {
    // Parquet does not tell the zeros apart; the bounds must hold both.
    const double high = std::get<double>(bounds.max);
    if (std::isnan(*real) || std::isnan(high)) return stored;
    stored.lower = RealBound(type, *real == 0 ? -0.0 : *real);
    stored.upper = RealBound(type, high == 0 ? 0.0 : high);
  } else if (type.IsCharacter() || type.IsBytes()) {
    const auto& text = std::get<std::string>(bounds.min);
    const auto& high = std::get<std::string>(bounds.max);
    stored.lower = truncate == 0 ? text : TruncateLower(type, text, truncate);
    stored.upper = truncate == 0 ? std::optional(high) : TruncateUpper(type, high, truncate);
  }
  return stored;
}

int32_t Murmur3(std::string_view bytes) {
  constexpr uint32_t kC1 = 0xcc9e2d51;
  constexpr uint32_t kC2 = 0x1b873593;
  uint32_t hash = 0;
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const size_t blocks = bytes.size() / 4;
  for (size_t i = 0; i < blocks; ++i) {
    hash ^= std::rotl(Block(data + 4 * i) * kC1, 15) * kC2;
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64;
  }
  uint32_t tail = 0;
  for (size_t i = bytes.size(); i > 4 * blocks; --i) tail = (tail << 8) | data[i - 1];
  if (bytes.size() > 4 * blocks) hash ^= std::rotl(tail * kC1, 15) * kC2;
  hash ^= static_cast<uint32_t>(bytes.size());
  hash ^= hash >> 16;
  hash *= 0x85ebca6b;
  hash ^= hash >> 13;
  hash *= 0xc2b2ae35;
  hash ^= hash >> 16;
  return static_cast<int32_t>(hash);
}

int32_t BucketHash(const LogicalType& type, const ColumnView& view, int64_t row) {
  std::string bytes;
  switch (type.physical()) {
    case PhysicalKind::kVariable:
    case PhysicalKind::kFixed128: AppendSingleValue(type, view, row, &bytes); break;
    default: {
      // Integers, dates and times all hash as eight bytes.
      int64_t value = IntegerAt(type, view, row);
      if (type.IsTimestamp() && type.IsNanos()) {
        value = value / 1000 - static_cast<int64_t>(value % 1000 < 0);
      }
      AppendLittle(value, &bytes);
    }
  }
  return Murmur3(bytes);
}

}  // namespace driftless::iceberg
