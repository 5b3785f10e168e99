#include <array>

#include "sinks/api/registry.h"

namespace driftless {
namespace {

const std::array kOptions = {
    OptionSpec{.key = "sink.type-normalize-strategy",
               .type = OptionType::kEnum,
               .default_value = "STANDARD",
               .doc = "How source types become Hologres types. Wider ones survive type changes that "
                      "Hologres itself cannot make. Fixed when the tables are created.",
               .values = {"STANDARD", "BROADEN", "ONLY_BIGINT_OR_TEXT"},
               .flink_cdc = FlinkCdc::kSame,
               .change = OnChange::kIncompatible},
};

}  // namespace

std::span<const OptionSpec> HologresOptions() { return kOptions; }

}  // namespace driftless
