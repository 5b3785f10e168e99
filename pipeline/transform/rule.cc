#include "pipeline/transform/rule.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

// What a rule is made of: a definition's, or one from the state.
struct RuleText {
  std::string projection;
  std::string filter;
  std::vector<std::string> primary_keys;
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> table_options;
  std::string converter;
  int line = 0;
};

Error InRule(Error error, const RuleText& rule, std::string_view what) {
  if (rule.line == 0) return std::move(error).Context("the transform that the state remembers");
  return std::move(error).Context(fmt::format("transform in line {}: {}", rule.line, what));
}

Result<TransformRule> ReadRule(const RuleText& text) {
  TransformRule rule;
  rule.line = text.line;
  rule.primary_keys = text.primary_keys;
  rule.partition_keys = text.partition_keys;
  rule.table_options = text.table_options;
  rule.soft_delete = !text.converter.empty();
  Result<std::vector<flink::ProjectionItem>> items =
      flink::ParseProjection(text.projection.empty() ? "*" : text.projection);
  if (!items) return InRule(std::move(items).error(), text, "projection");
  rule.items = *std::move(items);
  if (text.filter.empty()) return rule;
  Result<flink::Expr> filter = flink::ParseCondition(text.filter);
  if (!filter) return InRule(std::move(filter).error(), text, "filter");
  rule.filter = *std::move(filter);
  rule.filter_text = text.filter;
  return rule;
}

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter* json) {
  if (texts.empty()) return;
  json->Key(key).BeginArray();
  for (const std::string& text : texts) json->String(text);
  json->EndArray();
}

void WriteRule(const RuleText& rule, JsonWriter* json) {
  json->BeginObject().Key("projection").String(rule.projection.empty() ? "*" : rule.projection);
  if (!rule.filter.empty()) json->Key("filter").String(rule.filter);
  WriteTexts("primary_keys", rule.primary_keys, json);
  WriteTexts("partition_keys", rule.partition_keys, json);
  if (!rule.table_options.empty()) {
    json->Key("options").BeginObject();
    for (const auto& [key, value] : rule.table_options) json->Key(key).String(value);
    json->EndObject();
  }
  if (!rule.converter.empty()) json->Key("converter").String(rule.converter);
  json->EndObject();
}

std::vector<std::string> ReadTexts(const simdjson::dom::object& object, std::string_view key) {
  std::vector<std::string> texts;
  simdjson::dom::array array;
  if (object.at_key(key).get(array) != simdjson::SUCCESS) return texts;
  for (const simdjson::dom::element element : array) {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) texts.emplace_back(text);
  }
  return texts;
}

std::string ReadText(const simdjson::dom::object& object, std::string_view key) {
  std::string_view text;
  return object.at_key(key).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

Error Damaged() {
  return MakeError(ErrorKind::kCorrupt, "the transforms in the state database are damaged")
      .Hint("The state folder is damaged; restore it or start from a new one.");
}

// The expressions of each computed column, one for every rule; empty where a rule has no such
// column.
std::map<std::string, std::vector<std::string>> ComputedTexts(const TableRules& rules) {
  std::map<std::string, std::vector<std::string>> texts;
  for (size_t i = 0; i < rules.rules().size(); ++i) {
    for (const flink::ProjectionItem& item : rules.rules()[i].items) {
      if (item.is_star || item.is_column) continue;
      std::vector<std::string>& own = texts[item.name];
      own.resize(rules.rules().size());
      own[i] = item.text;
    }
  }
  return texts;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> RenamedColumns(const TableRules& before,
                                                                const TableRules& after) {
  const auto was = ComputedTexts(before);
  const auto is = ComputedTexts(after);
  // By their expressions: the names that are gone, and those that have come.
  std::map<std::vector<std::string>, std::pair<std::vector<std::string>, std::vector<std::string>>>
      moved;
  for (const auto& [name, texts] : was) {
    if (!is.contains(name)) moved[texts].first.push_back(name);
  }
  for (const auto& [name, texts] : is) {
    if (!was.contains(name)) moved[texts].second.push_back(name);
  }
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const auto& [texts, names] : moved) {
    const auto& [gone, come] = names;
    if (gone.size() == 1 && come.size() == 1) renamed.emplace_back(gone[0], come[0]);
  }
  return renamed;
}

Result<TableRules> TableRules::Of(const PipelineDefinition& definition, const TablePath& table) {
  TableRules result;
  JsonWriter json(&result.text_);
  json.BeginArray();
  for (const TransformDefinition& transform : definition.transforms) {
    if (!transform.selector.Matches(table)) continue;
    RuleText text;
    text.projection = transform.projection;
    text.filter = transform.filter;
    text.primary_keys = transform.primary_keys;
    text.partition_keys = transform.partition_keys;
    text.table_options = transform.table_options;
    text.converter = transform.converter_after_transform;
    text.line = transform.at.line;
    DRIFTLESS_ASSIGN_OR_RETURN(TransformRule rule, ReadRule(text));
    result.rules_.push_back(std::move(rule));
    WriteRule(text, &json);
  }
  json.EndArray();
  if (result.rules_.empty()) result.text_.clear();
  return result;
}

Result<TableRules> TableRules::Parse(std::string_view text) {
  TableRules result;
  result.text_ = text;
  if (text.empty()) return result;
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  if (parser.parse(text.data(), text.size()).get(array) != simdjson::SUCCESS) return Damaged();
  for (const simdjson::dom::element element : array) {
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return Damaged();
    RuleText rule;
    rule.projection = ReadText(object, "projection");
    rule.filter = ReadText(object, "filter");
    rule.primary_keys = ReadTexts(object, "primary_keys");
    rule.partition_keys = ReadTexts(object, "partition_keys");
    rule.converter = ReadText(object, "converter");
    simdjson::dom::object options;
    if (object.at_key("options").get(options) == simdjson::SUCCESS) {
      for (const auto& [key, value] : options) {
        std::string_view option;
        if (value.get(option) == simdjson::SUCCESS) rule.table_options[std::string(key)] = option;
      }
    }
    DRIFTLESS_ASSIGN_OR_RETURN(TransformRule read, ReadRule(rule));
    result.rules_.push_back(std::move(read));
  }
  return result;
}

}  // namespace driftless
