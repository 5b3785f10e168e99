#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "schema/base/json_writer.h"
#include "sinks/iceberg/metadata.h"
#include "sinks/iceberg/types.h"

// Iceberg table specification, appendix C: JSON serialization.
namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;

constexpr int kMaxDepth = 32;

Error Bad(std::string what) {
  return MakeError(ErrorKind::kCorrupt, "table metadata: " + std::move(what));
}

bool Has(const dom::object& json, std::string_view key, dom::element* value) {
  return json[key].get(*value) == simdjson::SUCCESS && !value->is_null();
}

Result<std::string> Text(const dom::object& json, std::string_view key) {
  std::string_view text;
  if (json[key].get(text) != simdjson::SUCCESS) {
    return Bad("\"" + std::string(key) + "\" is no text");
  }
  return std::string(text);
}

std::string TextOr(const dom::object& json, std::string_view key, std::string_view fallback) {
  std::string_view text;
  return std::string(json[key].get(text) == simdjson::SUCCESS ? text : fallback);
}

Result<int64_t> Number(const dom::object& json, std::string_view key) {
  int64_t number = 0;
  if (json[key].get(number) != simdjson::SUCCESS) {
    return Bad("\"" + std::string(key) + "\" is no number");
  }
  return number;
}

int64_t NumberOr(const dom::object& json, std::string_view key, int64_t fallback) {
  int64_t number = 0;
  return json[key].get(number) == simdjson::SUCCESS ? number : fallback;
}

bool IsTrue(const dom::object& json, std::string_view key) {
  bool value = false;
  return json[key].get(value) == simdjson::SUCCESS && value;
}

std::string TextOf(dom::element value) {
  std::string_view text;
  return value.get(text) == simdjson::SUCCESS ? std::string(text) : simdjson::minify(value);
}

// The object as one line. All but all of a summary's values are strings.
std::string CompactJson(const dom::object& object) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject();
  for (const auto& [name, value] : object) {
    json.Key(name);
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      json.String(text);
    } else {
      json.Raw(simdjson::minify(value));
    }
  }
  json.EndObject();
  return line;
}

std::map<std::string, std::string> Texts(const dom::object& json, std::string_view key) {
  std::map<std::string, std::string> texts;
  dom::object object;
  if (json[key].get(object) != simdjson::SUCCESS) return texts;
  for (const auto& [name, value] : object) texts[std::string(name)] = TextOf(value);
  return texts;
}

template <typename Read>
Result<void> Each(const dom::object& json, std::string_view key, const Read& read) {
  dom::element value;
  if (!Has(json, key, &value)) return {};
  dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return Bad("\"" + std::string(key) + "\" is no list");
  for (const dom::element item : array) {
    dom::object object;
    if (item.get(object) != simdjson::SUCCESS) {
      return Bad("an item of \"" + std::string(key) + "\" is no object");
    }
    DRIFTLESS_TRY(read(object));
  }
  return {};
}

Result<LogicalType> ReadType(dom::element json, int depth) {
  if (depth > kMaxDepth) return Bad("types are nested too deeply");
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) return ParsePrimitive(text);
  dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return Bad("a type is neither text nor object");
  const auto child = [&](std::string_view key, std::string_view required) -> Result<LogicalType> {
    dom::element element;
    if (!Has(object, key, &element)) return Bad("a nested type is incomplete");
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, ReadType(element, depth + 1));
    return type.WithNullability(!IsTrue(object, required));
  };
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string kind, Text(object, "type"));
  if (kind == "list") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType element, child("element", "element-required"));
    return LogicalType::Array(element);
  }
  if (kind == "map") {
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType key, child("key", "key-required"));
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType value, child("value", "value-required"));
    return LogicalType::Map(key.NotNull(), value);
  }
  if (kind != "struct") return Bad("unknown type " + kind);
  std::vector<RowField> fields;
  DRIFTLESS_TRY(Each(object, "fields", [&](const dom::object& field) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, Text(field, "name"));
    dom::element element;
    if (!Has(field, "type", &element)) return Bad("a field has no type");
    DRIFTLESS_ASSIGN_OR_RETURN(const LogicalType type, ReadType(element, depth + 1));
    fields.push_back({std::move(name), type.WithNullability(!IsTrue(field, "required")), ""});
    return {};
  }));
  return LogicalType::Row(std::move(fields));
}

