#include "config/definition/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/definition/event_words.h"
#include "config/expr/projection.h"
#include "config/options/parse.h"
#include "config/options/suggest.h"
#include "config/table_api/chain.h"

namespace driftless {
namespace {

// Finds the component that `type` names; reports a missing or unknown one.
const CatalogEntry* FindComponent(const YamlNode& block, std::string_view what,
                                  const std::vector<CatalogEntry>& entries,
                                  const CatalogEntry* (*find)(const ComponentCatalog&,
                                                              std::string_view),
                                  const ComponentCatalog& catalog, Problems* problems) {
  const YamlNode::Entry* type = block.Find("type");
  std::vector<std::string_view> words;
  for (const CatalogEntry& entry : entries) {
    words.push_back(entry.type);
    words.insert(words.end(), entry.aliases.begin(), entry.aliases.end());
  }
  if (type == nullptr || !type->value.is_scalar()) {
    problems->AddError(type == nullptr ? block.at : type->at,
                       fmt::format("this {} has no \"type\"", what), Suggest("", words));
    return nullptr;
  }
  const CatalogEntry* entry = find(catalog, type->value.text);
  if (entry != nullptr) return entry;
  std::string hint = Suggest(type->value.text, words);
  problems->AddError(
      type->value.at, fmt::format("unknown {} type \"{}\"", what, type->value.PrintableText()),
      hint.empty() ? fmt::format("See `driftless options` for all {}s.", what) : std::move(hint));
  return nullptr;
}

std::string NameOf(const OptionValues& shared, std::string_view type, std::string_view what,
                   Problems* problems) {
  std::string name = shared.String("name").value_or(std::string(type));
  if (name.empty()) {
    problems->AddError(shared.At("name"), fmt::format("the name of a {} must not be empty", what));
  }
  return name;
}

void ReadAccepted(const OptionValues& shared, SinkDefinition* sink, Problems* problems) {
  sink->has_include_list = shared.IsSet("include.schema.changes");
  sink->has_exclude_list = shared.IsSet("exclude.schema.changes");
  const OptionValues::Value* include = shared.Find("include.schema.changes");
  sink->accepted = AllEvents();
  if (include != nullptr && !include->items.empty()) {
    sink->accepted = ReadEventWords("include.schema.changes", *include, problems);
    sink->accepted.insert(EventKind::kCreateTable);
  }
  if (const OptionValues::Value* exclude = shared.Find("exclude.schema.changes")) {
    for (EventKind event : ReadEventWords("exclude.schema.changes", *exclude, problems)) {
      sink->accepted.erase(event);
    }
  }
}

void ReadExtensions(const OptionValues& shared, const CatalogEntry& entry, SinkDefinition* sink,
                    Problems* problems) {
  const OptionValues::Value* list = shared.Find("capability.extensions");
  if (list == nullptr) return;
  std::vector<std::string_view> known;
  if (entry.matrix != nullptr) {
    for (const Extension& extension : entry.matrix->extensions) known.push_back(extension.event);
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    const std::string& word = list->items[i];
    if (std::find(known.begin(), known.end(), word) != known.end()) {
      sink->extensions.insert(word);
      continue;
    }
    problems->AddError(list->item_locations[i],
                       fmt::format("{} has no extension \"{}\"", entry.type, word),
                       known.empty() ? fmt::format("{} has no extensions at all.", entry.type)
                                     : Suggest(word, known));
  }
}

// A selector or pattern that does not parse, put at the option that holds it.
void AddAt(const OptionValues& values, std::string_view key, const Error& error,
           Problems* problems) {
  problems->AddError(values.At(key), fmt::format("\"{}\": {}", key, error.message()), error.hint());
}

std::map<std::string, std::string> ReadTableOptions(const OptionValues& values,
                                                    Problems* problems) {
  std::map<std::string, std::string> options;
  std::string text = values.String("table-options").value_or("");
  const std::string delimiter = values.String("table-options.delimiter").value_or(",");
  while (!text.empty() && !delimiter.empty()) {
    const size_t end = text.find(delimiter);
    const std::string item = text.substr(0, end);
    text = end == std::string::npos ? "" : text.substr(end + delimiter.size());
    const size_t equals = item.find('=');
    if (equals == std::string::npos) {
      problems->AddError(values.At("table-options"),
                         fmt::format("\"table-options\": \"{}\" is not \"key=value\"", item),
                         "Write k1=v1,k2=v2; table-options.delimiter changes the comma.");
      break;
    }
    const auto trim = [](std::string part) {
      part.erase(0, part.find_first_not_of(" \n"));
      part.erase(part.find_last_not_of(" \n") + 1);
      return part;
    };
    options[trim(item.substr(0, equals))] = trim(item.substr(equals + 1));
  }
  return options;
}

// A plain YAML scalar cannot begin with "*", so Flink CDC's files write "\*".
std::string WithStars(std::string text) {
  for (size_t at = text.find("\\*"); at != std::string::npos; at = text.find("\\*", at + 1)) {
    text.erase(at, 1);
  }
  return text;
}

}  // namespace

std::vector<const YamlNode*> ListItems(const YamlNode::Entry& list, Problems* problems) {
  std::vector<const YamlNode*> maps;
  if (list.value.is_null()) return maps;
  if (!list.value.is_sequence()) {
    problems->AddError(
        list.value.at,
        fmt::format("\"{}\" must be a list, not {}", list.key, list.value.KindText()),
        "Begin each entry with \"- \".");
    return maps;
  }
  for (const YamlNode& item : list.value.items) {
    if (item.is_map()) {
      maps.push_back(&item);
    } else {
      problems->AddError(item.at, fmt::format("an entry of \"{}\" must be a map, not {}", list.key,
                                              item.KindText()));
    }
  }
  return maps;
}

void WarnOfIgnored(const OptionValues& values, Problems* problems) {
  for (const OptionSpec& spec : values.specs()) {
    if (spec.flink_cdc != FlinkCdc::kIgnored || !values.IsSet(spec.key)) continue;
    problems->AddWarning(values.At(spec.key), fmt::format("\"{}\" is ignored here", spec.key),
                         std::string(spec.flink_cdc_note));
  }
}

std::optional<SourceDefinition> ParseSource(const YamlNode& block, const ComponentCatalog& catalog,
                                            Problems* problems) {
  const CatalogEntry* entry = FindComponent(
      block, "source", catalog.sources,
      [](const ComponentCatalog& c, std::string_view type) { return c.FindSource(type); }, catalog,
      problems);
  if (entry == nullptr) return std::nullopt;
  const size_t errors_before = problems->error_count();
  std::vector<OptionValues> values =
      ParseOptions(block, fmt::format("source \"{}\"", entry->type),
                   {SharedSourceOptionSpecs(), entry->options}, problems);
  SourceDefinition source;
  source.type = entry->type;
  source.name = NameOf(values[0], entry->type, "source", problems);
  source.options = std::move(values[1]);
  source.shared = std::move(values[0]);
  source.can_run = entry->can_run;
  source.reads_tables_again = entry->reads_tables_again;
  source.at = block.at;
  WarnOfIgnored(source.options, problems);
  // A block that has errors already would only repeat them.
  if (entry->check != nullptr && problems->error_count() == errors_before) {
    entry->check(source.options, problems);
  }
  return source;
}

std::optional<SinkDefinition> ParseSink(const YamlNode& block, const ComponentCatalog& catalog,
                                        Problems* problems) {
  const CatalogEntry* entry = FindComponent(
      block, "sink", catalog.sinks,
      [](const ComponentCatalog& c, std::string_view type) { return c.FindSink(type); }, catalog,
      problems);
  if (entry == nullptr) return std::nullopt;
  const size_t errors_before = problems->error_count();
  std::vector<OptionValues> values =
      ParseOptions(block, fmt::format("sink \"{}\"", entry->type),
                   {SharedSinkOptionSpecs(), entry->options}, problems);
  SinkDefinition sink;
  sink.type = entry->type;
  sink.name = NameOf(values[0], entry->type, "sink", problems);
  sink.options = std::move(values[1]);
  sink.shared = std::move(values[0]);
  sink.matrix = entry->matrix;
  sink.can_run = entry->can_run;
  sink.adapt_policy = entry->adapt_policy;
  sink.at = block.at;
  if (sink.shared.Enum("on-unavailable") == "stop-sink") {
    sink.on_unavailable = OnUnavailable::kStopSink;
  }
  WarnOfIgnored(sink.options, problems);
  ReadAccepted(sink.shared, &sink, problems);
  ReadExtensions(sink.shared, *entry, &sink, problems);
  // A block that has errors already would only repeat them.
  if (entry->check != nullptr && problems->error_count() == errors_before) {
    entry->check(sink.options, problems);
  }
  return sink;
}

std::vector<RouteDefinition> ParseRoutes(const YamlNode::Entry& list, Problems* problems) {
  std::vector<RouteDefinition> routes;
  for (const YamlNode* block : ListItems(list, problems)) {
    const OptionValues values = ParseOptions(*block, "a route", {RouteOptionSpecs()}, problems)[0];
    RouteDefinition route;
    route.source_table = values.String("source-table").value_or("");
    route.sink_table = values.String("sink-table").value_or("");
    route.replace_symbol = values.String("replace-symbol").value_or("");
    route.description = values.String("description").value_or("");
    route.sinks = values.List("sinks");
    route.at = block->at;
    if (values.IsSet("source-table") && values.IsSet("sink-table")) {
      Result<RoutePattern> pattern =
          RoutePattern::Parse(route.source_table, route.sink_table, route.replace_symbol);
      if (pattern) {
        route.pattern = *std::move(pattern);
      } else {
        const bool is_sink = pattern.error().message().find("sink-table") != std::string::npos;
        AddAt(values, is_sink ? "sink-table" : "source-table", pattern.error(), problems);
      }
    }
    routes.push_back(std::move(route));
  }
  return routes;
}

namespace {

// What can be said of a transform's texts before there is a table: that they parse, and that their
// functions are known.
void CheckTexts(const TransformDefinition& transform, const OptionValues& values,
                Problems* problems) {
  const auto report = [&](std::string_view key, const Error& error) {
    problems->AddError(values.At(key),
                       fmt::format("\"{}\", line {}, column {} of the text: {}", key, error.line(),
                                   error.column(), error.message()),
                       error.hint());
  };
  if (!transform.projection.empty()) {
    const auto items = flink::ParseProjection(transform.projection);
    if (!items) report("projection", items.error());
  }
  if (!transform.filter.empty()) {
    const auto filter = flink::ParseCondition(transform.filter);
    if (!filter) report("filter", filter.error());
  }
}

// A method chain of the Table API says what projection and filter say otherwise.
void ReadTableApi(const OptionValues& values, TransformDefinition* transform, Problems* problems) {
  if (!values.IsSet("table-api")) return;
  for (const std::string_view other : {"projection", "filter"}) {
    if (!values.IsSet(other)) continue;
    problems->AddError(values.At(other),
                       fmt::format("\"{}\" cannot stand beside \"table-api\"", other),
                       "Say it in the chain: select(..), where(..).");
  }
  auto chain = table_api::ReadChain(values.String("table-api").value_or(""));
  if (!chain) {
    const Error& error = chain.error();
    problems->AddError(values.At("table-api"),
                       fmt::format("\"table-api\", line {}, column {} of the text: {}",
                                   error.line(), error.column(), error.message()),
                       error.hint());
    return;
  }
  transform->projection = std::move(chain->projection);
  transform->filter = std::move(chain->filter);
}

}  // namespace

std::vector<TransformDefinition> ParseTransforms(const YamlNode::Entry& list, Problems* problems) {
  std::vector<TransformDefinition> transforms;
  for (const YamlNode* block : ListItems(list, problems)) {
    const OptionValues values =
        ParseOptions(*block, "a transform", {TransformOptionSpecs()}, problems)[0];
    TransformDefinition transform;
    transform.source_table = values.String("source-table").value_or("");
    transform.projection = WithStars(values.String("projection").value_or(""));
    transform.filter = values.String("filter").value_or("");
    ReadTableApi(values, &transform, problems);
    transform.primary_keys = values.List("primary-keys");
    transform.partition_keys = values.List("partition-keys");
    transform.table_options = ReadTableOptions(values, problems);
    transform.converter_after_transform = values.Enum("converter-after-transform").value_or("");
    transform.description = values.String("description").value_or("");
    transform.at = block->at;
    if (values.IsSet("source-table")) {
      Result<TableSelector> selector = TableSelector::Parse(transform.source_table);
      if (selector) {
        transform.selector = *std::move(selector);
      } else {
        AddAt(values, "source-table", selector.error(), problems);
      }
    }
    CheckTexts(transform, values, problems);
    transforms.push_back(std::move(transform));
  }
  return transforms;
}

}  // namespace driftless
