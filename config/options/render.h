#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/options/option.h"

namespace driftless {

class JsonWriter;

// The declarations of one block, for people and machines.
std::string RenderOptionsText(std::span<const OptionSpec> specs);
std::string RenderOptionsMarkdown(std::span<const OptionSpec> specs);
// An array of objects: key, type, default, required, secret, doc, aliases, values, min, max, unit,
// flink_cdc, flink_cdc_note, change.
void WriteOptionsJson(std::span<const OptionSpec> specs, JsonWriter* json);

// "duration", "one of safe, fast", "list": the type as a user reads it.
std::string TypeText(const OptionSpec& spec);
std::string_view ToString(OnChange change);
std::string_view ToString(FlinkCdc relation);

// The values as YAML lines, indented by `indent` spaces: what the user set, and behind "#" what
// holds by default. Secrets are '***', references stay as they were written.
std::string RenderValues(const OptionValues& values, int indent);

}  // namespace driftless
