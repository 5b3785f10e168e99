#include <arrow/util/compression.h>

#include "sinks/olap/loader.h"

namespace driftless::olap {
namespace {

// Speed over size: the wire is rarely as slow as a good level of gzip.
constexpr int kGzipLevel = 1;

}  // namespace

Result<std::string_view> Pack(Packing packing, std::string_view body, std::string* room) {
  if (packing == Packing::kNone) return body;
  const bool is_gzip = packing == Packing::kGzip;
  auto codec = is_gzip ? arrow::util::Codec::Create(arrow::Compression::GZIP, kGzipLevel)
                       : arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME);
  if (!codec.ok()) return MakeError(ErrorKind::kInternal, codec.status().ToString());
  const auto* input = reinterpret_cast<const uint8_t*>(body.data());
  const auto size = static_cast<int64_t>(body.size());
  room->resize(static_cast<size_t>((*codec)->MaxCompressedLen(size, input)));
  const auto length = (*codec)->Compress(size, input, static_cast<int64_t>(room->size()),
                                         reinterpret_cast<uint8_t*>(room->data()));
  if (!length.ok()) return MakeError(ErrorKind::kInternal, length.status().ToString());
  room->resize(static_cast<size_t>(*length));
  return std::string_view(*room);
}

}  // namespace driftless::olap
