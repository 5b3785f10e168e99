#include "schema/base/json_writer.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/key_encode.h"
#include "sinks/formats/row_json/mysql_text.h"
#include "sinks/formats/row_json/row_json.h"

namespace driftless {
namespace {

// Canal's flat messages, one row each (com.alibaba.otter.canal.protocol.FlatMessage): every value
// is a string, `old` holds the changed columns.
class CanalJsonEncoder : public MessageEncoder {
 public:
  CanalJsonEncoder(const EvolvedSchema& table, const EncoderOptions& options)
      : table_(table),
        rows_(table, {.dialect = JsonDialect::kCanal,
                      .date_time_separator = options.date_time_separator,
                      .ignore_null_fields = options.ignore_null_fields}),
        keys_(table, options.key_format, KeyEncoder::Style::kFlinkCdc) {
    head_ = "{";
    JsonWriter json(&head_);
    json.Key("id").Int(0).Key("database").String(table.path.database);
    json.Key("table").String(table.path.table).Key("pkNames");
    if (table.primary_key.empty()) {
      json.Null();
    } else {
      json.BeginArray();
      for (const std::string& name : table.primary_key) json.String(name);
      json.EndArray();
    }
    json.Key("isDdl").Bool(false).Key("type").Raw("");
  }

  void Encode(const ProjectedBatch& batch, EncodedMessages* out) override {
    rows_.Follow(batch.source().schema());
    FollowTypes(batch.source().schema());
    EncodeRows(batch, keys_, out, [&](uint32_t row, std::string* bytes) {
      AppendValue(batch, row, bytes);
      return true;
    });
  }

 private:
  void AppendValue(const ProjectedBatch& batch, uint32_t row, std::string* out) const {
    static constexpr std::string_view kTypes[] = {"\"INSERT\"", "\"UPDATE\"", "\"DELETE\"",
                                                  "\"INSERT\""};
    const Op op = batch.source().ops()[row];
    const int64_t time_ms = batch.source().commit_times_ms()[row];
    *out += head_;
    *out += kTypes[static_cast<size_t>(op)];
    *out += ",\"es\":";
    AppendInteger(time_ms, out);
    *out += ",\"ts\":";
    AppendInteger(time_ms, out);
    *out += types_;
    *out += "\"data\":[";
    rows_.Append(op == Op::kDelete ? batch.before() : batch.after(), row, out);
    *out += "],\"old\":";
    if (op == Op::kUpdate && batch.source().HasBefore(row) && !batch.before().empty()) {
      *out += '[';
      rows_.AppendChanged(batch.before(), batch.after(), row, out);
      *out += ']';
    } else {
      *out += "null";
    }
    *out += '}';
  }

  void FollowTypes(const TableSchemaPtr& source) {
    if (source == types_source_ && !types_.empty()) return;
    types_source_ = source;
    types_ = ",\"gtid\":\"\",\"sql\":\"\",\"sqlType\":{";
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      if (i > 0) types_ += ',';
      types_ += rows_.key(i);
      AppendInteger(JdbcTypeOf(table_.columns[i].sink.type), &types_);
    }
    types_ += "},\"mysqlType\":{";
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      if (i > 0) types_ += ',';
      types_ += rows_.key(i);
      const EvolvedColumn& column = table_.columns[i];
      AppendJsonString(MySqlTypeText(column.sink.type,
                                     source == nullptr ? nullptr : source->Find(column.source)),
                       &types_);
    }
    types_ += "},";
  }

  const EvolvedSchema table_;
  RowJson rows_;
  const KeyEncoder keys_;
  std::string head_;   // `{"id":0,...,"type":`
  std::string types_;  // `,"gtid":..."mysqlType":{...},`
  TableSchemaPtr types_source_;
};

}  // namespace

std::unique_ptr<MessageEncoder> MakeCanalJsonEncoder(const EvolvedSchema& table,
                                                     const EncoderOptions& options) {
  return std::make_unique<CanalJsonEncoder>(table, options);
}

bool EncodeCanalStatement(const StatementChange& change, std::string* value) {
  const std::optional<std::string> sql = StatementText(change);
  if (!sql) return false;
  const std::string_view type = [&] {
    switch (change.parts.front().kind()) {
      case EventKind::kCreateTable: return "CREATE";
      case EventKind::kDropTable: return "ERASE";
      case EventKind::kTruncateTable: return "TRUNCATE";
      case EventKind::kRenameTable: return "RENAME";
      default: return "ALTER";
    }
  }();
  JsonWriter json(value);
  json.BeginObject().Key("id").Int(0).Key("database").String(change.table.database);
  json.Key("table").String(change.table.table).Key("pkNames").Null();
  json.Key("isDdl").Bool(true).Key("type").String(type);
  json.Key("es").Int(change.commit_time_ms).Key("ts").Int(change.commit_time_ms);
  json.Key("gtid").String("").Key("sql").String(*sql);
  json.Key("sqlType").Null().Key("mysqlType").Null().Key("data").Null().Key("old").Null();
  json.EndObject();
  return true;
}

}  // namespace driftless
