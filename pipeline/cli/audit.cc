#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/time_text.h"
#include "pipeline/state/state_store.h"
#include "schema/base/json_writer.h"

// `audit` and `divergences`: what was decided, and what differs because of it.
namespace driftless {
namespace {

struct AuditFlags {
  std::string state;
  std::string sink;
  std::string table;
  uint64_t decision = 0;
  int64_t limit = 0;
  bool all = false;
  std::string output = "text";
};

// The names are those of `driftless plan --output json`, with id, time, position, behavior, phase
// and result added. Fields are only ever added.
std::string AuditJson(const AuditRecord& r) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject().Key("id").Int(r.id).Key("time").String(TimeText(r.time_ms));
  json.Key("phase").String(ToString(r.phase)).Key("result").String(ToString(r.result));
  json.Key("position").String(r.position).Key("point").String(r.point.ToString());
  json.Key("statement").String(r.statement).Key("part").Int(r.part);
  json.Key("event").String(EventText(r)).Key("table").String(r.source_table.ToString());
  json.Key("detail").String(r.detail).Key("sink").String(r.sink.sink);
  json.Key("type").String(r.sink_type).Key("sink_table").String(r.sink.table.ToString());
  json.Key("behavior").String(ToString(r.behavior));
  json.Key("verdict").String(ToString(r.verdict.kind)).Key("reason").String(r.verdict.reason);
  json.Key("rule").String(r.verdict.rule).Key("cell").String(r.verdict.cell);
  json.Key("rewrites").BeginArray();
  for (const std::string& rewrite : r.verdict.rewrites) json.String(rewrite);
  json.EndArray().Key("actions").BeginArray();
  for (const std::string& action : r.actions) json.String(action);
  json.EndArray().Key("rows").String(r.verdict.rows_may_stop ? "may-stop" : r.verdict.rows);
  json.Key("message").String(r.message).EndObject();
  return line;
}

void PrintAudit(const AuditRecord& r) {
  fmt::print("{:>5} {} {:<7} {}: {}: {} {}{}{}\n", r.id, TimeText(r.time_ms), ToString(r.phase),
             r.sink.ToString(), r.detail, ToString(r.verdict.kind), ToString(r.result),
             r.verdict.reason.empty() ? "" : " (" + r.verdict.reason + ")",
             r.message.empty() ? "" : "; " + r.message);
  if (r.phase != AuditPhase::kIntent) return;
  fmt::print("      at {}; {}{}\n", r.position, r.verdict.rule,
             r.verdict.cell.empty() ? "" : "; " + r.verdict.cell);
  for (const std::string& action : r.actions) fmt::print("      > {}\n", action);
  if (!r.verdict.rows.empty()) fmt::print("      rows: {}\n", r.verdict.rows);
}

Result<void> Audit(const AuditFlags& flags) {
  AuditQuery query;
  if (!flags.sink.empty()) query.sink = flags.sink;
  if (flags.decision != 0) query.decision = flags.decision;
  query.limit = flags.limit;
  if (!flags.table.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(query.table, ParseTablePath(flags.table));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<StateStore> state,
                             StateStore::OpenShared(flags.state));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<AuditRecord> records, state->Audit(query));
  for (const AuditRecord& record : records) {
    if (flags.output == "json") {
      fmt::print("{}\n", AuditJson(record));
    } else {
      PrintAudit(record);
    }
  }
  return {};
}

std::string DivergenceJson(const Divergence& d) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject().Key("id").Int(d.id).Key("sink").String(d.sink.sink);
  json.Key("sink_table").String(d.sink.table.ToString()).Key("column").String(d.column_name);
  json.Key("event").String(Tag(d.event)).Key("text").String(d.text).Key("cause").Int(d.cause);
  json.Key("since").String(TimeText(d.since_ms)).Key("rows").Int(d.rows);
  json.Key("of_old_rows").Bool(d.of_old_rows);
  json.Key("ended").String(TimeText(d.ended_ms.value_or(0))).Key("ended_by").String(d.ended_by);
  json.EndObject();
  return line;
}

Result<void> Divergences(const AuditFlags& flags) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<StateStore> state,
                             StateStore::OpenShared(flags.state));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<Divergence> divergences,
                             state->Divergences(flags.all));
  for (const Divergence& d : divergences) {
    if (flags.output == "json") {
      fmt::print("{}\n", DivergenceJson(d));
      continue;
    }
    fmt::print("{}: {} (number {}, since {}, decision {}{}){}\n", d.sink.ToString(), d.text, d.id,
               TimeText(d.since_ms), d.cause, d.rows > 0 ? fmt::format(", {} rows", d.rows) : "",
               d.ended_ms.has_value() ? ", ended by " + d.ended_by : "");
  }
  if (divergences.empty() && flags.output == "text") fmt::print("no divergences\n");
  return {};
}

CLI::App* AddStateCommand(CLI::App* app, const char* name, const char* what,
                          const std::shared_ptr<AuditFlags>& flags) {
  CLI::App* command = app->add_subcommand(name, what);
  command->add_option("--state", flags->state, "Folder of the pipeline's state")->required();
  command->add_option("--output", flags->output, "text or json (one object a line)")
      ->check(CLI::IsMember({"text", "json"}));
  return command;
}

int Finish(const Result<void>& result) {
  if (!result) fmt::print(stderr, "error: {}\n", result.error().ToString());
  return result ? 0 : 1;
}

}  // namespace

void AddAuditCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* command = AddStateCommand(
      app, "audit", "Show every decision about a schema change, and what came of it.", flags);
  command->add_option("--sink", flags->sink, "Only of this sink");
  command->add_option("--table", flags->table, "Only of this table, at the source or the sink");
  command->add_option("--id", flags->decision, "Only this decision");
  command->add_option("--limit", flags->limit, "Only the newest so many");
  command->callback([flags, exit_code] { *exit_code = Finish(Audit(*flags)); });
}

void AddDivergencesCommand(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<AuditFlags>();
  CLI::App* command = AddStateCommand(
      app, "divergences", "Show where sink tables differ from the source by decision.", flags);
  command->add_flag("--all", flags->all, "Those that have ended too");
  command->callback([flags, exit_code] { *exit_code = Finish(Divergences(*flags)); });
}

}  // namespace driftless
