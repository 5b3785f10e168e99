#include "sinks/iceberg/metadata_files.h"

#include <algorithm>
#include <utility>

#include "sinks/iceberg/nested_type.h"

namespace driftless::iceberg {

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
  metadata.properties = created.properties;
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
