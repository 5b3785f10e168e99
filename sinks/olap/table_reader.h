#pragma once

#include <memory>

#include "sinks/api/table_reader.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/olap_options.h"
#include "sinks/olap/statements.h"

namespace driftless::olap {

// Reads tables back by SELECT, in pages. Between two pages of a table that is written meanwhile,
// rows may move. `dialect` and `planner` live as long as it does.
std::unique_ptr<TableReader> MakeReader(const Dialect* dialect,
                                        std::unique_ptr<SchemaPlanner> planner,
                                        const OlapOptions& options,
                                        std::unique_ptr<Statements> statements);

}  // namespace driftless::olap
