#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/iceberg/metadata.h"

// Manifests and manifest lists (Iceberg table specification, "Manifests" and "Manifest Lists").
namespace driftless::iceberg {

enum class FileContent : uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class EntryStatus : uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };

// A partition's values in single-value serialization (appendix D), one per field of the spec.
using PartitionTuple = std::vector<std::optional<std::string>>;

struct DataFile {
  FileContent content = FileContent::kData;
  std::string path;  // a URI
  std::string format = "PARQUET";
  PartitionTuple partition;
  int64_t record_count = 0;
  int64_t size = 0;
  std::map<int32_t, int64_t> column_sizes;
  std::map<int32_t, int64_t> value_counts;
  std::map<int32_t, int64_t> null_counts;
  std::map<int32_t, int64_t> nan_counts;
  std::map<int32_t, std::string> lower_bounds;
  std::map<int32_t, std::string> upper_bounds;
  std::vector<int64_t> split_offsets;
  std::vector<int32_t> equality_ids;
  std::optional<int32_t> sort_order_id;
  std::optional<int64_t> first_row_id;
  std::optional<std::string> referenced_data_file;
  std::optional<int64_t> content_offset;
  std::optional<int64_t> content_size;
};

// What tells a file from all others: several deletion vectors lie in one Puffin file.
std::string EntryKey(const DataFile& file);

struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<int64_t> snapshot_id;
  std::optional<int64_t> sequence_number;
  std::optional<int64_t> file_sequence_number;
  DataFile file;
  int32_t spec_id = 0;  // of the manifest that holds it; not stored
};

struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

struct ManifestFile {
  std::string path;
  int64_t length = 0;
  int32_t spec_id = 0;
  bool deletes = false;  // content
  int64_t sequence_number = 0;
  int64_t min_sequence_number = 0;
  int64_t added_snapshot_id = 0;
  int64_t added_files = 0, existing_files = 0, deleted_files = 0;
  int64_t added_rows = 0, existing_rows = 0, deleted_rows = 0;
  std::vector<FieldSummary> partitions;
  std::optional<std::string> key_metadata;
  std::optional<int64_t> first_row_id;  // version 3, data
  bool HasLive() const { return added_files + existing_files > 0; }
};

// The type of a transform's result. Errors: kUnsupported for an unknown transform.
Result<LogicalType> TransformResult(std::string_view transform, const LogicalType& source);

// What a manifest's file needs to know of its table.
struct ManifestContext {
  int format_version = 2;
  const Schema* schema = nullptr;
  const PartitionSpec* spec = nullptr;
  bool deletes = false;
};

// Errors: kUnsupported for partition types that cannot be written.
Result<std::string> EncodeManifest(const std::vector<ManifestEntry>& entries,
                                   const ManifestContext& context);
// Sequence numbers, snapshot and row ids are inherited from `from` where they are null
// (specification, "Sequence Number Inheritance"). Errors: kCorrupt.
Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes, const ManifestFile& from);
// Counts, partition summaries and the rest of what a list says about these entries; path, length
// and sequence numbers are the caller's.
Result<ManifestFile> DescribeManifest(const std::vector<ManifestEntry>& entries,
                                      const ManifestContext& context);

Result<std::string> EncodeManifestList(const std::vector<ManifestFile>& manifests,
                                       int format_version, const Snapshot& snapshot);
Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes);

}  // namespace driftless::iceberg
