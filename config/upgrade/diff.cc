#include "config/upgrade/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace driftless {
namespace {

using Changes = std::vector<ConfigChange>;

UpgradeEffect EffectOf(const OptionSpec& spec) {
  if (spec.flink_cdc == FlinkCdc::kIgnored || spec.key == "description") {
    return UpgradeEffect::kNothing;
  }
  switch (spec.change) {
    case OnChange::kHot: return UpgradeEffect::kHot;
    case OnChange::kRestart: return UpgradeEffect::kRestart;
    case OnChange::kNewState: return UpgradeEffect::kNewState;
    case OnChange::kIncompatible: return UpgradeEffect::kIncompatible;
  }
  return UpgradeEffect::kRestart;
}

std::string_view Meaning(UpgradeEffect effect) {
  switch (effect) {
    case UpgradeEffect::kNothing: return "has no effect";
    case UpgradeEffect::kHot: return "takes effect at the next start, or at once where it can";
    case UpgradeEffect::kRestart: return "takes effect at the next start; positions stay";
    case UpgradeEffect::kNewState: return "needs a new state: it begins anew";
    case UpgradeEffect::kIncompatible:
      return "does not fit the tables that are there: drop or rename them, and start with a new "
             "state";
  }
  return "";
}

// One value as text; equal values have equal texts.
std::string TextOf(const OptionSpec& spec, const OptionValues::Value* value) {
  if (value == nullptr) return {};
  if (spec.key.ends_with(".*") || (spec.type == OptionType::kMap && !value->entries.empty())) {
    std::string text;
    for (const auto& [key, item] : value->entries) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, item);
    }
    return text;
  }
  if (spec.type == OptionType::kSequence || spec.type == OptionType::kList) {
    return fmt::format("[{}]", fmt::join(value->items, ", "));
  }
  return value->text;
}

std::string Shown(const OptionSpec& spec, const OptionValues::Value* value) {
  if (value == nullptr) return {};
  if (spec.secret) return "***";
  return value->written.empty() ? TextOf(spec, value) : value->written;
}

// Whether a source could take tables that it did not capture before, and is not told to.
bool RefusesNewTables(const OptionValues& values) {
  constexpr std::string_view kKey = "scan.newly-added-table.enabled";
  const auto has_it = [&](const OptionSpec& spec) { return spec.key == kKey; };
  return std::any_of(values.specs().begin(), values.specs().end(), has_it) &&
         values.Bool(kKey) != true;
}

void DiffValues(const std::string& where, const OptionValues& from, const OptionValues& to,
                Changes* changes) {
  for (const OptionSpec& spec : to.specs()) {
    const OptionValues::Value* old_value = from.Find(spec.key);
    const OptionValues::Value* new_value = to.Find(spec.key);
    if (spec.type == OptionType::kBlock || TextOf(spec, old_value) == TextOf(spec, new_value)) {
      continue;
    }
    UpgradeEffect effect = EffectOf(spec);
    if (spec.key.starts_with("tables") && RefusesNewTables(to)) {
      effect = UpgradeEffect::kNewState;
    }
    changes->push_back({effect, where, std::string(spec.key), Shown(spec, old_value),
                        Shown(spec, new_value), std::string(Meaning(effect))});
  }
}

template <typename Definition>
const Definition* FindName(const std::vector<Definition>& definitions, const std::string& name) {
  for (const Definition& definition : definitions) {
    if (definition.name == name) return &definition;
  }
  return nullptr;
}

template <typename Definition>
void DiffComponents(std::string_view what, const std::vector<Definition>& from,
                    const std::vector<Definition>& to, Changes* changes) {
  for (const Definition& old_one : from) {
    if (FindName(to, old_one.name) != nullptr) continue;
    changes->push_back({UpgradeEffect::kRestart, fmt::format("{} {}", what, old_one.name),
                        "removed", old_one.type, "",
                        "its tables stay as they are and get no more changes"});
  }
  for (const Definition& new_one : to) {
    const std::string where = fmt::format("{} {}", what, new_one.name);
    const Definition* old_one = FindName(from, new_one.name);
    if (old_one == nullptr) {
      changes->push_back({UpgradeEffect::kNewState, where, "added", "", new_one.type,
                          "it begins at the source's start; the others go on"});
      continue;
    }
    if (old_one->type != new_one.type) {
      changes->push_back({UpgradeEffect::kIncompatible, where, "type", old_one->type, new_one.type,
                          "another kind under the same name: give it a name of its own"});
      continue;
    }
    DiffValues(where, old_one->shared, new_one.shared, changes);
    DiffValues(where, old_one->options, new_one.options, changes);
  }
}

