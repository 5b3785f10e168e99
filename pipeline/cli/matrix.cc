#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
#include "schema/matrix/render.h"
#include "sinks/api/component.h"

namespace driftless {
namespace {

struct MatrixFlags {
  std::string sink;
  std::string output = "text";
};

bool Is(const SinkComponent& component, const std::string& type) {
  if (component.type == type) return true;
  for (std::string_view alias : component.aliases) {
    if (alias == type) return true;
  }
  return false;
}

int PrintMatrix(const MatrixFlags& flags) {
  std::vector<const CapabilityMatrix*> matrices;
  std::string known;
  for (const SinkComponent& component : AllSinks()) {
    if (component.matrix == nullptr || component.matrix->cells.empty()) continue;
    known += (known.empty() ? "" : ", ") + std::string(component.type);
    const bool wanted = flags.sink.empty() ? component.matrix->listed : Is(component, flags.sink);
    if (wanted) matrices.push_back(component.matrix);
  }
  if (matrices.empty()) {
    std::fprintf(stderr, "driftless matrix: no sink \"%s\" has a matrix; there are: %s\n",
                 flags.sink.c_str(), known.c_str());
    return 2;
  }
  std::string text;
  if (flags.output == "csv") {
    text = RenderCsv(matrices);
  } else if (flags.output == "json") {
    text = RenderJson(matrices);
  } else if (flags.output == "markdown") {
    text = RenderMarkdown(matrices);
  } else {
    text = RenderText(matrices);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

void AddMatrixCommand(CLI::App* app, int* exit_code) {
  CLI::App* command =
      app->add_subcommand("matrix", "Show what each sink does with each kind of schema change.");
  auto flags = std::make_shared<MatrixFlags>();
  command->add_option("sink", flags->sink, "Show this sink only");
  command->add_option("--output", flags->output, "Form of the output")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}));
  command->callback([flags, exit_code] { *exit_code = PrintMatrix(*flags); });
}

}  // namespace driftless
