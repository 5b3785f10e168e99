#pragma once

#include <memory>

#include "sinks/api/component.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/loader.h"
#include "sinks/olap/olap_options.h"
#include "sinks/olap/row_encoder.h"
#include "sinks/olap/statements.h"

namespace driftless::olap {

// What a product gives to the sink that it shares with its sister.
struct Product {
  const CapabilityMatrix* matrix = nullptr;
  const Dialect* dialect = nullptr;
  OperationField operation;
  std::unique_ptr<SchemaPlanner> planner;
  std::unique_ptr<Loader> loader;
  std::unique_ptr<Statements> statements;
};

std::unique_ptr<Sink> MakeSink(Product product, OlapOptions options,
                               const SinkEnvironment& environment);

}  // namespace driftless::olap
