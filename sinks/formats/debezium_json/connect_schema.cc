#include "sinks/formats/debezium_json/connect_schema.h"

#include <charconv>

namespace driftless::debezium {
namespace {

constexpr int kMaxDepth = 64;

Error Malformed(std::string what) {
  return MakeError(ErrorKind::kInvalidInput, "the record's embedded schema " + std::move(what))
      .Hint("The schema part must be what Kafka Connect's JsonConverter writes.");
}

std::optional<ConnectType> TypeOfWord(std::string_view word) {
  static constexpr struct {
    std::string_view word;
    ConnectType type;
  } kWords[] = {
      {"boolean", ConnectType::kBoolean}, {"int8", ConnectType::kInt8},
      {"int16", ConnectType::kInt16},     {"int32", ConnectType::kInt32},
      {"int64", ConnectType::kInt64},     {"float", ConnectType::kFloat},
      {"float32", ConnectType::kFloat},   {"double", ConnectType::kDouble},
      {"float64", ConnectType::kDouble},  {"string", ConnectType::kString},
      {"bytes", ConnectType::kBytes},     {"array", ConnectType::kArray},
      {"map", ConnectType::kMap},         {"struct", ConnectType::kStruct},
  };
  for (const auto& entry : kWords) {
    if (entry.word == word) return entry.type;
  }
  return std::nullopt;
}

std::optional<int32_t> ToInt(std::string_view text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::string> ReadText(JsonCursor* cursor) {
  std::string scratch;
  std::string_view text;
  if (!ReadJsonString(cursor->Token(), &scratch, &text)) return Malformed("has a broken string");
  std::string result(text);
  cursor->Advance();
  return result;
}

Result<void> ReadParameters(JsonCursor* cursor, ConnectField* node) {
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    if (cursor->Peek() != '"') {
      if (!cursor->Skip()) return Malformed("is cut off");
      continue;
    }
    const bool scale = key == "scale";
    const bool precision = key == "connect.decimal.precision";
    const bool length = key == "length";
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string value, ReadText(cursor));
    if (scale) node->scale = ToInt(value);
    if (precision) node->precision = ToInt(value);
    if (length) node->length = ToInt(value);
  }
  if (walk.failed()) return Malformed("has malformed parameters");
  return {};
}

Result<ConnectField> ReadNode(JsonCursor* cursor, int depth);

Result<void> ReadFields(JsonCursor* cursor, int depth, ConnectField* node) {
  JsonArrayWalk walk(cursor);
  while (walk.Next()) {
    DRIFTLESS_ASSIGN_OR_RETURN(ConnectField field, ReadNode(cursor, depth + 1));
    node->children.push_back(std::move(field));
  }
  if (walk.failed()) return Malformed("has malformed fields");
  return {};
}

Result<void> ReadMember(std::string_view key, JsonCursor* cursor, int depth, ConnectField* node,
                        bool* has_type) {
  if (cursor->IsNull()) {
    cursor->Advance();
  } else if (key == "type") {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string word, ReadText(cursor));
    const auto type = TypeOfWord(word);
    if (!type) return Malformed("has the unknown type \"" + word + "\"");
    node->type = *type;
    *has_type = true;
  } else if (key == "field") {
    DRIFTLESS_ASSIGN_OR_RETURN(node->field, ReadText(cursor));
  } else if (key == "name") {
    DRIFTLESS_ASSIGN_OR_RETURN(node->semantic, ReadText(cursor));
  } else if (key == "optional") {
    node->optional = cursor->Token() == "true";
    cursor->Advance();
  } else if (key == "parameters") {
    DRIFTLESS_TRY(ReadParameters(cursor, node));
  } else if (key == "fields") {
    DRIFTLESS_TRY(ReadFields(cursor, depth, node));
  } else if (key == "items" || key == "values") {
    DRIFTLESS_ASSIGN_OR_RETURN(ConnectField child, ReadNode(cursor, depth + 1));
    node->children.push_back(std::move(child));
  } else if (key == "keys") {
    DRIFTLESS_ASSIGN_OR_RETURN(ConnectField child, ReadNode(cursor, depth + 1));
    node->children.insert(node->children.begin(), std::move(child));
  } else if (key == "default") {
    node->default_json = cursor->RawValue();
  } else if (!cursor->Skip()) {
    return Malformed("is cut off");
  }
  return {};
}

Result<ConnectField> ReadNode(JsonCursor* cursor, int depth) {
  if (depth > kMaxDepth) return Malformed("is nested too deeply");
  ConnectField node;
  bool has_type = false;
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) DRIFTLESS_TRY(ReadMember(key, cursor, depth, &node, &has_type));
  if (walk.failed() || !has_type) return Malformed("has a malformed node");
  const size_t children = node.children.size();
  if ((node.type == ConnectType::kArray && children != 1) ||
      (node.type == ConnectType::kMap && children != 2)) {
    return Malformed("has an array or map without its element types");
  }
  return node;
}

