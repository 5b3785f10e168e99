#include <algorithm>

#include "schema/base/json_writer.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/key_encode.h"
#include "sinks/formats/row_json/mysql_text.h"
#include "sinks/formats/row_json/row_json.h"

namespace driftless {
namespace {

// Maxwell's row messages (maxwells-daemon.io/dataformat): `ts` in seconds, `old` the changed
// columns.
class MaxwellJsonEncoder : public MessageEncoder {
 public:
  MaxwellJsonEncoder(const EvolvedSchema& table, const EncoderOptions& options)
      : rows_(table, {.dialect = JsonDialect::kMaxwell,
                      .date_time_separator = options.date_time_separator,
                      .ignore_null_fields = options.ignore_null_fields}),
        keys_(table, options.key_format, KeyEncoder::Style::kMaxwell) {
    head_ = "{";
    JsonWriter json(&head_);
    json.Key("database").String(table.path.database).Key("table").String(table.path.table);
    json.Key("type").Raw("");
  }

  void Encode(const ProjectedBatch& batch, EncodedMessages* out) override {
    rows_.Follow(batch.source().schema());
    EncodeRows(batch, keys_, out, [&](uint32_t row, std::string* bytes) {
      AppendValue(batch, row, bytes);
      return true;
    });
  }

 private:
  void AppendValue(const ProjectedBatch& batch, uint32_t row, std::string* out) const {
    static constexpr std::string_view kTypes[] = {"\"insert\"", "\"update\"", "\"delete\"",
                                                  "\"bootstrap-insert\""};
    const Op op = batch.source().ops()[row];
    *out += head_;
    *out += kTypes[static_cast<size_t>(op)];
    *out += ",\"ts\":";
    AppendInteger(batch.source().commit_times_ms()[row] / 1000, out);
    *out += ",\"data\":";
    rows_.Append(op == Op::kDelete ? batch.before() : batch.after(), row, out);
    if (op == Op::kUpdate && batch.source().HasBefore(row) && !batch.before().empty()) {
      *out += ",\"old\":";
      rows_.AppendChanged(batch.before(), batch.after(), row, out);
    }
    *out += '}';
  }

  RowJson rows_;
  const KeyEncoder keys_;
  std::string head_;  // `{"database":...,"type":`
};

// "int(10) unsigned" gives "int"; Maxwell's types are MySQL's words.
std::string TypeWord(const Column& column) {
  const std::string text = MySqlTypeText(column.type, &column);
  return text.substr(0, text.find_first_of("( "));
}

void AppendDefinition(const TableSchema& schema, JsonWriter* json) {
  json->BeginObject().Key("database").String(schema.path.database);
  json->Key("charset").String(schema.charset.empty() ? "utf8mb4" : schema.charset);
  json->Key("table").String(schema.path.table).Key("columns").BeginArray();
  for (const Column& column : schema.columns) {
    json->BeginObject().Key("type").String(TypeWord(column)).Key("name").String(column.name);
    if (column.type.IsInteger()) json->Key("signed").Bool(!column.source.is_unsigned);
    if (!column.source.charset.empty()) json->Key("charset").String(column.source.charset);
    if (column.type.IsTimestamp() || column.type.kind() == TypeKind::kTime) {
      json->Key("column-length").Int(column.type.precision());
    }
    if (!column.source.enum_values.empty()) {
      json->Key("enum-values").BeginArray();
      for (const std::string& value : column.source.enum_values) json->String(value);
      json->EndArray();
    }
    json->EndObject();
  }
  json->EndArray().Key("primary-key").BeginArray();
  for (const ColumnId id : schema.primary_key) json->String(schema.Find(id)->name);
  json->EndArray().EndObject();
}

}  // namespace

std::unique_ptr<MessageEncoder> MakeMaxwellJsonEncoder(const EvolvedSchema& table,
                                                       const EncoderOptions& options) {
  return std::make_unique<MaxwellJsonEncoder>(table, options);
}

bool EncodeMaxwellStatement(const StatementChange& change, std::string* value) {
  const std::optional<std::string> sql = StatementText(change);
  const EventKind kind =
      change.parts.empty() ? EventKind::kDefaultChange : change.parts.front().kind();
  // Maxwell says nothing of TRUNCATE (its schema stays).
  if (!sql || kind == EventKind::kTruncateTable) return false;
  const bool creates = kind == EventKind::kCreateTable;
  const bool drops = kind == EventKind::kDropTable || kind == EventKind::kRenameTable;
  JsonWriter json(value);
  json.BeginObject().Key("type").String(creates ? "table-create"
                                        : drops ? "table-drop"
                                                : "table-alter");
  json.Key("database").String(change.table.database).Key("table").String(change.table.table);
  if (!creates && !drops) {
    json.Key("old");
    AppendDefinition(*change.before(), &json);
  }
  if (!drops) {
    json.Key("def");
    AppendDefinition(*change.after(), &json);
  }
  json.Key("ts").Int(change.commit_time_ms).Key("sql").String(*sql).EndObject();
  return true;
}

}  // namespace driftless
