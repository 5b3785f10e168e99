#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "sinks/formats/avro/avro.h"

namespace driftless::avro {
namespace {

namespace dom = simdjson::dom;

constexpr int kMaxDepth = 48;
// Types that name each other could grow without bound while the text stays small.
constexpr int64_t kMaxNodes = 100'000;

Error Bad(std::string what) {
  return MakeError(ErrorKind::kCorrupt, "Avro schema: " + std::move(what));
}

std::optional<Kind> PrimitiveKind(std::string_view name) {
  static constexpr std::pair<std::string_view, Kind> kNames[] = {
      {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},
      {"long", Kind::kLong},   {"float", Kind::kFloat},     {"double", Kind::kDouble},
      {"bytes", Kind::kBytes}, {"string", Kind::kString}};
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

int64_t MinBytes(const Schema& schema) {
  switch (schema.kind) {
    case Kind::kNull: return 0;
    case Kind::kFloat: return 4;
    case Kind::kDouble: return 8;
    case Kind::kFixed: return schema.size;
    case Kind::kRecord: {
      int64_t sum = 0;
      for (const Field& field : schema.fields) {
        sum = std::min<int64_t>(sum + field.type->min_bytes, 1 << 30);
      }
      return sum;
    }
    default: return 1;
  }
}

// Fills in what follows from the children.
Result<SchemaPtr> Complete(std::shared_ptr<Schema> schema) {
  for (const Field& field : schema->fields) schema->nodes += field.type->nodes;
  for (const SchemaPtr& child : schema->children) schema->nodes += child->nodes;
  if (schema->nodes > kMaxNodes) return Bad("too large");
  schema->min_bytes = MinBytes(*schema);
  return SchemaPtr(std::move(schema));
}

class SchemaParser {
 public:
  Result<SchemaPtr> Parse(const dom::element& json, const std::string& enclosing, int depth) {
    if (depth > kMaxDepth) return Bad("nested too deeply");
    if (json.is_string()) return Named(std::string(json.get_string().value_unsafe()), enclosing);
    if (json.is_array()) return Union(json.get_array().value_unsafe(), enclosing, depth);
    if (json.is_object()) return Complex(json.get_object().value_unsafe(), enclosing, depth);
    return Bad("a type must be a text, an array or an object");
  }

 private:
  static std::string FullName(const std::string& name, const std::string& name_space) {
    if (name.find('.') != std::string::npos || name_space.empty()) return name;
    return name_space + "." + name;
  }

  Result<SchemaPtr> Named(const std::string& name, const std::string& enclosing) {
    if (const std::optional<Kind> kind = PrimitiveKind(name)) {
      auto schema = std::make_shared<Schema>();
      schema->kind = *kind;
      return Complete(std::move(schema));
    }
    for (const std::string& candidate : {FullName(name, enclosing), name}) {
      const auto found = named_.find(candidate);
      if (found == named_.end()) continue;
      if (found->second == nullptr) return Bad("type " + candidate + " contains itself");
      return found->second;
    }
    return Bad("unknown type \"" + name + "\"");
  }

  Result<SchemaPtr> Union(const dom::array& json, const std::string& enclosing, int depth) {
    auto schema = std::make_shared<Schema>();
    schema->kind = Kind::kUnion;
    for (const dom::element& branch : json) {
      DRIFTLESS_ASSIGN_OR_RETURN(SchemaPtr parsed, Parse(branch, enclosing, depth + 1));
      if (parsed->kind == Kind::kUnion) return Bad("a union directly inside a union");
      schema->children.push_back(std::move(parsed));
    }
    if (schema->children.empty()) return Bad("an empty union");
    return Complete(std::move(schema));
  }

  static Result<std::string> Text(const dom::object& json, std::string_view key, bool required) {
    std::string_view text;
    const simdjson::error_code error = json[key].get(text);
    if (error == simdjson::SUCCESS) return std::string(text);
    if (error == simdjson::NO_SUCH_FIELD && !required) return std::string();
    return Bad("\"" + std::string(key) + "\" must be a text");
  }

  static int32_t Id(const dom::object& json, std::string_view key) {
    int64_t id = -1;
    if (json[key].get(id) != simdjson::SUCCESS || id < 0 || id > INT32_MAX) return -1;
    return static_cast<int32_t>(id);
  }

  Result<SchemaPtr> Complex(const dom::object& json, const std::string& enclosing, int depth) {
    dom::element type;
    if (json["type"].get(type) != simdjson::SUCCESS) return Bad("an object without \"type\"");
    if (!type.is_string()) return Parse(type, enclosing, depth + 1);
    const std::string name(type.get_string().value_unsafe());
    auto schema = std::make_shared<Schema>();
    DRIFTLESS_ASSIGN_OR_RETURN(schema->logical_type, Text(json, "logicalType", false));
    if (const std::optional<Kind> kind = PrimitiveKind(name)) {
      schema->kind = *kind;
    } else if (name == "array" || name == "map") {
      DRIFTLESS_TRY(Container(json, name == "array", enclosing, depth, schema.get()));
    } else if (name == "record" || name == "enum" || name == "fixed") {
      return Definition(json, name, enclosing, depth, std::move(schema));
    } else {
      return Named(name, enclosing);
    }
    return Complete(std::move(schema));
  }

  Result<void> Container(const dom::object& json, bool is_array, const std::string& enclosing,
                         int depth, Schema* schema) {
    schema->kind = is_array ? Kind::kArray : Kind::kMap;
    dom::element items;
    if (json[is_array ? "items" : "values"].get(items) != simdjson::SUCCESS) {
      return Bad(is_array ? "an array without \"items\"" : "a map without \"values\"");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPtr parsed, Parse(items, enclosing, depth + 1));
    schema->children.push_back(std::move(parsed));
    schema->element_id = Id(json, is_array ? "element-id" : "value-id");
    return {};
  }

  Result<SchemaPtr> Definition(const dom::object& json, const std::string& what,
                               const std::string& enclosing, int depth,
                               std::shared_ptr<Schema> schema) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string name, Text(json, "name", true));
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name_space, Text(json, "namespace", false));
    if (name_space.empty()) name_space = enclosing;
    schema->name = FullName(name, name_space);
    if (const size_t dot = schema->name.rfind('.'); dot != std::string::npos) {
      name_space = schema->name.substr(0, dot);
    }
    if (!named_.emplace(schema->name, nullptr).second) {
      return Bad("type " + schema->name + " is defined twice");
    }
    if (what == "fixed") {
      schema->kind = Kind::kFixed;
      if (json["size"].get(schema->size) != simdjson::SUCCESS || schema->size < 0 ||
          schema->size > (1 << 24)) {
        return Bad("fixed " + schema->name + " has no sensible \"size\"");
      }
    } else if (what == "enum") {
      schema->kind = Kind::kEnum;
      dom::array symbols;
      if (json["symbols"].get(symbols) != simdjson::SUCCESS) return Bad("an enum without symbols");
      for (const dom::element& symbol : symbols) {
        std::string_view text;
        if (symbol.get(text) != simdjson::SUCCESS) return Bad("a symbol must be a text");
        schema->symbols.emplace_back(text);
      }
    } else {
      DRIFTLESS_TRY(RecordFields(json, name_space, depth, schema.get()));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPtr complete, Complete(schema));
    named_[schema->name] = complete;
    return complete;
  }

