#pragma once

#include <string>

#include "sinks/iceberg/catalog.h"

// What catalogs share that write metadata files themselves.
namespace driftless::iceberg {

// The first metadata of a table.
TableMetadata MetadataOf(const NewTable& created, std::string location, int64_t now_ms);

// Deletes metadata files that fell out of the log, where the table wants that
// (`write.metadata.delete-after-commit.enabled`). What stays behind harms nobody.
void DropOldMetadata(const TableFiles& files, const TableMetadata& base, const TableMetadata& next);

}  // namespace driftless::iceberg
