#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/types/time.h"
#include "sinks/lake/merge_reader.h"
#include "sinks/paimon/java_cast.h"
#include "sinks/paimon/table.h"

namespace driftless::paimon {

// Opens one data file as rows of a later schema: columns are matched by field id, old values turned
// into today's types as Paimon's readers do, columns that the file lacks are null.
class FileOpener {
 public:
  // `read_schema` is what the rows look like; the file's own schemas are read on demand and kept.
  FileOpener(PaimonTable table, PaimonSchema read_schema, const TimeZone& zone);

  // `partition_path` is the file's folder below the table, before the bucket. Errors: kUnsupported
  // for files that are not Parquet; the store's; kCorrupt.
  Result<std::unique_ptr<lake::RowSource>> Open(const ManifestEntry& entry);

  const PaimonSchema& schema() const { return read_schema_; }
  // How many rows a file gives at once from now on.
  void SetBatchRows(int64_t rows) { batch_rows_ = rows; }

 private:
  Result<const PaimonSchema*> SchemaOf(int64_t id);

  PaimonTable table_;
  PaimonSchema read_schema_;
  TimeZone zone_;
  std::optional<int64_t> batch_rows_;
  std::map<int64_t, PaimonSchema> schemas_;
};

using OpenFile = std::function<Result<std::unique_ptr<lake::RowSource>>(const ManifestEntry&)>;

// What a merge of these files reads: files whose keys do not overlap are one source, which opens
// them one after the other. So a merge holds as many files open as hold one key, not as many as a
// table has. `schema` has a primary key.
std::vector<std::unique_ptr<lake::RowSource>> MergeSources(const PaimonSchema& schema,
                                                           std::vector<ManifestEntry> files,
                                                           const OpenFile& open);

// How many files such a merge holds open at most.
size_t OpenFiles(const PaimonSchema& schema, std::vector<ManifestEntry> files);

// The rows of a table at one snapshot.
class TableScan {
 public:
  // Without a snapshot id: the newest snapshot under the newest schema; with one: that snapshot
  // under the schema that was current then. Errors: kNotFound; kUnsupported for tables whose rows
  // must be merged in a way that Driftless does not do.
  static Result<TableScan> Open(const PaimonTable& table, std::optional<int64_t> snapshot_id,
                                const TimeZone& zone);

  const PaimonSchema& schema() const { return schema_; }
  const std::optional<Snapshot>& snapshot() const { return snapshot_; }

  // False at the end. Ordered by the trimmed primary key over all buckets and partitions.
  Result<bool> Next(lake::MergedRow* row);

 private:
  Result<void> Start();

  explicit TableScan(const PaimonTable& table) : table_(table) {}

  PaimonTable table_;
  PaimonSchema schema_;
  std::optional<Snapshot> snapshot_;
  TimeZone zone_;
  std::unique_ptr<lake::MergeReader> merge_;
  std::unique_ptr<lake::PlainReader> plain_;
};

// The key order of a data file's rows: partition columns break ties between partitions.
lake::KeyOrder ScanOrder(const PaimonSchema& schema);

}  // namespace driftless::paimon
