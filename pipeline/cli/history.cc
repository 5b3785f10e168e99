#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/cli/commands.h"
#include "pipeline/cli/time_text.h"
#include "pipeline/state/state_store.h"
#include "schema/base/json_writer.h"
#include "schema/model/schema_diff.h"

namespace driftless {
namespace {

struct HistoryFlags {
  std::string state;
  std::string table;
  std::string at;
  std::string diff;
  std::string output = "text";
};

// A version with its number in its table's history: 1, 2, ...
struct Numbered {
  size_t number = 0;
  SchemaVersion version;
};

std::vector<Numbered> Number(std::vector<SchemaVersion> versions) {
  std::map<TablePath, size_t> last;
  std::vector<Numbered> numbered;
  for (SchemaVersion& version : versions) {
    const size_t number = ++last[version.table];
    numbered.push_back({number, std::move(version)});
  }
  return numbered;
}

std::string ColumnText(const Column& column, const TableSchema& schema) {
  std::string text = fmt::format("{} {}", column.name, column.type.ToString());
  if (schema.IsKey(column.id)) text += " key";
  if (!column.comment.empty()) text += fmt::format(" comment '{}'", column.comment);
  return text;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void PrintVersion(const Numbered& entry, bool with_columns) {
  const SchemaVersion& v = entry.version;
  fmt::print("{} {}: {} at {}{}\n", v.table.ToString(), entry.number,
             v.schema == nullptr ? "dropped" : fmt::format("{} columns", v.schema->columns.size()),
             v.position, v.time_ms == 0 ? "" : ", " + TimeText(v.time_ms));
  if (!v.statement.empty()) fmt::print("    {}\n", OneLine(v.statement));
  if (!with_columns || v.schema == nullptr) return;
  for (const Column& column : v.schema->columns) {
    fmt::print("    - {}\n", ColumnText(column, *v.schema));
  }
}

void WriteVersion(const Numbered& entry, JsonWriter* json) {
  const SchemaVersion& v = entry.version;
  json->BeginObject().Key("table").String(v.table.ToString());
  json->Key("version").Int(entry.number).Key("position").String(v.position);
  json->Key("point").String(v.point.ToString()).Key("time").String(TimeText(v.time_ms));
  json->Key("statement").String(v.statement).Key("dropped").Bool(v.schema == nullptr);
  json->Key("columns").BeginArray();
  if (v.schema != nullptr) {
    for (const Column& column : v.schema->columns) {
      json->BeginObject().Key("id").Int(column.id).Key("name").String(column.name);
      json->Key("type").String(column.type.ToStringIgnoringNullability());
      json->Key("nullable").Bool(column.type.nullable());
      json->Key("comment").String(column.comment).EndObject();
    }
  }
  json->EndArray().Key("primary_key").BeginArray();
  if (v.schema != nullptr) {
    for (const ColumnId id : v.schema->primary_key) {
      const Column* column = v.schema->Find(id);
      if (column != nullptr) json->String(column->name);
    }
  }
  json->EndArray().EndObject();
}

void Print(const std::vector<Numbered>& entries, const HistoryFlags& flags, bool with_columns) {
  for (const Numbered& entry : entries) {
    if (flags.output == "json") {
      std::string line;
      JsonWriter json(&line);
      WriteVersion(entry, &json);
      fmt::print("{}\n", line);
    } else {
      PrintVersion(entry, with_columns);
    }
  }
}

Error WrongMoment(const HistoryFlags& flags) {
  return MakeError(ErrorKind::kInvalidConfig,
                   fmt::format("\"{}\" is no time, and no position of the history", flags.at))
      .Hint(
          "Write a time such as 2026-01-31T10:00:00Z, a position as `history` prints it, or a "
          "point such as 0:1077:0.0.");
}

// Per table the version that was in force: by the commit time at the source, by the source's own
// words for a position, or by a point.
Result<std::vector<Numbered>> InForce(const std::vector<Numbered>& all, const HistoryFlags& flags) {
  const std::optional<int64_t> time_ms = ParseTimeText(flags.at);
  std::optional<Point> point;
  if (!time_ms.has_value()) {
    for (const Numbered& entry : all) {
      if (entry.version.position == flags.at) point = entry.version.point;
    }
    if (!point.has_value()) {
      const StreamId stream = all.empty() ? 0 : all.front().version.point.stream;
      Result<Point> parsed = ParsePoint(flags.at, stream);
      if (!parsed) return WrongMoment(flags);
      point = *parsed;
    }
  }
  std::map<TablePath, Numbered> in_force;
  for (const Numbered& entry : all) {
    const SchemaVersion& v = entry.version;
    const bool has_begun = time_ms.has_value()
                               ? v.time_ms <= *time_ms
                               : v.point.stream == point->stream && !point->Precedes(v.point);
    if (has_begun) in_force[v.table] = entry;
  }
  std::vector<Numbered> result;
  for (auto& [table, entry] : in_force) result.push_back(std::move(entry));
  return result;
}

Result<const Numbered*> FindVersion(const std::vector<Numbered>& all, std::string_view text) {
  size_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ptr == text.data() + text.size()) {
    for (const Numbered& entry : all) {
      if (entry.number == number) return &entry;
    }
  }
  return MakeError(ErrorKind::kNotFound, fmt::format("the table has no version \"{}\"", text))
      .Hint(fmt::format("It has versions 1 to {}.", all.size()));
}

Result<void> PrintDiff(const std::vector<Numbered>& all, const HistoryFlags& flags) {
  const size_t dots = flags.diff.find("..");
  if (flags.table.empty() || dots == std::string::npos) {
    return MakeError(ErrorKind::kInvalidConfig, "--diff needs a table and A..B")
        .Hint("Such as: driftless history --state DIR shop.orders --diff 1..3");
  }
  const std::string_view text = flags.diff;
  DRIFTLESS_ASSIGN_OR_RETURN(const Numbered* from, FindVersion(all, text.substr(0, dots)));
  DRIFTLESS_ASSIGN_OR_RETURN(const Numbered* to, FindVersion(all, text.substr(dots + 2)));
  const TableSchemaPtr& a = from->version.schema;
  const TableSchemaPtr& b = to->version.schema;
  if (a == nullptr || b == nullptr || a->incarnation != b->incarnation) {
    fmt::print("the table was dropped and created between the two: nothing is the same\n");
    return {};
  }
  const std::vector<SchemaChange> parts = DiffByIdentity(a, *b);
  if (parts.empty()) fmt::print("no difference\n");
  for (const SchemaChange& part : parts) fmt::print("{}\n", Describe(part));
  return {};
}

Result<void> History(const HistoryFlags& flags) {
  std::optional<TablePath> table;
  if (!flags.table.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(table, ParseTablePath(flags.table));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<StateStore> state,
                             StateStore::OpenShared(flags.state));
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<SchemaVersion> versions, state->All(table));
  if (table.has_value() && versions.empty()) {
    return MakeError(ErrorKind::kNotFound,
                     fmt::format("the history knows no table {}", flags.table))
        .Hint("`driftless history --state DIR` lists all tables.");
  }
  std::vector<Numbered> all = Number(std::move(versions));
  if (!flags.diff.empty()) return PrintDiff(all, flags);
  if (!flags.at.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(all, InForce(all, flags));
    Print(all, flags, /*with_columns=*/true);
    return {};
  }
  Print(all, flags, table.has_value());
  return {};
}

}  // namespace

void AddHistoryCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "history", "Show the schemas that the source's tables had, and since when.");
  auto flags = std::make_shared<HistoryFlags>();
  command->add_option("table", flags->table, "One table, as database.table, with its columns");
  command->add_option("--state", flags->state, "Folder of the pipeline's state")->required();
  command->add_option("--at", flags->at,
                      "What was in force at a time (2026-01-31T10:00:00Z) or position");
  command->add_option("--diff", flags->diff,
                      "What changed between two versions of the table: A..B");
  command->add_option("--output", flags->output, "text or json (one object a line)")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([flags, exit_code] {
    const Result<void> shown = History(*flags);
    if (!shown) fmt::print(stderr, "error: {}\n", shown.error().ToString());
    *exit_code = shown ? 0 : 1;
  });
}

}  // namespace driftless
