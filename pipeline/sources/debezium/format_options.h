#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/options/option.h"
#include "pipeline/sources/debezium/debezium_stream.h"

namespace driftless::debezium {

// Options of the formats that every source of records has: canal-json.* and json.*.
std::vector<OptionSpec> FormatOptionSpecs();
// `own` and the options of the formats.
std::vector<OptionSpec> WithFormatOptions(std::vector<OptionSpec> own);

// Reads them and the format itself from the option `format_key`; `all` are all options of the
// source. Errors: kInvalidConfig with the place in the file, among them an option of another format
// than the chosen one.
Result<void> ReadFormatOptions(const OptionValues& values, std::span<const OptionSpec> all,
                               std::string_view format_key, StreamOptions* options);

}  // namespace driftless::debezium
