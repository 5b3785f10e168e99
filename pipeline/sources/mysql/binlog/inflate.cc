#include "pipeline/sources/mysql/binlog/inflate.h"

#define ZLIB_CONST  // next_in points to what is only read
#include <zlib.h>

#include "pipeline/sources/mysql/binlog/byte_reader.h"

namespace driftless::mysql {
namespace {

// Deflate packs 1,032 bytes into one at the very best (zlib's "Technical Details"), so a length
// above that is a lie that must not cost memory.
constexpr uint64_t kBestRatio = 1032;

enum class Wrapper : uint8_t { kZlib, kRaw };

bool Inflate(std::string_view packed, uint64_t size, Wrapper wrapper, std::string* out) {
  if (size > packed.size() * kBestRatio + 64) return false;
  out->resize(size);
  z_stream stream{};
  if (inflateInit2(&stream, wrapper == Wrapper::kRaw ? -MAX_WBITS : MAX_WBITS) != Z_OK) {
    return false;
  }
  // One byte more than nothing: zlib refuses a null buffer.
  Bytef none = 0;
  stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = size == 0 ? &none : reinterpret_cast<Bytef*>(out->data());
  stream.avail_out = static_cast<uInt>(size);
  const int done = inflate(&stream, Z_FINISH);
  const bool ok = done == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  return ok;
}

}  // namespace

bool InflateEvent(std::string_view packed, std::string* out) {
  ByteReader reader(packed);
  const uint8_t head = reader.U8();
  const int length_bytes = head & 7;
  if ((head & 0x80) == 0 || (head & 0x70) != 0 || length_bytes == 0) return false;
  const uint64_t size = reader.Big(length_bytes);
  if (reader.failed() || size > UINT32_MAX) return false;
  return Inflate(reader.Rest(), size, Wrapper::kZlib, out);
}

bool InflateValue(std::string_view packed, std::string* out) {
  out->clear();
  if (packed.empty()) return true;
  ByteReader reader(packed);
  const uint8_t head = reader.U8();
  if (head == 0) {
    *out = reader.Rest();
    return true;
  }
  const int length_bytes = head & 7;
  if ((head & 0xf0) != 0x80 || length_bytes == 0) return false;
  const uint64_t size = reader.Big(length_bytes);
  if (reader.failed() || size > UINT32_MAX) return false;
  return Inflate(reader.Rest(), size, (head & 8) != 0 ? Wrapper::kRaw : Wrapper::kZlib, out);
}

}  // namespace driftless::mysql
