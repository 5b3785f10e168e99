#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/definition/component_catalog.h"

namespace driftless {

// One block of a pipeline file with its options: what `driftless options NAME` shows.
struct OptionBlock {
  std::string name;     // "sink paimon", "pipeline", "route", "every sink"
  std::string summary;  // one line
  std::vector<std::string> aliases;
  std::span<const OptionSpec> options;
  bool can_run = true;
};

// All blocks, in the order of the reference: pipeline, rules, routes, transforms, what every source
// and sink has, then each source and each sink.
std::vector<OptionBlock> OptionBlocks(const ComponentCatalog& catalog);

// A generated page of config/reference/.
struct ReferencePage {
  std::string file;  // "sink-paimon.md"
  std::string text;
};
std::vector<ReferencePage> ReferencePages(const ComponentCatalog& catalog);

// {"blocks": [{"name", "summary", "can_run", "options": [...]}]}
std::string OptionBlocksJson(const std::vector<OptionBlock>& blocks);

}  // namespace driftless
