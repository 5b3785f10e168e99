#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/model/table.h"
#include "schema/types/logical_type.h"
#include "sinks/lake/file_names.h"

// Plain structs of Apache Paimon's table metadata, as its table format specification
// ("Specification" in the Paimon documentation: schema, snapshot, manifest, data file) names and
// stores them.
namespace driftless::paimon {

// One column of a schema file. Ids are never reused; ROW members carry ids of their own.
struct PaimonField {
  int32_t id = -1;
  std::string name;
  LogicalType type;
  std::vector<int32_t> nested_ids;  // of all ROW members inside `type`, depth first, in order
  std::string description;
  std::optional<std::string> default_value;  // literal text
  friend bool operator==(const PaimonField&, const PaimonField&) = default;
};

// schema/schema-N.
struct PaimonSchema {
  int64_t id = 0;
  std::vector<PaimonField> fields;
  int32_t highest_field_id = -1;
  std::vector<std::string> partition_keys;
  std::vector<std::string> primary_keys;
  std::map<std::string, std::string> options;
  std::string comment;
  int64_t time_ms = 0;

  int IndexOf(std::string_view name) const;  // -1: no such field
  const PaimonField* Find(std::string_view name) const;
  const PaimonField* FindId(int32_t field_id) const;
  // Primary key without the partition keys: what data files are sorted by.
  std::vector<std::string> TrimmedPrimaryKeys() const;
  // `bucket-key`, else the trimmed primary key.
  std::vector<std::string> BucketKeys() const;
  // The option `bucket`; -1 (dynamic, or unaware for append tables) where it is not set.
  int32_t Buckets() const;
  std::string Option(std::string_view key, std::string_view default_value) const;
  bool HasPrimaryKey() const { return !primary_keys.empty(); }
  friend bool operator==(const PaimonSchema&, const PaimonSchema&) = default;
};

enum class CommitKind : uint8_t { kAppend, kCompact, kOverwrite, kAnalyze };
std::string_view ToString(CommitKind kind);

// snapshot/snapshot-N.
struct Snapshot {
  int64_t id = 0;
  int64_t schema_id = 0;
  std::string base_manifest_list;
  std::string delta_manifest_list;
  std::string changelog_manifest_list;   // empty: none
  int64_t base_manifest_list_size = -1;  // -1: not said
  int64_t delta_manifest_list_size = -1;
  int64_t changelog_manifest_list_size = -1;
  std::string index_manifest;  // empty: none
  std::string commit_user;
  int64_t commit_identifier = 0;
  CommitKind commit_kind = CommitKind::kAppend;
  int64_t time_ms = 0;
  int64_t total_record_count = 0;
  int64_t delta_record_count = 0;
  int64_t changelog_record_count = 0;
  std::optional<int64_t> watermark;
  std::string statistics;  // empty: none
  std::map<std::string, std::string> properties;
  std::optional<int64_t> next_row_id;
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// A serialized BinaryRow of no fields, its arity in front: partition of an unpartitioned table,
// keys of append tables, empty statistics.
inline constexpr std::string_view kEmptyRow{"\0\0\0\0\0\0\0\0\0\0\0\0", 12};

// Minimum, maximum (serialized BinaryRows, big-endian arity in front) and null counts by column.
struct SimpleStats {
  std::string min_values{kEmptyRow};
  std::string max_values{kEmptyRow};
  std::vector<std::optional<int64_t>> null_counts;
  friend bool operator==(const SimpleStats&, const SimpleStats&) = default;
};

enum class FileSource : int32_t { kAppend = 0, kCompact = 1 };

// One data (or changelog) file as a manifest describes it.
struct DataFileMeta {
  std::string file_name;
  int64_t file_size = 0;
  int64_t row_count = 0;  // delete rows included
  std::string min_key{kEmptyRow};
  std::string max_key{kEmptyRow};
  SimpleStats key_stats;
  SimpleStats value_stats;
  int64_t min_sequence_number = 0;
  int64_t max_sequence_number = 0;
  int64_t schema_id = 0;
  int32_t level = 0;
  std::vector<std::string> extra_files;
  std::optional<int64_t> creation_time_ms;  // local wall clock, as Paimon stores it
  std::optional<int64_t> delete_row_count;
  std::optional<std::string> embedded_index;
  std::optional<FileSource> file_source;
  std::optional<std::vector<std::string>> value_stats_cols;  // none: statistics of all columns
  std::optional<std::string> external_path;
  std::optional<int64_t> first_row_id;
  std::optional<std::vector<std::string>> write_cols;
  friend bool operator==(const DataFileMeta&, const DataFileMeta&) = default;
};

enum class FileKind : int32_t { kAdd = 0, kDelete = 1 };

struct ManifestEntry {
  FileKind kind = FileKind::kAdd;
  std::string partition{kEmptyRow};  // serialized BinaryRow
  int32_t bucket = 0;
  int32_t total_buckets = -1;
  DataFileMeta file;
  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// One line of a manifest list.
struct ManifestFileMeta {
  std::string file_name;
  int64_t file_size = 0;
  int64_t num_added_files = 0;
  int64_t num_deleted_files = 0;
  SimpleStats partition_stats;
  int64_t schema_id = 0;
  std::optional<int32_t> min_bucket, max_bucket, min_level, max_level;
  std::optional<int64_t> min_row_id, max_row_id;
  friend bool operator==(const ManifestFileMeta&, const ManifestFileMeta&) = default;
};

// Where one data file's deletion vector lies in an index file.
struct DeletionVectorRange {
  std::string data_file;
  int32_t offset = 0;
  int32_t length = 0;
  std::optional<int64_t> cardinality;
  friend bool operator==(const DeletionVectorRange&, const DeletionVectorRange&) = default;
};

// One line of an index manifest: a hash index (dynamic buckets) or a container of deletion vectors.
struct IndexManifestEntry {
  FileKind kind = FileKind::kAdd;
  std::string partition{kEmptyRow};
  int32_t bucket = 0;
  std::string index_type;  // "HASH", "DELETION_VECTORS"
  std::string file_name;   // in index/
  int64_t file_size = 0;
  int64_t row_count = 0;
  std::optional<std::vector<DeletionVectorRange>> deletion_vectors;
  std::optional<std::string> external_path;
  friend bool operator==(const IndexManifestEntry&, const IndexManifestEntry&) = default;
};

// What one (table, cut) wants to make visible; the payload of a CommitToken.
struct Committable {
  int64_t schema_id = 0;
  // kAppend: level 0 adds. kCompact: deletes of what was read, adds of what was written.
  // kOverwrite: a table without primary key lost rows; files that held them are deleted and written
  // again.
  std::vector<ManifestEntry> new_files;
  std::vector<ManifestEntry> changelog_files;  // changelog-producer = input
  // Whole new index files; each replaces the entries of its (partition, bucket, type).
  std::vector<IndexManifestEntry> index_files;
  // kCompact is for CommitCompaction alone: such a committable is never part of a token.
  CommitKind kind = CommitKind::kAppend;
  friend bool operator==(const Committable&, const Committable&) = default;
};

// Text forms. Errors of the parsers: kCorrupt that says what is wrong and where; kUnsupported for
// types that Driftless has no values for (VECTOR, BLOB, GEOMETRY).
std::string SchemaToJson(const PaimonSchema& schema);
Result<PaimonSchema> ParseSchemaJson(std::string_view json);
std::string SnapshotToJson(const Snapshot& snapshot);
Result<Snapshot> ParseSnapshotJson(std::string_view json);

// Avro container files. `compression` is Paimon's option manifest.compression: "zstd", "none",
// "deflate"; readers take it from the file. Errors: kCorrupt.
Result<std::string> EncodeManifestList(const std::vector<ManifestFileMeta>& metas,
                                       std::string_view compression);
Result<std::vector<ManifestFileMeta>> DecodeManifestList(std::string_view bytes);
Result<std::string> EncodeManifest(const std::vector<ManifestEntry>& entries,
                                   std::string_view compression);
Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes);
Result<std::string> EncodeIndexManifest(const std::vector<IndexManifestEntry>& entries,
                                        std::string_view compression);
Result<std::vector<IndexManifestEntry>> DecodeIndexManifest(std::string_view bytes);

// The payload of a CommitToken and of a PreparedPart; DecodeCommittable is the inverse.
std::string EncodeCommittable(const Committable& committable);
Result<Committable> DecodeCommittable(std::string_view bytes);

// What Driftless's own files are called.
using lake::FileNames;
using lake::FileOwner;
using lake::OwnedName;
using lake::ParseOwnedName;

// Paths inside the warehouse: "db.db/table", "db.db/table/bucket-0/data-...".
std::string TableDirectory(const TablePath& table);
// `partition_path` is "k=v/" per key, or empty; bucket -2 is "bucket-postpone".
std::string BucketDirectory(std::string_view table_directory, std::string_view partition_path,
                            int32_t bucket);

}  // namespace driftless::paimon
