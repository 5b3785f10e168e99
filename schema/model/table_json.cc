#include "schema/model/table_json.h"

#include <array>

#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 4> kDefaultKinds = {"none", "null", "literal", "expression"};

}  // namespace

void WriteJson(const TablePath& path, JsonWriter* json) {
  json->BeginObject();
  if (!path.catalog.empty()) json->Key("catalog").Bytes(path.catalog);
  json->Key("database").Bytes(path.database).Key("table").Bytes(path.table).EndObject();
}

TablePath ReadTablePath(const JsonObject& object) {
  return {object.String("catalog"), object.String("database"), object.String("table")};
}

void WriteJson(const DefaultValue& value, JsonWriter* json) {
  json->BeginObject().Key("kind").String(kDefaultKinds[static_cast<size_t>(value.kind)]);
  if (!value.text.empty()) json->Key("text").Bytes(value.text);
  json->EndObject();
}

DefaultValue ReadDefaultValue(const JsonObject& object) {
  DefaultValue value;
  value.text = object.String("text");
  const std::string kind = object.String("kind");
  for (size_t i = 0; i < kDefaultKinds.size(); ++i) {
    if (kDefaultKinds[i] == kind) {
      value.kind = static_cast<DefaultValue::Kind>(i);
      return value;
    }
  }
  object.Fail(object.Path("kind"), "a kind of default");
  return value;
}

}  // namespace driftless
