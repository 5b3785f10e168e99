#include <simdjson.h>

#include <set>
#include <utility>

#include "schema/base/check.h"
#include "schema/base/json_writer.h"
#include "sinks/paimon/metadata.h"
#include "sinks/paimon/types.h"

namespace driftless::paimon {
namespace {

namespace dom = simdjson::dom;

constexpr int kMaxDepth = 32;
constexpr int kSchemaVersion = 3;  // Paimon 0.9 and later

Error Bad(std::string what) { return MakeError(ErrorKind::kCorrupt, "schema: " + std::move(what)); }

// ---- writing ---------------------------------------------------------------------------------

size_t RowMembers(const LogicalType& type) {
  size_t count = type.kind() == TypeKind::kRow ? type.children().size() : 0;
  for (const RowField& child : type.children()) count += RowMembers(child.type);
  return count;
}

// Nested types are objects whose "type" carries the nullability; ROW members take their ids from
// `ids`, depth first.
void WriteType(const LogicalType& type, const int32_t** ids, JsonWriter* json) {
  if (!type.IsNested()) {
    json->String(PaimonTypeText(type));
    return;
  }
  const std::string suffix = type.nullable() ? "" : " NOT NULL";
  json->BeginObject();
  switch (type.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      json->Key("type").String((type.kind() == TypeKind::kArray ? "ARRAY" : "MULTISET") + suffix);
      json->Key("element");
      WriteType(type.children()[0].type, ids, json);
      break;
    case TypeKind::kMap:
      json->Key("type").String("MAP" + suffix);
      json->Key("key");
      WriteType(type.children()[0].type, ids, json);
      json->Key("value");
      WriteType(type.children()[1].type, ids, json);
      break;
    default:
      json->Key("type").String("ROW" + suffix);
      json->Key("fields").BeginArray();
      for (const RowField& field : type.children()) {
        json->BeginObject().Key("id").Int(*(*ids)++).Key("name").String(field.name).Key("type");
        WriteType(field.type, ids, json);
        if (!field.comment.empty()) json->Key("description").String(field.comment);
        json->EndObject();
      }
      json->EndArray();
  }
  json->EndObject();
}

void WriteStrings(const std::vector<std::string>& values, JsonWriter* json) {
  json->BeginArray();
  for (const std::string& value : values) json->String(value);
  json->EndArray();
}

// ---- reading ---------------------------------------------------------------------------------

Result<std::string> Text(const dom::object& json, std::string_view key, bool required) {
  dom::element value;
  if (json[key].get(value) != simdjson::SUCCESS || value.is_null()) {
    if (!required) return std::string();
    return Bad("\"" + std::string(key) + "\" is missing");
  }
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return Bad("\"" + std::string(key) + "\" is no text");
  return std::string(text);
}

Result<int64_t> Number(const dom::object& json, std::string_view key, int64_t min, int64_t max) {
  int64_t number = 0;
  if (json[key].get(number) != simdjson::SUCCESS || number < min || number > max) {
    return Bad("\"" + std::string(key) + "\" is missing or out of range");
  }
  return number;
}

Result<std::vector<std::string>> Strings(const dom::object& json, std::string_view key) {
  dom::array array;
  if (json[key].get(array) != simdjson::SUCCESS) {
    return Bad("\"" + std::string(key) + "\" is missing or no array");
  }
  std::vector<std::string> values;
  for (const dom::element item : array) {
    std::string_view text;
    if (item.get(text) != simdjson::SUCCESS)
      return Bad("\"" + std::string(key) + "\" holds no text");
    values.emplace_back(text);
  }
  return values;
}

Result<LogicalType> ReadType(dom::element json, std::vector<int32_t>* ids, int depth);

Result<LogicalType> ReadMember(const dom::object& json, std::string_view key,
                               std::vector<int32_t>* ids, int depth) {
  dom::element type;
  if (json[key].get(type) != simdjson::SUCCESS) {
    return Bad("a nested type without \"" + std::string(key) + "\"");
  }
  return ReadType(type, ids, depth + 1);
}

Result<LogicalType> ReadRow(const dom::object& json, std::vector<int32_t>* ids, int depth) {
  dom::array array;
  if (json["fields"].get(array) != simdjson::SUCCESS) return Bad("a ROW without \"fields\"");
  std::vector<RowField> fields;
  for (const dom::element item : array) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) return Bad("a ROW member is no object");
    RowField field;
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t id, Number(object, "id", 0, INT32_MAX));
    ids->push_back(static_cast<int32_t>(id));
    DRIFTLESS_ASSIGN_OR_RETURN(field.name, Text(object, "name", true));
    DRIFTLESS_ASSIGN_OR_RETURN(field.comment, Text(object, "description", false));
    DRIFTLESS_ASSIGN_OR_RETURN(field.type, ReadMember(object, "type", ids, depth));
    fields.push_back(std::move(field));
  }
  return LogicalType::Row(std::move(fields));
}

Result<LogicalType> ReadType(dom::element json, std::vector<int32_t>* ids, int depth) {
  if (depth > kMaxDepth) return Bad("a type is nested too deeply");
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) return ParsePaimonType(text);
  dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Bad("a type is neither a text nor an object");
  DRIFTLESS_ASSIGN_OR_RETURN(std::string name, Text(object, "type", true));
  bool nullable = true;
  if (name.ends_with(" NOT NULL")) {
    nullable = false;
    name.resize(name.size() - 9);
  }
  LogicalType type;
  if (name == "ARRAY" || name == "MULTISET") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType element,
                               ReadMember(object, "element", ids, depth));
    type = name == "ARRAY" ? LogicalType::Array(element) : LogicalType::Multiset(element);
  } else if (name == "MAP") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType key, ReadMember(object, "key", ids, depth));
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType value, ReadMember(object, "value", ids, depth));
    type = LogicalType::Map(key, value);
  } else if (name == "ROW") {
    DRIFTLESS_ASSIGN_OR_RETURN(type, ReadRow(object, ids, depth));
  } else {
    return ParsePaimonType(name);
  }
  return type.WithNullability(nullable);
}

