#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/definition/component_catalog.h"
#include "config/sql/row_job.h"
#include "schema/base/result.h"

namespace driftless {

// The pipeline file that carries out an INSERT: its sources and its sink are the tables' connectors
// (Flink's names, as mysql-cdc, are known) with their options, the query is a transform of each
// table. Tables of one connection share a source. Settings that begin with "pipeline." go into the
// pipeline block. Errors: kInvalidConfig for a table without connector, or with one that is no
// source or sink of pipelines; kUnsupported where two tables have one name at their sources.
Result<std::string> PipelineText(const flink::RowJob& job,
                                 const std::map<std::string, std::string>& settings,
                                 std::string_view name, const ComponentCatalog& catalog);

// Whether the job's source comes to an end by itself.
bool IsBounded(const flink::RowJob& job, const std::map<std::string, std::string>& settings);

}  // namespace driftless
