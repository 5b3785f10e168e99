#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "config/definition/reference.h"
#include "config/options/render.h"
#include "config/options/suggest.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"

namespace driftless {
namespace {

struct OptionsFlags {
  std::string component;
  std::string output = "text";
  std::string write_reference;
};

// "paimon", "doris", "sink paimon", "sink-paimon", "pipeline".
bool Names(const OptionBlock& block, std::string_view wanted) {
  std::string dashed = block.name;
  std::replace(dashed.begin(), dashed.end(), ' ', '-');
  if (wanted == block.name || wanted == dashed) return true;
  const size_t space = block.name.find(' ');
  if (space != std::string::npos && !block.name.starts_with("every") &&
      wanted == std::string_view(block.name).substr(space + 1)) {
    return true;
  }
  return std::find(block.aliases.begin(), block.aliases.end(), wanted) != block.aliases.end();
}

void PrintList(const std::vector<OptionBlock>& blocks) {
  fmt::print("Blocks of a pipeline file; `driftless options NAME` shows the options of one.\n\n");
  for (const OptionBlock& block : blocks) {
    fmt::print("  {:<20} {}{}\n", block.name, block.summary, block.can_run ? "" : " (plans only)");
  }
}

int PrintOptions(const OptionsFlags& flags, const std::vector<OptionBlock>& blocks) {
  std::vector<OptionBlock> chosen;
  for (const OptionBlock& block : blocks) {
    if (flags.component.empty() || Names(block, flags.component)) chosen.push_back(block);
  }
  if (chosen.empty()) {
    std::vector<std::string_view> words;
    for (const OptionBlock& block : blocks) {
      words.push_back(std::string_view(block.name).substr(block.name.find(' ') + 1));
    }
    fmt::print(stderr, "driftless options: there is no source, sink or block \"{}\". {}\n",
               flags.component, Suggest(flags.component, words));
    return 2;
  }
  if (flags.output == "json") {
    fmt::print("{}", OptionBlocksJson(chosen));
    return 0;
  }
  if (flags.output == "text" && flags.component.empty()) {
    PrintList(chosen);
    return 0;
  }
  for (const OptionBlock& block : chosen) {
    if (flags.output == "markdown") {
      fmt::print("## {}\n\n{}\n\n{}\n", block.name, block.summary,
                 RenderOptionsMarkdown(block.options));
    } else {
      fmt::print("{}: {}\n\n{}\n", block.name, block.summary, RenderOptionsText(block.options));
    }
  }
  return 0;
}

// Writes the generated pages and removes generated ones that no block has any more.
int WriteReference(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::vector<ReferencePage> pages = ReferencePages(AllComponents());
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_known = std::any_of(pages.begin(), pages.end(),
                                      [&](const ReferencePage& page) { return page.file == name; });
    if (!is_known && name.ends_with(".md")) std::filesystem::remove(entry.path(), error);
  }
  for (const ReferencePage& page : pages) {
    std::ofstream out(std::filesystem::path(folder) / page.file, std::ios::binary);
    out << page.text;
    out.close();
    if (out.fail()) {
      fmt::print(stderr, "driftless options: cannot write {}/{}\n", folder, page.file);
      return 1;
    }
  }
  fmt::print("{} pages written to {}\n", pages.size(), folder);
  return 0;
}

}  // namespace

void AddOptionsCommand(CLI::App* app, int* exit_code) {
  CLI::App* command =
      app->add_subcommand("options", "Show the options of sources, sinks and all other blocks.");
  auto flags = std::make_shared<OptionsFlags>();
  command->add_option("component", flags->component,
                      "A source, a sink, or pipeline, rule, route, transform");
  command->add_option("--output", flags->output, "Form of the output")
      ->check(CLI::IsMember({"text", "markdown", "json"}));
  command->add_option("--write-reference", flags->write_reference,
                      "Write the reference pages and the JSON schema into this folder");
  command->callback([flags, exit_code] {
    *exit_code = flags->write_reference.empty()
                     ? PrintOptions(*flags, OptionBlocks(AllComponents()))
                     : WriteReference(flags->write_reference);
  });
}

}  // namespace driftless
