#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

const std::array kOptions = {
    OptionSpec{.key = "print.identifier",
               .type = OptionType::kString,
               .doc = "Text in front of every line, followed by \"> \".",
               .aliases = {"print-identifier"},
               .change = OnChange::kHot},
    OptionSpec{.key = "format",
               .type = OptionType::kEnum,
               .default_value = "text",
               .doc =
                   "Form of a line: text for people, or json with \"table\", \"op\", \"before\", "
                   "\"after\" and \"position\".",
               .values = {"text", "json"},
               .change = OnChange::kHot},
    OptionSpec{.key = "file",
               .type = OptionType::kString,
               .doc = "File that the lines are appended to. Without it they go to standard output.",
               .change = OnChange::kHot},
    OptionSpec{.key = "standard-error",
               .type = OptionType::kBool,
               .default_value = "false",
               .doc = "Print to standard error instead of standard output.",
               .flink_cdc = FlinkCdc::kSame,
               .change = OnChange::kHot},
    OptionSpec{.key = "print.enabled",
               .type = OptionType::kBool,
               .default_value = "true",
               .doc = "False prints nothing: the same as the sink type blackhole.",
               .flink_cdc = FlinkCdc::kSame,
               .change = OnChange::kHot},
    OptionSpec{.key = "limit",
               .type = OptionType::kInt,
               .default_value = "0",
               .doc =
                   "Print at most this many changes, then only count. 0: no limit. Schema changes "
                   "are always printed.",
               .min = 0,
               .change = OnChange::kHot},
    OptionSpec{.key = "sink.api",
               .type = OptionType::kString,
               .doc = "Accepted from Flink CDC's values sink.",
               .flink_cdc = FlinkCdc::kIgnored,
               .flink_cdc_note = "there is one way to write here"},
    OptionSpec{.key = "materialized.in.memory",
               .type = OptionType::kBool,
               .doc = "Accepted from Flink CDC's values sink.",
               .flink_cdc = FlinkCdc::kIgnored,
               .flink_cdc_note = "rows are printed, not kept"},
};

}  // namespace

std::span<const OptionSpec> PrintOptions() { return kOptions; }

}  // namespace driftless
