#pragma once

#include <memory>

#include "schema/base/letter_case.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/loader.h"
#include "sinks/olap/olap_options.h"

// What the files of this folder give each other.
namespace driftless::starrocks {

const olap::Dialect& SqlDialect();

// Stream-load transactions: begin, load, prepare; commit with the cut (StarRocks documentation,
// "Load data using Stream Load transaction interface").
std::unique_ptr<olap::Loader> MakeLoader(const olap::OlapOptions& options);

Result<olap::OlapOptions> ReadOptions(const OptionValues& values);

}  // namespace driftless::starrocks
