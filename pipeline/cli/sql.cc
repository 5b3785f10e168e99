#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/sql_prompt.h"
#include "pipeline/cli/stop_signals.h"
#include "pipeline/sql_host/client.h"
#include "pipeline/sql_host/pipeline_jobs.h"
#include "pipeline/sql_host/script_reader.h"
#include "pipeline/sql_host/session_store.h"

namespace driftless {
namespace {

struct SqlArguments {
  std::string file;
  std::vector<std::string> statements;
  std::string state;
  bool continue_on_error = false;
};

Result<std::string> ReadScript(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Rows of a table with the connector `print`: Flink writes them to the log of a task manager, so
// that standard output is the client's alone.
void PrintRow(std::string_view row) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(row.size()), row.data());
}

Result<std::string> ExecuteOne(SqlSessionStore* session, std::string_view statement) {
  auto outcome = session->Execute(statement);
  if (!outcome && !outcome.error().hint().empty()) {
    std::fprintf(stderr, "%s\n", outcome.error().hint().c_str());
  }
  return outcome;
}

bool IsTyped() { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

// What is typed or piped in, statement by statement. Returns 0, or 1 where a piped-in statement has
// an error.
int PlayStandardInput(SqlSessionStore* session) {
  SqlClient client([&](std::string_view sql) { return ExecuteOne(session, sql); });
  if (IsTyped()) {
    RunSqlPrompt(session, &client);
    return 0;
  }
  const std::string unfinished = PlayInput(
      &client,
      []() -> std::optional<std::string> {
        std::string line;
        return std::getline(std::cin, line) ? std::optional(std::move(line)) : std::nullopt;
      },
      [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        std::fflush(stdout);  // who writes the statements waits for the answers
      });
  if (unfinished.find_first_not_of(" \t\r\n") == std::string::npos) return client.failed() ? 1 : 0;
  std::fprintf(stderr,
               "driftless sql: the last statement has no ; at its end and was not executed: %s\n",
               unfinished.c_str());
  return 1;
}

// Waits for the pipelines that INSERTs started; a signal stops them as it stops one.
bool WaitFor(PipelineJobs* jobs) {
  std::fflush(stdout);
  jobs->Look();
  if (jobs->empty()) return jobs->Wait();
  if (IsTyped()) {
    std::fprintf(stderr, "Pipelines that still run:\n");
    for (const std::string& name : jobs->Names()) std::fprintf(stderr, "  %s\n", name.c_str());
    std::fprintf(stderr, "Ctrl-C lets them commit what they have read, and stops them.\n");
  }
  StopSignals signals;
  for (jobs->Look(); !jobs->empty(); jobs->Look()) {
    if (signals.Wait(200) > 0) jobs->Stop();
  }
  return jobs->Wait();
}

// What FILE or -e gives. Returns 0, or 1 where a statement has an error.
Result<int> PlayStatements(const SqlArguments& arguments, SqlSessionStore* session) {
  std::vector<ScriptStatement> statements;
  for (const auto& text : arguments.statements) statements.push_back({text, 1});
  if (arguments.statements.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadScript(arguments.file));
    statements = ReadSqlScript(script);
  }
  int code = 0;
  for (const ScriptStatement& statement : statements) {
    const auto outcome = ExecuteOne(session, statement.text);
    std::fputs(SqlAnswer(outcome).c_str(), stdout);
    if (outcome) continue;
    code = 1;
    if (arguments.continue_on_error) continue;
    if (arguments.statements.empty()) {
      std::fprintf(stderr, "driftless sql: stopped at the statement in line %d\n", statement.line);
    }
    break;
  }
  return code;
}

// Exit code: 0, or 1 where a statement or a pipeline has an error.
Result<int> RunSql(const SqlArguments& arguments) {
  std::error_code ignored;
  PipelineJobs jobs(arguments.state.empty() ? "driftless-state" : arguments.state,
                    std::filesystem::read_symlink("/proc/self/exe", ignored), &AllComponents());
  DRIFTLESS_ASSIGN_OR_RETURN(SqlSessionStore session, SqlSessionStore::Open(arguments.state));
  session.SetPrint(PrintRow);
  session.SetHost(&jobs);
  const bool from_input = arguments.statements.empty() && arguments.file.empty();
  if (from_input && IsTyped()) jobs.KeepLogs();
  const Result<int> code =
      from_input ? PlayStandardInput(&session) : PlayStatements(arguments, &session);
  if (!code || (*code != 0 && !from_input && !arguments.continue_on_error)) jobs.Stop();
  const bool ran = WaitFor(&jobs);
  if (!code) return code;
  return ran ? *code : 1;
}

}  // namespace

void AddSqlCommand(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command =
      app->add_subcommand("sql",
                          "A Flink SQL session: executes statements and prints what Flink's client "
                          "prints; INSERTs between tables of connectors run as pipelines");
  auto* statement =
      command->add_option("-e,--execute", arguments->statements, "a statement; may be repeated");
  command->add_option("--state", arguments->state,
                      "folder that keeps the session (catalogs, tables, settings) between calls");
  command->add_flag("--continue-on-error", arguments->continue_on_error,
                    "go on behind a statement that failed");
  command
      ->add_option("file", arguments->file,
                   "SQL script, - for standard input; without it and without -e statements are "
                   "taken as they come from standard input")
      ->excludes(statement);
  command->callback([arguments, exit_code] {
    const auto code = RunSql(*arguments);
    if (!code) std::fprintf(stderr, "driftless sql: %s\n", code.error().ToString().c_str());
    *exit_code = code.value_or(1);
  });
}

}  // namespace driftless
