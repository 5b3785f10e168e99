#include "pipeline/cli/live_check.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "pipeline/cli/dry_run.h"
#include "pipeline/sources/source.h"
#include "sinks/api/component.h"
#include "sinks/api/server_version.h"

namespace driftless {

Result<LiveReport> ExamineSource(const PipelineDefinition& definition,
                                 const SourceDefinition& source) {
  for (const SourceComponent& component : AllSources()) {
    if (component.type != source.type || component.make_source == nullptr) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const auto made, component.make_source(source.options));
    SourceContext context;
    context.pipeline_name = definition.options.name;
    context.local_time_zone = definition.options.local_time_zone;
    context.clock = SystemClock();
    context.on_unparsed_ddl = definition.options.on_unparsed_ddl;
    return made->Examine(context);
  }
  return MakeError(ErrorKind::kUnsupported,
                   fmt::format("this build cannot read a {} source", source.type));
}

namespace {

Result<std::unique_ptr<Sink>> Connect(const PipelineDefinition& definition,
                                      const SinkDefinition& sink, SinkInfo* info) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type != sink.type || component.make_sink == nullptr) continue;
    SinkEnvironment environment;
    environment.pipeline_name = definition.options.name;
    environment.sink_name = sink.name;
    environment.local_time_zone = definition.options.local_time_zone;
    environment.clock = SystemClock();
    DRIFTLESS_ASSIGN_OR_RETURN(auto made, component.make_sink(sink.options, environment));
    DRIFTLESS_ASSIGN_OR_RETURN(*info, made->Connect());
    DRIFTLESS_TRY(CheckExtensions(made->matrix(), sink.extensions, *info));
    return made;
  }
  return MakeError(ErrorKind::kUnsupported,
                   fmt::format("this build cannot write to a {} sink", sink.type))
      .Hint("`plan` and `explain` give its verdicts.");
}

}  // namespace

Result<std::unique_ptr<Sink>> ConnectSink(const PipelineDefinition& definition,
                                          const SinkDefinition& sink) {
  SinkInfo info;
  return Connect(definition, sink, &info);
}

namespace {

class LiveCheck {
 public:
  explicit LiveCheck(const PipelineDefinition& definition) : definition_(definition) {}

  LiveCount Run() {
    ConnectSinks();
    for (const SourceDefinition& source : definition_.sources) {
      auto report = ExamineSource(definition_, source);
      if (!report) {
        Told(LiveFinding::Level::kError, "source " + source.name, report.error());
        continue;
      }
      if (!report->server.empty()) {
        fmt::print("source {}: {}, {} tables\n", source.name, report->server,
                   report->tables.size());
      }
      for (const LiveFinding& finding : report->findings) {
        Tell(finding.level, "source " + source.name, finding.what, finding.remedy);
      }
      tables_.insert(tables_.end(), report->tables.begin(), report->tables.end());
    }
    if (auto fits = CheckSinkTables(); !fits) {
      Told(LiveFinding::Level::kError, "sinks", fits.error());
    }
    return count_;
  }

 private:
  void Tell(LiveFinding::Level level, const std::string& where, const std::string& what,
            const std::string& remedy) {
    const bool is_error = level == LiveFinding::Level::kError;
    ++(is_error ? count_.errors : count_.warnings);
    fmt::print(stderr, "{}: {}: {}{}{}\n", is_error ? "error" : "warning", where, what,
               remedy.empty() ? "" : "\n  remedy: ", remedy);
  }
  void Told(LiveFinding::Level level, const std::string& where, const Error& error) {
    Tell(level, where, error.message(), error.hint());
  }

  void ConnectSinks() {
    for (const SinkDefinition& definition : definition_.sinks) {
      SinkInfo info;
      auto sink = Connect(definition_, definition, &info);
      if (!sink) {
        Told(LiveFinding::Level::kError, "sink " + definition.name, sink.error());
        continue;
      }
      fmt::print("sink {}: {}{}{}\n", definition.name, info.product,
                 info.version.empty() ? "" : " ", info.version);
      sinks_[definition.name] = std::move(*sink);
    }
  }

  // What `run` would make of the sinks' tables at its first start.
  Result<void> CheckSinkTables() {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto run, DryRun::Make(definition_));
    std::set<SinkTableKey> looked_at;
    for (const TableSchemaPtr& table : tables_) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto targets, run->TargetsOf(table->path));
      for (const SinkTableKey& key : targets) {
        const auto sink = sinks_.find(key.sink);
        if (sink == sinks_.end() || !looked_at.insert(key).second) continue;
        auto actual = sink->second->ReadTable(key.table);
        if (!actual) {
          Told(LiveFinding::Level::kError, key.sink + ": " + key.table.ToString(), actual.error());
          continue;
        }
        run->SetActual(key, std::move(*actual));
      }
      StatementChange create;
      create.table = table->path;
      create.parts.push_back({0, CreateTable{}, nullptr, table});
      DRIFTLESS_ASSIGN_OR_RETURN(const PlannedStatement planned, run->Plan("", {create}));
      for (const PlannedChange& change : planned.changes) {
        for (const PlannedSink& at : change.sinks) Judge(at);
      }
    }
    return {};
  }

  void Judge(const PlannedSink& at) {
    if (!sinks_.contains(at.sink)) return;  // told already
    const Verdict& verdict = at.decision.verdict;
    const std::string where = "sink " + at.sink + ": " + at.table.ToString();
    // Under LENIENT a table that does not fit is passed over, so that its rows would not arrive.
    const bool misfits = verdict.reason.find("is there already, but") != std::string::npos;
    if (verdict.kind == VerdictKind::kFail || misfits) {
      Tell(LiveFinding::Level::kError, where, verdict.reason,
           "Change or drop the sink's table, route to another one, or set a rule that skips "
           "create.table.");
    } else if (verdict.rows_may_stop) {
      Tell(LiveFinding::Level::kWarning, where, verdict.rows, "");
    }
  }

  const PipelineDefinition& definition_;
  LiveCount count_;
  std::map<std::string, std::unique_ptr<Sink>> sinks_;
  std::vector<TableSchemaPtr> tables_;
};

}  // namespace

LiveCount CheckLive(const PipelineDefinition& definition) { return LiveCheck(definition).Run(); }

}  // namespace driftless