Result<Field> ReadField(const dom::object& json) {
  Field field;
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t id, Number(json, "id"));
  field.id = static_cast<int32_t>(id);
  DRIFTLESS_ASSIGN_OR_RETURN(field.name, Text(json, "name"));
  dom::element element;
  if (!Has(json, "type", &element)) return Bad("field " + field.name + " has no type");
  auto type = ReadType(element, 0);
  if (!type) return std::move(type).error().Context("column " + field.name);
  field.type = type->WithNullability(!IsTrue(json, "required"));
  field.type_json = simdjson::minify(element);
  field.doc = TextOr(json, "doc", "");
  if (Has(json, "initial-default", &element)) field.initial_default = simdjson::minify(element);
  if (Has(json, "write-default", &element)) field.write_default = simdjson::minify(element);
  return field;
}

Result<Schema> ReadSchema(const dom::object& json) {
  Schema schema;
  schema.id = static_cast<int32_t>(NumberOr(json, "schema-id", 0));
  DRIFTLESS_TRY(Each(json, "fields", [&](const dom::object& item) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(Field field, ReadField(item));
    schema.fields.push_back(std::move(field));
    return {};
  }));
  dom::array ids;
  if (json["identifier-field-ids"].get(ids) == simdjson::SUCCESS) {
    for (const dom::element id : ids) {
      int64_t number = 0;
      if (id.get(number) == simdjson::SUCCESS) {
        schema.identifier_ids.push_back(static_cast<int32_t>(number));
      }
    }
  }
  return schema;
}

Result<PartitionSpec> ReadSpec(const dom::object& json, std::string_view fields_key) {
  PartitionSpec spec;
  spec.id = static_cast<int32_t>(NumberOr(json, "spec-id", 0));
  int32_t next_id = 1000;  // version 1 leaves the ids out
  DRIFTLESS_TRY(Each(json, fields_key, [&](const dom::object& item) -> Result<void> {
    PartitionField field;
    DRIFTLESS_ASSIGN_OR_RETURN(const int64_t source, Number(item, "source-id"));
    field.source_id = static_cast<int32_t>(source);
    field.field_id = static_cast<int32_t>(NumberOr(item, "field-id", next_id));
    next_id = field.field_id + 1;
    DRIFTLESS_ASSIGN_OR_RETURN(field.name, Text(item, "name"));
    DRIFTLESS_ASSIGN_OR_RETURN(field.transform, Text(item, "transform"));
    spec.fields.push_back(std::move(field));
    return {};
  }));
  return spec;
}

Result<Snapshot> ReadSnapshot(const dom::object& json) {
  Snapshot snapshot;
  DRIFTLESS_ASSIGN_OR_RETURN(snapshot.id, Number(json, "snapshot-id"));
  dom::element element;
  if (Has(json, "parent-snapshot-id", &element)) {
    snapshot.parent = NumberOr(json, "parent-snapshot-id", 0);
  }
  snapshot.sequence_number = NumberOr(json, "sequence-number", 0);
  snapshot.timestamp_ms = NumberOr(json, "timestamp-ms", 0);
  snapshot.manifest_list = TextOr(json, "manifest-list", "");
  dom::object summary;
  if (json["summary"].get(summary) == simdjson::SUCCESS) {
    snapshot.summary = SnapshotSummary::OfJson(CompactJson(summary));
  }
  snapshot.schema_id = static_cast<int32_t>(NumberOr(json, "schema-id", -1));
  if (Has(json, "first-row-id", &element))
    snapshot.first_row_id = NumberOr(json, "first-row-id", 0);
  if (Has(json, "added-rows", &element)) snapshot.added_rows = NumberOr(json, "added-rows", 0);
  snapshot.key_id = TextOr(json, "key-id", "");
  return snapshot;
}

void ReadRefs(const dom::object& json, TableMetadata* metadata) {
  dom::object refs;
  if (json["refs"].get(refs) != simdjson::SUCCESS) return;
  for (const auto& [name, value] : refs) {
    dom::object ref;
    if (value.get(ref) != simdjson::SUCCESS) continue;
    if (name != "main") {
      metadata->refs[std::string(name)] = NumberOr(ref, "snapshot-id", -1);
      metadata->refs_json[std::string(name)] = simdjson::minify(value);
      continue;
    }
    for (const std::string_view key : {"min-snapshots-to-keep", "max-snapshot-age-ms"}) {
      dom::element limit;
      if (!Has(ref, key, &limit)) continue;
      metadata->main_ref_json += ",\"" + std::string(key) + "\":" + simdjson::minify(limit);
    }
  }
}

