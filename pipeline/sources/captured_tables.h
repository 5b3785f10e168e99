#pragma once

#include <optional>

#include "config/definition/selector.h"
#include "config/options/option.h"

namespace driftless {

// The option `tables` of a source that reads every table of its stream without it: nullopt then.
// Errors: kInvalidConfig, with the place.
Result<std::optional<TableSelector>> ReadCapturedTables(const OptionValues& values);

}  // namespace driftless
