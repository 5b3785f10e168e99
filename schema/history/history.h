#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// One entry of a table's history at the source: the schema from `point` on.
struct SchemaVersion {
  TablePath table;
  Point point;            // of the statement part that made it
  std::string position;   // the source's words
  int64_t time_ms = 0;    // commit time at the source
  TableSchemaPtr schema;  // null: the table was dropped there
  std::string statement;  // may be empty (snapshot, inferred)
};

// The schema history by source position. Stored by the runtime; written by whoever reads a source,
// before the statement is sent on. Ids and versions come from here on a replay, so that a DDL read
// twice gives the same identities.
class SchemaHistoryStore {
 public:
  virtual ~SchemaHistoryStore() = default;
  // Adds the version; does nothing where the same (table, point) is there already. Durable before
  // any row behind it is.
  virtual Result<void> Put(const SchemaVersion& version) = 0;
  // The version in force at `point` (inclusive), per table of the stream. Used at start.
  virtual Result<std::vector<SchemaVersion>> At(const Point& point) const = 0;
  // The entry that was made at exactly this point for this table.
  virtual Result<std::optional<SchemaVersion>> Find(const TablePath& table,
                                                    const Point& point) const = 0;
  // All versions, oldest first; of one table, or of all.
  virtual Result<std::vector<SchemaVersion>> All(const std::optional<TablePath>& table) const = 0;
};

// JSON text of a schema for the state database; the inverse gives an equal schema.
std::string Serialize(const TableSchema& schema);
Result<TableSchema> ParseTableSchema(std::string_view json);

}  // namespace driftless
