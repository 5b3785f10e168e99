#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/cli/commands.h"
#include "schema/base/json_writer.h"
#include "sinks/api/component.h"
#include "sinks/api/table_reader.h"
#include "sinks/lake/row_json.h"

namespace driftless {
namespace {

constexpr size_t kCellWidthMax = 40;    // characters of a value in a table for people
constexpr size_t kTableRowsMax = 1000;  // rows that are kept to find the columns' widths

struct PeekFlags {
  std::string file;
  std::string table;
  std::string sink;
  bool schema = false;
  int64_t snapshot = -1;
  int64_t limit = -1;
  std::string output = "json";
};

int Fail(const Error& error) {
  fmt::print(stderr, "error: {}\n", error.ToString());
  return 1;
}

Result<const SinkDefinition*> FindSink(const PipelineDefinition& definition,
                                       const std::string& name) {
  std::vector<std::string> names;
  for (const SinkDefinition& sink : definition.sinks) {
    if (sink.name == name || (name.empty() && definition.sinks.size() == 1)) return &sink;
    names.push_back(sink.name);
  }
  if (name.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "the pipeline has several sinks")
        .Hint(fmt::format("choose one with --sink: {}", fmt::join(names, ", ")));
  }
  return MakeError(ErrorKind::kInvalidConfig, fmt::format("the pipeline has no sink {}", name))
      .Hint(fmt::format("its sinks are {}", fmt::join(names, ", ")));
}

Result<std::unique_ptr<TableReader>> OpenReader(const PipelineDefinition& definition,
                                                const SinkDefinition& sink) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type != sink.type || component.make_reader == nullptr) continue;
    SinkEnvironment environment;
    environment.pipeline_name = definition.options.name;
    environment.sink_name = sink.name;
    environment.local_time_zone = definition.options.local_time_zone;
    environment.clock = SystemClock();
    return component.make_reader(sink.options, environment);
  }
  return MakeError(ErrorKind::kUnsupported,
                   fmt::format("tables of a {} sink cannot be read back by this build", sink.type));
}

std::string SchemaJson(const SinkTable& table) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("table").String(table.path.ToString()).Key("columns").BeginArray();
  for (const SinkColumn& column : table.columns) {
    json.BeginObject()
        .Key("name")
        .String(column.name)
        .Key("type")
        .String(column.type.ToStringIgnoringNullability())
        .Key("nullable")
        .Bool(column.type.nullable())
        .Key("comment")
        .String(column.comment)
        .EndObject();
  }
  json.EndArray();
  const auto names = [&](std::string_view key, const std::vector<std::string>& list) {
    json.Key(key).BeginArray();
    for (const std::string& name : list) json.String(name);
    json.EndArray();
  };
  names("primary_key", table.primary_key);
  names("partition_keys", table.partition_keys);
  json.EndObject();
  return text;
}

// Characters, not bytes; wide scripts still take more room than one column each.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string Cell(std::string text) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  if (Width(text) <= kCellWidthMax) return text;
  size_t at = 0;
  for (size_t characters = 0; characters < kCellWidthMax - 3; ++characters) {
    ++at;
    while (at < text.size() && (text[at] & 0xC0) == 0x80) ++at;
  }
  return text.substr(0, at) + "...";
}

void PrintTable(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return;
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < rows[r].size(); ++i) {
      if (i > 0) line += "  ";
      line += rows[r][i] + std::string(widths[i] - Width(rows[r][i]), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
    if (r == 0) {
      line.clear();
      for (size_t i = 0; i < widths.size(); ++i) {
        line += (i > 0 ? "  " : "") + std::string(widths[i], '-');
      }
      fmt::print("{}\n", line);
    }
  }
}

void PrintSchemaTable(const SinkTable& table) {
  std::vector<std::vector<std::string>> rows = {{"column", "type", "comment"}};
  for (const SinkColumn& column : table.columns) {
    rows.push_back({column.name, column.type.ToString(), column.comment});
  }
  PrintTable(rows);
  if (!table.primary_key.empty()) {
    fmt::print("primary key: {}\n", fmt::join(table.primary_key, ", "));
  }
  if (!table.partition_keys.empty()) {
    fmt::print("partitioned by: {}\n", fmt::join(table.partition_keys, ", "));
  }
}

