// Whatever stands in a pipeline file, reading it ends with a definition or with problems: no crash,
// no exception, no hang. Selectors and routes are part of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/definition/pipeline_definition.h"
#include "config/upgrade/diff.h"
#include "pipeline/cli/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless;
  ReferenceResolver resolver;
  resolver.environment = [](const std::string& name) -> std::optional<std::string> {
    return name.size() % 2 == 0 ? std::optional<std::string>("value") : std::nullopt;
  };
  resolver.file = [](const std::string&) -> Result<std::string> {
    return MakeError(ErrorKind::kNotFound, "no such file");
  };
  Problems problems;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<PipelineDefinition> definition =
      ParsePipeline(text, "fuzz.yaml", AllComponents(), resolver, &problems);
  // A definition exists exactly when there are no errors, and every problem can be shown.
  if (definition.has_value() == problems.has_errors()) std::abort();
  for (const Problem& problem : problems.Sorted()) {
    if (problem.message.empty() || problem.ToString("fuzz.yaml").empty()) std::abort();
  }
  if (!definition) return 0;
  for (const SinkDefinition& sink : definition->sinks) MakeSinkPolicy(*definition, sink);
  for (const RouteDefinition& route : definition->routes) {
    (void)route.pattern.Apply(TablePath{"", "db", "orders_1"});
  }
  if (PrintPipeline(*definition).empty()) std::abort();
  if (!DiffPipelines(*definition, *definition).empty()) std::abort();
  return 0;
}
