#pragma once

#include <string>
#include <vector>

#include "pipeline/script/memory_sink.h"
#include "pipeline/script/script.h"
#include "schema/audit/audit.h"
#include "schema/plan/schema_plan.h"

// Compares what a script expects with what is; all return "" where it is as expected, else the
// difference in words, or kParse where the expectation itself is wrong.
namespace driftless {

// Lines "[SINK] TABLE EVENT VERDICT ["TEXT"]", in order; TEXT must stand in reason, rewrites, cell
// or rows. Verdicts on default.change count only where some line names one.
Result<std::string> CheckVerdicts(const std::vector<ScriptLine>& expected,
                                  const std::vector<AuditRecord>& all);
// Lines "[SINK] TABLE EVENT", in any order.
Result<std::string> CheckHolds(const std::vector<ScriptLine>& expected,
                               const std::vector<AuditRecord>& actual);
// Lines "[SINK] TABLE EVENT COLUMN|- ["TEXT"]", in any order.
Result<std::string> CheckDivergences(const std::vector<ScriptLine>& expected,
                                     const std::vector<Divergence>& actual);
// Lines "NAME TYPE [comment "TEXT"]" in order (TYPE * is any), then "primary key (A, B)" and
// "partitioned by (A)" where the table has them; "no table" where there must be none.
Result<std::string> CheckSchema(const std::vector<ScriptLine>& expected, const SinkTable* actual);
// JSON objects, in any order. Columns that an object does not name are not looked at.
Result<std::string> CheckRows(const std::vector<ScriptLine>& expected,
                              const std::vector<TextRow>& actual);

}  // namespace driftless
