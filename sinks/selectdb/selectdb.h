#pragma once

#include <memory>

#include "schema/base/letter_case.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/loader.h"
#include "sinks/olap/olap_options.h"
#include "sinks/olap/statements.h"

// What the files of this folder give each other.
namespace driftless::selectdb {

const olap::Dialect& SqlDialect();

// Stream loads with two-phase commit, or visible at once where the user asks for that (Doris
// documentation, "Stream Load" and "Transaction").
std::unique_ptr<olap::Loader> MakeLoader(const olap::OlapOptions& options);

// Statements to the ports that loads go to: a pipeline file may name no other.
std::unique_ptr<olap::Statements> StatementsOverHttp(const olap::OlapOptions& options);

Result<olap::OlapOptions> ReadOptions(const OptionValues& values);

}  // namespace driftless::selectdb
