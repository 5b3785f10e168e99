#include <zlib.h>
#include <zstd.h>

#include <bit>
#include <cstring>
#include <random>
#include <utility>

#include "schema/base/check.h"
#include "sinks/formats/avro/avro.h"
#include "sinks/formats/avro/decode.h"

namespace driftless::avro {
namespace {

constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kSyncBytes = 16;

std::string_view CodecName(Codec codec) {
  switch (codec) {
    case Codec::kNull: return "null";
    case Codec::kDeflate: return "deflate";
    case Codec::kZstandard: return "zstandard";
  }
  return "null";
}

std::string RandomSync() {
  std::random_device device;
  std::string sync(kSyncBytes, '\0');
  for (size_t i = 0; i < kSyncBytes; i += 4) {
    const uint32_t word = device();
    std::memcpy(sync.data() + i, &word, 4);
  }
  return sync;
}

// Raw deflate, without zlib's header (Avro specification, "Required Codecs").
Result<std::string> Deflate(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return MakeError(ErrorKind::kResourceExhausted, "cannot start deflate");
  }
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT(banned): zlib
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return MakeError(ErrorKind::kInternal, "deflate did not finish");
  return out;
}

Result<std::string> Compress(Codec codec, std::string_view bytes) {
  switch (codec) {
    case Codec::kNull: return std::string(bytes);
    case Codec::kDeflate: return Deflate(bytes);
    case Codec::kZstandard: break;
  }
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1);
  if (ZSTD_isError(size) != 0) {
    return MakeError(ErrorKind::kInternal, std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  out.resize(size);
  return out;
}

}  // namespace

Result<Codec> ParseCodec(std::string_view text) {
  if (text == "none" || text == "null" || text.empty()) return Codec::kNull;
  if (text == "deflate" || text == "gzip" || text == "zlib") return Codec::kDeflate;
  if (text == "zstd" || text == "zstandard") return Codec::kZstandard;
  return MakeError(ErrorKind::kUnsupported, "compression \"" + std::string(text) + "\" for Avro")
      .Hint("Use zstd, deflate or none.");
}

void Encoder::Long(int64_t value) {
  auto zigzag = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  while (zigzag >= 0x80) {
    out_->push_back(static_cast<char>(zigzag | 0x80));
    zigzag >>= 7;
  }
  out_->push_back(static_cast<char>(zigzag));
}

void Encoder::Float(float value) {
  static_assert(std::endian::native == std::endian::little);
  out_->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Encoder::Double(double value) {
  out_->append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Encoder::Bytes(std::string_view value) {
  Long(static_cast<int64_t>(value.size()));
  out_->append(value);
}

FileWriter::FileWriter(std::string_view schema_json, Codec codec, const Metadata& metadata,
                       std::string_view sync)
    : codec_(codec), sync_(sync.empty() ? RandomSync() : std::string(sync)) {
  DRIFTLESS_CHECK(sync_.size() == kSyncBytes);
  Result<SchemaPtr> schema = ParseSchema(schema_json);
  DRIFTLESS_CHECK(schema.has_value());
  schema_ = *std::move(schema);
  Metadata header = metadata;
  header["avro.schema"] = std::string(schema_json);
  header["avro.codec"] = std::string(CodecName(codec));
  file_.assign("Obj\1", 4);
  Encoder encoder(&file_);
  encoder.BeginItems(header.size());
  for (const auto& [key, value] : header) {
    encoder.String(key);
    encoder.Bytes(value);
  }
  encoder.EndItems();
  file_.append(sync_);
}

Result<void> FileWriter::EndRecord() {
  std::string_view record = std::string_view(block_).substr(checked_);
  const Result<void> checked = SkipDatum(*schema_, &record);
  DRIFTLESS_CHECK(checked.has_value() && record.empty());
  checked_ = block_.size();
  ++records_;
  if (block_.size() < kBlockBytes) return {};
  return FlushBlock();
}

Result<void> FileWriter::FlushBlock() {
  if (records_ == 0) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string packed, Compress(codec_, block_));
  Encoder encoder(&file_);
  encoder.Long(records_);
  encoder.Bytes(packed);
  file_.append(sync_);
  block_.clear();
  checked_ = 0;
  records_ = 0;
  return {};
}

Result<std::string> FileWriter::Finish() {
  DRIFTLESS_CHECK(checked_ == block_.size());
  DRIFTLESS_TRY(FlushBlock());
  return std::move(file_);
}

}  // namespace driftless::avro
