#pragma once

#include <string_view>

#include "config/yaml/yaml.h"

namespace driftless {

// Fills the text of the scalar `node` (and `written`, where there are references) from the parsed
// value `text`. Problems are put at `at`.
void ResolveReferences(std::string_view text, Location at, const ReferenceResolver& resolver,
                       YamlNode* node, Problems* problems);

}  // namespace driftless
