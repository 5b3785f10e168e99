#include "sinks/formats/avro/decode.h"

#include <simdjson.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace driftless::avro {
namespace {

// A block of a metadata file holds some 64 KiB; whatever unpacks to more than this is an attack or
// damage.
constexpr size_t kMaxBlockBytes = 256 << 20;
// Items that take no bytes could claim any count.
constexpr int64_t kMaxEmptyItems = 1 << 16;
constexpr int kMaxDepth = 64;

Error Bad(std::string what) {
  return MakeError(ErrorKind::kCorrupt, "Avro file: " + std::move(what));
}

bool TakeLong(std::string_view* bytes, int64_t* value) {
  uint64_t raw = 0;
  for (size_t i = 0; i < 10 && i < bytes->size(); ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;
    raw |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      *value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
      return true;
    }
  }
  return false;
}

bool TakeBytes(std::string_view* bytes, int64_t length, std::string_view* value) {
  if (length < 0 || static_cast<uint64_t>(length) > bytes->size()) return false;
  *value = bytes->substr(0, static_cast<size_t>(length));
  bytes->remove_prefix(static_cast<size_t>(length));
  return true;
}

bool TakeCounted(std::string_view* bytes, std::string_view* value) {
  int64_t length = 0;
  return TakeLong(bytes, &length) && TakeBytes(bytes, length, value);
}

// Decodes into `out`, or only checks where `out` is null.
class Decoder {
 public:
  explicit Decoder(std::string_view* bytes) : bytes_(bytes) {}

  Result<void> Take(const Schema& schema, Datum* out, int depth) {
    if (depth > kMaxDepth) return Bad("nested too deeply");
    if (schema.kind == Kind::kUnion) {
      int64_t branch = 0;
      if (!TakeLong(bytes_, &branch)) return Bad("ends inside a union");
      if (branch < 0 || static_cast<size_t>(branch) >= schema.children.size()) {
        return Bad("a union has no branch " + std::to_string(branch));
      }
      return Take(*schema.children[static_cast<size_t>(branch)], out, depth + 1);
    }
    Datum scratch;
    Datum& datum = out != nullptr ? *out : scratch;
    datum.schema = &schema;
    switch (schema.kind) {
      case Kind::kRecord: return TakeRecord(schema, out, depth);
      case Kind::kArray:
      case Kind::kMap: return TakeItems(schema, out, depth);
      default: return TakeScalar(schema, &datum);
    }
  }

 private:
  Result<void> TakeRecord(const Schema& schema, Datum* out, int depth) {
    if (out != nullptr) out->children.resize(schema.fields.size());
    for (size_t i = 0; i < schema.fields.size(); ++i) {
      DRIFTLESS_TRY(
          Take(*schema.fields[i].type, out != nullptr ? &out->children[i] : nullptr, depth + 1));
    }
    return {};
  }

  // Blocks of items, each with its count; a negative count is followed by the block's bytes.
  Result<void> TakeItems(const Schema& schema, Datum* out, int depth) {
    const Schema& item = *schema.children.front();
    const bool is_map = schema.kind == Kind::kMap;
    static const Schema* const kKey = [] {
      auto* key = new Schema;
      key->kind = Kind::kString;
      return key;
    }();
    if (out != nullptr) out->children.clear();
    int64_t total = 0;
    while (true) {
      int64_t count = 0;
      if (!TakeLong(bytes_, &count)) return Bad("ends inside an array or map");
      if (count == 0) return {};
      if (count < 0) {
        int64_t size = 0;
        if (count == INT64_MIN || !TakeLong(bytes_, &size) || size < 0)
          return Bad("a bad item count");
        count = -count;
      }
      const int64_t smallest = item.min_bytes + (is_map ? 1 : 0);
      const int64_t possible =
          smallest > 0 ? static_cast<int64_t>(bytes_->size()) / smallest : kMaxEmptyItems - total;
      if (count > possible) return Bad("more items than bytes");
      total += count;
      for (int64_t i = 0; i < count; ++i) {
        if (is_map) {
          DRIFTLESS_TRY(
              Take(*kKey, out != nullptr ? &out->children.emplace_back() : nullptr, depth + 1));
        }
        DRIFTLESS_TRY(
            Take(item, out != nullptr ? &out->children.emplace_back() : nullptr, depth + 1));
      }
    }
  }

  Result<void> TakeScalar(const Schema& schema, Datum* out) {
    switch (schema.kind) {
      case Kind::kNull: return {};
      case Kind::kBoolean: {
        std::string_view byte;
        if (!TakeBytes(bytes_, 1, &byte)) return Bad("ends inside a boolean");
        if (byte[0] != 0 && byte[0] != 1) return Bad("a boolean that is neither 0 nor 1");
        out->number = byte[0];
        return {};
      }
      case Kind::kInt:
      case Kind::kLong:
      case Kind::kEnum: return TakeNumber(schema, out);
      case Kind::kFloat: {
        std::string_view raw;
        if (!TakeBytes(bytes_, 4, &raw)) return Bad("ends inside a float");
        float value = 0;
        std::memcpy(&value, raw.data(), 4);
        out->real = static_cast<double>(value);
        return {};
      }
      case Kind::kDouble: {
        std::string_view raw;
        if (!TakeBytes(bytes_, 8, &raw)) return Bad("ends inside a double");
        std::memcpy(&out->real, raw.data(), 8);
        return {};
      }
      case Kind::kFixed:
        if (!TakeBytes(bytes_, schema.size, &out->text)) return Bad("ends inside a fixed value");
        return {};
      case Kind::kString:
        if (!TakeCounted(bytes_, &out->text)) return Bad("ends inside a text");
        if (!simdjson::validate_utf8(out->text.data(), out->text.size())) {
          return Bad("a text is not UTF-8");
        }
        return {};
      default:
        if (!TakeCounted(bytes_, &out->text)) return Bad("ends inside bytes");
        return {};
    }
  }

