#pragma once

#include <optional>
#include <vector>

#include "config/definition/pipeline_definition.h"

// The parts of a pipeline file, each from its YAML to its definition. What is wrong goes to
// `problems`; what can still be understood is returned, so that later checks see it.
namespace driftless {

// The maps of a list; reports what is no list or no map.
std::vector<const YamlNode*> ListItems(const YamlNode::Entry& list, Problems* problems);

// Warns of options that are accepted from Flink CDC and do nothing here, with the reason.
void WarnOfIgnored(const OptionValues& values, Problems* problems);

std::optional<SourceDefinition> ParseSource(const YamlNode& block, const ComponentCatalog& catalog,
                                            Problems* problems);
std::optional<SinkDefinition> ParseSink(const YamlNode& block, const ComponentCatalog& catalog,
                                        Problems* problems);
std::vector<RouteDefinition> ParseRoutes(const YamlNode::Entry& list, Problems* problems);
std::vector<TransformDefinition> ParseTransforms(const YamlNode::Entry& list, Problems* problems);
std::vector<RuleDefinition> ParseRules(const YamlNode::Entry& list, Problems* problems);

}  // namespace driftless
