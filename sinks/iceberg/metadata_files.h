#pragma once

#include <string>

#include "sinks/iceberg/catalog.h"

// What catalogs share that write metadata files themselves.
namespace driftless::iceberg {

// The first metadata of a table.
TableMetadata MetadataOf(const NewTable& created, std::string location, int64_t now_ms);

// Metadata files may be compressed, and say so by their names (specification, appendix F).
inline constexpr std::string_view kPlainMetadata = ".metadata.json";
inline constexpr std::string_view kGzipMetadata = ".gz.metadata.json";
// The end of its file's name, as `write.metadata.compression-codec` asks for; and what stands
// there. Errors: kUnsupported.
Result<std::string_view> MetadataSuffix(const TableMetadata& metadata);
Result<std::string> MetadataBytes(const TableMetadata& metadata);
// What a file holds. Errors: the store's; kCorrupt.
Result<TableMetadata> ReadMetadataFile(const TableFiles& files, const std::string& uri);

// Deletes metadata files that fell out of the log, where the table wants that
// (`write.metadata.delete-after-commit.enabled`). What stays behind harms nobody.
void DropOldMetadata(const TableFiles& files, const TableMetadata& base, const TableMetadata& next);

}  // namespace driftless::iceberg
