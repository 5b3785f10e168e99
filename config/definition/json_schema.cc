#include "config/definition/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <span>
#include <vector>

#include "config/definition/pipeline_definition.h"
#include "config/options/render.h"
#include "schema/base/json_writer.h"
#include "schema/base/letter_case.h"
#include "schema/policy/policy.h"

namespace driftless {
namespace {

using Groups = std::initializer_list<std::span<const OptionSpec>>;

void WriteTypes(std::initializer_list<std::string_view> types, JsonWriter* json) {
  json->Key("type").BeginArray();
  for (std::string_view type : types) json->String(type);
  json->EndArray();
}

// A word in its own letters, in small and in large ones, or a reference.
void WriteWords(const std::vector<std::string_view>& values, JsonWriter* json) {
  std::vector<std::string> words;
  for (std::string_view value : values) {
    std::string upper(value);
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    for (const std::string& word : {std::string(value), LowerCase(value), upper}) {
      if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
  }
  json->Key("anyOf").BeginArray().BeginObject().Key("enum").BeginArray();
  for (const std::string& word : words) json->String(word);
  if (std::find(values.begin(), values.end(), "null") != values.end()) json->Null();
  json->EndArray().EndObject();
  json->BeginObject().Key("type").String("string").Key("pattern").String("\\$\\{").EndObject();
  json->EndArray();
}

void WriteEventList(JsonWriter* json) {
  json->Key("type").String("array").Key("items").BeginObject().Key("type").String("string");
  json->Key("enum").BeginArray();
  for (std::string_view word : EventWords()) json->String(word);
  json->EndArray().EndObject();
}

bool IsEventList(std::string_view key) {
  return key == "include.schema.changes" || key == "exclude.schema.changes" ||
         key == "schema.change.approval";
}

void WriteValue(const OptionSpec& spec, JsonWriter* json) {
  json->BeginObject();
  std::string text(spec.doc);
  if (!spec.flink_cdc_note.empty()) text += fmt::format(" {}", spec.flink_cdc_note);
  json->Key("description").String(text);
  if (!spec.default_value.empty()) json->Key("default").String(spec.default_value);
  switch (spec.type) {
    case OptionType::kString: WriteTypes({"string", "number", "boolean"}, json); break;
    case OptionType::kInt: WriteTypes({"integer", "string"}, json); break;
    case OptionType::kBool: WriteTypes({"boolean", "string"}, json); break;
    case OptionType::kDuration:
    case OptionType::kBytes: WriteTypes({"string", "integer"}, json); break;
    case OptionType::kEnum: WriteWords(spec.values, json); break;
    case OptionType::kList: WriteTypes({"array", "string", "number"}, json); break;
    case OptionType::kMap: WriteTypes({"object", "string"}, json); break;
    case OptionType::kSequence:
      if (IsEventList(spec.key)) {
        WriteEventList(json);
      } else {
        json->Key("type").String("array");
      }
      break;
    case OptionType::kBlock:
      if (spec.key == "schema.change.rules") {
        json->Key("type").String("array").Key("items");
        json->BeginObject().Key("$ref").String("#/definitions/rule").EndObject();
      }
      break;
  }
  json->EndObject();
}

void WriteBlock(const Groups& groups, JsonWriter* json) {
  json->BeginObject().Key("type").String("object").Key("additionalProperties").Bool(false);
  std::vector<std::string_view> required;
  std::vector<const OptionSpec*> prefixes;
  json->Key("properties").BeginObject();
  for (std::span<const OptionSpec> specs : groups) {
    for (const OptionSpec& spec : specs) {
      if (spec.key.ends_with(".*")) {
        prefixes.push_back(&spec);
        // The map as a whole: "table.properties: {...}".
        json->Key(spec.key.substr(0, spec.key.size() - 2));
        WriteValue(spec, json);
        continue;
      }
      if (spec.required && spec.aliases.empty()) required.push_back(spec.key);
      json->Key(spec.key);
      WriteValue(spec, json);
      for (std::string_view alias : spec.aliases) {
        json->Key(alias);
        WriteValue(spec, json);
      }
    }
  }
  json->EndObject();
  if (!prefixes.empty()) {
    json->Key("patternProperties").BeginObject();
    for (const OptionSpec* spec : prefixes) {
      std::string pattern = "^";
      for (char c : spec->key.substr(0, spec->key.size() - 1)) {
        if (c == '.') pattern += '\\';
        pattern += c;
      }
      json->Key(pattern).BeginObject().Key("description").String(spec->doc).EndObject();
    }
    json->EndObject();
  }
  if (!required.empty()) {
    json->Key("required").BeginArray();
    for (std::string_view key : required) json->String(key);
    json->EndArray();
  }
  json->EndObject();
}

std::vector<std::string_view> TypeWords(const CatalogEntry& entry) {
  std::vector<std::string_view> words = {entry.type};
  words.insert(words.end(), entry.aliases.begin(), entry.aliases.end());
  return words;
}

// The block of any source or sink: its type decides which options it has.
void WriteAnyComponent(std::string_view what, const std::vector<CatalogEntry>& entries,
                       JsonWriter* json) {
  json->BeginObject().Key("type").String("object");
  json->Key("required").BeginArray().String("type").EndArray();
  json->Key("properties").BeginObject().Key("type").BeginObject().Key("enum").BeginArray();
  for (const CatalogEntry& entry : entries) {
    for (std::string_view word : TypeWords(entry)) json->String(word);
  }
  json->EndArray().EndObject().EndObject();
  json->Key("allOf").BeginArray();
  for (const CatalogEntry& entry : entries) {
    json->BeginObject().Key("if").BeginObject().Key("properties").BeginObject().Key("type");
    json->BeginObject().Key("enum").BeginArray();
    for (std::string_view word : TypeWords(entry)) json->String(word);
    json->EndArray().EndObject().EndObject().EndObject();
    json->Key("then").BeginObject().Key("$ref");
    json->String(fmt::format("#/definitions/{}-{}", what, entry.type)).EndObject().EndObject();
  }
  json->EndArray().EndObject();
}

void WriteReference(std::string_view key, std::string_view definition, JsonWriter* json) {
  json->Key(key).BeginObject().Key("$ref").String(fmt::format("#/definitions/{}", definition));
  json->EndObject();
}

void WriteListOf(std::string_view key, std::string_view definition, JsonWriter* json) {
  json->Key(key).BeginObject();
  WriteTypes({"array", "null"}, json);
  WriteReference("items", definition, json);
  json->EndObject();
}

}  // namespace

std::string PipelineJsonSchema(const ComponentCatalog& catalog) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  json.Key("$schema").String("http://json-schema.org/draft-07/schema#");
  json.Key("title").String("A Driftless pipeline");
  json.Key("type").String("object").Key("additionalProperties").Bool(false);
  json.Key("properties").BeginObject();
  WriteReference("source", "source", &json);
  WriteListOf("sources", "source", &json);
  WriteReference("sink", "sink", &json);
  WriteListOf("sinks", "sink", &json);
  WriteListOf("route", "route", &json);
  WriteListOf("transform", "transform", &json);
  json.Key("pipeline").BeginObject().Key("anyOf").BeginArray();
  json.BeginObject().Key("type").String("null").EndObject();
  json.BeginObject().Key("$ref").String("#/definitions/pipeline").EndObject();
  json.EndArray().EndObject();
  json.EndObject();
  json.Key("definitions").BeginObject();
  json.Key("source");
  WriteAnyComponent("source", catalog.sources, &json);
  json.Key("sink");
  WriteAnyComponent("sink", catalog.sinks, &json);
  for (const CatalogEntry& entry : catalog.sources) {
    json.Key(fmt::format("source-{}", entry.type));
    WriteBlock({SharedSourceOptionSpecs(), entry.options}, &json);
  }
  for (const CatalogEntry& entry : catalog.sinks) {
    json.Key(fmt::format("sink-{}", entry.type));
    WriteBlock({SharedSinkOptionSpecs(), entry.options}, &json);
  }
  json.Key("route");
  WriteBlock({RouteOptionSpecs()}, &json);
  json.Key("transform");
  WriteBlock({TransformOptionSpecs()}, &json);
  json.Key("rule");
  WriteBlock({RuleOptionSpecs()}, &json);
  json.Key("pipeline");
  WriteBlock({PipelineOptionSpecs()}, &json);
  json.EndObject().EndObject();
  return text;
}

std::string IndentJson(std::string_view json) {
  std::string out;
  int depth = 0;
  bool in_string = false;
  const auto new_line = [&] { out += '\n' + std::string(static_cast<size_t>(depth) * 2, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) out += json[++i];
      if (c == '"') in_string = false;
      continue;
    }
    switch (c) {
      case '{':
      case '[':
        out += c;
        if (i + 1 < json.size() && (json[i + 1] == '}' || json[i + 1] == ']')) {
          out += json[++i];
          break;
        }
        ++depth;
        new_line();
        break;
      case '}':
      case ']':
        --depth;
        new_line();
        out += c;
        break;
      case ',':
        out += c;
        new_line();
        break;
      case ':': out += ": "; break;
      case '"': in_string = true; [[fallthrough]];
      default: out += c;
    }
  }
  return out + "\n";
}

}  // namespace driftless
