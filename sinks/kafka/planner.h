#pragma once

#include <memory>
#include <optional>

#include "schema/plan/schema_plan.h"
#include "sinks/kafka/options.h"

namespace driftless::kafka {

std::unique_ptr<SchemaPlanner> MakePlanner(SinkOptions options);

// The statement as a message about the sink's table. None where its text names the source's table
// and is not written anew: an ALTER of a routed table.
std::optional<StatementChange> UnderSinkName(const StatementChange& change,
                                             const TablePath& sink_table);

}  // namespace driftless::kafka