Result<void> ReadSchemas(const dom::object& json, TableMetadata* metadata) {
  DRIFTLESS_TRY(Each(json, "schemas", [&](const dom::object& item) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(Schema schema, ReadSchema(item));
    metadata->schemas.push_back(std::move(schema));
    return {};
  }));
  metadata->current_schema_id = static_cast<int32_t>(NumberOr(json, "current-schema-id", 0));
  dom::object only;  // version 1
  if (metadata->schemas.empty() && json["schema"].get(only) == simdjson::SUCCESS) {
    DRIFTLESS_ASSIGN_OR_RETURN(Schema schema, ReadSchema(only));
    metadata->current_schema_id = schema.id;
    metadata->schemas.push_back(std::move(schema));
  }
  if (metadata->FindSchema(metadata->current_schema_id) == nullptr) {
    return Bad("the current schema is not among the schemas");
  }
  return {};
}

Result<void> ReadSpecs(const dom::object& json, TableMetadata* metadata) {
  DRIFTLESS_TRY(Each(json, "partition-specs", [&](const dom::object& item) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(PartitionSpec spec, ReadSpec(item, "fields"));
    metadata->specs.push_back(std::move(spec));
    return {};
  }));
  if (metadata->specs.empty()) {  // version 1
    DRIFTLESS_ASSIGN_OR_RETURN(PartitionSpec spec, ReadSpec(json, "partition-spec"));
    metadata->specs.push_back(std::move(spec));
  }
  metadata->default_spec_id = static_cast<int32_t>(NumberOr(json, "default-spec-id", 0));
  if (metadata->FindSpec(metadata->default_spec_id) == nullptr) {
    return Bad("the default partition spec is not among the specs");
  }
  int32_t highest = 999;
  for (const PartitionSpec& spec : metadata->specs) {
    for (const PartitionField& field : spec.fields) highest = std::max(highest, field.field_id);
  }
  metadata->last_partition_id = static_cast<int32_t>(NumberOr(json, "last-partition-id", highest));
  return {};
}

Result<TableMetadata> ReadMetadata(const dom::object& json) {
  TableMetadata metadata;
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t version, Number(json, "format-version"));
  if (version < 1 || version > 3) {
    return MakeError(ErrorKind::kUnsupported,
                     "the table has Iceberg format version " + std::to_string(version));
  }
  metadata.format_version = static_cast<int>(version);
  metadata.uuid = TextOr(json, "table-uuid", "");
  DRIFTLESS_ASSIGN_OR_RETURN(metadata.location, Text(json, "location"));
  metadata.last_sequence_number = NumberOr(json, "last-sequence-number", 0);
  metadata.last_updated_ms = NumberOr(json, "last-updated-ms", 0);
  DRIFTLESS_ASSIGN_OR_RETURN(const int64_t last_column, Number(json, "last-column-id"));
  metadata.last_column_id = static_cast<int32_t>(last_column);
  DRIFTLESS_TRY(ReadSchemas(json, &metadata));
  DRIFTLESS_TRY(ReadSpecs(json, &metadata));
  metadata.properties = Texts(json, "properties");
  metadata.current_snapshot_id = NumberOr(json, "current-snapshot-id", -1);
  DRIFTLESS_TRY(Each(json, "snapshots", [&](const dom::object& item) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(Snapshot snapshot, ReadSnapshot(item));
    metadata.snapshots.push_back(std::move(snapshot));
    return {};
  }));
  if (metadata.current_snapshot_id != -1 && metadata.current_snapshot() == nullptr) {
    return Bad("the current snapshot is not among the snapshots");
  }
  DRIFTLESS_TRY(Each(json, "snapshot-log", [&](const dom::object& item) -> Result<void> {
    metadata.snapshot_log.push_back(
        {NumberOr(item, "snapshot-id", 0), NumberOr(item, "timestamp-ms", 0)});
    return {};
  }));
  DRIFTLESS_TRY(Each(json, "metadata-log", [&](const dom::object& item) -> Result<void> {
    metadata.metadata_log.push_back(
        {TextOr(item, "metadata-file", ""), NumberOr(item, "timestamp-ms", 0)});
    return {};
  }));
  ReadRefs(json, &metadata);
  metadata.next_row_id = NumberOr(json, "next-row-id", 0);
  for (const std::string_view key : {"default-sort-order-id", "sort-orders", "statistics",
                                     "partition-statistics", "encryption-keys"}) {
    dom::element value;
    if (Has(json, key, &value)) metadata.carried[std::string(key)] = simdjson::minify(value);
  }
  return metadata;
}