Result<PaimonField> ReadField(dom::element json) {
  dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Bad("a field is no object");
  PaimonField field;
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t id, Number(object, "id", 0, INT32_MAX));
  field.id = static_cast<int32_t>(id);
  DRIFTLESS_ASSIGN_OR_RETURN(field.name, Text(object, "name", true));
  dom::element type;
  if (object["type"].get(type) != simdjson::SUCCESS)
    return Bad("field " + field.name + " has no type");
  Result<LogicalType> parsed = ReadType(type, &field.nested_ids, 0);
  if (!parsed) return std::move(parsed).error().Context("column " + field.name);
  field.type = *std::move(parsed);
  DRIFTLESS_ASSIGN_OR_RETURN(field.description, Text(object, "description", false));
  dom::element value;
  if (object["defaultValue"].get(value) == simdjson::SUCCESS && !value.is_null()) {
    DRIFTLESS_ASSIGN_OR_RETURN(field.default_value, Text(object, "defaultValue", true));
  }
  return field;
}

// What every later step relies on: names and ids are unique, keys name columns.
Result<void> CheckSchema(const PaimonSchema& schema) {
  std::set<std::string_view> names;
  std::set<int32_t> ids;
  for (const PaimonField& field : schema.fields) {
    if (!names.insert(field.name).second) return Bad("two fields are called " + field.name);
    if (!ids.insert(field.id).second) return Bad("two fields have the same id");
    for (const int32_t id : field.nested_ids) {
      if (!ids.insert(id).second) return Bad("two fields have the same id");
    }
  }
  if (!ids.empty() && *ids.rbegin() > schema.highest_field_id) {
    return Bad("a field id is above highestFieldId");
  }
  for (const auto* keys : {&schema.primary_keys, &schema.partition_keys}) {
    for (const std::string& key : *keys) {
      if (!names.contains(key)) return Bad("key column " + key + " is no field");
    }
  }
  return {};
}

// Before version 3 other defaults held (Paimon's TableSchema.fromJson).
void FillOldDefaults(int64_t version, PaimonSchema* schema) {
  if (version <= 1) schema->options.emplace("bucket", "1");
  if (version <= 2) schema->options.emplace("file.format", "orc");
}

Result<PaimonSchema> ReadSchema(const dom::object& json) {
  PaimonSchema schema;
  int64_t version = 1;
  if (json["version"].get(version) == simdjson::SUCCESS && version > kSchemaVersion) {
    return MakeError(ErrorKind::kUnsupported,
                     "schema version " + std::to_string(version) + " is newer than this Driftless");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(schema.id, Number(json, "id", 0, INT64_MAX));
  dom::array fields;
  if (json["fields"].get(fields) != simdjson::SUCCESS) return Bad("\"fields\" is missing");
  for (const dom::element field : fields) {
    DRIFTLESS_ASSIGN_OR_RETURN(PaimonField read, ReadField(field));
    schema.fields.push_back(std::move(read));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t highest, Number(json, "highestFieldId", -1, INT32_MAX));
  schema.highest_field_id = static_cast<int32_t>(highest);
  DRIFTLESS_ASSIGN_OR_RETURN(schema.partition_keys, Strings(json, "partitionKeys"));
  DRIFTLESS_ASSIGN_OR_RETURN(schema.primary_keys, Strings(json, "primaryKeys"));
  dom::object options;
  if (json["options"].get(options) != simdjson::SUCCESS) return Bad("\"options\" is missing");
  for (const auto& [key, value] : options) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS)
      return Bad("option " + std::string(key) + " is no text");
    schema.options[std::string(key)] = text;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(schema.comment, Text(json, "comment", false));
  if (json["timeMillis"].get(schema.time_ms) != simdjson::SUCCESS) schema.time_ms = 0;
  FillOldDefaults(version, &schema);
  DRIFTLESS_TRY(CheckSchema(schema));
  return schema;
}

}  // namespace

std::string SchemaToJson(const PaimonSchema& schema) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("version").Int(kSchemaVersion).Key("id").Int(schema.id);
  json.Key("fields").BeginArray();
  for (const PaimonField& field : schema.fields) {
    DRIFTLESS_CHECK(field.nested_ids.size() == RowMembers(field.type));
    const int32_t* ids = field.nested_ids.data();
    json.BeginObject().Key("id").Int(field.id).Key("name").String(field.name).Key("type");
    WriteType(field.type, &ids, &json);
    if (!field.description.empty()) json.Key("description").String(field.description);
    if (field.default_value) json.Key("defaultValue").String(*field.default_value);
    json.EndObject();
  }
  json.EndArray().Key("highestFieldId").Int(schema.highest_field_id);
  json.Key("partitionKeys");
  WriteStrings(schema.partition_keys, &json);
  json.Key("primaryKeys");
  WriteStrings(schema.primary_keys, &json);
  json.Key("options").BeginObject();
  for (const auto& [key, value] : schema.options) json.Key(key).String(value);
  json.EndObject().Key("comment").String(schema.comment);
  json.Key("timeMillis").Int(schema.time_ms).EndObject();
  return text;
}

Result<PaimonSchema> ParseSchemaJson(std::string_view text) {
  dom::parser parser;
  dom::object root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root)) {
    return Bad(simdjson::error_message(error));
  }
  return ReadSchema(root);
}

}  // namespace driftless::paimon
