#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/dry_run.h"
#include "pipeline/state/state_store.h"
#include "schema/coordinator/table_state.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/lexer.h"
#include "schema/ddl/mysql/splitter.h"

namespace driftless {
namespace {

struct PlanFlags {
  std::string pipeline;
  std::vector<std::string> ddl;
  std::string schema_file;
  std::string state_folder;
  std::string dialect;
  std::string database;
  std::string output = "text";
};

// The dialect that the user names, else the source's own; files hold MySQL's, as Debezium's do.
Result<mysql::Dialect> DialectOf(const PlanFlags& flags, const PipelineDefinition& definition) {
  std::string name = flags.dialect;
  if (name.empty() && !definition.sources.empty()) name = definition.sources.front().type;
  if (name == "flink" || name == "postgres" || name == "postgresql") {
    return MakeError(ErrorKind::kUnsupported,
                     "this build understands the DDL of MySQL and MariaDB, not of " + name)
        .Hint("Say it in MySQL's words with --dialect mysql.");
  }
  return mysql::ParseDialect(name == "mariadb" ? "mariadb" : "mysql");
}

// Runs every statement of a script on the catalog and hands its effect to `visit`.
template <typename Visit>
Result<void> RunScript(const std::string& script, const std::string& database,
                       mysql::DdlCatalog* catalog, Visit visit) {
  mysql::StatementContext context;
  context.default_database = database;
  for (const auto& statement : mysql::SplitStatements(script, catalog->settings(), {})) {
    auto effect = catalog->Apply(statement.text, context);
    if (!effect) {
      const Error& error = effect.error();
      const mysql::LineColumn at = mysql::LocateOffset(script, statement.begin);
      const int line = at.line + std::max(error.line(), 1) - 1;
      const int column =
          error.line() > 1 ? error.column() : at.column + std::max(error.column(), 1) - 1;
      return MakeError(error.kind(), error.message()).At(line, column).Hint(error.hint());
    }
    if (effect->kind == mysql::StatementEffect::Kind::kUse) {
      context.default_database = effect->database;
    }
    DRIFTLESS_TRY(visit(std::string(statement.text), *effect));
  }
  return {};
}

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The tables as the pipeline last knew them, and what their sink tables have.
Result<void> LoadState(const std::string& folder, mysql::DdlCatalog* catalog, DryRun* run) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto store, StateStore::OpenShared(folder));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto versions, store->All(std::nullopt));
  std::map<TablePath, TableSchemaPtr> latest;
  uint64_t incarnations = 0;
  for (const SchemaVersion& version : versions) {
    latest[version.table] = version.schema;
    if (version.schema) incarnations = std::max(incarnations, version.schema->incarnation);
  }
  for (const auto& [path, schema] : latest) {
    if (schema) catalog->Load(schema);
  }
  catalog->SetNextIncarnation(incarnations + 1);
  DRIFTLESS_ASSIGN_OR_RETURN(const auto streams, store->Streams());
  std::vector<TransformVersion> transforms;
  for (const auto& [stream, name] : streams) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<TransformVersion> more, store->Transforms(stream));
    transforms.insert(transforms.end(), more.begin(), more.end());
  }
  DRIFTLESS_TRY(run->SetTransforms(std::move(transforms)));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto states, store->TableStates());
  for (const StoredTableState& stored : states) {
    DRIFTLESS_ASSIGN_OR_RETURN(TableState state, ParseTableState(stored.state));
    run->SetState(stored.table, std::move(state));
  }
  return {};
}

// Where neither schema nor state names a table, its statements cannot be planned.
Error Explained(Error error, const PlanFlags& flags) {
  if (error.kind() == ErrorKind::kNotFound && flags.schema_file.empty() &&
      flags.state_folder.empty()) {
    return MakeError(error.kind(), error.message())
        .At(error.line(), error.column())
        .Hint("Give the table's present schema with --schema FILE.sql or --state DIR.");
  }
  return error;
}

Result<int> RunPlan(const PlanFlags& flags) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const PipelineDefinition definition,
      LoadPipeline(flags.pipeline, AllComponents(), nullptr, MissingReference::kWarning));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto run, DryRun::Make(definition));
  mysql::ServerSettings settings;
  DRIFTLESS_ASSIGN_OR_RETURN(settings.dialect, DialectOf(flags, definition));
  mysql::DdlCatalog catalog(settings);
  if (!flags.state_folder.empty()) {
    DRIFTLESS_TRY(LoadState(flags.state_folder, &catalog, run.get()));
  }
  if (!flags.schema_file.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadText(flags.schema_file));
    auto result =
        RunScript(script, flags.database, &catalog, [](auto&&...) -> Result<void> { return {}; });
    if (!result) return std::move(result).error().Context(flags.schema_file);
  }
  for (const TableSchemaPtr& table : catalog.Tables()) DRIFTLESS_TRY(run->AddTable(table));
  bool fails = false;
  bool rows_may_stop = false;
  for (const std::string& ddl : flags.ddl) {
    auto result = RunScript(
        ddl, flags.database, &catalog,
        [&](const std::string& text, const mysql::StatementEffect& effect) -> Result<void> {
          DRIFTLESS_ASSIGN_OR_RETURN(const PlannedStatement planned,
                                     run->Plan(text, effect.changes));
          fails = fails || planned.fails();
          rows_may_stop = rows_may_stop || planned.rows_may_stop();
          const std::string shown =
              flags.output == "json" ? RenderJson(planned) : RenderText(planned);
          std::fwrite(shown.data(), 1, shown.size(), stdout);
          return {};
        });
    if (!result) return Explained(std::move(result).error(), flags);
  }
  if (fails) return 3;
  return rows_may_stop ? 4 : 0;
}

}  // namespace

void AddPlanCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "plan", "Show what a DDL statement would do at every sink, without connecting to anything.");
  auto flags = std::make_shared<PlanFlags>();
  command->add_option("pipeline", flags->pipeline, "Pipeline file")->required();
  command->add_option("--ddl", flags->ddl, "The statement, or several; may be repeated")
      ->required();
  command->add_option("--schema", flags->schema_file, "SQL file: the DDL that ran before");
  command->add_option("--state", flags->state_folder, "State folder of the pipeline");
  command->add_option("--dialect", flags->dialect, "mysql or mariadb; default: the source's");
  command->add_option("--database", flags->database, "The default database of the statements");
  command->add_option("--output", flags->output, "Form of the output")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer("Exit code 3: a verdict is `fail`. 4: rows may stop the pipeline later.");
  command->callback([flags, exit_code] {
    const Result<int> result = RunPlan(*flags);
    if (!result) {
      std::fprintf(stderr, "driftless plan: %s\n", result.error().ToString().c_str());
    }
    *exit_code = result ? *result : 1;
  });
}

}  // namespace driftless
