#pragma once

#include <string>

#include "config/sql/compat/compat.h"
#include "schema/base/result.h"

namespace driftless {

// Compares two Flink SQL scripts and prints what was found, as "text" or "json". Errors: those of
// CheckCompatibility, and a file that cannot be read.
Result<flink::CompatVerdict> CompareSqlScripts(const std::string& old_file,
                                               const std::string& new_file,
                                               const flink::CompatOptions& options,
                                               const std::string& output);

}  // namespace driftless
