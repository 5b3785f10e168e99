#pragma once

#include <memory>

#include "schema/plan/model_planner.h"
#include "sinks/olap/dialect.h"

namespace driftless::olap {

// The model's plans with the very statements that are sent. `traits` and `dialect` must outlive it.
std::unique_ptr<SchemaPlanner> MakePlanner(const ModelTraits* traits, const Dialect* dialect,
                                           CreateOptions options, int64_t job_timeout_ms);

// What an existing table lacks for the rows that a created one would take, column by column:
// "column note: not there; column id: BIGINT is wanted, INT is there". Empty where it will do.
std::string MisfitOfTable(const SinkTable& actual, const SinkTable& wanted);

}  // namespace driftless::olap
