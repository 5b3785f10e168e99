#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/upgrade/diff.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/compat.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

struct DiffFlags {
  std::string from;
  std::string to;
  std::string output = "text";
};

std::optional<PipelineDefinition> Load(const std::string& file) {
  const Result<std::string> text = ReadPipelineFile(file);
  if (!text) {
    fmt::print(stderr, "error: {}\n", text.error().ToString());
    return std::nullopt;
  }
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  resolver.missing_is_warning = true;  // only differences matter here
  Problems problems;
  std::optional<PipelineDefinition> definition =
      ParsePipeline(*text, file, AllComponents(), resolver, &problems);
  for (const Problem& problem : problems.Sorted()) {
    if (problem.severity == Problem::Severity::kError) {
      fmt::print(stderr, "{}\n", problem.ToString(file));
    }
  }
  return definition;
}

void PrintText(const std::vector<ConfigChange>& changes) {
  if (changes.empty()) fmt::print("no differences\n");
  for (const ConfigChange& change : changes) {
    fmt::print("{:<13} {}: {}", ToString(change.effect), change.where, change.what);
    if (!change.from.empty() && !change.to.empty()) {
      fmt::print(": {} -> {}", change.from, change.to);
    } else if (!change.from.empty() || !change.to.empty()) {
      fmt::print(": {}{}", change.from, change.to);
    }
    fmt::print("\n              {}\n", change.meaning);
  }
}

void PrintJson(const std::vector<ConfigChange>& changes) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("effect").String(ToString(StrongestEffect(changes)));
  json.Key("changes").BeginArray();
  for (const ConfigChange& change : changes) {
    json.BeginObject().Key("effect").String(ToString(change.effect));
    json.Key("where").String(change.where).Key("what").String(change.what);
    json.Key("from").String(change.from).Key("to").String(change.to);
    json.Key("meaning").String(change.meaning).EndObject();
  }
  json.EndArray().EndObject();
  fmt::print("{}\n", text);
}

// 0: the job keeps all of its state; 3: some of it starts anew, or nobody can tell.
int DiffScripts(const DiffFlags& flags) {
  const auto verdict = CompareSqlScripts(flags.from, flags.to, {}, flags.output);
  if (verdict) return *verdict == flink::CompatVerdict::kFull ? 0 : 3;
  fmt::print(stderr, "error: {}\n", verdict.error().ToString());
  return 1;
}

// 0: a restart is enough; 3: something needs a new state or does not fit.
int Diff(const DiffFlags& flags) {
  if (flags.from.ends_with(".sql") && flags.to.ends_with(".sql")) return DiffScripts(flags);
  const std::optional<PipelineDefinition> from = Load(flags.from);
  const std::optional<PipelineDefinition> to = Load(flags.to);
  if (!from || !to) return 1;
  const std::vector<ConfigChange> changes = DiffPipelines(*from, *to);
  if (flags.output == "json") {
    PrintJson(changes);
  } else {
    PrintText(changes);
  }
  return StrongestEffect(changes) >= UpgradeEffect::kNewState ? 3 : 0;
}

}  // namespace

void AddDiffCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand("diff",
                                          "Show what a changed pipeline file means for a pipeline "
                                          "that runs with the old one, or a changed "
                                          "Flink SQL script (.sql) for its job's state.");
  auto flags = std::make_shared<DiffFlags>();
  command->add_option("old", flags->from, "The pipeline file as it was")->required();
  command->add_option("new", flags->to, "The pipeline file as it will be")->required();
  command->add_option("--output", flags->output, "Form of the output")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([flags, exit_code] { *exit_code = Diff(*flags); });
}

}  // namespace driftless
