#include "sinks/iceberg/nested_type.h"

#include <simdjson.h>

#include <utility>

#include "schema/base/json_writer.h"
#include "sinks/iceberg/types.h"

namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;

Result<void> WriteType(const LogicalType& type, int32_t* last_id, JsonWriter* json) {
  if (!type.IsNested()) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, PrimitiveText(type));
    json->String(text);
    return {};
  }
  const std::vector<RowField>& children = type.children();
  json->BeginObject().Key("type");
  switch (type.kind()) {
    case TypeKind::kArray: {
      json->String("list").Key("element-id").Int(++*last_id).Key("element");
      DRIFTLESS_TRY(WriteType(children[0].type, last_id, json));
      json->Key("element-required").Bool(!children[0].type.nullable());
      break;
    }
    case TypeKind::kMap: {
      const int32_t key_id = ++*last_id;
      const int32_t value_id = ++*last_id;
      json->String("map").Key("key-id").Int(key_id).Key("key");
      DRIFTLESS_TRY(WriteType(children[0].type, last_id, json));
      json->Key("value-id").Int(value_id).Key("value");
      DRIFTLESS_TRY(WriteType(children[1].type, last_id, json));
      json->Key("value-required").Bool(!children[1].type.nullable());
      break;
    }
    case TypeKind::kRow: {
      json->String("struct").Key("fields").BeginArray();
      for (const RowField& member : children) {
        json->BeginObject().Key("id").Int(++*last_id).Key("name").String(member.name);
        json->Key("required").Bool(!member.type.nullable()).Key("type");
        DRIFTLESS_TRY(WriteType(member.type, last_id, json));
        json->EndObject();
      }
      json->EndArray();
      break;
    }
    default:
      return MakeError(ErrorKind::kUnsupported,
                       "Iceberg has no " + type.ToStringIgnoringNullability());
  }
  json->EndObject();
  return {};
}

void CollectIds(const dom::element& type, std::vector<int32_t>* ids) {
  const auto child = [&](const dom::element& parent, const char* id_key, const char* type_key) {
    int64_t id = 0;
    dom::element below;
    if (parent[id_key].get(id) != simdjson::SUCCESS) return;
    ids->push_back(static_cast<int32_t>(id));
    if (parent[type_key].get(below) == simdjson::SUCCESS) CollectIds(below, ids);
  };
  child(type, "element-id", "element");
  child(type, "key-id", "key");
  child(type, "value-id", "value");
  dom::array fields;
  if (type["fields"].get(fields) != simdjson::SUCCESS) return;
  for (const dom::element field : fields) child(field, "id", "type");
}

LogicalType Rename(const LogicalType& type, const std::map<int32_t, std::string>& names,
                   const int32_t** next, const int32_t* end) {
  if (!type.IsNested()) return type;
  std::vector<RowField> children = type.children();
  for (RowField& child : children) {
    if (*next == end) return type;
    const auto name = names.find(*(*next)++);
    if (type.kind() == TypeKind::kRow) child.name = name == names.end() ? "" : name->second;
    child.type = Rename(child.type, names, next, end);
  }
  switch (type.kind()) {
    case TypeKind::kArray:
      return LogicalType::Array(children[0].type).WithNullability(type.nullable());
    case TypeKind::kMap:
      return LogicalType::Map(children[0].type, children[1].type).WithNullability(type.nullable());
    case TypeKind::kRow:
      return LogicalType::Row(std::move(children)).WithNullability(type.nullable());
    default: return type;
  }
}

}  // namespace

Result<std::string> TypeToJson(const LogicalType& type, int32_t* last_id) {
  std::string text;
  JsonWriter json(&text);
  DRIFTLESS_TRY(WriteType(type, last_id, &json));
  return text;
}

std::vector<int32_t> NestedIds(std::string_view type_json) {
  std::vector<int32_t> ids;
  if (!type_json.starts_with('{')) return ids;
  dom::parser parser;
  dom::element root;
  if (parser.parse(type_json.data(), type_json.size()).get(root) == simdjson::SUCCESS) {
    CollectIds(root, &ids);
  }
  return ids;
}

LogicalType NamedAsIn(const LogicalType& type, const std::vector<int32_t>& ids,
                      const std::map<int32_t, std::string>& names) {
  const int32_t* next = ids.data();
  return Rename(type, names, &next, ids.data() + ids.size());
}

}  // namespace driftless::iceberg
