#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
#include "pipeline/script/script_runner.h"

namespace driftless {
namespace {

struct TestFlags {
  std::vector<std::string> files;
  bool keep = false;
  bool log = false;
};

void PrintFailure(const std::string& file, int line, std::string_view text) {
  fmt::print("FAIL {}:{}: ", file, line);
  // The lines behind the first one are indented, so that the eye finds the next failure.
  for (const char c : text) fmt::print("{}{}", c, c == '\n' ? "  " : "");
  fmt::print("\n");
}

// Returns whether the script went as it says.
bool RunFile(const std::string& file, const TestFlags& flags) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    PrintFailure(file, 0, "cannot be read");
    return false;
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  auto script = ParseScript(text, file);
  if (!script) {
    PrintFailure(file, script.error().line(), script.error().ToString());
    return false;
  }
  const auto report = RunScript(*std::move(script), {.keep_folder = flags.keep});
  if (!report) {
    PrintFailure(file, 0, report.error().ToString());
    return false;
  }
  for (const ScriptFailure& failure : report->failures) {
    PrintFailure(file, failure.line, failure.text);
  }
  if (report->ok()) {
    fmt::print("ok   {} ({} expectation{})\n", file, report->expectations,
               report->expectations == 1 ? "" : "s");
  }
  if (!report->folder.empty()) fmt::print("     state and warehouse: {}\n", report->folder);
  return report->ok();
}

}  // namespace

void AddTestCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "test", "Play .drift scripts: DDL and rows in, verdicts, schemas and rows out.");
  auto flags = std::make_shared<TestFlags>();
  command->add_option("files", flags->files, "Scripts")->required();
  command->add_flag("--keep", flags->keep, "Keep each script's state and warehouse, and say where");
  command->add_flag("--log", flags->log, "Show the pipeline's own log");
  command->callback([flags, exit_code] {
    if (!flags->log) spdlog::set_level(spdlog::level::off);
    size_t failed = 0;
    for (const std::string& file : flags->files) failed += RunFile(file, *flags) ? 0 : 1;
    if (flags->files.size() > 1) {
      fmt::print("{} of {} scripts passed\n", flags->files.size() - failed, flags->files.size());
    }
    *exit_code = failed == 0 ? 0 : 1;
  });
}

}  // namespace driftless
