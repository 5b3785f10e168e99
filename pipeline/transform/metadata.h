#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "schema/events/change_batch.h"
#include "schema/types/owned_column.h"

namespace driftless {

// Columns that are no columns of the table: what is known of a row besides its values.
enum class Metadata : uint8_t {
  kNamespaceName,  // __namespace_name__: the catalog; empty where there is none
  kSchemaName,     // __schema_name__: the database, in PostgreSQL the schema
  kTableName,      // __table_name__
  kEventType,      // __data_event_type__: +I, -U (of the old row), +U, -D
  kPosition,       // __source_position__: the row's point, as the audit log shows it
  kTransaction,    // __transaction_id__: NULL where the source has none
  kOpTime,         // op_ts: milliseconds since 1970 of the commit, 0 for rows of a snapshot
};

// By name; `table_name`, `database_name` and `schema_name`, which some sources of Flink CDC have,
// mean the same. A column of the table goes before a metadata column of its name.
std::optional<Metadata> FindMetadata(std::string_view name);
const std::vector<std::string_view>& MetadataNames();
LogicalType TypeOf(Metadata column);

enum class Image : uint8_t { kBefore, kAfter };
// The column for all rows of a batch.
void FillMetadata(Metadata column, const ChangeBatch& batch, Image image, OwnedColumn* out);

}  // namespace driftless
