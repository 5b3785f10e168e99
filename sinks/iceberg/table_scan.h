#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
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

// Opens a Parquet file of the table for the columns with these ids, typed as the schema (or, for a
// column that is gone, the newest one that had it) says; `fields` are them. Columns that the file
// lacks are null. `entry`: the file's, where the ids of row lineage (data_file.h) are asked for.
Result<std::unique_ptr<lake::RowSource>> OpenTableFile(const LoadedTable& table,
                                                       const Schema& schema, const std::string& uri,
                                                       const std::vector<int32_t>& ids,
                                                       std::vector<RowField>* fields,
                                                       const ManifestEntry* entry = nullptr);

// Spec and partition values as one text; "" for what holds everywhere.
std::string PartitionKey(const TableMetadata& metadata, const ManifestEntry& entry);

// Which rows delete files take away, in memory.
struct DeleteIndex {
  struct Keys {
    std::unordered_map<std::string, int64_t> sequences;  // the highest of each key
    int64_t newest = 0;
  };
  struct Equality {
    std::vector<int32_t> ids;
    std::map<std::string, Keys> partitions;  // "" is every partition
  };
  std::vector<Equality> equality;
  std::unordered_map<std::string, std::vector<int64_t>> positions;  // by data file, sorted
  std::set<std::string> with_vector;  // the data files that have a deletion vector

  static Result<DeleteIndex> Load(const LoadedTable& table, const Schema& schema,
                                  const std::vector<ManifestEntry>& deletes);
};

// A row of the table, and where it stands.
struct ScannedRow {
  lake::MergedRow row;
  const ManifestEntry* file = nullptr;
  int64_t position = 0;
  bool is_deleted = false;  // only with KeepDeleted
};

// Reads a snapshot merge on read: rows that position and equality deletes hit are left out
// (specification, "Scan Planning"). Delete files are kept in memory.
class TableScan {
 public:
  // `snapshot`: none: the current one, under the current schema.
  static Result<TableScan> Open(LoadedTable table, std::optional<int64_t> snapshot);
  // Rows of these files alone, in their order, without those that `deletes` hit.
  static TableScan OfFiles(std::shared_ptr<const LoadedTable> table,
                           std::vector<ManifestEntry> files,
                           std::shared_ptr<const DeleteIndex> deletes = nullptr);

  // Before the first Next: reads these columns only.
  void ReadColumns(std::vector<int32_t> ids) { ids_ = std::move(ids); }
  // Before the first Next: deleted rows are given too, and marked.
  void KeepDeleted() { keeps_deleted_ = true; }

  const Schema& schema() const { return schema_; }
  const TableMetadata& metadata() const { return table_->metadata; }
  const DeleteIndex* deletes() const { return deletes_.get(); }  // after the first Next
  // False at the end. In file order.
  Result<bool> Next(ScannedRow* row);

 private:
  // What may hit rows of the open file.
  struct Applied {
    std::vector<RowField> fields;
    std::vector<ColumnView> views;  // of one row's batch
    std::vector<size_t> columns;
    std::vector<const DeleteIndex::Keys*> keys;
  };
  Result<void> Start();
  Result<void> OpenNext();
  bool IsDeleted(int64_t row);

  std::shared_ptr<const LoadedTable> table_;
  Schema schema_;
  std::optional<Snapshot> snapshot_;
  std::vector<ManifestEntry> data_;
  std::shared_ptr<const DeleteIndex> deletes_;
  std::vector<int32_t> ids_;      // of the columns that are read
  std::vector<RowField> fields_;  // beside them
  bool keeps_deleted_ = false;
  bool started_ = false;
  size_t next_file_ = 0;
  std::unique_ptr<lake::RowSource> source_;
  std::vector<Applied> applied_;                             // to the open file
  const std::vector<int64_t>* deleted_positions_ = nullptr;  // of the open file
  std::string key_;
  lake::FileRowsPtr rows_;
  int64_t row_ = 0;       // in rows_
  int64_t position_ = 0;  // of rows_'s first row in the file
};

}  // namespace driftless::iceberg
