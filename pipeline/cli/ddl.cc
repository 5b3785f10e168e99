#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "pipeline/cli/commands.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/event_json.h"
#include "schema/ddl/mysql/lexer.h"
#include "schema/ddl/mysql/splitter.h"

namespace driftless {
namespace {

struct DdlArguments {
  std::string dialect = "mysql";
  std::string server_version;
  std::string database;
  std::string sql_mode;
  std::string schema_file;
  std::string statement;
  std::string file;
  bool has_statement = false;
};

Result<std::string> ReadText(const std::string& path) {
  if (path == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// "8.0.36" to 80036, "10.11.19" to 101119.
Result<int> ParseServerVersion(const std::string& text) {
  int numbers[3] = {0, 0, 0};
  if (std::sscanf(text.c_str(), "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]) < 2 ||
      numbers[1] > 99 || numbers[2] > 99) {
    return MakeError(ErrorKind::kInvalidConfig, "\"" + text + "\" is not a server version")
        .Hint("Write it like 8.0.36 or 10.11.19.");
  }
  return numbers[0] * 10000 + numbers[1] * 100 + numbers[2];
}

// One script run on one catalog: prints a line per statement, or (quiet) stops at the first error.
class ScriptRun {
 public:
  ScriptRun(mysql::DdlCatalog* catalog, std::string database, std::string_view script)
      : catalog_(catalog), script_(script) {
    context_.default_database = std::move(database);
  }

  void SetSqlMode(const mysql::SqlMode& mode) { context_.sql_mode = mode; }
  const std::string& database() const { return context_.default_database; }

  // One statement at `begin` of the script. Returns the error with its place in the script.
  Result<mysql::StatementEffect> Apply(std::string_view text, size_t begin) {
    auto effect = catalog_->Apply(text, context_);
    if (!effect) {
      const Error& error = effect.error();
      const mysql::LineColumn start = mysql::LocateOffset(script_, begin);
      const int line = start.line + std::max(error.line(), 1) - 1;
      const int column =
          error.line() > 1 ? error.column() : start.column + std::max(error.column(), 1) - 1;
      return MakeError(error.kind(), error.message()).At(line, column);
    }
    if (effect->kind == mysql::StatementEffect::Kind::kUse) {
      context_.default_database = effect->database;
    }
    return effect;
  }

  bool ApplyAndPrint(std::string_view text, size_t begin) {
    const auto effect = Apply(text, begin);
    const std::string sql = mysql::JsonString(text);
    if (effect) {
      std::printf("{\"sql\":%s,%s}\n", sql.c_str(),
                  mysql::EffectJson(*effect, catalog_->settings()).c_str());
      return true;
    }
    const Error& error = effect.error();
    std::printf("{\"sql\":%s,\"error\":{\"message\":%s,\"line\":%d,\"column\":%d}}\n", sql.c_str(),
                mysql::JsonString(error.message()).c_str(), error.line(), error.column());
    return false;
  }

 private:
  mysql::DdlCatalog* catalog_;
  std::string_view script_;
  mysql::StatementContext context_;
};

Result<void> RunSchemaFile(const std::string& path, const std::string& database,
                           mysql::DdlCatalog* catalog) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadText(path));
  ScriptRun run(catalog, database, script);
  for (const auto& statement : mysql::SplitStatements(script, catalog->settings(), {})) {
    auto effect = run.Apply(statement.text, statement.begin);
    if (!effect) return std::move(effect).error().Context(path);
  }
  return {};
}

// Exit code: 0, or 1 where a statement has an error.
Result<int> RunDdl(const DdlArguments& arguments) {
  mysql::ServerSettings settings;
  DRIFTLESS_ASSIGN_OR_RETURN(settings.dialect, mysql::ParseDialect(arguments.dialect));
  if (!arguments.server_version.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(settings.version, ParseServerVersion(arguments.server_version));
  }
  settings.track_temporary_tables = true;  // a script is one session
  mysql::DdlCatalog catalog(settings);
  if (!arguments.schema_file.empty()) {
    DRIFTLESS_TRY(RunSchemaFile(arguments.schema_file, arguments.database, &catalog));
  }
  std::string script = arguments.statement;
  if (!arguments.has_statement) {
    DRIFTLESS_ASSIGN_OR_RETURN(script, ReadText(arguments.file));
  }
  ScriptRun run(&catalog, arguments.database, script);
  const mysql::SqlMode mode = mysql::ParseSqlMode(arguments.sql_mode);
  run.SetSqlMode(mode);
  if (arguments.has_statement) return run.ApplyAndPrint(script, 0) ? 0 : 1;
  bool all_good = true;
  for (const auto& statement : mysql::SplitStatements(script, settings, mode)) {
    all_good = run.ApplyAndPrint(statement.text, statement.begin) && all_good;
  }
  return all_good ? 0 : 1;
}

}  // namespace

void AddDdlCommand(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<DdlArguments>();
  CLI::App* command = app->add_subcommand(
      "ddl", "Print what Driftless understands of DDL, a JSON line a statement");
  command->add_option("--dialect", arguments->dialect, "mysql (default) or mariadb");
  command->add_option("--server-version", arguments->server_version,
                      "of the server whose rules hold, such as 8.0.36; default: a recent one");
  command->add_option("--database", arguments->database, "the default database");
  command->add_option("--sql-mode", arguments->sql_mode,
                      "sql_mode of the statements (not of the schema file), such as ANSI_QUOTES");
  command->add_option("--schema", arguments->schema_file, "SQL file: the DDL that ran before");
  auto* statement = command->add_option("-e,--execute", arguments->statement, "one statement");
  command->add_option("file", arguments->file, "SQL file with statements, - for standard input")
      ->excludes(statement);
  command->callback([arguments, statement, exit_code] {
    arguments->has_statement = statement->count() > 0;
    if (!arguments->has_statement && arguments->file.empty()) {
      throw CLI::RequiredError("FILE or -e STATEMENT");
    }
    const auto code = RunDdl(*arguments);
    if (!code) std::fprintf(stderr, "driftless ddl: %s\n", code.error().ToString().c_str());
    *exit_code = code.value_or(1);
  });
}

}  // namespace driftless
