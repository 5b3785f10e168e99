#pragma once

#include "config/sql/query.h"
#include "schema/base/result.h"

namespace driftless::flink {

// Intervals are worked out here, added to times and shown, and no table keeps them. Errors:
// kUnsupported where a column of the query is one, with Flink as the engine that has such columns.
Result<void> CheckNoIntervals(const Query& query);

}  // namespace driftless::flink
