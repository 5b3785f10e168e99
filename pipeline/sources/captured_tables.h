#pragma once

#include <optional>
#include <string_view>

#include "config/definition/selector.h"
#include "config/options/option.h"
#include "config/yaml/problems.h"

namespace driftless {

// The option `tables` of a source that reads every table of its stream without it: nullopt then.
// Errors: kInvalidConfig, with the place.
Result<std::optional<TableSelector>> ReadCapturedTables(const OptionValues& values);

// An option that is one text: `tables`, `tables.exclude`. The reading: errors kInvalidConfig, with
// the place.
void CheckTableSelector(std::string_view key, const OptionValues& values, Problems* problems);
Result<TableSelector> ReadTableSelector(std::string_view key, const OptionValues& values);

}  // namespace driftless
