#include <array>

#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"
#include "schema/model/table_json.h"
#include "schema/plan/schema_plan.h"
#include "schema/types/type_json.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 4> kFills = {"null", "keep", "default", "zero"};

void WriteText(std::string_view key, std::string_view text, JsonWriter* json) {
  if (!text.empty()) json->Key(key).Bytes(text);
}

void WriteTexts(std::string_view key, const std::vector<std::string>& texts, JsonWriter* json) {
  if (texts.empty()) return;
  json->Key(key).BeginArray();
  for (const std::string& text : texts) json->Bytes(text);
  json->EndArray();
}

void WriteOptions(const std::map<std::string, std::string>& options, JsonWriter* json) {
  if (options.empty()) return;
  json->Key("options").BeginObject();
  for (const auto& [key, value] : options) json->Key(key).Bytes(value);
  json->EndObject();
}

// The members of a sink column, into the object that is open.
void WriteMembers(const SinkColumn& column, JsonWriter* json) {
  json->Key("name").Bytes(column.name).Key("type").Bytes(column.type.ToString());
  WriteText("native_type", column.native_type, json);
  WriteText("comment", column.comment, json);
  if (column.default_value != DefaultValue()) {
    WriteJson(column.default_value, &json->Key("default"));
  }
  if (column.native_id != -1) json->Key("native_id").Int(column.native_id);
}

SinkColumn ReadSinkColumn(const JsonObject& object) {
  SinkColumn column;
  column.name = object.String("name");
  column.type = ReadType(object, "type");
  column.native_type = object.String("native_type");
  column.comment = object.String("comment");
  if (object.Has("default")) column.default_value = ReadDefaultValue(object.Object("default"));
  column.native_id = object.Int<int64_t>("native_id", -1);
  return column;
}

void WriteSinkTable(const SinkTable& table, JsonWriter* json) {
  json->BeginObject().Key("path");
  WriteJson(table.path, json);
  json->Key("columns").BeginArray();
  for (const SinkColumn& column : table.columns) {
    json->BeginObject();
    WriteMembers(column, json);
    json->EndObject();
  }
  json->EndArray();
  WriteTexts("primary_key", table.primary_key, json);
  WriteTexts("partition_keys", table.partition_keys, json);
  WriteOptions(table.options, json);
  WriteText("comment", table.comment, json);
  WriteText("version", table.version, json);
  WriteTexts("change_ids", table.change_ids, json);
  json->EndObject();
}

SinkTable ReadSinkTable(const JsonObject& object) {
  SinkTable table;
  table.path = ReadTablePath(object.Object("path"));
  object.Objects("columns", [&](const JsonObject& column) {
    table.columns.push_back(ReadSinkColumn(column));
  });
  table.primary_key = object.Strings("primary_key");
  table.partition_keys = object.Strings("partition_keys");
  table.options = object.StringMap("options");
  table.comment = object.String("comment");
  table.version = object.String("version");
  table.change_ids = object.Strings("change_ids");
  return table;
}

void WriteEvolved(const EvolvedSchema& evolved, JsonWriter* json) {
  json->BeginObject().Key("path");
  WriteJson(evolved.path, json);
  json->Key("incarnation").Int(evolved.incarnation).Key("columns").BeginArray();
  for (const EvolvedColumn& column : evolved.columns) {
    json->BeginObject();
    WriteMembers(column.sink, json);
    if (column.source != 0) json->Key("source").Int(column.source);
    if (column.former != 0) json->Key("former").Int(column.former);
    if (column.fill != EvolvedColumn::Fill::kNull) {
      json->Key("fill").String(kFills[static_cast<size_t>(column.fill)]);
    }
    json->EndObject();
  }
  json->EndArray();
  WriteTexts("primary_key", evolved.primary_key, json);
  WriteTexts("partition_keys", evolved.partition_keys, json);
  WriteOptions(evolved.options, json);
  WriteText("comment", evolved.comment, json);
  json->EndObject();
}

