#pragma once

#include <span>
#include <string>
#include <vector>

#include "schema/plan/schema_plan.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/iceberg/sort_order.h"
#include "sinks/iceberg/table_files.h"
#include "sinks/lake/file_names.h"
#include "sinks/lake/parquet_encoder.h"

namespace driftless::iceberg {

// Ids of the columns of position delete files (specification, "Reserved Field IDs").
inline constexpr int32_t kDeletePathId = 2147483546;
inline constexpr int32_t kDeletePosId = 2147483545;
// Of the columns in which data files of format version 3 carry row lineage along.
inline constexpr int32_t kRowId = 2147483540;
inline constexpr int32_t kLastUpdatedId = 2147483539;

// How much of a column's values goes into manifests (`write.metadata.metrics.*`).
struct MetricsMode {
  enum class Kind : uint8_t { kNone, kCounts, kBounds };
  Kind kind = Kind::kBounds;
  size_t truncate = 16;  // 0: whole values
};
// Errors: kUnsupported.
Result<MetricsMode> ParseMetricsMode(std::string_view text);

// Everything that files of one table under one schema have in common.
struct FileFormat {
  int format_version = 2;
  Schema schema;
  PartitionSpec spec;
  std::vector<int> image_columns;            // by schema field: where in a row image; -1: nowhere
  std::vector<lake::ParquetColumn> columns;  // of data files
  std::vector<lake::ParquetColumn> key_columns;  // of equality delete files
  std::vector<int> key_images;                   // in key order
  std::vector<LogicalType> key_types;
  // By the table's sort order. Where that is not one that we can keep, it sorts nothing: the
  // specification leaves it to the writer.
  RowSorter sorter;
  std::map<int32_t, MetricsMode> metrics;  // by field id
  lake::EncodeSettings settings;
  int64_t target_file_bytes = 512LL << 20;
  int64_t delete_target_file_bytes = 64LL << 20;

  bool has_key() const { return !schema.identifier_ids.empty(); }
  // Data files get the columns of row lineage; their values stand behind the table's own in a row
  // image, from `image_column` on.
  void AddLineage(int image_column);
  // Errors: kConflict where the table is not what the evolved schema says.
  static Result<FileFormat> Make(const TableMetadata& metadata, const EvolvedSchema& table);
};

struct FilePlace {
  const TableFiles* files = nullptr;
  std::string directory;  // with the partition's, without a '/' at the end
  lake::FileNames* names = nullptr;
};

// Rows of one run of files, in file order.
struct FileRun {
  std::span<const lake::RowImage> images;
  std::span<const lake::RowRef> rows;
  int64_t bytes_per_row = 100;  // a guess that sizes row groups
  // By the table's sort order they stand behind the run that was written before.
  bool continues_order = false;
};

// Writes rows into as many files as the target size asks for: whole rows, or keys. Whole rows of a
// run stand in the table's sort order; a file says so while it holds nothing that breaks it. The
// format must outlive it.
class FileRoller {
 public:
  FileRoller(const FileFormat* format, FilePlace place, FileContent content,
             PartitionTuple partition);
  ~FileRoller();

  Result<void> Write(const FileRun& run);
  Result<std::vector<DataFile>> Finish();

 private:
  const std::vector<lake::ParquetColumn>& columns() const;
  Result<void> Open(const lake::EncodeInput& first);
  Result<void> Close();

  const FileFormat* format_;
  FilePlace place_;
  FileContent content_;
  PartitionTuple partition_;
  std::unique_ptr<lake::ParquetEncoder> encoder_;  // of the open file, the last of `files_`
  std::vector<DataFile> files_;
};

// All rows at once.
Result<std::vector<DataFile>> WriteFiles(const FileFormat& format, const FilePlace& place,
                                         const FileRun& run, FileContent content,
                                         const PartitionTuple& partition);

// The rows of a file that a position delete file names.
struct DeletedRows {
  std::string path;  // of the data file, as its manifest names it
  std::vector<int64_t> positions;
};
// `deleted` is sorted by path and position here. One file for all of them.
Result<DataFile> WritePositionDeletes(const FilePlace& place, std::vector<DeletedRows> deleted,
                                      const lake::EncodeSettings& settings,
                                      const PartitionTuple& partition);

}  // namespace driftless::iceberg
