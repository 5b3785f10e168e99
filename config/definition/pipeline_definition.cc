#include "config/definition/pipeline_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/definition/blocks.h"
#include "config/definition/checks.h"
#include "config/options/parse.h"
#include "config/options/suggest.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 7> kTopKeys = {"source", "sources",   "sink",    "sinks",
                                                      "route",  "transform", "pipeline"};

// The top level: who is there, and hints for what Flink users write there.
bool CheckTopLevel(const YamlNode& root, Problems* problems) {
  if (root.is_null()) {
    if (!problems->has_errors()) {
      problems->AddError({1, 1}, "the file is empty", "A pipeline needs a source and a sink.");
    }
    return false;
  }
  if (!root.is_map()) {
    problems->AddError(root.at, fmt::format("a pipeline is a map, not {}", root.KindText()),
                       "Begin with \"source:\" in the first column.");
    return false;
  }
  for (const YamlNode::Entry& entry : root.entries) {
    if (std::find(kTopKeys.begin(), kTopKeys.end(), entry.key) != kTopKeys.end()) continue;
    std::string hint = Suggest(entry.key, kTopKeys);
    for (const OptionSpec& spec : PipelineOptionSpecs()) {
      if (entry.key == spec.key || entry.key == fmt::format("pipeline.{}", spec.key)) {
        hint = fmt::format("Write \"{}\" below \"pipeline:\".", spec.key);
      }
    }
    problems->AddError(entry.at, fmt::format("unknown top-level key \"{}\"", entry.key),
                       std::move(hint));
  }
  return true;
}

// The blocks of `source:` or the items of `sources:`.
std::vector<const YamlNode*> Blocks(const YamlNode& root, std::string_view one,
                                    std::string_view many, Problems* problems) {
  const YamlNode::Entry* single = root.Find(one);
  const YamlNode::Entry* list = root.Find(many);
  if (single != nullptr && list != nullptr) {
    problems->AddError(list->at, fmt::format("both \"{}\" and \"{}\"", one, many),
                       fmt::format("Move the {} into the list.", one));
    return {};
  }
  std::vector<const YamlNode*> blocks;
  if (single != nullptr) {
    if (single->value.is_sequence()) {
      problems->AddError(single->value.at, fmt::format("\"{}\" is one {}, not a list", one, one),
                         fmt::format("Write \"{}:\" for several.", many));
    } else if (!single->value.is_map()) {
      problems->AddError(single->at, fmt::format("\"{}\" is {}", one, single->value.KindText()),
                         "Write its options below it, indented.");
    } else {
      blocks.push_back(&single->value);
    }
  } else if (list != nullptr) {
    blocks = ListItems(*list, problems);
    if (list->value.is_sequence() && list->value.items.empty()) {
      problems->AddError(list->value.at, fmt::format("\"{}\" is empty", many));
    }
  } else {
    problems->AddError(root.at, fmt::format("there is no \"{}\"", one),
                       fmt::format("A pipeline needs \"{}:\" or \"{}:\".", one, many));
  }
  return blocks;
}

template <typename Definition>
void CheckNames(const std::vector<Definition>& definitions, std::string_view what,
                Problems* problems) {
  for (size_t i = 0; i < definitions.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (definitions[i].name != definitions[k].name) continue;
      problems->AddError(definitions[i].at,
                         fmt::format("two {}s have the name \"{}\"; the other stands in line {}",
                                     what, definitions[i].name, definitions[k].at.line),
                         "Give each a \"name\" of its own.");
      break;
    }
  }
}

void ParsePipelineBlock(const YamlNode& root, PipelineDefinition* definition, Problems* problems) {
  static const YamlNode kNothing;
  const YamlNode::Entry* entry = root.Find("pipeline");
  const YamlNode& block = entry == nullptr ? kNothing : entry->value;
  std::vector<OptionValues> values =
      ParseOptions(block, "\"pipeline\"", {PipelineOptionSpecs()}, problems);
  WarnOfIgnored(values[0], problems);
  definition->options = FillPipelineOptions(values[0], problems);
  definition->option_values = std::move(values[0]);
  const YamlNode::Entry* rules = block.is_map() ? block.Find("schema.change.rules") : nullptr;
  if (rules != nullptr) definition->rules = ParseRules(*rules, problems);
}

}  // namespace

