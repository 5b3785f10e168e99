#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"
#include "schema/coordinator/merge.h"
#include "schema/history/history.h"
#include "schema/model/table_json.h"

namespace driftless {
namespace {

TableSchema ReadSchema(const JsonObject& object, std::string_view key) {
  auto schema = ParseTableSchema(object.String(key));
  if (schema) return std::move(*schema);
  object.Fail(object.Path(key), "a schema: " + schema.error().message());
  return {};
}

}  // namespace

std::string ShardMerge::Serialize() const {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("merged").Bool(merged_);
  json.Key("schema").String(driftless::Serialize(schema_)).Key("shards").BeginArray();
  for (const auto& [path, shard] : shards_) {
    json.BeginObject().Key("table");
    WriteJson(path, &json);
    json.Key("schema").String(driftless::Serialize(*shard.schema)).Key("columns").BeginArray();
    for (const auto& [id, merged] : shard.binding) json.Int(id);
    json.EndArray().Key("merged").BeginArray();
    for (const auto& [id, merged] : shard.binding) json.Int(merged);
    json.EndArray().EndObject();
  }
  json.EndArray().Key("columns").BeginArray();
  for (const auto& [id, facts] : facts_) {
    json.BeginObject().Key("id").Int(id).Key("dropped_once").Bool(facts.dropped_once);
    json.Key("types").BeginArray();
    for (const LogicalType& type : facts.types) json.String(type.ToString());
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return text;
}

Result<ShardMerge> ShardMerge::Parse(std::string_view text) {
  return ReadJson<ShardMerge>(text, "the state of merged shards", [](const JsonObject& object) {
    ShardMerge merge;
    merge.merged_ = object.Bool("merged");
    merge.schema_ = ReadSchema(object, "schema");
    object.Objects("shards", [&](const JsonObject& item) {
      Shard shard;
      shard.schema = std::make_shared<const TableSchema>(ReadSchema(item, "schema"));
      const auto columns = item.Ints<ColumnId>("columns");
      const auto merged = item.Ints<ColumnId>("merged");
      if (columns.size() != merged.size()) return item.Fail(item.Path("merged"), "complete");
      for (size_t i = 0; i < columns.size(); ++i) shard.binding[columns[i]] = merged[i];
      merge.shards_[ReadTablePath(item.Object("table"))] = std::move(shard);
    });
    object.Objects("columns", [&](const JsonObject& item) {
      ColumnFacts facts;
      facts.dropped_once = item.Bool("dropped_once");
      for (const std::string& name : item.Strings("types")) {
        auto type = ParseLogicalType(name);
        if (!type) return item.Fail(item.Path("types"), "a list of types");
        facts.types.push_back(std::move(*type));
      }
      merge.facts_[item.Int<ColumnId>("id")] = std::move(facts);
    });
    return merge;
  });
}

}  // namespace driftless
