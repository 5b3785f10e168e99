#pragma once

#include <memory>

#include "schema/plan/schema_plan.h"
#include "sinks/kafka/options.h"

namespace driftless::kafka {

std::unique_ptr<SchemaPlanner> MakePlanner(SinkOptions options);

// The statement as one about the sink's table: what names the source's table is written anew.
StatementChange UnderSinkName(const StatementChange& change, const TablePath& sink_table);

}  // namespace driftless::kafka
