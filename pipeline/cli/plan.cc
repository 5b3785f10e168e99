#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/cli/ddl_text.h"
#include "pipeline/cli/dry_run.h"
#include "pipeline/cli/live_check.h"
#include "pipeline/sources/source.h"
#include "pipeline/state/state_store.h"
#include "schema/coordinator/table_state.h"

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
  bool live = false;
};

// The dialect that the user names, else the source's own; files hold MySQL's, as Debezium's do.
Result<std::string> DialectOf(const PlanFlags& flags, const PipelineDefinition& definition) {
  if (flags.ddl.empty()) return std::string("mysql");  // there is nothing to read in it
  std::string name = flags.dialect;
  if (name.empty() && !definition.sources.empty()) name = definition.sources.front().type;
  if (name == "postgres" || name == "postgresql") {
    return MakeError(ErrorKind::kUnsupported,
                     "this build understands the DDL of MySQL and MariaDB and Flink SQL, not that "
                     "of PostgreSQL")
        .Hint(
            "Say it in MySQL's words with --dialect mysql, or in Flink SQL with --dialect flink.");
  }
  if (!flags.dialect.empty()) return name;
  if (name == "sql") return std::string("flink");
  return std::string(name == "mariadb" ? "mariadb" : "mysql");
}

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// How far the sinks have one stream.
Result<DryRun::StreamState> StateOf(const StateStore& store, StreamId stream) {
  DryRun::StreamState state;
  state.stream = stream;
  state.history = &store;
  DRIFTLESS_ASSIGN_OR_RETURN(state.transforms, store.Transforms(stream));
  bool begins_anew = false;
  const auto look = [&](const CutPosition& position, bool is_ahead) {
    const std::optional<Point> last = position.Last(stream);
    begins_anew = begins_anew || (!last && !is_ahead);
    if (!last) return;
    if (!state.covered || state.covered->Precedes(*last)) state.covered = last;
    if (!is_ahead && (!state.from || last->Precedes(*state.from))) state.from = last;
  };
  DRIFTLESS_ASSIGN_OR_RETURN(const auto sinks, store.Sinks());
  for (const StoredSink& sink : sinks) {
    DRIFTLESS_ASSIGN_OR_RETURN(const SinkPositions positions, store.Positions(sink.name));
    look(positions.base, false);
    for (const auto& [table, position] : positions.tables) {
      if (position.base) look(*position.base, false);
      for (const auto& [source, feed] : position.feeds) look(feed, true);
    }
  }
  if (begins_anew) state.from.reset();
  return state;
}

// What a start with other transforms than those of the last run does; before any statement.
Result<std::vector<PlannedStatement>> PlanOtherTransforms(const std::string& folder, DryRun* run) {
  std::vector<PlannedStatement> all;
  DRIFTLESS_ASSIGN_OR_RETURN(const auto store, StateStore::OpenShared(folder));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto streams, store->Streams());
  for (const auto& [stream, name] : streams) {
    DRIFTLESS_ASSIGN_OR_RETURN(DryRun::StreamState state, StateOf(*store, stream));
    DRIFTLESS_ASSIGN_OR_RETURN(auto planned, run->PlanOtherTransforms(std::move(state)));
    std::move(planned.begin(), planned.end(), std::back_inserter(all));
  }
  return all;
}

// The tables as the pipeline last knew them, and what their sink tables have.
Result<void> LoadState(const std::string& folder, DdlText* ddl, DryRun* run) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto store, StateStore::OpenShared(folder));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto versions, store->All(std::nullopt));
  std::map<TablePath, TableSchemaPtr> latest;
  uint64_t incarnations = 0;
  for (const SchemaVersion& version : versions) {
    latest[version.table] = version.schema;
    if (version.schema) incarnations = std::max(incarnations, version.schema->incarnation);
  }
  for (const auto& [path, schema] : latest) {
    if (schema) DRIFTLESS_TRY(ddl->Load(schema));
  }
  ddl->SetNextIncarnation(incarnations + 1);
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