  Result<void> TakeNumber(const Schema& schema, Datum* out) {
    if (!TakeLong(bytes_, &out->number)) return Bad("ends inside a number");
    if (schema.kind == Kind::kInt && (out->number < INT32_MIN || out->number > INT32_MAX)) {
      return Bad("an int that does not fit 32 bits");
    }
    if (schema.kind == Kind::kEnum &&
        (out->number < 0 || static_cast<size_t>(out->number) >= schema.symbols.size())) {
      return Bad("an enum without symbol " + std::to_string(out->number));
    }
    return {};
  }

  std::string_view* bytes_;
};

Result<std::string> Inflate(std::string_view packed) {
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) {
    return MakeError(ErrorKind::kResourceExhausted, "cannot start inflate");
  }
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // NOLINT(banned): zlib
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() < kMaxBlockBytes) {
    const size_t before = out.size();
    out.resize(before + std::max<size_t>(packed.size() * 2, 16 << 10));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(out.size() - before);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (state == Z_BUF_ERROR) break;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return Bad("a block does not inflate");
  return out;
}

Result<std::string> UnpackZstd(std::string_view packed) {
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  const std::unique_ptr<ZSTD_DStream, Free> stream(ZSTD_createDStream());
  std::string out;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t hint = 1;
  while (in.pos < in.size || hint != 0) {
    const size_t before = out.size();
    if (before > kMaxBlockBytes) return Bad("a block unpacks to too much");
    out.resize(before + std::max<size_t>(packed.size() * 3, 16 << 10));
    ZSTD_outBuffer target{out.data() + before, out.size() - before, 0};
    const size_t in_before = in.pos;
    hint = ZSTD_decompressStream(stream.get(), &target, &in);
    out.resize(before + target.pos);
    if (ZSTD_isError(hint) != 0) {
      return Bad(std::string("a block does not unpack: ") + ZSTD_getErrorName(hint));
    }
    if (hint != 0 && target.pos == 0 && in.pos == in_before) return Bad("a block is cut short");
  }
  return out;
}

}  // namespace

Result<void> DecodeDatum(const Schema& schema, std::string_view* bytes, Datum* out) {
  return Decoder(bytes).Take(schema, out, 0);
}

Result<void> SkipDatum(const Schema& schema, std::string_view* bytes) {
  return Decoder(bytes).Take(schema, nullptr, 0);
}

Result<FileReader> FileReader::Open(std::string_view bytes) {
  if (!bytes.starts_with(std::string_view("Obj\1", 4))) return Bad("it does not begin with Obj1");
  FileReader reader;
  reader.rest_ = bytes.substr(4);
  static const Schema* const kHeader = [] {
    auto* value = new Schema;
    value->kind = Kind::kBytes;
    value->min_bytes = 1;
    auto* map = new Schema;
    map->kind = Kind::kMap;
    map->children.emplace_back(value);
    return map;
  }();
  Datum header;
  DRIFTLESS_TRY(DecodeDatum(*kHeader, &reader.rest_, &header));
  for (size_t i = 0; i + 1 < header.children.size(); i += 2) {
    reader.metadata_[std::string(header.children[i].text)] = header.children[i + 1].text;
  }
  std::string_view sync;
  if (!TakeBytes(&reader.rest_, 16, &sync)) return Bad("ends inside the header");
  reader.sync_ = sync;
  const auto schema = reader.metadata_.find("avro.schema");
  if (schema == reader.metadata_.end()) return Bad("no avro.schema in the header");
  DRIFTLESS_ASSIGN_OR_RETURN(reader.schema_, ParseSchema(schema->second));
  DRIFTLESS_ASSIGN_OR_RETURN(reader.codec_, ParseCodec(reader.metadata_["avro.codec"]));
  return reader;
}

Result<bool> FileReader::NextBlock() {
  if (rest_.empty()) return false;
  std::string_view packed;
  if (!TakeLong(&rest_, &records_left_) || !TakeCounted(&rest_, &packed)) {
    return Bad("ends inside a block");
  }
  std::string_view sync;
  if (!TakeBytes(&rest_, 16, &sync) || sync != sync_) return Bad("a block without its sync marker");
  switch (codec_) {
    case Codec::kNull: *block_ = packed; break;
    case Codec::kDeflate: {
      DRIFTLESS_ASSIGN_OR_RETURN(*block_, Inflate(packed));
      break;
    }
    case Codec::kZstandard: {
      DRIFTLESS_ASSIGN_OR_RETURN(*block_, UnpackZstd(packed));
      break;
    }
  }
  block_rest_ = *block_;
  const int64_t possible = schema_->min_bytes > 0
                               ? static_cast<int64_t>(block_->size()) / schema_->min_bytes
                               : kMaxEmptyItems;
  if (records_left_ < 0 || records_left_ > possible) return Bad("a bad record count");
  return true;
}

Result<bool> FileReader::Next(Datum* record) {
  while (records_left_ == 0) {
    if (!block_rest_.empty()) return Bad("bytes left over behind a block's records");
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, NextBlock());
    if (!more) return false;
  }
  --records_left_;
  DRIFTLESS_TRY(DecodeDatum(*schema_, &block_rest_, record));
  return true;
}

}  // namespace driftless::avro
