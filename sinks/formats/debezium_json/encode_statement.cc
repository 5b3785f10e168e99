#include "schema/base/json_writer.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/mysql_text.h"

namespace driftless {
namespace {

std::string QuotedId(const TablePath& path) {
  std::string text;
  for (const std::string* part : {&path.database, &path.table}) {
    text += text.empty() ? "\"" : ".\"";
    for (const char c : *part) text.append(c == '"' ? 2 : 1, c);
    text += '"';
  }
  return text;
}

// "decimal(18,4) unsigned": the words, and the two numbers between them.
struct TypeParts {
  std::string words;
  std::string length, scale;
};

TypeParts SplitType(const std::string& text, bool has_members) {
  const size_t open = text.find('(');
  const size_t close = has_members ? text.rfind(')') : text.find(')');
  if (open == std::string::npos || close == std::string::npos) return {text, "", ""};
  TypeParts parts{text.substr(0, open) + text.substr(close + 1), "", ""};
  if (has_members) return parts;
  const std::string inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  parts.length = inside.substr(0, comma);
  if (comma != std::string::npos) {
    parts.scale = inside.substr(inside.find_first_not_of(" ", comma + 1));
  }
  return parts;
}

void AppendColumn(const Column& column, int position, JsonWriter* json) {
  const std::vector<std::string>& members = column.source.enum_values;
  const TypeParts type = SplitType(MySqlTypeText(column.type, &column), !members.empty());
  json->BeginObject().Key("name").String(column.name);
  json->Key("jdbcType").Int(JdbcTypeOf(column.type)).Key("nativeType").Null();
  json->Key("typeName").String(type.words).Key("typeExpression").String(type.words);
  json->Key("charsetName");
  if (column.source.charset.empty()) {
    json->Null();
  } else {
    json->String(column.source.charset);
  }
  json->Key("length").Raw(type.length.empty() ? "null" : type.length);
  json->Key("scale").Raw(type.scale.empty() ? "null" : type.scale);
  json->Key("position").Int(position).Key("optional").Bool(column.type.nullable());
  json->Key("autoIncremented").Bool(column.source.is_auto_increment);
  json->Key("generated").Bool(column.source.is_generated).Key("comment");
  if (column.comment.empty()) {
    json->Null();
  } else {
    json->String(column.comment);
  }
  json->Key("enumValues");
  if (members.empty()) {
    json->Null();
  } else {
    json->BeginArray();
    for (const std::string& member : members) {
      std::string quoted = "'";
      for (const char c : member) quoted.append(c == '\'' || c == '\\' ? 2 : 1, c);
      json->String(quoted + "'");
    }
    json->EndArray();
  }
  json->EndObject();
}

void AppendTable(const TableSchema& schema, JsonWriter* json) {
  json->BeginObject().Key("defaultCharsetName");
  if (schema.charset.empty()) {
    json->Null();
  } else {
    json->String(schema.charset);
  }
  json->Key("primaryKeyColumnNames").BeginArray();
  for (const ColumnId id : schema.primary_key) json->String(schema.Find(id)->name);
  json->EndArray().Key("columns").BeginArray();
  int position = 0;
  for (const Column& column : schema.columns) AppendColumn(column, ++position, json);
  json->EndArray().Key("comment");
  if (schema.comment.empty()) {
    json->Null();
  } else {
    json->String(schema.comment);
  }
  json->EndObject();
}

}  // namespace

bool EncodeDebeziumStatement(const StatementChange& change, const EncoderOptions& options,
                             std::string* value) {
  const std::optional<std::string> sql = StatementText(change);
  if (!sql) return false;
  const EventKind kind = change.parts.front().kind();
  const bool drops = kind == EventKind::kDropTable || kind == EventKind::kRenameTable;
  JsonWriter json(value);
  json.BeginObject().Key("source").BeginObject();
  json.Key("connector").String("mysql").Key("name").String(options.name);
  json.Key("ts_ms").Int(change.commit_time_ms).Key("snapshot");
  json.String(change.from_snapshot ? "true" : "false").Key("db").String(change.table.database);
  json.Key("table").String(change.table.table).EndObject();
  json.Key("ts_ms").Int(change.commit_time_ms).Key("databaseName").String(change.table.database);
  json.Key("schemaName").Null().Key("ddl").String(*sql).Key("tableChanges").BeginArray();
  // A statement that only empties a table has no change of its structure.
  if (kind != EventKind::kTruncateTable) {
    json.BeginObject().Key("type");
    json.String(drops ? "DROP" : kind == EventKind::kCreateTable ? "CREATE" : "ALTER");
    json.Key("id").String(QuotedId(change.table)).Key("table");
    if (drops) {
      json.Null();
    } else {
      AppendTable(*change.after(), &json);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  return true;
}

}  // namespace driftless
