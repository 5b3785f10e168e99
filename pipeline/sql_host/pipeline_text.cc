#include "pipeline/sql_host/pipeline_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/options/suggest.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

using Options = std::map<std::string, std::string>;

std::string Quoted(std::string_view text) {
  std::string quoted;
  JsonWriter(&quoted).String(text);
  return quoted;
}

std::string List(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "[" : ", ") + Quoted(item);
  return text + "]";
}

bool Declares(const CatalogEntry& entry, std::string_view key) {
  return std::any_of(entry.options.begin(), entry.options.end(), [&](const OptionSpec& spec) {
    return spec.key == key ||
           std::find(spec.aliases.begin(), spec.aliases.end(), key) != spec.aliases.end();
  });
}

// Flink's connectors call some options by the last part of our names: warehouse, format.
std::string OwnKey(const CatalogEntry& entry, const std::string& key) {
  if (Declares(entry, key)) return key;
  if (Declares(entry, "value." + key)) return "value." + key;
  const std::string property = "catalog.properties." + key;
  return Declares(entry, property) ? property : key;
}

Result<std::string> ConnectorOf(const flink::ObjectName& name, const flink::TableEntry& table) {
  const auto found = table.options.find("connector");
  if (found != table.options.end()) return found->second;
  return MakeError(ErrorKind::kInvalidConfig, "table " + name.Summary() + " has no connector")
      .Hint("WITH ('connector' = '..') names what its rows come from or go to.");
}

// The entry that a connector means; "mysql-cdc" is the source "mysql".
Result<const CatalogEntry*> Find(const std::vector<CatalogEntry>& entries, std::string connector,
                                 const flink::ObjectName& table, std::string_view what) {
  if (connector.ends_with("-cdc")) connector.resize(connector.size() - 4);
  std::vector<std::string_view> known;
  for (const CatalogEntry& entry : entries) {
    const bool is_it =
        entry.type == connector ||
        std::find(entry.aliases.begin(), entry.aliases.end(), connector) != entry.aliases.end();
    if (is_it && entry.can_run) return &entry;
    if (entry.can_run) known.push_back(entry.type);
  }
  std::string all;
  for (const std::string_view each : known) all += (all.empty() ? "" : ", ") + std::string(each);
  return MakeError(ErrorKind::kInvalidConfig, "the connector '" + connector + "' of table " +
                                                  table.Summary() + " is no " + std::string(what) +
                                                  " of pipelines; there are " + all)
      .Hint(Suggest(connector, known));
}

// Takes an option out; the fallback where it is not there.
std::string Take(Options* options, std::string_view key, std::string fallback) {
  const auto found = options->find(std::string(key));
  if (found == options->end()) return fallback;
  std::string value = std::move(found->second);
  options->erase(found);
  return value;
}

bool IsPlain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c == '_' || c == '-' || c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
  });
}

void AddOptions(const CatalogEntry& entry, const Options& options, std::string_view indent,
                std::string* text) {
  for (const auto& [key, value] : options) {
    *text += std::string(indent) + Quoted(OwnKey(entry, key)) + ": " + Quoted(value) + "\n";
  }
}

// The option that names the table, where its connector has one of its own; else the session's name.
std::string SourceTable(const CatalogEntry& entry, const flink::ObjectName& name,
                        Options* options) {
  const std::string database = Take(options, "database-name", name.database);
  const std::string schema = Take(options, "schema-name", "public");
  const std::string table = Take(options, "table-name", name.object);
  const bool has_schemas = entry.type == "postgres";
  return Take(options, "tables", database + "." + (has_schemas ? schema + "." : "") + table);
}

// What a transform or route calls the table that the source names so.
std::string NameInPipeline(const CatalogEntry& entry, const std::string& tables,
                           const Options& options) {
  const auto with_database = options.find("table-id.include-database");
  const bool is_short = entry.type == "postgres" &&
                        (with_database == options.end() || with_database->second != "true");
  return is_short ? tables.substr(tables.find('.') + 1) : tables;
}

// Tables that one connection gives.
struct SourceBlock {
  const CatalogEntry* entry = nullptr;
  Options options;  // of the connection
  std::string name;
  std::string tables;
};

// A table of a job, as the file has it.
struct InputText {
  std::string table;  // what transforms and routes call it
  std::string projection;
  std::string filter;
};

struct SourcesText {
  std::string text;
  std::vector<InputText> inputs;
};

// Puts a table into the block of its connection. Returns what the rest of the file calls it.
Result<std::string> AddTable(const flink::RowInput& input, const ComponentCatalog& catalog,
                             std::vector<SourceBlock>* blocks) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string from, ConnectorOf(input.name, input.table));
  SourceBlock own;
  DRIFTLESS_ASSIGN_OR_RETURN(own.entry, Find(catalog.sources, from, input.name, "source"));
  own.options = input.table.options;
  own.options.erase("connector");
  const bool is_named = own.options.contains("tables") || own.options.contains("table-name");
  if (!is_named && (!IsPlain(input.name.database) || !IsPlain(input.name.object))) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "the name of table " + input.name.Summary() + " is no pattern of tables")
        .Hint("Name the source's table in its option 'table-name'.");
  }
  own.tables = SourceTable(*own.entry, input.name, &own.options);
  own.name = input.name.Summary();
  std::string called = NameInPipeline(*own.entry, own.tables, own.options);
  for (SourceBlock& block : *blocks) {
    if (block.entry != own.entry || block.options != own.options) continue;
    block.tables += ", " + own.tables;
    block.name = std::min(block.name, own.name);  // whatever order the query has
    return called;
  }
  blocks->push_back(std::move(own));
  return called;
}