Result<void> PrintRowsAsTable(TableReader* reader, const TablePath& path, ReadRequest request) {
  const bool limited = request.limit >= 0 && request.limit <= static_cast<int64_t>(kTableRowsMax);
  if (!limited) request.limit = kTableRowsMax;
  std::vector<std::vector<std::string>> rows;
  DRIFTLESS_ASSIGN_OR_RETURN(const SinkTable described, reader->Describe(path, request));
  rows.emplace_back();
  for (const SinkColumn& column : described.columns) rows[0].push_back(column.name);
  DRIFTLESS_TRY(reader->ReadRows(
      path, request, [&](const SinkTable& table, std::span<const ColumnView> columns, int64_t row) {
        std::vector<std::string> cells;
        for (size_t i = 0; i < table.columns.size(); ++i) {
          std::string text;
          lake::AppendValueJson(table.columns[i].type, columns[i], row, &text);
          cells.push_back(Cell(std::move(text)));
        }
        rows.push_back(std::move(cells));
        return true;
      }));
  PrintTable(rows);
  if (!limited && rows.size() == kTableRowsMax + 1) {
    fmt::print(stderr, "only the first {} rows are shown; --output json prints all\n",
               kTableRowsMax);
  }
  return {};
}

Result<void> PrintRowsAsJson(TableReader* reader, const TablePath& path,
                             const ReadRequest& request) {
  std::vector<RowField> fields;
  std::string text;
  DRIFTLESS_TRY(reader->ReadRows(
      path, request, [&](const SinkTable& table, std::span<const ColumnView> columns, int64_t row) {
        if (fields.empty()) {
          for (const SinkColumn& column : table.columns) {
            fields.push_back({column.name, column.type, ""});
          }
        }
        lake::AppendRowJson(fields, columns, row, &text);
        text += '\n';
        if (text.size() > (64 << 10)) {
          std::fwrite(text.data(), 1, text.size(), stdout);
          text.clear();
        }
        return true;
      }));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

Result<void> Peek(const PeekFlags& flags) {
  DRIFTLESS_ASSIGN_OR_RETURN(const PipelineDefinition definition,
                             LoadPipeline(flags.file, AllComponents()));
  DRIFTLESS_ASSIGN_OR_RETURN(const SinkDefinition* sink, FindSink(definition, flags.sink));
  DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, ParseTablePath(flags.table));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::unique_ptr<TableReader> reader,
                             OpenReader(definition, *sink));
  ReadRequest request;
  if (flags.snapshot >= 0) request.snapshot = flags.snapshot;
  request.limit = flags.limit;
  if (flags.schema) {
    DRIFTLESS_ASSIGN_OR_RETURN(const SinkTable table, reader->Describe(path, request));
    if (flags.output == "table") {
      PrintSchemaTable(table);
    } else {
      fmt::print("{}\n", SchemaJson(table));
    }
    return {};
  }
  return flags.output == "table" ? PrintRowsAsTable(reader.get(), path, request)
                                 : PrintRowsAsJson(reader.get(), path, request);
}

}  // namespace

void AddPeekCommand(CLI::App* app, int* exit_code) {
  CLI::App* command = app->add_subcommand(
      "peek", "Read a table of a sink back: its rows in the order of their key, or its schema.");
  auto flags = std::make_shared<PeekFlags>();
  command->add_option("pipeline", flags->file, "Pipeline file")->required();
  command->add_option("--table", flags->table, "Table at the sink, database.table")->required();
  command->add_option("--sink", flags->sink, "Name of the sink; needed where there are several");
  command->add_flag("--schema", flags->schema, "Show the columns instead of the rows");
  command->add_option("--snapshot", flags->snapshot, "As it was at this snapshot of the sink");
  command->add_option("--limit", flags->limit, "At most this many rows");
  command->add_option("--output", flags->output, "json: one object a line; table: for people")
      ->check(CLI::IsMember({"json", "table"}));
  command->callback([flags, exit_code] {
    const Result<void> done = Peek(*flags);
    *exit_code = done ? 0 : Fail(done.error());
  });
}

}  // namespace driftless
