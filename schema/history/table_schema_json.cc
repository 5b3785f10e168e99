#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"
#include "schema/history/history.h"
#include "schema/model/table_json.h"
#include "schema/types/type_json.h"

// Keys whose value is the default (empty, zero, false) are left out, since every table that a
// pipeline captures has many such fields in every version.
namespace driftless {
namespace {

void WriteText(std::string_view key, std::string_view text, JsonWriter* json) {
  if (!text.empty()) json->Key(key).Bytes(text);
}

void WriteFlag(std::string_view key, bool value, JsonWriter* json) {
  if (value) json->Key(key).Bool(true);
}

void WriteIds(std::string_view key, const std::vector<ColumnId>& ids, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const ColumnId id : ids) json->Int(id);
  json->EndArray();
}

void WriteAttributes(const SourceAttributes& source, JsonWriter* json) {
  json->BeginObject();
  WriteText("type", source.type_text, json);
  WriteText("charset", source.charset, json);
  WriteText("collation", source.collation, json);
  if (!source.enum_values.empty()) {
    json->Key("enum").BeginArray();
    for (const std::string& value : source.enum_values) json->Bytes(value);
    json->EndArray();
  }
  WriteFlag("unsigned", source.is_unsigned, json);
  WriteFlag("auto_increment", source.is_auto_increment, json);
  WriteFlag("generated", source.is_generated, json);
  WriteFlag("invisible", source.is_invisible, json);
  WriteText("on_update", source.on_update, json);
  json->EndObject();
}

SourceAttributes ReadAttributes(const JsonObject& object) {
  SourceAttributes source;
  source.type_text = object.String("type");
  source.charset = object.String("charset");
  source.collation = object.String("collation");
  source.enum_values = object.Strings("enum");
  source.is_unsigned = object.Bool("unsigned");
  source.is_auto_increment = object.Bool("auto_increment");
  source.is_generated = object.Bool("generated");
  source.is_invisible = object.Bool("invisible");
  source.on_update = object.String("on_update");
  return source;
}

void WriteColumn(const Column& column, JsonWriter* json) {
  json->BeginObject().Key("id").Int(column.id);
  json->Key("name").Bytes(column.name);
  json->Key("type").Bytes(column.type.ToString());
  WriteText("comment", column.comment, json);
  if (column.default_value != DefaultValue()) {
    WriteJson(column.default_value, &json->Key("default"));
  }
  if (column.source != SourceAttributes()) WriteAttributes(column.source, &json->Key("source"));
  json->EndObject();
}

Column ReadColumn(const JsonObject& object) {
  Column column;
  column.id = object.Int<ColumnId>("id");
  column.name = object.String("name");
  column.type = ReadType(object, "type");
  column.comment = object.String("comment");
  if (object.Has("default")) column.default_value = ReadDefaultValue(object.Object("default"));
  if (object.Has("source")) column.source = ReadAttributes(object.Object("source"));
  return column;
}

TableSchema ReadSchema(const JsonObject& object) {
  TableSchema schema;
  schema.path = ReadTablePath(object.Object("path"));
  schema.incarnation = object.Int<uint64_t>("incarnation");
  schema.version = object.Int<uint32_t>("version");
  schema.next_column_id = object.Int<ColumnId>("next_column_id");
  object.Objects("columns",
                 [&](const JsonObject& column) { schema.columns.push_back(ReadColumn(column)); });
  schema.primary_key = object.Ints<ColumnId>("primary_key");
  schema.partition_keys = object.Ints<ColumnId>("partition_keys");
  schema.options = object.StringMap("options");
  schema.comment = object.String("comment");
  schema.charset = object.String("charset");
  schema.collation = object.String("collation");
  return schema;
}

}  // namespace

std::string Serialize(const TableSchema& schema) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("path");
  WriteJson(schema.path, &json);
  json.Key("incarnation").Int(schema.incarnation).Key("version").Int(schema.version);
  json.Key("next_column_id").Int(schema.next_column_id).Key("columns").BeginArray();
  for (const Column& column : schema.columns) WriteColumn(column, &json);
  json.EndArray();
  if (!schema.primary_key.empty()) WriteIds("primary_key", schema.primary_key, &json);
  if (!schema.partition_keys.empty()) WriteIds("partition_keys", schema.partition_keys, &json);
  if (!schema.options.empty()) {
    json.Key("options").BeginObject();
    for (const auto& [key, value] : schema.options) json.Key(key).Bytes(value);
    json.EndObject();
  }
  WriteText("comment", schema.comment, &json);
  WriteText("charset", schema.charset, &json);
  WriteText("collation", schema.collation, &json);
  json.EndObject();
  return text;
}

Result<TableSchema> ParseTableSchema(std::string_view json) {
  return ReadJson<TableSchema>(json, "a table's schema", ReadSchema);
}

}  // namespace driftless
