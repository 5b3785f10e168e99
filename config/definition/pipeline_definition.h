#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/definition/component_catalog.h"
#include "config/definition/pipeline_options.h"
#include "config/definition/routes.h"
#include "config/definition/selector.h"
#include "config/options/option.h"
#include "config/yaml/yaml.h"
#include "schema/policy/policy.h"

namespace driftless {

struct SourceDefinition {
  std::string name;  // unique among the sources; default: the type
  std::string type;  // as the catalog spells it, aliases resolved
  OptionValues options;
  OptionValues shared;  // what every source has
  bool can_run = true;  // false: this build has only its options
  bool reads_tables_again = false;
  Location at;
};

enum class OnUnavailable : uint8_t { kBlock, kStopSink };

struct SinkDefinition {
  std::string
      name;  // unique among the sinks, part of their identity in the state; default: the type
  std::string type;
  OptionValues options;
  OptionValues shared;  // what every sink has
  const CapabilityMatrix* matrix = nullptr;
  std::set<EventKind> accepted;  // after include and exclude lists
  bool has_include_list = false;
  bool has_exclude_list = false;
  std::set<std::string> extensions;  // capability.extensions
  OnUnavailable on_unavailable = OnUnavailable::kBlock;
  bool can_run = true;
  void (*adapt_policy)(const OptionValues& values, SinkPolicy* policy) = nullptr;  // may be null
  Location at;
};

struct RouteDefinition {
  std::string source_table;
  std::string sink_table;
  std::string replace_symbol;
  std::string description;
  std::vector<std::string> sinks;  // names of the sinks it is for; empty: all
  RoutePattern pattern;
  Location at;

  bool IsFor(std::string_view sink) const;
};

struct TransformDefinition {
  std::string source_table;
  TableSelector selector;
  std::string projection;  // empty: all columns
  std::string filter;      // empty: all rows
  std::vector<std::string> primary_keys;
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> table_options;
  std::string converter_after_transform;
  std::string description;
  Location at;
};

// One entry of `schema.change.rules`. Words of tags and of families in one entry make two rules.
struct RuleDefinition {
  PolicyRule rule;
  Location at;
  Location sink_at;  // of the sink's name
};

// A whole pipeline file, checked: everything that it says is known to be well-formed.
struct PipelineDefinition {
  std::string file;  // for messages
  std::vector<SourceDefinition> sources;
  std::vector<SinkDefinition> sinks;
  std::vector<RouteDefinition> routes;
  std::vector<TransformDefinition> transforms;
  std::vector<RuleDefinition> rules;
  PipelineOptions options;
  OptionValues option_values;  // of the `pipeline` block, as `options` was filled from them

  const SinkDefinition* FindSink(std::string_view name) const;  // null: none of that name
};

// Reads a pipeline from YAML text. Everything that is wrong or doubtful goes to `problems`; returns
// nullopt when something is wrong. `file` names the text in messages and the pipeline by default.
std::optional<PipelineDefinition> ParsePipeline(std::string_view text, std::string_view file,
                                                const ComponentCatalog& catalog,
                                                const ReferenceResolver& resolver,
                                                Problems* problems);

// Whether a reference to a variable or file that is not there stops the reading. For commands that
// connect to nothing it need not.
enum class MissingReference : uint8_t { kError, kWarning };

// The same for a file, with the process's environment; all errors become one. Errors: kNotFound,
// kInvalidConfig. Warnings go to `problems` where it is given.
Result<PipelineDefinition> LoadPipeline(const std::string& file, const ComponentCatalog& catalog,
                                        Problems* problems = nullptr,
                                        MissingReference missing = MissingReference::kError);

// The text of a file. Errors: kNotFound, kPermission.
Result<std::string> ReadPipelineFile(const std::string& file);

// The pipeline as YAML with its defaults behind "#", for people: secrets are '***', references stay
// as they were written.
std::string PrintPipeline(const PipelineDefinition& definition);

// Everything that the policy needs to know for one sink of the pipeline.
SinkPolicy MakeSinkPolicy(const PipelineDefinition& definition, const SinkDefinition& sink);

// The declarations of the blocks that do not belong to one component.
std::span<const OptionSpec> SharedSourceOptionSpecs();  // type, name
std::span<const OptionSpec> SharedSinkOptionSpecs();    // type, name, include..., exclude..., ...
std::span<const OptionSpec> RouteOptionSpecs();
std::span<const OptionSpec> TransformOptionSpecs();
std::span<const OptionSpec> RuleOptionSpecs();

}  // namespace driftless