// The tables as they are now, at the source and at the sinks that have them.
Result<void> LoadLive(const PipelineDefinition& definition, DdlText* ddl, DryRun* run) {
  for (const SourceDefinition& source : definition.sources) {
    Result<LiveReport> report = ExamineSource(definition, source);
    if (!report) return std::move(report).error().Context("source " + source.name);
    for (const LiveFinding& finding : report->findings) {
      std::fprintf(stderr, "warning: source %s: %s\n", source.name.c_str(), finding.what.c_str());
    }
    for (const TableSchemaPtr& table : report->tables) DRIFTLESS_TRY(ddl->Load(table));
  }
  for (const SinkDefinition& definition_of_sink : definition.sinks) {
    Result<std::unique_ptr<Sink>> sink = ConnectSink(definition, definition_of_sink);
    if (!sink && sink.error().kind() == ErrorKind::kUnsupported) {
      std::fprintf(stderr,
                   "warning: sink %s: %s; its tables are taken as the pipeline makes them\n",
                   definition_of_sink.name.c_str(), sink.error().message().c_str());
      continue;
    }
    if (!sink) return std::move(sink).error().Context("sink " + definition_of_sink.name);
    std::set<TablePath> looked_at;
    for (const TableSchemaPtr& table : ddl->Tables()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto targets, run->TargetsOf(table->path));
      for (const SinkTableKey& key : targets) {
        if (key.sink != definition_of_sink.name || !looked_at.insert(key.table).second) continue;
        auto actual = (*sink)->ReadTable(key.table);
        if (!actual) return std::move(actual).error().Context(key.ToString());
        run->SetActual(key, std::move(*actual));
      }
    }
  }
  return {};
}

// Where neither schema nor state names a table, its statements cannot be planned.
Error Explained(Error error, const PlanFlags& flags) {
  if (error.kind() == ErrorKind::kNotFound && flags.schema_file.empty() &&
      flags.state_folder.empty()) {
    return MakeError(error.kind(), error.message())
        .At(error.line(), error.column())
        .Hint(
            "Give the table's present schema with --schema FILE.sql or --state DIR, or ask the "
            "source for it with --live.");
  }
  return error;
}

Result<void> LoadTables(const PlanFlags& flags, const PipelineDefinition& definition, DdlText* ddl,
                        DryRun* run) {
  if (!flags.state_folder.empty()) DRIFTLESS_TRY(LoadState(flags.state_folder, ddl, run));
  if (!flags.schema_file.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadText(flags.schema_file));
    auto result = ddl->Run(script, [](auto&&...) -> Result<void> { return {}; });
    if (!result) return std::move(result).error().Context(flags.schema_file);
  }
  if (flags.live) DRIFTLESS_TRY(LoadLive(definition, ddl, run));
  for (const TableSchemaPtr& table : ddl->Tables()) DRIFTLESS_TRY(run->AddTable(table));
  return {};
}

Result<int> RunPlan(const PlanFlags& flags) {
  if (flags.ddl.empty() && flags.state_folder.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "there is nothing to plan")
        .Hint(
            "Give a statement with --ddl, or the pipeline's state with --state to see what its "
            "next "
            "start changes.");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      const PipelineDefinition definition,
      LoadPipeline(flags.pipeline, AllComponents(), nullptr,
                   flags.live ? MissingReference::kError : MissingReference::kWarning));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto run, DryRun::Make(definition));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string dialect, DialectOf(flags, definition));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto text, MakeDdlText(dialect, flags.database));
  DRIFTLESS_TRY(LoadTables(flags, definition, text.get(), run.get()));
  bool fails = false;
  bool rows_may_stop = false;
  const auto show = [&](const PlannedStatement& planned) {
    fails = fails || planned.fails();
    rows_may_stop = rows_may_stop || planned.rows_may_stop();
    const std::string shown = flags.output == "json" ? RenderJson(planned) : RenderText(planned);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  };
  if (!flags.state_folder.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto others,
                               PlanOtherTransforms(flags.state_folder, run.get()));
    for (const PlannedStatement& planned : others) show(planned);
  }
  const auto plan = [&](const std::string& statement, const std::vector<StatementChange>& changes,
                        const std::vector<RowsWithoutEvent>& rows) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(const PlannedStatement planned, run->Plan(statement, changes, rows));
    show(planned);
    return {};
  };
  for (const std::string& ddl : flags.ddl) {
    auto result = text->Run(ddl, plan);
    if (!result) return Explained(std::move(result).error(), flags);
  }
  if (fails) return 3;
  return rows_may_stop ? 4 : 0;
}

}  // namespace

void AddPlanCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "plan",
      "Show what a DDL statement would do at every sink, and with --state what the next start does "
      "because transforms have changed. Connects to nothing without --live.");
  auto flags = std::make_shared<PlanFlags>();
  command->add_option("pipeline", flags->pipeline, "Pipeline file")->required();
  command->add_option("--ddl", flags->ddl, "The statement, or several; may be repeated");
  command->add_option("--schema", flags->schema_file, "SQL file: the DDL that ran before");
  command->add_option("--state", flags->state_folder, "State folder of the pipeline");
  command
      ->add_option("--dialect", flags->dialect,
                   "mysql, mariadb or flink (Flink SQL); default: the source's")
      ->check(CLI::IsMember({"mysql", "mariadb", "flink", "postgres"}));
  command->add_flag("--live", flags->live,
                    "Ask the source for its tables and the sinks for theirs; changes nothing");
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
