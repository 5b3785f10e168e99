#pragma once

#include <string>

#include "config/definition/component_catalog.h"

namespace driftless {

// A JSON schema (draft 7) of pipeline files, for editors: completion, hover texts, wrong keys.
// Looser than `driftless validate`, which has the last word: a reference such as ${ENV:NAME} is
// good for every value.
std::string PipelineJsonSchema(const ComponentCatalog& catalog);

// The same JSON text, one value per line.
std::string IndentJson(std::string_view json);

}  // namespace driftless
