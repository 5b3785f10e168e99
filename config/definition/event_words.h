#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "config/options/option.h"
#include "config/yaml/problems.h"
#include "schema/policy/policy.h"

namespace driftless {

// The events that a list of tags and families names. Unknown words are reported with the nearest
// known one.
std::set<EventKind> ReadEventWords(std::string_view key, const OptionValues::Value& list,
                                   Problems* problems);

// One word; nullopt after it was reported.
std::optional<std::set<EventKind>> ReadEventWord(std::string_view key, std::string_view word,
                                                 Location at, Problems* problems);

}  // namespace driftless
