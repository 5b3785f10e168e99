#pragma once

#include "config/options/option.h"
#include "sinks/olap/dialect.h"

namespace driftless::selectdb {

// `table.create.auto-partition.properties.*`: which tables are created with automatic range
// partitions, by which column and span of time. As Flink CDC: `include` and `exclude` select sink
// tables; a table without such a column, or with one that is neither a date nor a moment, is not
// partitioned. Errors: kInvalidConfig.
Result<olap::AutoPartitionOf> ReadAutoPartitions(const OptionValues& values);

}  // namespace driftless::selectdb