LogicalType DecimalOf(const ConnectField& field) {
  const int32_t precision = field.precision.value_or(LogicalType::kMaxDecimalPrecision);
  const int32_t scale = field.scale.value_or(0);
  // More digits than a DECIMAL holds, and scales that Debezium itself got wrong (a negative scale
  // of PostgreSQL arrives as a large positive one), are text.
  if (precision < 1 || precision > LogicalType::kMaxDecimalPrecision || scale < 0 ||
      scale > precision) {
    return LogicalType::String();
  }
  return LogicalType::Decimal(precision, scale);
}

LogicalType BaseType(const ConnectField& field) {
  switch (field.type) {
    case ConnectType::kBoolean: return LogicalType::Boolean();
    case ConnectType::kInt8: return LogicalType::TinyInt();
    case ConnectType::kInt16: return LogicalType::SmallInt();
    case ConnectType::kInt32: return LogicalType::Int();
    case ConnectType::kInt64: return LogicalType::BigInt();
    case ConnectType::kFloat: return LogicalType::Float();
    case ConnectType::kDouble: return LogicalType::Double();
    case ConnectType::kString: return LogicalType::String();
    case ConnectType::kBytes: return LogicalType::Bytes();
    case ConnectType::kArray: return LogicalType::Array(LogicalTypeOf(field.children[0]));
    case ConnectType::kMap:
      return LogicalType::Map(LogicalTypeOf(field.children[0]).NotNull(),
                              LogicalTypeOf(field.children[1]));
    case ConnectType::kStruct: {
      if (field.children.empty()) return LogicalType::String();
      std::vector<RowField> fields;
      for (const ConnectField& child : field.children) {
        fields.push_back({child.field, LogicalTypeOf(child), ""});
      }
      return LogicalType::Row(std::move(fields));
    }
  }
  return LogicalType::String();
}

LogicalType BitsOf(const ConnectField& field) {
  const int32_t bits = field.length.value_or(LogicalType::kMaxLength);
  if (bits < 1 || bits > 1 << 20) return LogicalType::Bytes();
  return LogicalType::Binary((bits + 7) / 8);
}

LogicalType TypeOf(const ConnectField& field) {
  const std::string& name = field.semantic;
  if (name.empty()) return BaseType(field);
  if (name == "org.apache.kafka.connect.data.Decimal") return DecimalOf(field);
  if (name == "org.apache.kafka.connect.data.Date") return LogicalType::Date();
  if (name == "org.apache.kafka.connect.data.Time") return LogicalType::Time(3);
  if (name == "org.apache.kafka.connect.data.Timestamp") return LogicalType::Timestamp(3);
  if (name.starts_with("io.debezium.time.")) {
    const std::string_view time = std::string_view(name).substr(17);
    if (time == "Date" || time == "IsoDate") return LogicalType::Date();
    if (time == "Time") return LogicalType::Time(3);
    if (time == "MicroTime" || time == "IsoTime") return LogicalType::Time(6);
    if (time == "NanoTime") return LogicalType::Time(9);
    if (time == "Timestamp") return LogicalType::Timestamp(3);
    if (time == "MicroTimestamp" || time == "IsoTimestamp") return LogicalType::Timestamp(6);
    if (time == "NanoTimestamp") return LogicalType::Timestamp(9);
    if (time == "ZonedTimestamp") return LogicalType::TimestampLtz(6);
    return BaseType(field);  // Year, ZonedTime, MicroDuration, NanoDuration, Interval
  }
  if (name == "io.debezium.data.Bits") return BitsOf(field);
  if (name == "io.debezium.data.EnumSet") return LogicalType::Array(LogicalType::String());
  if (name == "io.debezium.data.VariableScaleDecimal" ||
      name == "io.debezium.data.SparseDoubleVector" ||
      name.starts_with("io.debezium.data.geometry.")) {
    return LogicalType::String();
  }
  return BaseType(field);  // Json, Xml, Uuid, Enum, Ltree, Tsvector, vectors, names of users
}

}  // namespace

const ConnectField* ConnectField::Find(std::string_view name) const {
  for (const ConnectField& child : children) {
    if (child.field == name) return &child;
  }
  return nullptr;
}

Result<ConnectField> ParseConnectSchema(std::string_view json) {
  // The text may end where the caller's buffer ends, so it is read from a padded copy. Schemas are
  // parsed once each, not per record.
  std::string padded(json);
  padded.append(kJsonPadding, ' ');
  JsonIndex index;
  if (!index.Build({padded.data(), json.size()})) return Malformed(index.error());
  JsonCursor cursor(index);
  return ReadNode(&cursor, 0);
}

LogicalType LogicalTypeOf(const ConnectField& field) {
  return TypeOf(field).WithNullability(field.optional);
}

}  // namespace driftless::debezium