bool RouteDefinition::IsFor(std::string_view sink) const {
  return sinks.empty() || std::find(sinks.begin(), sinks.end(), sink) != sinks.end();
}

const SinkDefinition* PipelineDefinition::FindSink(std::string_view name) const {
  for (const SinkDefinition& sink : sinks) {
    if (sink.name == name) return &sink;
  }
  return nullptr;
}

std::optional<PipelineDefinition> ParsePipeline(std::string_view text, std::string_view file,
                                                const ComponentCatalog& catalog,
                                                const ReferenceResolver& resolver,
                                                Problems* problems) {
  const YamlNode root = ParseYaml(text, resolver, problems);
  if (!CheckTopLevel(root, problems)) return std::nullopt;
  PipelineDefinition definition;
  definition.file = file;
  for (const YamlNode* block : Blocks(root, "source", "sources", problems)) {
    if (auto source = ParseSource(*block, catalog, problems)) {
      definition.sources.push_back(*std::move(source));
    }
  }
  for (const YamlNode* block : Blocks(root, "sink", "sinks", problems)) {
    if (auto sink = ParseSink(*block, catalog, problems)) {
      definition.sinks.push_back(*std::move(sink));
    }
  }
  CheckNames(definition.sources, "source", problems);
  CheckNames(definition.sinks, "sink", problems);
  if (const YamlNode::Entry* route = root.Find("route")) {
    definition.routes = ParseRoutes(*route, problems);
  }
  if (const YamlNode::Entry* transform = root.Find("transform")) {
    definition.transforms = ParseTransforms(*transform, problems);
  }
  ParsePipelineBlock(root, &definition, problems);
  if (definition.options.name.empty()) {
    definition.options.name = std::filesystem::path(file).stem().string();
  }
  CheckDefinition(definition, problems);
  if (problems->has_errors()) return std::nullopt;
  return definition;
}

Result<std::string> ReadPipelineFile(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return MakeError(ErrorKind::kNotFound, fmt::format("there is no file \"{}\"", file));
  }
  if (std::filesystem::is_directory(status)) {
    return MakeError(ErrorKind::kInvalidConfig, fmt::format("\"{}\" is a folder", file))
        .Hint("Name a pipeline file.");
  }
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad() || !in.is_open()) {
    return MakeError(ErrorKind::kPermission, fmt::format("cannot read \"{}\"", file));
  }
  return text;
}

Result<PipelineDefinition> LoadPipeline(const std::string& file, const ComponentCatalog& catalog,
                                        Problems* problems, MissingReference missing) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, ReadPipelineFile(file));
  Problems own;
  Problems* const all = problems == nullptr ? &own : problems;
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  resolver.missing_is_warning = missing == MissingReference::kWarning;
  std::optional<PipelineDefinition> definition = ParsePipeline(text, file, catalog, resolver, all);
  if (!definition) return all->ToError(file);
  return *std::move(definition);
}

SinkPolicy MakeSinkPolicy(const PipelineDefinition& definition, const SinkDefinition& sink) {
  const PipelineOptions& options = definition.options;
  SinkPolicy policy;
  policy.behavior = options.behavior;
  policy.lenient_style = options.lenient_style;
  policy.accepted = sink.accepted;
  policy.has_exclude_list = sink.has_exclude_list;
  for (const RuleDefinition& rule : definition.rules) policy.rules.push_back(rule.rule);
  policy.approval = options.approval;
  policy.approval_timeout_ms = options.approval_timeout_ms;
  policy.approval_timeout_rejects = options.approval_on_timeout == ApprovalOnTimeout::kReject;
  policy.extensions = sink.extensions;
  policy.drop_skip = options.drop_skip;
  policy.rename_skip = options.rename_skip;
  policy.create_relaxed = options.create_nullability == CreateNullability::kRelaxed;
  policy.on_cast_failure = options.on_cast_failure;
  policy.on_null_violation = options.on_null_violation;
  policy.table_rename = options.table_rename;
  if (sink.adapt_policy != nullptr) sink.adapt_policy(sink.options, &policy);
  return policy;
}

}  // namespace driftless
