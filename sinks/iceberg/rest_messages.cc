#include "sinks/iceberg/rest_messages.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "schema/base/json_writer.h"

namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;

void WriteTexts(const std::map<std::string, std::string>& texts, JsonWriter* json) {
  json->BeginObject();
  for (const auto& [key, value] : texts) json->Key(key).String(value);
  json->EndObject();
}

void WriteLevels(const std::vector<std::string>& levels, JsonWriter* json) {
  json->BeginArray();
  for (const std::string& level : levels) json->String(level);
  json->EndArray();
}

void WriteRequirements(const TableMetadata& base, const MetadataChange& change, JsonWriter* json) {
  json->BeginArray();
  json->BeginObject().Key("type").String("assert-table-uuid").Key("uuid").String(base.uuid);
  json->EndObject();
  if (change.schema) {
    json->BeginObject().Key("type").String("assert-current-schema-id");
    json->Key("current-schema-id").Int(base.current_schema_id).EndObject();
    json->BeginObject().Key("type").String("assert-last-assigned-field-id");
    json->Key("last-assigned-field-id").Int(base.last_column_id).EndObject();
  }
  if (!change.snapshots.empty() || !change.removed_snapshots.empty()) {
    json->BeginObject().Key("type").String("assert-ref-snapshot-id").Key("ref").String("main");
    json->Key("snapshot-id");
    if (base.current_snapshot_id == -1) {
      json->Null();
    } else {
      json->Int(base.current_snapshot_id);
    }
    json->EndObject();
  }
  json->EndArray();
}

// A schema with the same columns becomes current again under its old id: the server would not count
// it as added.
void WriteSchemaUpdates(const TableMetadata& base, const MetadataChange& change, JsonWriter* json) {
  const auto known = std::ranges::find_if(base.schemas, [&](const Schema& schema) {
    return schema.fields == change.schema->fields &&
           schema.identifier_ids == change.schema->identifier_ids;
  });
  if (known == base.schemas.end()) {
    json->BeginObject().Key("action").String("add-schema").Key("schema");
    json->Raw(SchemaToJson(*change.schema));
    json->Key("last-column-id").Int(std::max(base.last_column_id, change.last_column_id));
    json->EndObject();
  }
  json->BeginObject().Key("action").String("set-current-schema").Key("schema-id");
  json->Int(known == base.schemas.end() ? -1 : known->id).EndObject();
}

void WriteUpdates(const TableMetadata& base, const MetadataChange& change, JsonWriter* json) {
  json->BeginArray();
  if (change.schema) WriteSchemaUpdates(base, change, json);
  for (const Snapshot& snapshot : change.snapshots) {
    json->BeginObject().Key("action").String("add-snapshot");
    json->Key("snapshot").Raw(SnapshotToJson(snapshot)).EndObject();
  }
  if (!change.snapshots.empty()) {
    json->BeginObject().Key("action").String("set-snapshot-ref").Key("ref-name").String("main");
    // The branch's own limits stay.
    json->Raw("\"type\":\"branch\"" + base.main_ref_json);
    json->Key("snapshot-id").Int(change.snapshots.back().id).EndObject();
  }
  if (!change.removed_snapshots.empty()) {
    json->BeginObject().Key("action").String("remove-snapshots").Key("snapshot-ids").BeginArray();
    for (const int64_t id : change.removed_snapshots) json->Int(id);
    json->EndArray().EndObject();
  }
  if (!change.set_properties.empty()) {
    json->BeginObject().Key("action").String("set-properties").Key("updates");
    WriteTexts(change.set_properties, json);
    json->EndObject();
  }
  if (!change.removed_properties.empty()) {
    json->BeginObject().Key("action").String("remove-properties").Key("removals");
    WriteLevels(change.removed_properties, json);
    json->EndObject();
  }
  json->EndArray();
}

void ReadTexts(const dom::element& object, std::map<std::string, std::string>* texts) {
  dom::object fields;
  if (object.get(fields) != simdjson::SUCCESS) return;
  for (const auto& [key, value] : fields) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) (*texts)[std::string(key)] = text;
  }
}

// Of "storage-credentials" the ones with the longest prefix of the table's location hold.
void ReadCredentials(const dom::element& root, LoadAnswer* answer) {
  dom::array credentials;
  if (root["storage-credentials"].get(credentials) != simdjson::SUCCESS) return;
  const std::string location = NormalUri(answer->metadata.location);
  std::optional<dom::element> best;
  size_t longest = 0;
  for (const dom::element item : credentials) {
    std::string_view prefix;
    dom::element config;
    if (item["prefix"].get(prefix) != simdjson::SUCCESS ||
        item["config"].get(config) != simdjson::SUCCESS) {
      continue;
    }
    std::string normal = NormalUri(prefix);
    // "s3" alone stands for all of S3.
    if (!location.starts_with(normal) || (best && normal.size() <= longest)) continue;
    best = config;
    longest = normal.size();
  }
  if (best) ReadTexts(*best, &answer->config);
}

}  // namespace

std::string CreateNamespaceBody(const std::vector<std::string>& levels) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("namespace");
  WriteLevels(levels, &json);
  json.Key("properties").BeginObject().EndObject().EndObject();
  return text;
}

std::string CreateTableBody(const std::string& name, const NewTable& created) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("name").String(name).Key("schema").Raw(SchemaToJson(created.schema));
  json.Key("partition-spec").BeginObject().Key("spec-id").Int(0);
  json.Key("fields").Raw(SpecFieldsToJson(created.spec)).EndObject();
  if (!created.sort_order.fields.empty()) {
    SortOrder order = created.sort_order;
    order.id = 1;
    json.Key("write-order").Raw(SortOrderToJson(order));
  }
  json.Key("stage-create").Bool(false).Key("properties");
  std::map<std::string, std::string> properties = created.properties;
  properties["format-version"] = std::to_string(created.format_version);
  WriteTexts(properties, &json);
  json.EndObject();
  return text;
}

std::string CommitBody(const RestTableName& table, const TableMetadata& base,
                       const MetadataChange& change) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("identifier").BeginObject().Key("namespace");
  WriteLevels(table.levels, &json);
  json.Key("name").String(table.name).EndObject();
  json.Key("requirements");
  WriteRequirements(base, change, &json);
  json.Key("updates");
  WriteUpdates(base, change, &json);
  json.EndObject();
  return text;
}

std::string TransactionBody(const std::vector<std::string>& commit_bodies) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("table-changes").BeginArray();
  for (const std::string& body : commit_bodies) json.Raw(body);
  json.EndArray().EndObject();
  return text;
}

Result<LoadAnswer> ParseLoadAnswer(std::string_view body) {
  dom::parser parser;
  dom::element root;
  dom::element metadata;
  if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS ||
      root["metadata"].get(metadata) != simdjson::SUCCESS) {
    return MakeError(ErrorKind::kCorrupt, "the catalog's answer has no table metadata");
  }
  LoadAnswer answer;
  DRIFTLESS_ASSIGN_OR_RETURN(answer.metadata, ParseMetadata(simdjson::minify(metadata)));
  std::string_view text;
  if (root["metadata-location"].get(text) == simdjson::SUCCESS) answer.metadata_location = text;
  dom::element config;
  if (root["config"].get(config) == simdjson::SUCCESS) ReadTexts(config, &answer.config);
  ReadCredentials(root, &answer);
  return answer;
}

}  // namespace driftless::iceberg