std::string TextOf(const std::vector<SourceBlock>& blocks) {
  const bool is_alone = blocks.size() == 1;
  std::string text = is_alone ? "source:\n" : "sources:\n";
  for (const SourceBlock& block : blocks) {
    const std::string indent = is_alone ? "  " : "    ";
    text += (is_alone ? "  type: " : "  - type: ") + std::string(block.entry->type) + "\n";
    if (!is_alone) text += indent + "name: " + Quoted(block.name) + "\n";
    text += indent + "tables: " + Quoted(block.tables) + "\n";
    AddOptions(*block.entry, block.options, indent, &text);
  }
  return text;
}

Result<SourcesText> SourcesOf(const flink::RowJob& job, const ComponentCatalog& catalog) {
  SourcesText made;
  if (!job.script.empty()) {
    made.text = "source:\n  type: sql\n  script: " + Quoted(job.script) + "\n";
    made.inputs.push_back({job.sink.database + "." + job.sink.object, "", ""});
    return made;
  }
  std::vector<SourceBlock> blocks;
  std::map<std::string, std::string> called;
  for (const flink::RowInput& input : job.inputs) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string table, AddTable(input, catalog, &blocks));
    const auto [other, is_new] = called.emplace(table, input.name.Summary());
    if (!is_new) {
      return MakeError(ErrorKind::kUnsupported,
                       "tables " + other->second + " and " + input.name.Summary() + " are both " +
                           table +
                           " at their sources, and a pipeline tells its tables apart by that name")
          .Hint(
              "Take each of them into the sink by an INSERT of its own, one after the other, or "
              "run the query on Apache Flink.");
    }
    made.inputs.push_back({std::move(table), input.projection, input.filter});
  }
  made.text = TextOf(blocks);
  return made;
}

// What becomes of the rows of one table: an item of `transform:`; empty where nothing does.
std::string TransformOf(const InputText& input, const flink::TableEntry& sink) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += std::string("    ") + key + ": " + value + "\n";
  };
  add("projection", input.projection.empty() ? "" : Quoted(input.projection));
  add("filter", input.filter.empty() ? "" : Quoted(input.filter));
  if (sink.key) add("primary-keys", List(sink.key->columns));
  if (!sink.partition_keys.empty()) add("partition-keys", List(sink.partition_keys));
  if (text.empty()) return text;
  return "  - source-table: " + Quoted(input.table) + "\n" + text;
}

// The options of the pipeline itself, out of the session's settings.
Options PipelineBlock(const flink::RowJob& job, const Options& settings) {
  Options block = {{"http.address", "off"}};  // several pipelines of one script have no one address
  // The texts of instants in a script are those of UTC.
  if (!job.script.empty()) block["local-time-zone"] = "UTC";
  for (const auto& [key, value] : settings) {
    constexpr std::string_view kPrefix = "pipeline.";
    if (key == "table.local-time-zone" && job.script.empty()) block["local-time-zone"] = value;
    if (key == "execution.checkpointing.interval") block["checkpoint.interval"] = value;
    if (key.starts_with(kPrefix) && key != "pipeline.name")
      block[key.substr(kPrefix.size())] = value;
  }
  return block;
}

}  // namespace

Result<std::string> PipelineText(const flink::RowJob& job,
                                 const std::map<std::string, std::string>& settings,
                                 std::string_view name, const ComponentCatalog& catalog) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string to, ConnectorOf(job.sink, job.sink_table));
  DRIFTLESS_ASSIGN_OR_RETURN(const CatalogEntry* const sink,
                             Find(catalog.sinks, to, job.sink, "sink"));
  DRIFTLESS_ASSIGN_OR_RETURN(const SourcesText sources, SourcesOf(job, catalog));
  Options sink_options = job.sink_table.options;
  sink_options.erase("connector");
  const std::string sink_database = Take(&sink_options, "database-name", job.sink.database);
  const std::string sink_table =
      sink_database + "." + Take(&sink_options, "table-name", job.sink.object);

  std::string text =
      "# Made of an INSERT of a Flink SQL session; written anew when it runs again.\n";
  text += sources.text + "sink:\n  type: " + std::string(sink->type) + "\n";
  AddOptions(*sink, sink_options, "  ", &text);
  std::string transforms;
  std::string routes;
  for (const InputText& input : sources.inputs) {
    transforms += TransformOf(input, job.sink_table);
    if (input.table == sink_table) continue;
    routes += "  - source-table: " + Quoted(input.table) +
              "\n    sink-table: " + Quoted(sink_table) + "\n";
  }
  if (!transforms.empty()) text += "transform:\n" + transforms;
  if (!routes.empty()) text += "route:\n" + routes;
  text += "pipeline:\n  name: " + Quoted(name) + "\n";
  for (const auto& [key, value] : PipelineBlock(job, settings)) {
    text += "  " + Quoted(key) + ": " + Quoted(value) + "\n";
  }
  return text;
}

bool IsBounded(const flink::RowJob& job, const std::map<std::string, std::string>& settings) {
  const auto is = [](const Options& options, const char* key, std::string_view value) {
    const auto found = options.find(key);
    return found != options.end() && found->second == value;
  };
  if (!job.script.empty() || is(settings, "execution.runtime-mode", "batch")) return true;
  return std::all_of(job.inputs.begin(), job.inputs.end(), [&](const flink::RowInput& input) {
    const Options& options = input.table.options;
    return is(options, "connector", "sql") || is(options, "scan.bounded.mode", "latest-offset") ||
           is(options, "scan.startup.mode", "snapshot") ||
           (is(options, "connector", "file") && !is(options, "follow", "true"));
  });
}

}  // namespace driftless