  Result<void> RecordFields(const dom::object& json, const std::string& name_space, int depth,
                            Schema* schema) {
    schema->kind = Kind::kRecord;
    dom::array fields;
    if (json["fields"].get(fields) != simdjson::SUCCESS) {
      return Bad("record " + schema->name + " has no \"fields\"");
    }
    for (const dom::element& element : fields) {
      dom::object object;
      dom::element type;
      if (element.get(object) != simdjson::SUCCESS ||
          object["type"].get(type) != simdjson::SUCCESS) {
        return Bad("a field of record " + schema->name + " has no \"type\"");
      }
      Field field;
      DRIFTLESS_ASSIGN_OR_RETURN(field.name, Text(object, "name", true));
      field.field_id = Id(object, "field-id");
      DRIFTLESS_ASSIGN_OR_RETURN(field.type, Parse(type, name_space, depth + 1));
      schema->fields.push_back(std::move(field));
    }
    return {};
  }

  std::map<std::string, SchemaPtr> named_;  // null while a type is being defined
};

}  // namespace

int Schema::IndexOf(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field) return static_cast<int>(i);
  }
  return -1;
}

int Schema::IndexOfId(int32_t field_id) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].field_id == field_id) return static_cast<int>(i);
  }
  return -1;
}

Result<SchemaPtr> ParseSchema(std::string_view json) {
  dom::parser parser;
  dom::element root;
  if (const simdjson::error_code error = parser.parse(json.data(), json.size()).get(root)) {
    return Bad(simdjson::error_message(error));
  }
  return SchemaParser().Parse(root, "", 0);
}

}  // namespace driftless::avro
