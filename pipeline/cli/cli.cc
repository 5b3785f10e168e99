#include "pipeline/cli/cli.h"

#include <CLI/CLI.hpp>

#include "pipeline/cli/commands.h"

namespace driftless {

int RunCommandLine(int argc, char** argv) {
  CLI::App app("Keeps lakes and warehouses in step with databases, through schema changes.",
               "driftless");
  app.require_subcommand(1);
  int exit_code = 0;
  // One command a line.
  constexpr decltype(&AddDdlCommand) kCommands[] = {
      AddRunCommand,     AddValidateCommand, AddPlanCommand,    AddExplainCommand,
      AddDiffCommand,    AddHistoryCommand,  AddAuditCommand,   AddDivergencesCommand,
      AddApproveCommand, AddRejectCommand,   AddDecideCommand,  AddPeekCommand,
      AddTestCommand,    AddMatrixCommand,   AddOptionsCommand, AddDdlCommand,
      AddSqlCommand,     AddTableCommand,    AddCompatCommand,  AddAcknowledgeCommand,
  };
  for (const auto add : kCommands) {
    add(&app, &exit_code);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}

}  // namespace driftless
