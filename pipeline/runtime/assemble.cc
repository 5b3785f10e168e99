#include "pipeline/runtime/assemble.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "pipeline/route/router.h"
#include "sinks/api/component.h"

namespace driftless {
namespace {

template <typename Component>
const Component* FindComponent(std::span<const Component> components, std::string_view type) {
  for (const Component& component : components) {
    if (component.type == type) return &component;
  }
  return nullptr;
}

std::string InFile(const PipelineDefinition& definition, Location at) {
  return at.line == 0 ? definition.file : fmt::format("{}:{}", definition.file, at.line);
}

Result<std::unique_ptr<Source>> MakeSource(const PipelineDefinition& definition,
                                           const SourceDefinition& source) {
  const SourceComponent* component = FindComponent(AllSources(), source.type);
  if (component == nullptr || component->make_source == nullptr) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("{}: this driftless cannot read a {} source yet",
                                 InFile(definition, source.at), source.type))
        .Hint("`validate`, `plan` and `explain` work with it.");
  }
  if (definition.options.rows_without_events == RowsWithoutEvents::kResync &&
      !component->reads_tables_again) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("{}: rows-without-events: resync: a {} source has no tables that "
                                 "could be read again",
                                 InFile(definition, source.at), source.type))
        .Hint("Set rows-without-events: warn, or fail to stop at such a statement.");
  }
  Result<std::unique_ptr<Source>> made = component->make_source(source.options);
  if (!made) return std::move(made).error().Context("source " + source.name);
  return made;
}

Result<RuntimeSink> MakeSink(const PipelineDefinition& definition, const SinkDefinition& sink,
                             const Clock* clock, Metrics* metrics) {
  const SinkComponent* component = FindComponent(AllSinks(), sink.type);
  if (component == nullptr || component->make_sink == nullptr) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("{}: this driftless cannot write to a {} sink yet",
                                 InFile(definition, sink.at), sink.type))
        .Hint("`plan` and `explain` give its verdicts.");
  }
  SinkEnvironment environment;
  environment.pipeline_name = definition.options.name;
  environment.sink_name = sink.name;
  environment.local_time_zone = definition.options.local_time_zone;
  environment.clock = clock;
  environment.warn = [name = sink.name](const Error& error) {
    spdlog::warn("sink {}: {}", name, error.ToString());
  };
  if (metrics != nullptr) {
    environment.maintained = [name = sink.name, metrics](const MaintenanceReport& report) {
      metrics->AddMaintenance(name, report);
    };
  }
  Result<std::unique_ptr<Sink>> made = component->make_sink(sink.options, environment);
  if (!made) return std::move(made).error().Context("sink " + sink.name);
  // It would write NULL where it should read its own value.
  if (definition.options.on_absent == OnAbsent::kLookup && !(*made)->traits().partial_update) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("{}: on-absent: lookup: a {} sink writes whole rows and cannot "
                                 "read the one that is there by its key",
                                 InFile(definition, sink.at), sink.type))
        .Hint(
            "Choose on-absent: fail or null, or let the source send whole rows: REPLICA IDENTITY "
            "FULL (PostgreSQL), binlog_row_image=FULL (MySQL).");
  }
  return BindSink(definition, sink, std::move(*made));
}

}  // namespace

RuntimeSink BindSink(const PipelineDefinition& definition, const SinkDefinition& sink_definition,
                     std::unique_ptr<Sink> sink) {
  RuntimeSink result;
  result.name = sink_definition.name;
  result.type = sink_definition.type;
  result.sink = std::move(sink);
  result.policy = MakeSinkPolicy(definition, sink_definition);
  result.stops_when_unavailable = sink_definition.on_unavailable == OnUnavailable::kStopSink;
  result.route = [router = std::make_shared<Router>(Router::Make(definition, result.name))](
                     const TablePath& table) -> Result<std::vector<TablePath>> {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::span<const TablePath> targets, router->Route(table));
    return std::vector<TablePath>(targets.begin(), targets.end());
  };
  return result;
}

Result<RuntimeOptions> MakeRuntimeOptions(const PipelineDefinition& definition) {
  const PipelineOptions& from = definition.options;
  RuntimeOptions options;
  options.checkpoint_interval_ms = from.checkpoint_interval_ms;
  options.first_checkpoint_ms = std::min<int64_t>(from.checkpoint_interval_ms, 1000);
  options.memory_bytes_max = from.memory_budget_bytes;
  // A tenth for the inlets together. The queues of the writers hold what is read while a writer
  // rolls; the rest is for what writers buffer and what is parked.
  const auto sinks = static_cast<int64_t>(std::max<size_t>(definition.sinks.size(), 1));
  options.queue_bytes_max = std::max<int64_t>(from.memory_budget_bytes / 10 / sinks, 1 << 20);
  options.writer_queue_bytes_max = std::max<int64_t>(from.memory_budget_bytes / 4 / sinks, 1 << 20);
  options.parking_memory_bytes_max =
      std::min(from.parking_memory_bytes_max, from.memory_budget_bytes / 2);
  options.parking_disk_bytes_max = from.parking_disk_bytes_max;
  options.full_parking_fails = from.parking_on_full == ParkingOnFull::kFail;
  options.writer_threads = from.parallelism;
  options.audit_retention_ms = from.audit_retention_ms;
  options.until_end = from.runtime_mode == RuntimeMode::kBatch;
  options.local_time_zone = from.local_time_zone;
  DRIFTLESS_ASSIGN_OR_RETURN(options.local_zone, TimeZone::Load(from.local_time_zone));
  options.on_absent = from.on_absent;
  options.on_unparsed_ddl = from.on_unparsed_ddl;
  options.rows_without_events = from.rows_without_events;
  return options;
}

Result<RuntimeParts> AssembleParts(const PipelineDefinition& definition, StateStore* state,
                                   const Clock* clock, Metrics* metrics) {
  RuntimeParts parts;
  parts.pipeline = definition.options.name;
  parts.state = state;
  parts.definition = std::make_shared<const PipelineDefinition>(definition);
  parts.clock = clock;
  parts.metrics = metrics;
  for (const SourceDefinition& source : definition.sources) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::unique_ptr<Source> made, MakeSource(definition, source));
    parts.sources.push_back(std::move(made));
  }
  for (const SinkDefinition& sink : definition.sinks) {
    DRIFTLESS_ASSIGN_OR_RETURN(RuntimeSink made, MakeSink(definition, sink, clock, metrics));
    parts.sinks.push_back(std::move(made));
  }
  parts.make_coordinator = [name = definition.options.name](std::vector<CoordinatorSink> sinks,
                                                            DecisionId next) {
    return MakeCoordinatorPort(name, std::move(sinks), next);
  };
  return parts;
}

std::string StateFolder(const PipelineDefinition& definition, const std::string& flag) {
  if (!flag.empty()) return flag;
  if (!definition.options.state_dir.empty()) return definition.options.state_dir;
  return "driftless-state/" + definition.options.name;
}

}  // namespace driftless
