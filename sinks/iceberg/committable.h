#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sinks/iceberg/manifest.h"

namespace driftless::iceberg {

// What one cut of one table commits: batches that become one snapshot each, in order, because an
// equality delete holds for rows of earlier snapshots only.
struct Committable {
  std::string mark;            // random; goes into the snapshots' summaries
  std::string table_uuid;      // of the table that the files were written for
  int64_t base_snapshot = -1;  // current at Seal
  int32_t schema_id = 0;
  int32_t spec_id = 0;
  std::vector<std::vector<DataFile>> batches;
  // Files with rows that leave a table without key: the ids of the columns on the first line, then
  // one row a line (lake::AppendRowJson). Where they stand is found out by the commit.
  std::vector<std::string> removals;  // URIs

  bool IsEmpty() const { return batches.empty() && removals.empty(); }
};

// The payload of a PreparedPart and of a CommitToken. `schema` and `spec` are those of the ids.
Result<std::string> EncodeCommittable(const Committable& committable, const Schema& schema,
                                      const PartitionSpec& spec, int format_version);
Result<Committable> DecodeCommittable(std::string_view bytes);

// Puts a mark, a table and a base snapshot into an encoded part; with several parts, their batches
// follow each other.
Result<std::string> SealParts(const std::vector<std::string_view>& parts, const std::string& mark,
                              const std::string& table_uuid, int64_t base_snapshot);

}  // namespace driftless::iceberg
