#include <algorithm>

#include "schema/base/json_writer.h"
#include "schema/base/letter_case.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/key_encode.h"
#include "sinks/formats/row_json/row_json.h"

namespace driftless {
namespace {

// How one type is declared in Kafka Connect's JSON schemas (kafka-connect-json's JsonSchema;
// logical names of Debezium's io.debezium.time and io.debezium.data).
struct Declared {
  std::string_view type;
  std::string_view name;  // empty: none
};

Declared DeclarationOf(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return {"boolean", ""};
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt: return {"int16", ""};
    case TypeKind::kInt: return {"int32", ""};
    case TypeKind::kBigInt: return {"int64", ""};
    case TypeKind::kFloat: return {"float", ""};
    case TypeKind::kDouble: return {"double", ""};
    case TypeKind::kDecimal: return {"bytes", "org.apache.kafka.connect.data.Decimal"};
    case TypeKind::kChar:
    case TypeKind::kVarChar: return {"string", ""};
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return {"bytes", ""};
    case TypeKind::kDate: return {"int32", "io.debezium.time.Date"};
    case TypeKind::kTime:
      return {"int64", type.IsNanos() ? "io.debezium.time.NanoTime" : "io.debezium.time.MicroTime"};
    case TypeKind::kTimestamp:
      if (type.precision() <= 3) return {"int64", "io.debezium.time.Timestamp"};
      return {"int64", type.IsNanos() ? "io.debezium.time.NanoTimestamp"
                                      : "io.debezium.time.MicroTimestamp"};
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return {"string", "io.debezium.time.ZonedTimestamp"};
    case TypeKind::kArray: return {"array", ""};
    case TypeKind::kMap:
    case TypeKind::kMultiset: return {"map", ""};
    case TypeKind::kRow: return {"struct", ""};
    case TypeKind::kVariant: return {"string", "io.debezium.data.Json"};
  }
  return {"string", ""};
}

// One node without its "field". `source` may be null.
void DeclareType(const LogicalType& type, const Column* source, JsonWriter* json) {
  const std::string_view text = source == nullptr ? "" : source->source.type_text;
  Declared declared = DeclarationOf(type);
  const bool is_bits = type.IsBytes() && EqualsIgnoringCase(text.substr(0, 3), "bit");
  const bool is_set =
      type.kind() == TypeKind::kArray && EqualsIgnoringCase(text.substr(0, 3), "set");
  if (is_bits) declared.name = "io.debezium.data.Bits";
  if (is_set) declared = {"string", "io.debezium.data.EnumSet"};
  json->Key("type").String(declared.type).Key("optional").Bool(type.nullable());
  if (!declared.name.empty()) json->Key("name").String(declared.name).Key("version").Int(1);
  if (is_bits) {
    json->Key("parameters").BeginObject().Key("length").String(std::to_string(type.length() * 8));
    json->EndObject();
  }
  if (is_set) return;
  switch (type.kind()) {
    case TypeKind::kDecimal:
      json->Key("parameters").BeginObject();
      json->Key("scale").String(std::to_string(type.scale()));
      json->Key("connect.decimal.precision").String(std::to_string(type.precision()));
      json->EndObject();
      break;
    case TypeKind::kArray:
      json->Key("items").BeginObject();
      DeclareType(type.children()[0].type, nullptr, json);
      json->EndObject();
      break;
    case TypeKind::kMap:
    case TypeKind::kMultiset: {
      // Keys are always text in JSON.
      json->Key("keys").BeginObject().Key("type").String("string").Key("optional").Bool(false);
      json->EndObject().Key("values").BeginObject();
      DeclareType(type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int(),
                  nullptr, json);
      json->EndObject();
      break;
    }
    case TypeKind::kRow:
      json->Key("fields").BeginArray();
      for (const RowField& field : type.children()) {
        json->BeginObject();
        DeclareType(field.type, nullptr, json);
        json->Key("field").String(field.name).EndObject();
      }
      json->EndArray();
      break;
    default: break;
  }
}

void DeclareSimple(std::string_view type, bool optional, std::string_view field, JsonWriter* json) {
  json->BeginObject().Key("type").String(type).Key("optional").Bool(optional);
  json->Key("field").String(field).EndObject();
}

class DebeziumJsonEncoder : public MessageEncoder {
 public:
  DebeziumJsonEncoder(const EvolvedSchema& table, const EncoderOptions& options)
      : table_(table),
        options_(options),
        rows_(table,
              {.dialect = options.include_schema ? JsonDialect::kConnect : JsonDialect::kFlink,
               .date_time_separator = options.date_time_separator,
               .ignore_null_fields = options.ignore_null_fields && !options.include_schema}),
        keys_(table, options.key_format, KeyEncoder::Style::kFlinkCdc) {
    source_ = ",\"source\":{";
    JsonWriter json(&source_);
    if (options.full_table_id) {
      json.Key("db").String(table.path.catalog).Key("schema").String(table.path.database);
    } else {
      json.Key("db").String(table.path.database);
    }
    json.Key("table").String(table.path.table).Key("ts_ms").Raw("");
  }

