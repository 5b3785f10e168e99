#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "schema/types/time.h"
#include "sinks/paimon/data_file.h"
#include "sinks/paimon/table.h"
#include "sinks/paimon/table_state.h"

// Updates and deletes in tables without primary key. Paimon's append tables take inserts only, so a
// row goes by copy on write: the data file that holds it is written again without it, and the cut's
// commit is an OVERWRITE that removes the old file and adds the new one (paimon-format,
// section 7.1).
namespace driftless::paimon {

// A row by its values: one text per schema field, equal exactly when the values are; what NULL
// gives can be no value's.
using RowContent = std::vector<std::string>;

// The content of a row image. `image_columns`: by schema field, where its values stand; -1 is NULL.
RowContent ContentOf(const PaimonSchema& schema, const std::vector<int>& image_columns,
                     std::span<const ColumnView> columns, uint32_t row);

// The rows to take out of one (partition, bucket), each once.
struct Removals {
  std::string partition;
  int32_t bucket = 0;
  std::vector<RowContent> rows;
};

class RowRemover {
 public:
  RowRemover(PaimonTable table, const DataFileFormat* format, std::shared_ptr<TableState> state,
             TimeZone zone, const Clock* clock);

  // Finds every row of `removals` and takes it out: from `pending`, the files of this cut, and from
  // the table's, whose removal is added to `pending`. Of equal rows one goes. A row that is nowhere
  // as it is goes by another that differs from it only in columns that are NULL at the sink: rows
  // from before an ADD COLUMN ... DEFAULT read NULL here and the default at the source. Returns how
  // many were not found. Cost: reads the bucket's files.
  Result<int64_t> Remove(Removals removals, FileNames* names, std::vector<ManifestEntry>* pending);

  // The cut whose files these are has been prepared: until it is committed the table's snapshot
  // does not show them.
  void Prepared(const std::vector<ManifestEntry>& files);

 private:
  enum class Match : uint8_t { kExact, kNullAtSink };
  Result<std::vector<ManifestEntry>> Candidates(const Removals& removals,
                                                const std::vector<ManifestEntry>& pending) const;
  // Takes matching rows out of one file and of `wanted`. False: it has none.
  Result<bool> RemoveFrom(const ManifestEntry& file, Match match, std::vector<RowContent>* wanted,
                          FileNames* names, std::vector<ManifestEntry>* pending);

  PaimonTable table_;
  DataFileFormat own_format_;  // for rows as the table has them
  std::vector<int> own_columns_;
  std::shared_ptr<TableState> state_;
  TimeZone zone_;
  const Clock* clock_;
  std::deque<std::vector<ManifestEntry>> prepared_;  // of the last cuts, oldest first
};

}  // namespace driftless::paimon
