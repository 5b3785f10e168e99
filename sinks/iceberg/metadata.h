#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/plan/schema_plan.h"

// Table metadata as the Iceberg table specification describes it ("Table Metadata", "Schemas and
// Data Types", appendix C): format versions 1 (read), 2 and 3.
namespace driftless::iceberg {

struct Field {
  int32_t id = 0;
  std::string name;
  LogicalType type;       // nullability is the field's "required"
  std::string type_json;  // as the table has it: "\"long\"", or an object of a nested type
  std::string doc;
  std::string initial_default;  // JSON, format version 3; empty: none
  std::string write_default;
  bool required() const { return !type.nullable(); }
  friend bool operator==(const Field&, const Field&) = default;
};

struct Schema {
  int32_t id = 0;
  std::vector<Field> fields;
  std::vector<int32_t> identifier_ids;

  const Field* FindId(int32_t field_id) const;
  const Field* FindName(std::string_view name) const;
  friend bool operator==(const Schema&, const Schema&) = default;
};

struct PartitionField {
  int32_t source_id = 0;
  int32_t field_id = 0;
  std::string name;
  std::string transform;  // "identity", "bucket[16]", "day"
  friend bool operator==(const PartitionField&, const PartitionField&) = default;
};
struct PartitionSpec {
  int32_t id = 0;
  std::vector<PartitionField> fields;
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

struct SortField {
  int32_t source_id = 0;
  std::string transform = "identity";
  bool descending = false;
  bool nulls_first = true;
};
// How the rows of a table's files shall stand (specification, "Sorting"). Order 0 has no fields:
// unsorted.
struct SortOrder {
  int32_t id = 0;
  std::vector<SortField> fields;
};

// What a snapshot says about itself: names and values. They stay the JSON object that they are in
// the metadata: a table has thousands of snapshots, all read and written by each commit, and one
// of them is looked at.
class SnapshotSummary {
 public:
  SnapshotSummary() = default;
  explicit SnapshotSummary(const std::map<std::string, std::string>& values);
  static SnapshotSummary OfJson(std::string object);

  std::optional<std::string> Find(std::string_view name) const;
  bool Says(std::string_view name, std::string_view value) const;
  const std::string& json() const { return json_; }

 private:
  std::string json_ = "{}";
};

struct Snapshot {
  int64_t id = 0;
  std::optional<int64_t> parent;
  int64_t sequence_number = 0;
  int64_t timestamp_ms = 0;
  std::string manifest_list;
  SnapshotSummary summary;
  int32_t schema_id = -1;
  std::optional<int64_t> first_row_id;  // version 3
  std::optional<int64_t> added_rows;
  std::string key_id;
};
struct SnapshotLogEntry {
  int64_t snapshot_id = 0;
  int64_t timestamp_ms = 0;
};
struct MetadataLogEntry {
  std::string file;
  int64_t timestamp_ms = 0;
};

struct TableMetadata {
  int format_version = 2;
  std::string uuid;
  std::string location;
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  int32_t current_schema_id = 0;
  std::vector<Schema> schemas;
  int32_t default_spec_id = 0;
  std::vector<PartitionSpec> specs;
  int32_t last_partition_id = 999;
  std::map<std::string, std::string> properties;
  int64_t current_snapshot_id = -1;  // -1: none
  std::vector<Snapshot> snapshots;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::map<std::string, int64_t> refs;           // snapshots that refs other than main hold
  std::map<std::string, std::string> refs_json;  // every ref but main, as it stands there
  std::string main_ref_json;                     // limits of main beyond its snapshot; empty: none
  int64_t next_row_id = 0;                       // version 3
  // Members that are carried along as they are: sort orders, statistics, encryption keys.
  std::map<std::string, std::string> carried;

  const Schema* FindSchema(int32_t id) const;
  const Schema& schema() const;  // the current one
  const PartitionSpec* FindSpec(int32_t id) const;
  const Snapshot* FindSnapshot(int64_t id) const;
  const Snapshot* current_snapshot() const { return FindSnapshot(current_snapshot_id); }
  std::string Property(std::string_view key, std::string_view default_value) const;
};

// Errors: kCorrupt; kUnsupported for versions above 3.
Result<TableMetadata> ParseMetadata(std::string_view json);
std::string MetadataToJson(const TableMetadata& metadata);
Result<Schema> ParseSchemaJson(std::string_view json);
std::string SchemaToJson(const Schema& schema);
std::string SpecFieldsToJson(const PartitionSpec& spec);  // the array of fields
std::string SortOrderToJson(const SortOrder& order);
std::string SnapshotToJson(const Snapshot& snapshot);

// What one commit changes in a table's metadata; the catalog makes it of one base atomically.
struct MetadataChange {
  std::optional<Schema> schema;     // becomes the current one; its id is given out here
  int32_t last_column_id = 0;       // with `schema`
  std::vector<Snapshot> snapshots;  // in order; main becomes the last one
  std::vector<int64_t> removed_snapshots;
  std::map<std::string, std::string> set_properties;
  std::vector<std::string> removed_properties;
};
// The metadata after the change. `base_location` is where the base's own metadata file lies.
TableMetadata ApplyChange(const TableMetadata& base, const std::string& base_location,
                          const MetadataChange& change, int64_t now_ms);

// The property that names the newest schema change of ours: "<change id>#<step>".
inline constexpr std::string_view kChangeProperty = "driftless.change";

// How the table looks to the rest of Driftless.
SinkTable ToSinkTable(const TableMetadata& metadata, const Schema& schema, const TablePath& path);

// A random positive number for a snapshot, and a random UUID.
int64_t RandomSnapshotId();
std::string RandomUuid();

}  // namespace driftless::iceberg