void WriteSchema(const Schema& schema, JsonWriter* json) {
  json->BeginObject().Key("type").String("struct").Key("schema-id").Int(schema.id);
  if (!schema.identifier_ids.empty()) {
    json->Key("identifier-field-ids").BeginArray();
    for (const int32_t id : schema.identifier_ids) json->Int(id);
    json->EndArray();
  }
  json->Key("fields").BeginArray();
  for (const Field& field : schema.fields) {
    json->BeginObject().Key("id").Int(field.id).Key("name").String(field.name);
    json->Key("required").Bool(field.required()).Key("type").Raw(field.type_json);
    if (!field.doc.empty()) json->Key("doc").String(field.doc);
    if (!field.initial_default.empty()) json->Key("initial-default").Raw(field.initial_default);
    if (!field.write_default.empty()) json->Key("write-default").Raw(field.write_default);
    json->EndObject();
  }
  json->EndArray().EndObject();
}

void WriteSpecFields(const PartitionSpec& spec, JsonWriter* json) {
  json->BeginArray();
  for (const PartitionField& field : spec.fields) {
    json->BeginObject().Key("name").String(field.name).Key("transform").String(field.transform);
    json->Key("source-id").Int(field.source_id).Key("field-id").Int(field.field_id).EndObject();
  }
  json->EndArray();
}

void WriteTexts(const std::map<std::string, std::string>& texts, JsonWriter* json) {
  json->BeginObject();
  for (const auto& [key, value] : texts) json->Key(key).String(value);
  json->EndObject();
}

void WriteSnapshot(const Snapshot& snapshot, JsonWriter* json) {
  json->BeginObject();
  if (snapshot.sequence_number > 0) json->Key("sequence-number").Int(snapshot.sequence_number);
  json->Key("snapshot-id").Int(snapshot.id);
  if (snapshot.parent) json->Key("parent-snapshot-id").Int(*snapshot.parent);
  json->Key("timestamp-ms").Int(snapshot.timestamp_ms).Key("summary");
  json->Raw(snapshot.summary.json()).Key("manifest-list").String(snapshot.manifest_list);
  if (snapshot.schema_id >= 0) json->Key("schema-id").Int(snapshot.schema_id);
  if (snapshot.first_row_id) json->Key("first-row-id").Int(*snapshot.first_row_id);
  if (snapshot.added_rows) json->Key("added-rows").Int(*snapshot.added_rows);
  if (!snapshot.key_id.empty()) json->Key("key-id").String(snapshot.key_id);
  json->EndObject();
}

void WriteLogs(const TableMetadata& metadata, JsonWriter* json) {
  json->Key("snapshot-log").BeginArray();
  for (const SnapshotLogEntry& entry : metadata.snapshot_log) {
    json->BeginObject().Key("timestamp-ms").Int(entry.timestamp_ms);
    json->Key("snapshot-id").Int(entry.snapshot_id).EndObject();
  }
  json->EndArray().Key("metadata-log").BeginArray();
  for (const MetadataLogEntry& entry : metadata.metadata_log) {
    json->BeginObject().Key("timestamp-ms").Int(entry.timestamp_ms);
    json->Key("metadata-file").String(entry.file).EndObject();
  }
  json->EndArray();
}

void WriteRefs(const TableMetadata& metadata, JsonWriter* json) {
  json->Key("refs").BeginObject();
  if (metadata.current_snapshot_id != -1) {
    json->Key("main").Raw("{\"snapshot-id\":" + std::to_string(metadata.current_snapshot_id) +
                          ",\"type\":\"branch\"" + metadata.main_ref_json + "}");
  }
  for (const auto& [name, ref] : metadata.refs_json) json->Key(name).Raw(ref);
  json->EndObject();
}

template <typename Read>
auto ParseObject(std::string_view text, const Read& read) -> decltype(read(dom::object())) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS) {
    return Bad("it is no JSON object");
  }
  return read(object);
}

}  // namespace

SnapshotSummary::SnapshotSummary(const std::map<std::string, std::string>& values) {
  json_.clear();
  JsonWriter json(&json_);
  WriteTexts(values, &json);
}

