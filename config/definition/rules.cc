#include <fmt/format.h>

#include <algorithm>

#include "config/definition/blocks.h"
#include "config/definition/event_words.h"
#include "config/options/parse.h"

namespace driftless {
namespace {

// "rule 2 (line 14): skip drop.column of column secret in shop.\.* at lake".
std::string DescribeRule(size_t number, const OptionValues& values, const Location& at) {
  const std::string decides = values.Find("behavior") != nullptr
                                  ? "behavior " + values.Enum("behavior").value_or("")
                                  : values.Enum("verdict").value_or("");
  const std::vector<std::string> events = values.List("event");
  std::string text =
      fmt::format("rule {} (line {}): {} for {}", number, at.line, decides,
                  events.empty() ? "every event" : fmt::format("{}", fmt::join(events, ", ")));
  if (auto column = values.String("column")) text += fmt::format(" of column {}", *column);
  if (auto table = values.String("table")) text += fmt::format(" in {}", *table);
  const std::vector<std::string> sinks = values.List("sink");
  if (!sinks.empty()) text += fmt::format(" at {}", fmt::join(sinks, ", "));
  return text;
}

// The event words of a rule, by specificity: tags and families decide differently.
struct RuleEvents {
  std::set<EventKind> tags;
  std::set<EventKind> families;
};

RuleEvents ReadEvents(const OptionValues& values, Problems* problems) {
  RuleEvents events;
  const OptionValues::Value* list = values.Find("event");
  if (list == nullptr) return events;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const Location at = i < list->item_locations.size() ? list->item_locations[i] : list->location;
    const auto named = ReadEventWord("event", list->items[i], at, problems);
    if (!named) continue;
    const bool is_tag = ParseEventTag(list->items[i]).has_value();
    (is_tag ? events.tags : events.families).insert(named->begin(), named->end());
  }
  return events;
}

bool ConcernsColumns(const std::set<EventKind>& events) {
  const std::set<EventKind> columns = *EventsNamed("column");
  return std::any_of(events.begin(), events.end(),
                     [&](EventKind event) { return columns.contains(event); });
}

void CheckDecision(const YamlNode& block, const OptionValues& values, Problems* problems) {
  if (values.IsSet("behavior") && values.IsSet("verdict")) {
    problems->AddError(values.At("verdict"), "a rule has both a behavior and a verdict",
                       "Keep one of the two.");
    return;
  }
  const bool has_one = block.Find("behavior") != nullptr || block.Find("behaviour") != nullptr ||
                       block.Find("verdict") != nullptr;
  if (!has_one) {
    problems->AddError(block.at, "a rule decides nothing",
                       "Give it a verdict (apply, skip, hold, fail) or a behavior.");
  }
}

}  // namespace

std::vector<RuleDefinition> ParseRules(const YamlNode::Entry& list, Problems* problems) {
  std::vector<RuleDefinition> rules;
  size_t number = 0;
  for (const YamlNode* block : ListItems(list, problems)) {
    const OptionValues values = ParseOptions(*block, "a rule", {RuleOptionSpecs()}, problems)[0];
    ++number;
    CheckDecision(*block, values, problems);
    PolicyRule rule;
    rule.text = DescribeRule(number, values, block->at);
    rule.column = values.String("column").value_or("");
    if (auto word = values.Enum("behavior")) rule.behavior = ParseBehavior(*word);
    if (auto word = values.Enum("verdict")) rule.verdict = ParseVerdictKind(*word);
    if (auto table = values.String("table")) {
      Result<TableSelector> selector = TableSelector::Parse(*table);
      if (selector) {
        rule.table_is_exact = selector->is_exact();
        rule.table = [selector = *std::move(selector)](const TablePath& path) {
          return selector.Matches(path);
        };
      } else {
        problems->AddError(values.At("table"),
                           fmt::format("\"table\": {}", selector.error().message()),
                           selector.error().hint());
      }
    }
    const RuleEvents events = ReadEvents(values, problems);
    std::set<EventKind> all = events.tags;
    all.insert(events.families.begin(), events.families.end());
    if (!rule.column.empty() && !all.empty() && !ConcernsColumns(all)) {
      problems->AddWarning(values.At("column"),
                           "this rule never matches: its events have no column",
                           "Remove the column, or name column events.");
    }
    std::vector<std::string> sinks = values.List("sink");
    if (sinks.empty()) sinks.emplace_back();
    for (const std::string& sink : sinks) {
      rule.sink = sink;
      const auto add = [&](const std::set<EventKind>& kinds, bool are_family) {
        RuleDefinition definition{rule, block->at, values.At("sink")};
        definition.rule.events = kinds;
        definition.rule.events_are_family = are_family;
        rules.push_back(std::move(definition));
      };
      if (!events.tags.empty() || events.families.empty()) add(events.tags, false);
      if (!events.families.empty()) add(events.families, true);
    }
  }
  return rules;
}

}  // namespace driftless