EvolvedColumn::Fill ReadFill(const JsonObject& object) {
  if (!object.Has("fill")) return EvolvedColumn::Fill::kNull;
  const std::string fill = object.String("fill");
  for (size_t i = 0; i < kFills.size(); ++i) {
    if (kFills[i] == fill) return static_cast<EvolvedColumn::Fill>(i);
  }
  object.Fail(object.Path("fill"), "a kind of fill");
  return EvolvedColumn::Fill::kNull;
}

EvolvedSchema ReadEvolved(const JsonObject& object) {
  EvolvedSchema evolved;
  evolved.path = ReadTablePath(object.Object("path"));
  evolved.incarnation = object.Int<uint64_t>("incarnation");
  object.Objects("columns", [&](const JsonObject& item) {
    EvolvedColumn& column = evolved.columns.emplace_back();
    column.sink = ReadSinkColumn(item);
    column.source = item.Int<ColumnId>("source");
    column.former = item.Int<ColumnId>("former");
    column.fill = ReadFill(item);
  });
  evolved.primary_key = object.Strings("primary_key");
  evolved.partition_keys = object.Strings("partition_keys");
  evolved.options = object.StringMap("options");
  evolved.comment = object.String("comment");
  return evolved;
}

void WriteStep(const Step& step, JsonWriter* json) {
  json->BeginObject().Key("action").Bytes(step.action);
  WriteText("payload", step.payload, json);
  WriteSinkTable(step.before, &json->Key("before"));
  if (step.after) WriteSinkTable(*step.after, &json->Key("after"));
  if (step.creates_table) json->Key("creates_table").Bool(true);
  if (step.repeatable) json->Key("repeatable").Bool(true);
  json->EndObject();
}

Step ReadStep(const JsonObject& object) {
  Step step;
  step.action = object.String("action");
  step.payload = object.String("payload");
  step.before = ReadSinkTable(object.Object("before"));
  if (object.Has("after")) step.after = ReadSinkTable(object.Object("after"));
  step.creates_table = object.Bool("creates_table");
  step.repeatable = object.Bool("repeatable");
  return step;
}

SchemaPlan ReadPlan(const JsonObject& object) {
  SchemaPlan plan;
  plan.change_id = object.String("change_id");
  plan.sink_table = ReadTablePath(object.Object("sink_table"));
  object.Objects("steps", [&](const JsonObject& step) { plan.steps.push_back(ReadStep(step)); });
  plan.evolved = ReadEvolved(object.Object("evolved"));
  plan.rows = object.String("rows");
  plan.rows_may_stop = object.Bool("rows_may_stop");
  plan.rewrites = object.Strings("rewrites");
  return plan;
}

}  // namespace

std::string Serialize(const EvolvedSchema& evolved) {
  std::string text;
  JsonWriter json(&text);
  WriteEvolved(evolved, &json);
  return text;
}

Result<EvolvedSchema> ParseEvolvedSchema(std::string_view text) {
  return ReadJson<EvolvedSchema>(text, "an evolved schema", ReadEvolved);
}

std::string Serialize(const SchemaPlan& plan) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("change_id").Bytes(plan.change_id).Key("sink_table");
  WriteJson(plan.sink_table, &json);
  json.Key("steps").BeginArray();
  for (const Step& step : plan.steps) WriteStep(step, &json);
  json.EndArray().Key("evolved");
  WriteEvolved(plan.evolved, &json);
  WriteText("rows", plan.rows, &json);
  if (plan.rows_may_stop) json.Key("rows_may_stop").Bool(true);
  WriteTexts("rewrites", plan.rewrites, &json);
  json.EndObject();
  return text;
}

Result<SchemaPlan> ParseSchemaPlan(std::string_view text) {
  return ReadJson<SchemaPlan>(text, "a plan", ReadPlan);
}

}  // namespace driftless
