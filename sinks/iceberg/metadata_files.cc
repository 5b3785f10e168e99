#include "sinks/iceberg/metadata_files.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "schema/base/letter_case.h"
#include "sinks/iceberg/nested_type.h"

namespace driftless::iceberg {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's word for gzip's header

std::string Gzip(std::string_view plain) {
  z_stream stream{};
  DRIFTLESS_CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                               Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  DRIFTLESS_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Result<std::string> Gunzip(std::string_view bytes) {
  z_stream stream{};
  DRIFTLESS_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK);
  stream.next_in = reinterpret_cast<const Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t size = out.size();
    out.resize(size + (256 << 10));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = static_cast<uInt>(out.size() - size);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status == Z_STREAM_END) return out;
  return MakeError(ErrorKind::kCorrupt, "the file is no gzip file, or a part of one");
}

}  // namespace

TableMetadata MetadataOf(const NewTable& created, std::string location, int64_t now_ms) {
  TableMetadata metadata;
  metadata.format_version = created.format_version;
  metadata.uuid = RandomUuid();
  metadata.location = std::move(location);
  metadata.last_updated_ms = now_ms;
  metadata.schemas = {created.schema};
  metadata.schemas[0].id = 0;
  for (const Field& field : created.schema.fields) {
    metadata.last_column_id = std::max(metadata.last_column_id, field.id);
    for (const int32_t id : NestedIds(field.type_json)) {
      metadata.last_column_id = std::max(metadata.last_column_id, id);
    }
  }
  metadata.specs = {created.spec};
  metadata.specs[0].id = 0;
  for (const PartitionField& field : created.spec.fields) {
    metadata.last_partition_id = std::max(metadata.last_partition_id, field.field_id);
  }
  if (!created.sort_order.fields.empty()) {
    SortOrder order = created.sort_order;
    order.id = 1;
    metadata.carried["default-sort-order-id"] = "1";
    metadata.carried["sort-orders"] =
        "[" + SortOrderToJson(SortOrder()) + "," + SortOrderToJson(order) + "]";
  }
  metadata.properties = created.properties;
  return metadata;
}

Result<std::string_view> MetadataSuffix(const TableMetadata& metadata) {
  const std::string codec = metadata.Property("write.metadata.compression-codec", "none");
  if (EqualsIgnoringCase(codec, "none")) return kPlainMetadata;
  if (EqualsIgnoringCase(codec, "gzip")) return kGzipMetadata;
  return MakeError(ErrorKind::kUnsupported,
                   "write.metadata.compression-codec = " + codec + " is not known")
      .Hint("none or gzip");
}

Result<std::string> MetadataBytes(const TableMetadata& metadata) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view suffix, MetadataSuffix(metadata));
  std::string json = MetadataToJson(metadata);
  return suffix == kGzipMetadata ? Gzip(json) : std::move(json);
}

Result<TableMetadata> ReadMetadataFile(const TableFiles& files, const std::string& uri) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::string bytes, files.Read(uri));
  // Older ones end in ".metadata.json.gz".
  if (uri.ends_with(kGzipMetadata) || uri.ends_with(".metadata.json.gz")) {
    auto plain = Gunzip(bytes);
    if (!plain) return std::move(plain).error().Context(uri);
    bytes = *std::move(plain);
  }
  auto metadata = ParseMetadata(bytes);
  if (!metadata) return std::move(metadata).error().Context(uri);
  return metadata;
}

void DropOldMetadata(const TableFiles& files, const TableMetadata& base,
                     const TableMetadata& next) {
  if (next.Property("write.metadata.delete-after-commit.enabled", "false") != "true") return;
  for (const MetadataLogEntry& entry : base.metadata_log) {
    const bool kept = std::ranges::any_of(
        next.metadata_log, [&](const MetadataLogEntry& other) { return other.file == entry.file; });
    if (!kept) (void)files.Delete(entry.file);
  }
}

}  // namespace driftless::iceberg
