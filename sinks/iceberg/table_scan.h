#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/manifest.h"
#include "sinks/lake/merge_reader.h"

namespace driftless::iceberg {

// The live entries of a snapshot.
struct LiveFiles {
  std::vector<ManifestEntry> data;
  std::vector<ManifestEntry> deletes;
};
Result<LiveFiles> ReadLiveFiles(const LoadedTable& table, const Snapshot& snapshot);

// A row of the table, and where it stands.
struct ScannedRow {
  lake::MergedRow row;
  const ManifestEntry* file = nullptr;
  int64_t position = 0;
};

// Reads a snapshot merge on read: rows that position and equality deletes hit are left out
// (specification, "Scan Planning"). Delete files are kept in memory.
class TableScan {
 public:
  // `snapshot`: none: the current one, under the current schema.
  static Result<TableScan> Open(LoadedTable table, std::optional<int64_t> snapshot);
  // Rows of these files alone, without deletes.
  static TableScan OfFiles(LoadedTable table, std::vector<ManifestEntry> files);

  const Schema& schema() const { return schema_; }
  const TableMetadata& metadata() const { return table_->metadata; }
  // False at the end. In file order.
  Result<bool> Next(ScannedRow* row);

 private:
  struct EqualityDeletes {
    std::vector<int32_t> ids;
    // By partition ("" is every partition) and key: the highest sequence number.
    std::map<std::string, std::unordered_map<std::string, int64_t>> keys;
  };
  Result<void> Start();
  Result<void> LoadPositionDeletes(const ManifestEntry& entry);
  Result<void> LoadEqualityDeletes(const ManifestEntry& entry);
  Result<std::unique_ptr<lake::RowSource>> OpenFile(const std::string& uri,
                                                    const std::vector<int32_t>& ids,
                                                    std::vector<RowField>* fields) const;
  bool IsDeleted(int64_t row) const;

  std::unique_ptr<LoadedTable> table_;
  Schema schema_;
  std::optional<Snapshot> snapshot_;
  std::vector<ManifestEntry> data_;
  std::unordered_map<std::string, std::vector<int64_t>> positions_;  // by data file, sorted
  std::vector<EqualityDeletes> equality_;
  std::vector<int32_t> ids_;      // of the columns that are read
  std::vector<RowField> fields_;  // beside them
  bool started_ = false;
  size_t next_file_ = 0;
  std::unique_ptr<lake::RowSource> source_;
  lake::FileRowsPtr rows_;
  int64_t row_ = 0;       // in rows_
  int64_t position_ = 0;  // of rows_'s first row in the file
};

}  // namespace driftless::iceberg
