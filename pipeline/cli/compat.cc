#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/compat.h"
#include "pipeline/sql_host/script_reader.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

using flink::CompatFinding;
using flink::CompatReport;
using flink::CompatVerdict;

struct CompatArguments {
  std::string old_file;
  std::string new_file;
  std::string output = "text";
  flink::CompatOptions options;
  bool check_sink = false;
};

Result<std::vector<flink::CompatStatement>> ReadScript(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<flink::CompatStatement> statements;
  for (ScriptStatement& each : ReadSqlScript(text)) {
    statements.push_back({std::move(each.text), each.line});
  }
  return statements;
}

std::string_view WordOf(CompatVerdict verdict) {
  switch (verdict) {
    case CompatVerdict::kFull: return "full";
    case CompatVerdict::kPartial: return "partial";
    case CompatVerdict::kUnknown: return "unknown";
    case CompatVerdict::kIncompatible: return "incompatible";
  }
  return "unknown";
}

void PrintText(const CompatReport& report) {
  std::printf("%s\n", std::string(NameOf(report.verdict)).c_str());
  const auto list = [](const char* word, const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    if (!text.empty()) std::printf("    %s: %s\n", word, text.c_str());
  };
  for (const CompatFinding& finding : report.findings) {
    const std::string word = finding.is_warning ? "warning" : std::string(WordOf(finding.verdict));
    std::printf("  %-12s %-4s %s%s%s: %s\n", word.c_str(), finding.rule.c_str(),
                finding.statement.c_str(), finding.statement.empty() ? "" : ", ",
                finding.subject.c_str(), finding.reason.c_str());
    list("starts anew", finding.dropped);
    list("keeps its state", finding.kept);
  }
  for (const std::string& option : report.not_checked) {
    std::printf("  not checked       %s\n", option.c_str());
  }
}

void PrintJson(const CompatReport& report) {
  std::string text;
  JsonWriter json(&text);
  const auto strings = [&](const char* key, const std::vector<std::string>& items) {
    json.Key(key).BeginArray();
    for (const std::string& item : items) json.String(item);
    json.EndArray();
  };
  json.BeginObject().Key("verdict").String(WordOf(report.verdict));
  json.Key("findings").BeginArray();
  for (const CompatFinding& finding : report.findings) {
    json.BeginObject()
        .Key("verdict")
        .String(WordOf(finding.verdict))
        .Key("warning")
        .Bool(finding.is_warning)
        .Key("rule")
        .String(finding.rule)
        .Key("statement")
        .String(finding.statement)
        .Key("subject")
        .String(finding.subject)
        .Key("reason")
        .String(finding.reason);
    strings("starts_anew", finding.dropped);
    strings("keeps_state", finding.kept);
    json.EndObject();
  }
  json.EndArray();
  strings("not_checked", report.not_checked);
  json.EndObject();
  std::printf("%s\n", text.c_str());
}

// Exit code: 0 full, 1 partial, 2 incompatible, 3 unknown.
Result<int> RunCompat(const CompatArguments& arguments) {
  flink::CompatOptions options = arguments.options;
  options.ignore_sink = !arguments.check_sink;
  DRIFTLESS_ASSIGN_OR_RETURN(
      const CompatVerdict verdict,
      CompareSqlScripts(arguments.old_file, arguments.new_file, options, arguments.output));
  switch (verdict) {
    case CompatVerdict::kFull: return 0;
    case CompatVerdict::kPartial: return 1;
    case CompatVerdict::kIncompatible: return 2;
    case CompatVerdict::kUnknown: break;
  }
  return 3;
}

}  // namespace

Result<CompatVerdict> CompareSqlScripts(const std::string& old_file, const std::string& new_file,
                                        const flink::CompatOptions& options,
                                        const std::string& output) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto old_script, ReadScript(old_file));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto new_script, ReadScript(new_file));
  DRIFTLESS_ASSIGN_OR_RETURN(const CompatReport report,
                             flink::CheckCompatibility(old_script, new_script, options));
  if (output == "json") {
    PrintJson(report);
  } else {
    PrintText(report);
  }
  return report.verdict;
}

void AddCompatCommand(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<CompatArguments>();
  CLI::App* command = app->add_subcommand(
      "compat", "Whether a changed Flink SQL job keeps the state of the running one");
  command->add_option("old", arguments->old_file, "script of the running job")->required();
  command->add_option("new", arguments->new_file, "script of the new one")->required();
  command->add_flag("--ignore-filter", arguments->options.ignore_filter,
                    "a changed filter in front of state is no harm");
  command->add_flag("--check-sink", arguments->check_sink, "a changed sink is not passed over");
  command->add_option("--old-version", arguments->options.old_version,
                      "version of the engine that wrote the state");
  command->add_option("--new-version", arguments->options.new_version,
                      "version of the engine that reads it");
  command->add_option("--output", arguments->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(
      "Exit code: 0 fully compatible, 1 partially (named states start anew), 2 incompatible, 3 "
      "unknown or a script that is not right.");
  command->callback([arguments, exit_code] {
    const auto code = RunCompat(*arguments);
    if (!code) std::fprintf(stderr, "driftless compat: %s\n", code.error().ToString().c_str());
    *exit_code = code.value_or(3);
  });
}

}  // namespace driftless
