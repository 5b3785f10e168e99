#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "pipeline/runtime/runtime.h"
#include "pipeline/script/memory_sink.h"
#include "pipeline/script/script.h"

namespace driftless {

class TableReader;

// The pipeline of one script: configuration, state folder, and the world outside (the sinks'
// tables), which stays while runs come and go.
class ScriptPipeline {
 public:
  // `folder` is the script's own: state and warehouses go there.
  ScriptPipeline(std::shared_ptr<const Script> script, std::string folder);
  ~ScriptPipeline();

  // A `pipeline` directive. Errors: kInvalidConfig with everything that is wrong.
  Result<void> Configure(const ScriptDirective& directive);

  // One start of the runtime: plays the script up to directive `end`, or crashes there.
  Result<RunOutcome> RunOnce(size_t end, bool crash_at_end);
  // Whether every decision that a person gave has been taken up.
  Result<bool> Rests();

  Result<void> Arm(MemoryStore::Fault fault, int line);
  // The line of a fault that was armed and has not come about.
  std::optional<int> UnusedFault() const;
  // Leaves a decision for every hold (approve, reject) or stopped event (skip, retry) that the
  // directive's words name. Errors: kNotFound where there is none.
  Result<void> Answer(const ScriptDirective& directive, std::string_view choice);

  // The last word of every decision since the last call, in the order of the decisions.
  Result<std::vector<AuditRecord>> NewVerdicts();
  Result<std::vector<AuditRecord>> Holds();
  Result<std::vector<Divergence>> Divergences();
  Result<std::optional<SinkTable>> Schema(const ScriptDirective& directive);
  Result<std::vector<TextRow>> Rows(const ScriptDirective& directive);

 private:
  struct TableName {
    const SinkDefinition* sink = nullptr;
    TablePath table;
  };
  Result<TableName> NameOf(const ScriptDirective& directive) const;
  Result<RuntimeParts> MakeParts(size_t end, std::function<void()> crash);
  Result<std::unique_ptr<Sink>> MakeSink(const SinkDefinition& sink);
  Result<std::unique_ptr<TableReader>> MakeReader(const SinkDefinition& sink) const;
  bool IsReal(const SinkDefinition& sink) const;
  OptionValues RealOptions(const SinkDefinition& sink) const;
  SinkEnvironment EnvironmentOf(const SinkDefinition& sink) const;
  Result<std::unique_ptr<StateStore>> OpenState() const;
  std::string StateFolder() const { return folder_ + "/state"; }

  const std::shared_ptr<const Script> script_;
  const std::string folder_;
  std::optional<PipelineDefinition> definition_;
  bool real_sinks_ = false;
  std::map<std::string, std::shared_ptr<MemoryStore>> stores_;  // by the sink's name
  std::map<std::string, int> armed_;                            // line of the last fault, by sink
  DecisionId last_decision_ = 0;  // up to which verdicts have been looked at
};

}  // namespace driftless