std::string RouteText(const RouteDefinition& route) {
  std::string text = fmt::format("{} -> {}", route.source_table, route.sink_table);
  if (!route.replace_symbol.empty()) text += fmt::format(" ({})", route.replace_symbol);
  if (!route.sinks.empty()) text += fmt::format(" at {}", fmt::join(route.sinks, ", "));
  return text;
}

std::string TransformText(const TransformDefinition& transform) {
  return fmt::format("{}: SELECT {} WHERE {} KEY {} PARTITION {} {}", transform.source_table,
                     transform.projection, transform.filter, fmt::join(transform.primary_keys, ","),
                     fmt::join(transform.partition_keys, ","), transform.converter_after_transform);
}

std::string RuleText(const RuleDefinition& rule) {
  // Without its number and line, which move when other lines do.
  const size_t colon = rule.rule.text.find("): ");
  return colon == std::string::npos ? rule.rule.text : rule.rule.text.substr(colon + 3);
}

template <typename Definition>
void DiffLists(std::string_view what, UpgradeEffect effect, std::string_view meaning,
               const std::vector<Definition>& from, const std::vector<Definition>& to,
               std::string (*text_of)(const Definition&), Changes* changes) {
  std::vector<std::string> old_texts;
  std::vector<std::string> new_texts;
  for (const Definition& definition : from) old_texts.push_back(text_of(definition));
  for (const Definition& definition : to) new_texts.push_back(text_of(definition));
  const auto missing = [](const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) == texts.end();
  };
  for (const std::string& text : old_texts) {
    if (!missing(new_texts, text)) continue;
    changes->push_back({effect, std::string(what), "removed", text, "", std::string(meaning)});
  }
  for (const std::string& text : new_texts) {
    if (!missing(old_texts, text)) continue;
    changes->push_back({effect, std::string(what), "added", "", text, std::string(meaning)});
  }
  const bool only_moved =
      old_texts != new_texts &&
      std::is_permutation(old_texts.begin(), old_texts.end(), new_texts.begin(), new_texts.end());
  if (only_moved) {
    changes->push_back({effect, std::string(what), "order", "", "", std::string(meaning)});
  }
}

}  // namespace

std::string_view ToString(UpgradeEffect effect) {
  switch (effect) {
    case UpgradeEffect::kNothing: return "nothing";
    case UpgradeEffect::kHot: return "hot";
    case UpgradeEffect::kRestart: return "restart";
    case UpgradeEffect::kNewState: return "new-state";
    case UpgradeEffect::kIncompatible: return "incompatible";
  }
  return "";
}

std::vector<ConfigChange> DiffPipelines(const PipelineDefinition& from,
                                        const PipelineDefinition& to) {
  Changes changes;
  DiffComponents("source", from.sources, to.sources, &changes);
  DiffComponents("sink", from.sinks, to.sinks, &changes);
  DiffLists("route", UpgradeEffect::kNewState,
            "the tables concerned begin anew in their new sink tables; the old ones stay",
            from.routes, to.routes, RouteText, &changes);
  DiffLists("transform", UpgradeEffect::kRestart,
            "the sinks' schemas follow; rows that are there keep their old values", from.transforms,
            to.transforms, TransformText, &changes);
  DiffValues("pipeline", from.option_values, to.option_values, &changes);
  if (from.options.name != to.options.name && !from.option_values.IsSet("name") &&
      !to.option_values.IsSet("name")) {
    changes.push_back({UpgradeEffect::kNewState, "pipeline", "name", from.options.name,
                       to.options.name, "the file's name is the pipeline's name: give it one"});
  }
  DiffLists("rule", UpgradeEffect::kRestart,
            "events to come are decided so; verdicts that have an outcome stay", from.rules,
            to.rules, RuleText, &changes);
  return changes;
}

UpgradeEffect StrongestEffect(const std::vector<ConfigChange>& changes) {
  UpgradeEffect strongest = UpgradeEffect::kNothing;
  for (const ConfigChange& change : changes) strongest = std::max(strongest, change.effect);
  return strongest;
}

}  // namespace driftless
