#include "config/definition/checks.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "config/options/suggest.h"

namespace driftless {
namespace {

void CheckSinkName(const std::string& name, Location at, std::string_view what,
                   const PipelineDefinition& definition, Problems* problems) {
  if (name.empty() || definition.sinks.empty() || definition.FindSink(name) != nullptr) return;
  std::vector<std::string_view> names;
  for (const SinkDefinition& sink : definition.sinks) names.push_back(sink.name);
  problems->AddError(at, fmt::format("{} names the sink \"{}\", which is not there", what, name),
                     Suggest(name, names));
}

void CheckSinkNames(const PipelineDefinition& definition, Problems* problems) {
  for (const RouteDefinition& route : definition.routes) {
    for (const std::string& sink : route.sinks) {
      CheckSinkName(sink, route.at, "a route", definition, problems);
    }
  }
  const RuleDefinition* last = nullptr;
  for (const RuleDefinition& rule : definition.rules) {
    // One entry of the file can be several rules here.
    const bool is_repeated =
        last != nullptr && last->at.line == rule.at.line && last->rule.sink == rule.rule.sink;
    last = &rule;
    if (!is_repeated) CheckSinkName(rule.rule.sink, rule.sink_at, "a rule", definition, problems);
  }
}

void CheckTryEvolve(const PipelineDefinition& definition, Problems* problems) {
  constexpr std::string_view kHint = "Use LENIENT or EVOLVE for it, or a rule for this sink.";
  for (const SinkDefinition& sink : definition.sinks) {
    if (sink.matrix == nullptr || sink.matrix->supports_try_evolve) continue;
    bool has_own = false;  // a rule replaces the behaviour for everything at this sink
    for (const RuleDefinition& rule : definition.rules) {
      const bool concerns = rule.rule.sink.empty() || rule.rule.sink == sink.name;
      if (!concerns) continue;
      if (rule.rule.behavior == Behavior::kTryEvolve) {
        problems->AddError(rule.at,
                           fmt::format("a rule gives TRY_EVOLVE to sink \"{}\", and {} does not "
                                       "support it",
                                       sink.name, sink.type),
                           std::string(kHint));
      }
      const bool is_for_all =
          !rule.rule.table && rule.rule.events.empty() && rule.rule.column.empty();
      has_own |= is_for_all && rule.rule.behavior.has_value();
    }
    if (definition.options.behavior == Behavior::kTryEvolve && !has_own) {
      problems->AddError(
          sink.at, fmt::format("sink \"{}\": {} does not support TRY_EVOLVE", sink.name, sink.type),
          std::string(kHint));
    }
  }
}

bool RuleMentions(const PipelineDefinition& definition, const SinkDefinition& sink,
                  EventKind event) {
  for (const RuleDefinition& rule : definition.rules) {
    const bool concerns = rule.rule.sink.empty() || rule.rule.sink == sink.name;
    if (concerns && (rule.rule.events.empty() || rule.rule.events.contains(event))) return true;
  }
  return false;
}

bool WillApply(const SinkDefinition& sink, EventKind event, Behavior behavior) {
  if (sink.matrix == nullptr) return false;
  const Cell* cell = sink.matrix->Find(event, /*not_null=*/false);
  if (cell == nullptr) return false;
  const CellKind kind = behavior == Behavior::kEvolve ? cell->evolve : cell->lenient;
  return kind == CellKind::kApply || kind == CellKind::kRewrite;
}

// The policy, end of section 3: who says nothing shall not lose a table without having been told.
void WarnOfDestruction(const PipelineDefinition& definition, Problems* problems) {
  const PipelineOptions& options = definition.options;
  if (options.behavior_is_set || options.lenient_style == LenientStyle::kFlinkCdc) return;
  for (const SinkDefinition& sink : definition.sinks) {
    if (sink.has_include_list || sink.has_exclude_list) continue;
    if (sink.matrix == nullptr || !sink.matrix->keeps_schema) continue;
    std::vector<std::string_view> words;
    for (const auto& [event, word] : {std::pair(EventKind::kDropTable, "DROP"),
                                      std::pair(EventKind::kTruncateTable, "TRUNCATE")}) {
      if (options.approval.contains(event) || RuleMentions(definition, sink, event)) continue;
      if (WillApply(sink, event, options.behavior)) words.push_back(word);
    }
    if (words.empty()) continue;
    problems->AddWarning(
        sink.at,
        fmt::format("sink \"{}\" ({}) will really {} a table when the source does", sink.name,
                    sink.type, fmt::join(words, " and ")),
        "Say what you want: exclude.schema.changes: [drop.table, truncate.table] in the sink, "
        "schema.change.approval: [drop.table, truncate.table], a rule, or "
        "schema.change.behavior: LENIENT to accept it.");
  }
}

void WarnOfWhatCannotRun(const PipelineDefinition& definition, Problems* problems) {
  for (const SourceDefinition& source : definition.sources) {
    if (source.can_run) continue;
    problems->AddWarning(
        source.at,
        fmt::format("source \"{}\": this build cannot read from {}", source.name, source.type),
        "`driftless run` refuses this pipeline; `plan` and `explain` work.");
  }
  for (const SinkDefinition& sink : definition.sinks) {
    if (sink.can_run) continue;
    problems->AddWarning(sink.at,
                         fmt::format("sink \"{}\": this build can plan for {}, not write to it",
                                     sink.name, sink.type),
                         "`driftless run` refuses this pipeline; `plan` and `explain` work.");
  }
  if (definition.options.rows_without_events != RowsWithoutEvents::kResync) return;
  for (const SourceDefinition& source : definition.sources) {
    if (source.reads_tables_again) continue;
    problems->AddWarning(
        definition.option_values.At("rows-without-events"),
        fmt::format("rows-without-events: resync: the source \"{}\" ({}) has no tables that could "
                    "be read again",
                    source.name, source.type),
        "`driftless run` refuses this pipeline. Set warn, which records a divergence, or fail.");
  }
}

// With FIRST_MATCH a route behind one with the same source pattern is never reached.
void WarnOfRepeatedRoutes(const PipelineDefinition& definition, Problems* problems) {
  for (size_t i = 0; i < definition.routes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const RouteDefinition& a = definition.routes[k];
      const RouteDefinition& b = definition.routes[i];
      if (a.source_table != b.source_table || a.sinks != b.sinks) continue;
      if (a.sink_table == b.sink_table && a.replace_symbol == b.replace_symbol) {
        problems->AddWarning(b.at, fmt::format("this route repeats the one in line {}", a.at.line));
      } else if (definition.options.route_mode == RouteMode::kFirstMatch) {
        problems->AddWarning(
            b.at, fmt::format("this route is never reached: the one in line {} takes its tables "
                              "(route-mode FIRST_MATCH)",
                              a.at.line));
      }
    }
  }
}

}  // namespace

void CheckDefinition(const PipelineDefinition& definition, Problems* problems) {
  CheckSinkNames(definition, problems);
  CheckTryEvolve(definition, problems);
  WarnOfDestruction(definition, problems);
  WarnOfWhatCannotRun(definition, problems);
  WarnOfRepeatedRoutes(definition, problems);
}

}  // namespace driftless