  void Encode(const ProjectedBatch& batch, EncodedMessages* out) override {
    rows_.Follow(batch.source().schema());
    if (options_.include_schema) FollowSchema(batch.source().schema());
    EncodeRows(batch, keys_, out, [&](uint32_t row, std::string* bytes) {
      AppendValue(batch, row, bytes);
      return true;
    });
  }

 private:
  void AppendValue(const ProjectedBatch& batch, uint32_t row, std::string* out) const {
    static constexpr std::string_view kOps[] = {"c", "u", "d", "r"};
    const Op op = batch.source().ops()[row];
    if (options_.include_schema) *out += schema_;
    *out += "{\"before\":";
    if (batch.source().HasBefore(row) && !batch.before().empty()) {
      rows_.Append(batch.before(), row, out);
    } else {
      *out += "null";
    }
    *out += ",\"after\":";
    if (op == Op::kDelete) {
      *out += "null";
    } else {
      rows_.Append(batch.after(), row, out);
    }
    const int64_t time_ms = batch.source().commit_times_ms()[row];
    *out += source_;
    AppendInteger(time_ms, out);
    *out += "},\"op\":\"";
    *out += kOps[static_cast<size_t>(op)];
    *out += "\",\"ts_ms\":";
    AppendInteger(time_ms, out);
    *out += options_.include_schema ? "}}" : "}";
  }

  void FollowSchema(const TableSchemaPtr& source) {
    if (source == schema_source_ && !schema_.empty()) return;
    schema_source_ = source;
    schema_ = "{\"schema\":";
    JsonWriter json(&schema_);
    const std::string name =
        (options_.name.empty() ? "" : options_.name + ".") + TableIdText(table_.path);
    json.BeginObject().Key("type").String("struct").Key("optional").Bool(false);
    json.Key("name").String(name + ".Envelope").Key("version").Int(2).Key("fields").BeginArray();
    for (const std::string_view image : {"before", "after"}) {
      json.BeginObject().Key("type").String("struct").Key("optional").Bool(true);
      json.Key("name").String(name + ".Value").Key("field").String(image);
      json.Key("fields").BeginArray();
      for (const EvolvedColumn& column : table_.columns) {
        json.BeginObject();
        DeclareType(column.sink.type, source == nullptr ? nullptr : source->Find(column.source),
                    &json);
        if (!column.sink.comment.empty()) json.Key("doc").String(column.sink.comment);
        json.Key("field").String(column.sink.name).EndObject();
      }
      json.EndArray().EndObject();
    }
    json.BeginObject().Key("type").String("struct").Key("optional").Bool(false);
    json.Key("field").String("source").Key("fields").BeginArray();
    DeclareSimple("string", false, "db", &json);
    if (options_.full_table_id) DeclareSimple("string", false, "schema", &json);
    DeclareSimple("string", false, "table", &json);
    DeclareSimple("int64", false, "ts_ms", &json);
    json.EndArray().EndObject();
    DeclareSimple("string", false, "op", &json);
    DeclareSimple("int64", true, "ts_ms", &json);
    json.EndArray().EndObject();
    schema_ += ",\"payload\":";
  }

  const EvolvedSchema table_;
  const EncoderOptions options_;
  RowJson rows_;
  const KeyEncoder keys_;
  std::string source_;  // `,"source":{...,"ts_ms":`
  std::string schema_;  // `{"schema":{...},"payload":`
  TableSchemaPtr schema_source_;
};

}  // namespace

std::unique_ptr<MessageEncoder> MakeDebeziumJsonEncoder(const EvolvedSchema& table,
                                                        const EncoderOptions& options) {
  return std::make_unique<DebeziumJsonEncoder>(table, options);
}

}  // namespace driftless