SnapshotSummary SnapshotSummary::OfJson(std::string object) {
  SnapshotSummary summary;
  summary.json_ = std::move(object);
  return summary;
}

std::optional<std::string> SnapshotSummary::Find(std::string_view name) const {
  dom::parser parser;
  dom::object object;
  dom::element value;
  if (parser.parse(json_).get(object) != simdjson::SUCCESS || !Has(object, name, &value)) {
    return std::nullopt;
  }
  return TextOf(value);
}

bool SnapshotSummary::Says(std::string_view name, std::string_view value) const {
  // Most snapshots do not have it anywhere.
  return json_.find(value) != std::string::npos && Find(name) == value;
}

Result<TableMetadata> ParseMetadata(std::string_view json) {
  return ParseObject(json, [](const dom::object& object) { return ReadMetadata(object); });
}

Result<Schema> ParseSchemaJson(std::string_view json) {
  return ParseObject(json, [](const dom::object& object) { return ReadSchema(object); });
}

std::string MetadataToJson(const TableMetadata& metadata) {
  std::string text;
  JsonWriter json(&text);
  const auto carried = [&](std::string_view key, std::string_view fallback) {
    const auto found = metadata.carried.find(std::string(key));
    if (found != metadata.carried.end()) {
      json.Key(key).Raw(found->second);
    } else if (!fallback.empty()) {
      json.Key(key).Raw(fallback);
    }
  };
  json.BeginObject().Key("format-version").Int(std::max(metadata.format_version, 2));
  json.Key("table-uuid").String(metadata.uuid).Key("location").String(metadata.location);
  json.Key("last-sequence-number").Int(metadata.last_sequence_number);
  json.Key("last-updated-ms").Int(metadata.last_updated_ms);
  json.Key("last-column-id").Int(metadata.last_column_id);
  json.Key("current-schema-id").Int(metadata.current_schema_id).Key("schemas").BeginArray();
  for (const Schema& schema : metadata.schemas) WriteSchema(schema, &json);
  json.EndArray().Key("default-spec-id").Int(metadata.default_spec_id);
  json.Key("partition-specs").BeginArray();
  for (const PartitionSpec& spec : metadata.specs) {
    json.BeginObject().Key("spec-id").Int(spec.id).Key("fields");
    WriteSpecFields(spec, &json);
    json.EndObject();
  }
  json.EndArray().Key("last-partition-id").Int(metadata.last_partition_id);
  carried("default-sort-order-id", "0");
  carried("sort-orders", R"([{"order-id":0,"fields":[]}])");
  json.Key("properties");
  WriteTexts(metadata.properties, &json);
  if (metadata.current_snapshot_id != -1 || metadata.format_version < 3) {
    json.Key("current-snapshot-id").Int(metadata.current_snapshot_id);
  }
  if (metadata.format_version >= 3) json.Key("next-row-id").Int(metadata.next_row_id);
  WriteRefs(metadata, &json);
  json.Key("snapshots").BeginArray();
  for (const Snapshot& snapshot : metadata.snapshots) WriteSnapshot(snapshot, &json);
  json.EndArray();
  for (const std::string_view key : {"statistics", "partition-statistics", "encryption-keys"}) {
    carried(key, "");
  }
  WriteLogs(metadata, &json);
  json.EndObject();
  return text;
}

std::string SchemaToJson(const Schema& schema) {
  std::string text;
  JsonWriter json(&text);
  WriteSchema(schema, &json);
  return text;
}
std::string SpecFieldsToJson(const PartitionSpec& spec) {
  std::string text;
  JsonWriter json(&text);
  WriteSpecFields(spec, &json);
  return text;
}
std::string SortOrderToJson(const SortOrder& order) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("order-id").Int(order.id).Key("fields").BeginArray();
  for (const SortField& field : order.fields) {
    json.BeginObject().Key("transform").String(field.transform);
    json.Key("source-id").Int(field.source_id);
    json.Key("direction").String(field.descending ? "desc" : "asc");
    json.Key("null-order").String(field.nulls_first ? "nulls-first" : "nulls-last").EndObject();
  }
  json.EndArray().EndObject();
  return text;
}
std::string SnapshotToJson(const Snapshot& snapshot) {
  std::string text;
  JsonWriter json(&text);
  WriteSnapshot(snapshot, &json);
  return text;
}

}  // namespace driftless::iceberg
