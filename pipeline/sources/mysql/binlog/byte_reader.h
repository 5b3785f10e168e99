#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace driftless::mysql {

// Little- and big-endian integers of 1 to 8 bytes, without a check of the bounds.
inline uint64_t LoadLittle(const uint8_t* at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(at[i]) << (8 * i);
  return value;
}
inline uint64_t LoadBig(const uint8_t* at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

// Reads the fields of an event one after the other. A read beyond the end gives zero and sets
// failed(); the caller looks once, at the end, so that no read needs a branch of its own.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : begin_(reinterpret_cast<const uint8_t*>(bytes.data())),
        at_(begin_),
        end_(begin_ + bytes.size()) {}

  bool failed() const { return failed_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }

  uint64_t Little(int bytes) {
    const uint8_t* from = Take(static_cast<size_t>(bytes));
    return from == nullptr ? 0 : LoadLittle(from, bytes);
  }
  uint64_t Big(int bytes) {
    const uint8_t* from = Take(static_cast<size_t>(bytes));
    return from == nullptr ? 0 : LoadBig(from, bytes);
  }
  uint8_t U8() { return static_cast<uint8_t>(Little(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Little(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Little(4)); }
  uint64_t U64() { return Little(8); }
  // MySQL's length-encoded integer (Client/Server Protocol, "Protocol::LengthEncodedInteger").
  uint64_t LengthEncoded() {
    const uint8_t first = U8();
    if (first < 0xfb) return first;
    if (first == 0xfc) return Little(2);
    if (first == 0xfd) return Little(3);
    if (first == 0xfe) return Little(8);
    failed_ = true;
    return 0;
  }
  std::string_view Bytes(uint64_t size) {
    const uint8_t* from = Take(size);
    if (from == nullptr) return {};
    return {reinterpret_cast<const char*>(from), static_cast<size_t>(size)};
  }
  std::string_view LengthEncodedBytes() { return Bytes(LengthEncoded()); }
  std::string_view Rest() { return Bytes(remaining()); }
  void Fail() { failed_ = true; }

 private:
  const uint8_t* Take(uint64_t size) {
    if (size > remaining()) {
      failed_ = true;
      at_ = end_;
      return nullptr;
    }
    const uint8_t* from = at_;
    at_ += size;
    return from;
  }

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
  bool failed_ = false;
};

}  // namespace driftless::mysql
