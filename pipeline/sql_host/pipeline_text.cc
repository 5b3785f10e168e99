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

void AddOptions(const CatalogEntry& entry, const Options& options, std::string* text) {
  for (const auto& [key, value] : options) {
    *text += "  " + Quoted(OwnKey(entry, key)) + ": " + Quoted(value) + "\n";
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

// The source block, and what the rest of the file calls its table.
struct SourceText {
  std::string text;
  std::string table;
};

Result<SourceText> SourceOf(const flink::RowJob& job, const ComponentCatalog& catalog) {
  if (!job.script.empty()) {
    const std::string table = job.sink.database + "." + job.sink.object;
    return SourceText{"  type: sql\n  script: " + Quoted(job.script) + "\n", table};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string from, ConnectorOf(job.source, job.source_table));
  DRIFTLESS_ASSIGN_OR_RETURN(const CatalogEntry* const source,
                             Find(catalog.sources, from, job.source, "source"));
  Options options = job.source_table.options;
  options.erase("connector");
  const bool is_named = options.contains("tables") || options.contains("table-name");
  if (!is_named && (!IsPlain(job.source.database) || !IsPlain(job.source.object))) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "the name of table " + job.source.Summary() + " is no pattern of tables")
        .Hint("Name the source's table in its option 'table-name'.");
  }
  const std::string tables = SourceTable(*source, job.source, &options);
  SourceText made;
  made.text = "  type: " + std::string(source->type) + "\n  tables: " + Quoted(tables) + "\n";
  AddOptions(*source, options, &made.text);
  made.table = NameInPipeline(*source, tables, options);
  return made;
}

}  // namespace

Result<std::string> PipelineText(const flink::RowJob& job,
                                 const std::map<std::string, std::string>& settings,
                                 std::string_view name, const ComponentCatalog& catalog) {
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string to, ConnectorOf(job.sink, job.sink_table));
  DRIFTLESS_ASSIGN_OR_RETURN(const CatalogEntry* const sink,
                             Find(catalog.sinks, to, job.sink, "sink"));
  DRIFTLESS_ASSIGN_OR_RETURN(const SourceText source, SourceOf(job, catalog));
  Options sink_options = job.sink_table.options;
  sink_options.erase("connector");
  const std::string sink_database = Take(&sink_options, "database-name", job.sink.database);
  const std::string sink_table =
      sink_database + "." + Take(&sink_options, "table-name", job.sink.object);

  std::string text =
      "# Made of an INSERT of a Flink SQL session; written anew when it runs again.\n";
  text += "source:\n" + source.text + "sink:\n  type: " + std::string(sink->type) + "\n";
  AddOptions(*sink, sink_options, &text);
  std::string transform;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) transform += std::string("    ") + key + ": " + value + "\n";
  };
  add("projection", job.projection.empty() ? "" : Quoted(job.projection));
  add("filter", job.filter.empty() ? "" : Quoted(job.filter));
  if (job.sink_table.key) add("primary-keys", List(job.sink_table.key->columns));
  if (!job.sink_table.partition_keys.empty()) {
    add("partition-keys", List(job.sink_table.partition_keys));
  }
  if (!transform.empty()) {
    text += "transform:\n  - source-table: " + Quoted(source.table) + "\n" + transform;
  }
  if (source.table != sink_table) {
    text += "route:\n  - source-table: " + Quoted(source.table) +
            "\n    sink-table: " + Quoted(sink_table) + "\n";
  }
  text += "pipeline:\n  name: " + Quoted(name) + "\n";
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
  for (const auto& [key, value] : block) text += "  " + Quoted(key) + ": " + Quoted(value) + "\n";
  return text;
}

bool IsBounded(const flink::RowJob& job, const std::map<std::string, std::string>& settings) {
  const auto is = [](const Options& options, const char* key, std::string_view value) {
    const auto found = options.find(key);
    return found != options.end() && found->second == value;
  };
  const Options& options = job.source_table.options;
  return !job.script.empty() || is(settings, "execution.runtime-mode", "batch") ||
         is(options, "connector", "sql") || is(options, "scan.bounded.mode", "latest-offset") ||
         is(options, "scan.startup.mode", "snapshot") ||
         (is(options, "connector", "file") && !is(options, "follow", "true"));
}

}  // namespace driftless
