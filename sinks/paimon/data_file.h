#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "sinks/lake/key_order.h"
#include "sinks/lake/parquet_encoder.h"
#include "sinks/paimon/key_layout.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {

// The Parquet columns of a data file (Paimon table specification, "Data Files"): for tables with a
// primary key first _KEY_ columns, _SEQUENCE_NUMBER and _VALUE_KIND, then every column of the
// schema. `image_columns` says for each schema field where its values stand in a row image, -1 for
// null.
std::vector<lake::ParquetColumn> DataFileColumns(const PaimonSchema& schema,
                                                 const std::vector<int>& image_columns);

// What Paimon's reader expects of Parquet, with INT96 above precision 6.
lake::ParquetDialect PaimonDialect();

// Everything that data files of one table under one schema have in common.
struct DataFileFormat {
  PaimonSchema schema;
  KeyLayout layout;
  std::vector<int> image_columns;  // by schema field
  std::vector<lake::ParquetColumn> columns;
  lake::EncodeSettings settings;
  int64_t target_file_bytes = 128 << 20;
  bool has_changelog = false;  // changelog-producer = input
  bool ignore_delete = false;
  bool ignore_update_before = false;

  static Result<DataFileFormat> Make(const PaimonSchema& schema, const EvolvedSchema& table);
};

// Rows of one file run: sorted by key and unique in tables with a primary key.
struct FileRows {
  std::span<const lake::RowImage> images;
  std::span<const lake::RowRef> rows;
  std::span<const int64_t> sequences;
  int64_t bytes_per_row = 100;  // a guess that sizes row groups
};

struct FilePlace {
  ObjectStore* store = nullptr;
  std::string directory;  // of the bucket
  std::string prefix = "data";
  int32_t level = 0;
  FileSource source = FileSource::kAppend;
  const Clock* clock = nullptr;
  FileNames* names = nullptr;
};

// Writes rows into as many files as the target size asks for, row group by row group. With a
// primary key the calls' rows must follow each other in key order.
class DataFileRoller {
 public:
  DataFileRoller(const DataFileFormat* format, FilePlace place);
  ~DataFileRoller();

  Result<void> Write(const FileRows& rows);
  Result<std::vector<DataFileMeta>> Finish();

 private:
  Result<void> WriteGroup(const FileRows& rows, size_t begin, size_t end);
  Result<void> CloseFile();

  const DataFileFormat* format_;
  FilePlace place_;
  std::unique_ptr<lake::ParquetEncoder> encoder_;  // of the open file
  struct OpenFile;
  std::unique_ptr<OpenFile> file_;
  std::vector<DataFileMeta> files_;
};

// All rows at once.
Result<std::vector<DataFileMeta>> WriteDataFiles(const DataFileFormat& format,
                                                 const FilePlace& place, const FileRows& rows);

}  // namespace driftless::paimon
