#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/options/option.h"
#include "config/yaml/yaml.h"

namespace driftless {

// Checks the map `block` against its declared options. Each group of specs (what every sink has,
// what this sink has) gets the values of its own keys; a key that no group knows is an error with
// the nearest known key as the hint. `owner` names the block in messages: "sink \"lake\" (paimon)".
// Everything that is wrong is reported; a value that is wrong is left out, so that the getters of
// the result never meet one. The specs must outlive the result.
std::vector<OptionValues> ParseOptions(const YamlNode& block, std::string_view owner,
                                       std::initializer_list<std::span<const OptionSpec>> groups,
                                       Problems* problems);

// Checks one scalar against its spec (type, range, values). Errors: kInvalidConfig; the message
// does not repeat the text of a secret.
Result<void> CheckOptionText(const OptionSpec& spec, std::string_view text);

// Splits "a; b, c" at commas and semicolons outside single quotes; trims; drops empty items.
std::vector<std::string> SplitList(std::string_view text);

}  // namespace driftless
