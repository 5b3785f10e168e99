#include <fmt/format.h>

#include "config/definition/pipeline_definition.h"
#include "config/options/render.h"

namespace driftless {
namespace {

// The lines of a list item: "- " before the first of them.
std::string AsItem(std::string lines) {
  const size_t first = lines.find_first_not_of(' ');
  if (first != std::string::npos && first >= 2) lines.replace(first - 2, 2, "- ");
  return lines;
}

template <typename Definition>
std::string PrintComponents(std::string_view one, std::string_view many,
                            const std::vector<Definition>& definitions) {
  const bool single = definitions.size() == 1;
  std::string text = fmt::format("{}:\n", single ? one : many);
  for (const Definition& definition : definitions) {
    const int indent = single ? 2 : 4;
    const std::string lines =
        RenderValues(definition.shared, indent) + RenderValues(definition.options, indent);
    text += single ? lines : AsItem(lines);
  }
  return text;
}

std::string Quote(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

}  // namespace

std::string PrintPipeline(const PipelineDefinition& definition) {
  std::string text = PrintComponents("source", "sources", definition.sources) +
                     PrintComponents("sink", "sinks", definition.sinks);
  if (!definition.routes.empty()) text += "route:\n";
  for (const RouteDefinition& route : definition.routes) {
    text += fmt::format("  - source-table: {}\n    sink-table: {}\n", Quote(route.source_table),
                        Quote(route.sink_table));
    if (!route.replace_symbol.empty()) {
      text += fmt::format("    replace-symbol: {}\n", Quote(route.replace_symbol));
    }
    if (!route.sinks.empty())
      text += fmt::format("    sinks: [{}]\n", fmt::join(route.sinks, ", "));
  }
  if (!definition.transforms.empty()) text += "transform:\n";
  for (const TransformDefinition& transform : definition.transforms) {
    text += fmt::format("  - source-table: {}\n", Quote(transform.source_table));
    if (!transform.projection.empty()) {
      text += fmt::format("    projection: {}\n", Quote(transform.projection));
    }
    if (!transform.filter.empty()) text += fmt::format("    filter: {}\n", Quote(transform.filter));
  }
  text += "pipeline:\n" + RenderValues(definition.option_values, 2);
  for (const RuleDefinition& rule : definition.rules) text += "  # " + rule.rule.text + "\n";
  return text;
}

}  // namespace driftless
