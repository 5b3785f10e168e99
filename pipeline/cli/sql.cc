#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
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

void PrintFailure(const Error& error) {
  std::printf("[ERROR] Could not execute SQL statement. Reason:\n%s\n", error.message().c_str());
  if (!error.hint().empty()) std::fprintf(stderr, "%s\n", error.hint().c_str());
}

// Exit code: 0, or 1 where a statement has an error.
Result<int> RunSql(const SqlArguments& arguments) {
  std::vector<ScriptStatement> statements;
  for (const auto& text : arguments.statements) statements.push_back({text, 1});
  if (arguments.statements.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadScript(arguments.file));
    statements = ReadSqlScript(script);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(SqlSessionStore session, SqlSessionStore::Open(arguments.state));
  int code = 0;
  for (const ScriptStatement& statement : statements) {
    const auto output = session.Execute(statement.text);
    if (output) {
      std::fputs(output->c_str(), stdout);
      continue;
    }
    PrintFailure(output.error());
    code = 1;
    if (arguments.continue_on_error) continue;
    if (arguments.statements.empty()) {
      std::fprintf(stderr, "driftless sql: stopped at the statement in line %d\n", statement.line);
    }
    break;
  }
  return code;
}

}  // namespace

void AddSqlCommand(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command =
      app->add_subcommand("sql", "Execute Flink SQL DDL and print what Flink's client prints");
  auto* statement =
      command->add_option("-e,--execute", arguments->statements, "a statement; may be repeated");
  command->add_option("--state", arguments->state,
                      "folder that keeps the session (catalogs, tables, settings) between calls");
  command->add_flag("--continue-on-error", arguments->continue_on_error,
                    "go on behind a statement that failed");
  command->add_option("file", arguments->file, "SQL script, - for standard input")
      ->excludes(statement);
  command->callback([arguments, exit_code] {
    if (arguments->statements.empty() && arguments->file.empty()) {
      throw CLI::RequiredError("FILE or -e STATEMENT");
    }
    const auto code = RunSql(*arguments);
    if (!code) std::fprintf(stderr, "driftless sql: %s\n", code.error().ToString().c_str());
    *exit_code = code.value_or(1);
  });
}

}  // namespace driftless
