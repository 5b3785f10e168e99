#pragma once

namespace CLI {
class App;
}

// The commands, one file each; the list that calls these stands in cli.cc.
namespace driftless {

void AddAcknowledgeCommand(CLI::App* app, int* exit_code);
void AddApproveCommand(CLI::App* app, int* exit_code);
void AddAuditCommand(CLI::App* app, int* exit_code);
void AddCompatCommand(CLI::App* app, int* exit_code);
void AddDdlCommand(CLI::App* app, int* exit_code);
void AddDecideCommand(CLI::App* app, int* exit_code);
void AddDiffCommand(CLI::App* app, int* exit_code);
void AddDivergencesCommand(CLI::App* app, int* exit_code);
void AddExplainCommand(CLI::App* app, int* exit_code);
void AddHistoryCommand(CLI::App* app, int* exit_code);
void AddMatrixCommand(CLI::App* app, int* exit_code);
void AddOptionsCommand(CLI::App* app, int* exit_code);
void AddPeekCommand(CLI::App* app, int* exit_code);
void AddPlanCommand(CLI::App* app, int* exit_code);
void AddRejectCommand(CLI::App* app, int* exit_code);
void AddRunCommand(CLI::App* app, int* exit_code);
void AddSqlCommand(CLI::App* app, int* exit_code);
void AddTableCommand(CLI::App* app, int* exit_code);
void AddTestCommand(CLI::App* app, int* exit_code);
void AddValidateCommand(CLI::App* app, int* exit_code);

}  // namespace driftless
