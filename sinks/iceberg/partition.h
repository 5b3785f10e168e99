#pragma once

#include <span>
#include <string>
#include <vector>

#include "schema/events/change_batch.h"
#include "sinks/iceberg/manifest.h"

namespace driftless::iceberg {

// Works out the partition of rows (Iceberg table specification, "Partition Transforms").
class Partitioner {
 public:
  // `image_columns`: by field of the schema, where its values stand in a row image; -1: null.
  // Errors: kUnsupported for transforms or types that are not known.
  static Result<Partitioner> Make(const Schema& schema, const PartitionSpec& spec,
                                  const std::vector<int>& image_columns);

  bool is_partitioned() const { return !parts_.empty(); }
  PartitionTuple Of(std::span<const ColumnView> views, int64_t row) const;
  // "region=EU/ts_day=2026-01-31/", escaped as URLs are; empty where there is no partition.
  std::string Path(const PartitionTuple& tuple) const;

 private:
  struct Part {
    std::string name;
    std::string transform;
    int64_t width = 0;
    LogicalType source;
    LogicalType result;
    int column = -1;
  };
  std::vector<Part> parts_;
};

// Whether the spec has no field that tells rows apart (it may have void ones). Equality deletes
// under such a spec hold for the files of all specs.
bool IsUnpartitioned(const PartitionSpec& spec);

// A text that tells tuples apart.
std::string TupleKey(const PartitionTuple& tuple);

// Parses "dt", "day(ts)", "bucket[16](id)" into a field without ids, whose source is named in
// `source`. Errors: kInvalidConfig.
Result<PartitionField> ParsePartitionExpression(std::string_view text, std::string* source);

}  // namespace driftless::iceberg
