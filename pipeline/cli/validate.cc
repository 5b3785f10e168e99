#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/live_check.h"

namespace driftless {
namespace {

struct ValidateFlags {
  std::vector<std::string> files;
  bool without_secrets = false;
  bool strict = false;
  bool show = false;
  bool live = false;
};

std::string Count(size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string Describe(const PipelineDefinition& definition) {
  std::vector<std::string> sources;
  std::vector<std::string> sinks;
  for (const SourceDefinition& source : definition.sources) sources.push_back(source.type);
  for (const SinkDefinition& sink : definition.sinks) {
    sinks.push_back(sink.name == sink.type ? sink.type
                                           : fmt::format("{} ({})", sink.name, sink.type));
  }
  std::string text = fmt::format("pipeline \"{}\": {} -> {}, {}", definition.options.name,
                                 fmt::join(sources, ", "), fmt::join(sinks, ", "),
                                 ToString(definition.options.behavior));
  if (!definition.routes.empty()) text += ", " + Count(definition.routes.size(), "route");
  if (!definition.transforms.empty())
    text += ", " + Count(definition.transforms.size(), "transform");
  if (!definition.rules.empty()) text += ", " + Count(definition.rules.size(), "rule");
  return text;
}

// Problems go to standard error, the verdict to standard output. Returns whether the file is good.
bool ValidateFile(const std::string& file, const ValidateFlags& flags) {
  const Result<std::string> text = ReadPipelineFile(file);
  if (!text) {
    fmt::print(stderr, "error: {}\n", text.error().ToString());
    return false;
  }
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  resolver.missing_is_warning = flags.without_secrets;
  Problems problems;
  const std::optional<PipelineDefinition> definition =
      ParsePipeline(*text, file, AllComponents(), resolver, &problems);
  const std::vector<Problem> all = problems.Sorted();
  for (const Problem& problem : all) fmt::print(stderr, "{}\n", problem.ToString(file));
  const size_t warnings = all.size() - problems.error_count();
  if (!definition) {
    fmt::print("{}: {}, {}\n", file, Count(problems.error_count(), "error"),
               Count(warnings, "warning"));
    return false;
  }
  if (flags.show) fmt::print("{}", PrintPipeline(*definition));
  fmt::print("{}: ok, {}; {}\n", file, Count(warnings, "warning"), Describe(*definition));
  bool good = warnings == 0 || !flags.strict;
  if (flags.live) {
    const LiveCount found = CheckLive(*definition);
    fmt::print("{}: live: {}, {}\n", file, Count(found.errors, "error"),
               Count(found.warnings, "warning"));
    good = good && found.errors == 0 && (found.warnings == 0 || !flags.strict);
  }
  return good;
}

int Validate(const ValidateFlags& flags) {
  bool good = true;
  for (const std::string& file : flags.files) good &= ValidateFile(file, flags);
  return good ? 0 : 1;
}

}  // namespace

void AddValidateCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "validate",
      "Check pipeline files; shows all errors at once. Connects to nothing without --live.");
  auto flags = std::make_shared<ValidateFlags>();
  command->add_option("pipeline", flags->files, "Pipeline files")->required();
  command->add_flag("--without-secrets", flags->without_secrets,
                    "Accept references to variables and files that are not there");
  command->add_flag("--show", flags->show, "Print what holds, defaults included, without secrets");
  command->add_flag("--live", flags->live,
                    "Look at the servers too: privileges, settings, tables, and whether the sinks' "
                    "tables fit; changes nothing");
  command->add_flag("--strict", flags->strict, "Fail on warnings too");
  command->callback([flags, exit_code] { *exit_code = Validate(*flags); });
}

}  // namespace driftless
