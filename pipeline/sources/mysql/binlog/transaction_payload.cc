#include "pipeline/sources/mysql/binlog/transaction_payload.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "pipeline/sources/mysql/binlog/byte_reader.h"

namespace driftless::mysql {
namespace {

enum Field : uint8_t { kEnd = 0, kSize = 1, kCompression = 2, kUncompressedSize = 3 };
constexpr uint64_t kZstd = 0;
constexpr uint64_t kPlain = 255;

struct DeleteContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Error Malformed(std::string_view what) {
  return MakeError(ErrorKind::kInvalidInput, fmt::format("TRANSACTION_PAYLOAD event: {}", what));
}

}  // namespace

struct TransactionPayload::Impl {
  std::unique_ptr<ZSTD_DCtx, DeleteContext> context;  // null: the events are not compressed
  std::string_view packed;
  size_t packed_at = 0;
  uint64_t uncompressed_size = 0;
  uint64_t taken = 0;
  std::vector<char> event;
  size_t filled = 0;

  Result<void> Fill(size_t size);
  Result<void> Unpack(size_t size);
};

// Makes the first `size` bytes of the event be there.
Result<void> TransactionPayload::Impl::Fill(size_t size) {
  // The room grows with what really comes, so that a length that lies costs nothing.
  constexpr size_t kStep = 1 << 20;
  while (filled < size) {
    const size_t upto = std::min(size, filled + kStep);
    if (event.size() < upto) event.resize(upto);
    if (context == nullptr) {
      if (packed.size() - packed_at < upto - filled) return Malformed("an event in it is cut off");
      std::memcpy(event.data() + filled, packed.data() + packed_at, upto - filled);
      packed_at += upto - filled;
      filled = upto;
    } else {
      DRIFTLESS_TRY(Unpack(upto));
    }
  }
  return {};
}

Result<void> TransactionPayload::Impl::Unpack(size_t size) {
  ZSTD_outBuffer out{event.data(), size, filled};
  ZSTD_inBuffer in{packed.data(), packed.size(), packed_at};
  while (out.pos < size) {
    const size_t before = out.pos;
    const size_t in_before = in.pos;
    const size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return MakeError(ErrorKind::kCorrupt,
                       fmt::format("TRANSACTION_PAYLOAD event: zstd: {}", ZSTD_getErrorName(left)));
    }
    if (out.pos == before && in.pos == in_before) {
      return Malformed("the compressed events are cut off");
    }
  }
  filled = out.pos;
  packed_at = in.pos;
  return {};
}

TransactionPayload::TransactionPayload(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TransactionPayload::TransactionPayload(TransactionPayload&&) noexcept = default;
TransactionPayload::~TransactionPayload() = default;

Result<TransactionPayload> TransactionPayload::Open(const BinlogEvent& event) {
  auto impl = std::make_unique<Impl>();
  ByteReader reader(event.body);
  uint64_t compression = kPlain;
  uint64_t size = 0;
  bool has_size = false;
  for (;;) {
    const uint64_t field = reader.LengthEncoded();
    if (reader.failed()) return Malformed("its header is cut off");
    if (field == kEnd) break;
    ByteReader value(reader.LengthEncodedBytes());
    if (field == kCompression) compression = value.LengthEncoded();
    if (field == kUncompressedSize) impl->uncompressed_size = value.LengthEncoded();
    if (field == kSize) {
      size = value.LengthEncoded();
      has_size = true;
    }
    if (reader.failed() || value.failed()) return Malformed("its header is cut off");
  }
  if (!has_size) size = reader.remaining();
  impl->packed = reader.Bytes(size);
  if (reader.failed()) return Malformed("it is shorter than its header says");
  if (compression == kZstd) {
    impl->context.reset(ZSTD_createDCtx());
    // The window that the server's highest level asks for.
    ZSTD_DCtx_setParameter(impl->context.get(), ZSTD_d_windowLogMax, 27);
  } else if (compression == kPlain) {
    impl->uncompressed_size = size;
  } else {
    return MakeError(
        ErrorKind::kUnsupported,
        fmt::format("TRANSACTION_PAYLOAD event: compression {} is not known", compression));
  }
  return TransactionPayload(std::move(impl));
}

Result<bool> TransactionPayload::Next(BinlogEvent* event) {
  Impl& impl = *impl_;
  if (impl.taken == impl.uncompressed_size) return false;
  impl.filled = 0;
  DRIFTLESS_TRY(impl.Fill(BinlogEvent::kHeaderSize));
  const uint64_t length = LoadLittle(reinterpret_cast<const uint8_t*>(impl.event.data()) + 9, 4);
  if (length < BinlogEvent::kHeaderSize || length > impl.uncompressed_size - impl.taken) {
    return Malformed(
        fmt::format("an event in it, {} bytes from its begin, has length {}", impl.taken, length));
  }
  DRIFTLESS_TRY(impl.Fill(length));
  impl.taken += length;
  DRIFTLESS_ASSIGN_OR_RETURN(*event, EventReader::ReadInner({impl.event.data(), length}));
  return true;
}

uint64_t TransactionPayload::uncompressed_size() const { return impl_->uncompressed_size; }

}  // namespace driftless::mysql
