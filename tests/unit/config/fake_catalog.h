#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/definition/pipeline_definition.h"

// A small catalog for the tests of config/: it must not depend on the real sinks.
namespace driftless {

inline const std::vector<OptionSpec>& FakeMysqlSpecs() {
  static const std::vector<OptionSpec> specs = {
      {.key = "hostname", .required = true, .doc = "The server's name."},
      {.key = "port", .type = OptionType::kInt, .default_value = "3306", .min = 1, .max = 65535},
      {.key = "username", .required = true, .doc = "The user."},
      {.key = "password", .required = true, .secret = true, .doc = "The user's password."},
      {.key = "tables", .required = true, .doc = "Which tables."},
      {.key = "server-id"},
      {.key = "server-time-zone"},
      {.key = "debezium.*", .type = OptionType::kMap},
  };
  return specs;
}
inline const std::vector<OptionSpec>& FakeLakeSpecs() {
  static const std::vector<OptionSpec> specs = {
      {.key = "catalog.properties.*", .type = OptionType::kMap},
      {.key = "table.properties.*", .type = OptionType::kMap},
      {.key = "endpoint", .doc = "host:port", .change = OnChange::kNewState},
      {.key = "token", .secret = true},
  };
  return specs;
}

inline const CapabilityMatrix& FakeMatrix(std::string_view sink) {
  static const std::vector<Cell> careful = {
      {"add.column", CellKind::kApply, CellKind::kApply, ""},
      {"drop.table", CellKind::kSkip, CellKind::kFail, ""},
      {"truncate.table", CellKind::kSkip, CellKind::kFail, ""}};
  static const std::vector<Cell> obedient = {
      {"add.column", CellKind::kApply, CellKind::kApply, ""},
      {"drop.table", CellKind::kApply, CellKind::kApply, ""},
      {"truncate.table", CellKind::kApply, CellKind::kApply, ""}};
  static const std::vector<Extension> extensions = {{"rename.column", "3.3.2", ""},
                                                    {"alter.column.type", "3.3", ""}};
  static const CapabilityMatrix paimon = {.sink = "paimon", .cells = careful};
  static const CapabilityMatrix starrocks = {
      .sink = "starrocks", .cells = obedient, .extensions = extensions};
  static const CapabilityMatrix hologres = {
      .sink = "hologres", .cells = obedient, .supports_try_evolve = false};
  if (sink == "paimon") return paimon;
  return sink == "starrocks" ? starrocks : hologres;
}

inline ComponentCatalog FakeCatalog() {
  ComponentCatalog catalog;
  catalog.sources.push_back({.type = "mysql",
                             .aliases = {"mysql-cdc"},
                             .options = FakeMysqlSpecs(),
                             .reads_tables_again = true});
  catalog.sources.push_back({.type = "file", .options = FakeLakeSpecs()});
  for (std::string_view sink : {"paimon", "starrocks", "hologres"}) {
    catalog.sinks.push_back(
        {.type = sink, .options = FakeLakeSpecs(), .matrix = &FakeMatrix(sink)});
  }
  catalog.sinks.back().can_run = false;
  catalog.sinks.push_back({.type = "print", .options = FakeLakeSpecs()});
  return catalog;
}

struct ParsedPipeline {
  std::optional<PipelineDefinition> definition;
  std::vector<std::string> problems;
};

inline ParsedPipeline ParseFake(std::string_view yaml) {
  Problems problems;
  ReferenceResolver resolver;
  resolver.environment = [](const std::string& name) -> std::optional<std::string> {
    return name == "PASSWORD" ? std::optional<std::string>("hunter2") : std::nullopt;
  };
  resolver.file = [](const std::string&) -> Result<std::string> {
    return MakeError(ErrorKind::kNotFound, "no such file");
  };
  ParsedPipeline parsed;
  parsed.definition = ParsePipeline(yaml, "orders.yaml", FakeCatalog(), resolver, &problems);
  for (const Problem& problem : problems.Sorted()) {
    parsed.problems.push_back(problem.ToString("orders.yaml"));
  }
  return parsed;
}

}  // namespace driftless
