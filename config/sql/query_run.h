#pragma once

#include "config/relation/relation.h"
#include "config/sql/query.h"
#include "schema/base/result.h"
#include "schema/types/time.h"

namespace driftless::flink {

// The rows of a query that ResolveQuery has found to be right. Errors: kInvalidInput for values
// that cannot be worked out; kUnsupported where a table's rows come from a connector.
Result<Relation> RunQuery(const Session& session, const Query& query, const TimeZone& zone);

}  // namespace driftless::flink
