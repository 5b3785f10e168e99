#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "config/table_api/session.h"
#include "pipeline/cli/commands.h"

namespace driftless {
namespace {

struct TableArguments {
  std::string file;
  std::vector<std::string> statements;
  std::string mode = "streaming";
  std::string schema_style = "newest";
  bool continue_on_error = false;
};

Result<std::string> ReadProgram(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void PrintFailure(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", error.message().c_str());
  if (error.line() > 0) {
    std::fprintf(stderr, "  at line %d, column %d\n", error.line(), error.column());
  }
  if (!error.hint().empty()) std::fprintf(stderr, "%s\n", error.hint().c_str());
}

// Exit code: 0, or 1 where a statement has an error.
Result<int> RunTable(const TableArguments& arguments) {
  std::vector<std::string> texts = arguments.statements;
  if (texts.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string text, ReadProgram(arguments.file));
    texts.push_back(std::move(text));
  }
  table_api::TableOptions options;
  options.batch = arguments.mode == "batch";
  options.schema_style = arguments.schema_style == "tree" ? table_api::SchemaStyle::kTree
                                                          : table_api::SchemaStyle::kResolved;
  table_api::TableSession session(options);
  int code = 0;
  for (const std::string& text : texts) {
    auto statements = table_api::ParseJava(text);
    if (!statements) {
      PrintFailure(statements.error());
      code = 1;
      if (!arguments.continue_on_error) return code;
      continue;
    }
    for (const table_api::Statement& statement : *statements) {
      const auto printed = session.Execute(statement);
      if (printed) {
        std::fputs(printed->c_str(), stdout);
        continue;
      }
      PrintFailure(printed.error());
      code = 1;
      if (!arguments.continue_on_error) return code;
    }
  }
  return code;
}

}  // namespace

void AddTableCommand(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<TableArguments>();
  CLI::App* command = app->add_subcommand(
      "table", "Execute method chains of Flink's Table API and print what they print");
  auto* statement =
      command->add_option("-e,--execute", arguments->statements, "a statement; may be repeated");
  command
      ->add_option("--mode", arguments->mode,
                   "streaming (print() shows the op of every row) or batch")
      ->check(CLI::IsMember({"streaming", "batch"}));
  command
      ->add_option("--schema-style", arguments->schema_style,
                   "how printSchema() prints: as the newest release, or as the older tree")
      ->check(CLI::IsMember({"newest", "tree"}));
  command->add_flag("--continue-on-error", arguments->continue_on_error,
                    "go on behind a statement that failed");
  command->add_option("file", arguments->file, "file of statements, - for standard input")
      ->excludes(statement);
  command->callback([arguments, exit_code] {
    if (arguments->statements.empty() && arguments->file.empty()) {
      throw CLI::RequiredError("FILE or -e STATEMENT");
    }
    const auto code = RunTable(*arguments);
    if (!code) std::fprintf(stderr, "driftless table: %s\n", code.error().ToString().c_str());
    *exit_code = code.value_or(1);
  });
}

}  // namespace driftless
