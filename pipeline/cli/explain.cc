#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "config/options/suggest.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "pipeline/route/router.h"
#include "schema/base/json_writer.h"
#include "schema/policy/decide.h"

namespace driftless {
namespace {

struct ExplainFlags {
  std::string pipeline;
  std::string table;
  std::string event;
  std::string column;
  std::string sink;
  bool not_null = false;
  std::string output = "text";
};

struct Explanation {
  const SinkDefinition* sink = nullptr;
  TablePath table;
  Behavior behavior = Behavior::kLenient;
  Verdict verdict;
};

Result<EventKind> ReadEvent(const std::string& text) {
  const auto kind = ParseEventTag(text);
  if (kind && AllEvents().count(*kind) > 0) return *kind;
  std::vector<std::string_view> tags;
  for (const EventKind event : AllEvents()) tags.push_back(Tag(event));
  const std::string hint = Suggest(text, tags);
  return MakeError(ErrorKind::kInvalidConfig, "\"" + text + "\" is no event tag")
      .Hint(hint.empty() ? "See driftless matrix." : hint);
}

Result<std::vector<Explanation>> ExplainAll(const ExplainFlags& flags,
                                            const PipelineDefinition& definition) {
  DRIFTLESS_ASSIGN_OR_RETURN(const EventKind event, ReadEvent(flags.event));
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath source, ParseTablePath(flags.table));
  if (!flags.sink.empty() && definition.FindSink(flags.sink) == nullptr) {
    std::vector<std::string_view> names;
    for (const SinkDefinition& sink : definition.sinks) names.push_back(sink.name);
    const std::string hint = Suggest(flags.sink, names);
    return MakeError(ErrorKind::kInvalidConfig, "the pipeline has no sink \"" + flags.sink + "\"")
        .Hint(hint);
  }
  std::vector<Explanation> explanations;
  for (const SinkDefinition& sink : definition.sinks) {
    if (!flags.sink.empty() && sink.name != flags.sink) continue;
    const Router router = Router::Make(definition, sink.name);
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, router.Route(source));
    const SinkPolicy policy = MakeSinkPolicy(definition, sink);
    for (const TablePath& table : tables) {
      Explanation explanation{&sink, table, {}, {}};
      explanation.verdict = Explain(policy, *sink.matrix, sink.name, table, event, flags.column,
                                    flags.not_null, &explanation.behavior);
      explanations.push_back(std::move(explanation));
    }
  }
  return explanations;
}

std::string RenderJson(const ExplainFlags& flags, const std::vector<Explanation>& explanations) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("event").String(flags.event).Key("table").String(flags.table);
  if (!flags.column.empty()) json.Key("column").String(flags.column);
  json.Key("sinks").BeginArray();
  for (const Explanation& one : explanations) {
    json.BeginObject().Key("sink").String(one.sink->name).Key("type").String(one.sink->type);
    json.Key("table").String(one.table.ToString());
    json.Key("behavior").String(ToString(one.behavior));
    json.Key("verdict").String(ToString(one.verdict.kind));
    json.Key("reason").String(one.verdict.reason).Key("rule").String(one.verdict.rule);
    json.Key("cell").String(one.verdict.cell).EndObject();
  }
  json.EndArray().EndObject();
  return text + "\n";
}

std::string RenderText(const ExplainFlags& flags, const std::vector<Explanation>& explanations) {
  std::string text = flags.event + " on " + flags.table +
                     (flags.column.empty() ? "" : ", column " + flags.column) + "\n";
  for (const Explanation& one : explanations) {
    const std::string name = one.sink->name == one.sink->type
                                 ? one.sink->name
                                 : one.sink->name + " (" + one.sink->type + ")";
    text += "  " + name + ", table " + one.table.ToString() + ": " +
            std::string(ToString(one.verdict.kind)) + "\n";
    text += "    because " + one.verdict.reason + "\n";
    text += "    behavior " + std::string(ToString(one.behavior)) + "; decided by " +
            one.verdict.rule + "\n";
    if (!one.verdict.cell.empty()) text += "    cell " + one.verdict.cell + "\n";
  }
  return text + "What a sink knows about one change can only lower this: see driftless plan.\n";
}

Result<int> RunExplain(const ExplainFlags& flags) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const PipelineDefinition definition,
      LoadPipeline(flags.pipeline, AllComponents(), nullptr, MissingReference::kWarning));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto explanations, ExplainAll(flags, definition));
  const std::string text =
      flags.output == "json" ? RenderJson(flags, explanations) : RenderText(flags, explanations);
  std::fwrite(text.data(), 1, text.size(), stdout);
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath source, ParseTablePath(flags.table));
  for (const TransformDefinition& transform : definition.transforms) {
    if (flags.output == "json" || !transform.selector.Matches(source)) continue;
    std::printf(
        "The transform in line %d stands before it: what a statement changes is the "
        "difference of its outputs.\n",
        transform.at.line);
  }
  return 0;
}

}  // namespace

void AddExplainCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "explain", "Show which rule, matrix cell and behaviour decide about an event.");
  auto flags = std::make_shared<ExplainFlags>();
  command->add_option("pipeline", flags->pipeline, "Pipeline file")->required();
  command->add_option("--table", flags->table, "Source table: database.table")->required();
  command->add_option("--event", flags->event, "Event tag, such as add.column")->required();
  command->add_option("--column", flags->column, "Column that the event concerns");
  command->add_flag("--not-null", flags->not_null, "add.column: the column is NOT NULL");
  command->add_option("--sink", flags->sink, "Show this sink only");
  command->add_option("--output", flags->output, "Form of the output")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([flags, exit_code] {
    const Result<int> result = RunExplain(*flags);
    if (!result) {
      std::fprintf(stderr, "driftless explain: %s\n", result.error().ToString().c_str());
    }
    *exit_code = result ? *result : 1;
  });
}

}  // namespace driftless
