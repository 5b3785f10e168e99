#include "pipeline/sources/debezium/statement_record.h"

#include <algorithm>

#include "schema/base/letter_case.h"

namespace driftless::debezium {
namespace {

Error Malformed(std::string what) {
  return MakeError(ErrorKind::kInvalidInput, "the schema-change record " + std::move(what));
}

std::string Quoted(std::string_view name) {
  std::string text = "`";
  for (char c : name) {
    text += c;
    if (c == '`') text += c;
  }
  return text + "`";
}

// The JSON string at the cursor; null gives an empty text.
Result<std::string> Text(JsonCursor* cursor) {
  std::string result;
  if (!cursor->IsNull()) {
    std::string scratch;
    std::string_view text;
    if (!ReadJsonString(cursor->Token(), &scratch, &text)) {
      return Malformed("has no string where one was expected");
    }
    result = text;
  }
  cursor->Advance();
  return result;
}

// Goes through the array at the cursor, whose next element `take` reads.
template <typename Take>
Result<void> ReadElements(JsonCursor* cursor, const char* malformed, Take take) {
  JsonArrayWalk walk(cursor);
  while (walk.Next()) DRIFTLESS_TRY(take());
  if (walk.failed()) return Malformed(malformed);
  return {};
}

Result<std::vector<std::string>> Texts(JsonCursor* cursor) {
  std::vector<std::string> texts;
  if (cursor->IsNull()) {
    cursor->Advance();
    return texts;
  }
  const auto take_element = [&]() -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string text, Text(cursor));
    texts.push_back(std::move(text));
    return {};
  };
  DRIFTLESS_TRY(ReadElements(cursor, "has a malformed list", take_element));
  return texts;
}

// Goes through the fields of the object at the cursor. `take` reads the value of a field and
// returns true, or leaves it alone and returns false. `malformed`: what an error says of the
// record.
template <typename Take>
Result<void> ReadFields(JsonCursor* cursor, const char* malformed, Take take) {
  JsonObjectWalk walk(cursor);
  std::string_view key;
  while (walk.Next(&key)) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool taken, take(key));
    if (!taken && !cursor->Skip()) return Malformed("is cut off");
  }
  if (walk.failed()) return Malformed(malformed);
  return {};
}

std::string PrimaryKey(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? ", PRIMARY KEY (" : ", ") + Quoted(name);
  }
  return text.empty() ? text : text + ")";
}

// `"shop"."orders"` or `"db"."schema"."t"`; quotes inside a name are doubled.
TablePath ParseTableId(std::string_view id) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < id.size();) {
    std::string part;
    if (id[at] == '"') {
      for (++at; at < id.size(); ++at) {
        if (id[at] == '"') {
          if (at + 1 < id.size() && id[at + 1] == '"') {
            ++at;
          } else {
            break;
          }
        }
        part += id[at];
      }
      ++at;
    } else {
      const size_t dot = std::min(id.find('.', at), id.size());
      part = id.substr(at, dot - at);
      at = dot;
    }
    parts.push_back(std::move(part));
    if (at < id.size() && id[at] == '.') ++at;
  }
  TablePath path;
  if (!parts.empty()) path.table = parts.back();
  if (parts.size() > 1) path.database = parts[parts.size() - 2];
  return path;
}

// One column of a table change, as the record describes it.
struct ColumnText {
  std::string name, type, charset, comment;
  std::string length, scale;
  bool optional = true;
  std::vector<std::string> members;  // quoted

  // `name` DECIMAL(18,4) UNSIGNED NOT NULL
  std::string Definition() const {
    const size_t word = std::min(type.find(' '), type.size());
    std::string text = Quoted(name) + " " + type.substr(0, word);
    if (!members.empty()) {
      for (size_t i = 0; i < members.size(); ++i) text += (i == 0 ? "(" : ",") + members[i];
      text += ")";
    } else if (!length.empty()) {
      text += "(" + length + (scale.empty() ? "" : "," + scale) + ")";
    }
    text += type.substr(word);
    if (!charset.empty()) text += " CHARACTER SET " + charset;
    return text + (optional ? " NULL" : " NOT NULL");
  }
};

Result<ColumnText> ReadColumn(JsonCursor* cursor) {
  ColumnText column;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "name") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.name, Text(cursor));
    } else if (key == "typeName") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.type, Text(cursor));
    } else if (key == "charsetName") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.charset, Text(cursor));
    } else if (key == "enumValues") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.members, Texts(cursor));
    } else if ((key == "length" || key == "scale") && !cursor->IsNull()) {
      (key == "length" ? column.length : column.scale) = cursor->Token();
      cursor->Advance();
    } else if (key == "optional") {
      column.optional = cursor->Token() != "false";
      cursor->Advance();
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has a malformed column", take_field));
  return column;
}

// "table": {"columns": [...], "primaryKeyColumnNames": [...]}
Result<void> ReadTable(JsonCursor* cursor, SchemaChangeRecord::TableChange* change) {
  if (cursor->IsNull()) {
    cursor->Advance();
    return {};
  }
  std::string definitions;
  std::vector<std::string> key_names;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "columns") {
      const auto take_element = [&]() -> Result<void> {
        DRIFTLESS_ASSIGN_OR_RETURN(const ColumnText column, ReadColumn(cursor));
        change->columns.push_back(column.name);
        definitions += (definitions.empty() ? "" : ", ") + column.Definition();
        return {};
      };
      DRIFTLESS_TRY(ReadElements(cursor, "has malformed columns", take_element));
    } else if (key == "primaryKeyColumnNames") {
      DRIFTLESS_ASSIGN_OR_RETURN(key_names, Texts(cursor));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has a malformed table", take_field));
  change->create = definitions + PrimaryKey(key_names);
  return {};
}

Result<SchemaChangeRecord::TableChange> ReadTableChange(JsonCursor* cursor) {
  SchemaChangeRecord::TableChange change;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "type") {
      DRIFTLESS_ASSIGN_OR_RETURN(change.type, Text(cursor));
    } else if (key == "id") {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string id, Text(cursor));
      change.table = ParseTableId(id);
    } else if (key == "table") {
      DRIFTLESS_TRY(ReadTable(cursor, &change));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has malformed tableChanges", take_field));
  change.create = "CREATE TABLE " + Quoted(change.table.database) + "." +
                  Quoted(change.table.table) + " (" + change.create + ")";
  return change;
}

// "source": {"file": "binlog.000003", "pos": 52132, "table": "a,b"}
Result<void> ReadSource(JsonCursor* cursor, SchemaChangeRecord* change) {
  std::string file, pos;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "file") {
      DRIFTLESS_ASSIGN_OR_RETURN(file, Text(cursor));
    } else if (key == "pos" && !cursor->IsNull()) {
      pos = cursor->Token();
      cursor->Advance();
    } else if (key == "table") {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string tables, Text(cursor));
      change->tables_named = 1 + static_cast<int>(std::count(tables.begin(), tables.end(), ','));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has a malformed source", take_field));
  if (!file.empty() && !pos.empty()) change->log_position = file + ":" + pos;
  return {};
}

}  // namespace

bool SchemaChangeRecord::IsPartOfRename() const {
  constexpr std::string_view kRename = "RENAME";
  const size_t begin = std::min(ddl.find_first_not_of(" \t\r\n"), ddl.size());
  return tables_named > 1 && !log_position.empty() &&
         EqualsIgnoringCase(std::string_view(ddl).substr(begin, kRename.size()), kRename);
}

Result<SchemaChangeRecord> ParseSchemaChange(const Record& record) {
  SchemaChangeRecord change;
  JsonCursor cursor = record.payload;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "ddl") {
      DRIFTLESS_ASSIGN_OR_RETURN(change.ddl, Text(&cursor));
    } else if (key == "source" && cursor.Peek() == '{') {
      DRIFTLESS_TRY(ReadSource(&cursor, &change));
    } else if (key == "databaseName") {
      DRIFTLESS_ASSIGN_OR_RETURN(change.database, Text(&cursor));
    } else if (key == "tableChanges" && cursor.Peek() == '[') {
      const auto take_element = [&]() -> Result<void> {
        DRIFTLESS_ASSIGN_OR_RETURN(auto table, ReadTableChange(&cursor));
        change.tables.push_back(std::move(table));
        return {};
      };
      DRIFTLESS_TRY(ReadElements(&cursor, "has malformed tableChanges", take_element));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(&cursor, "is malformed", take_field));
  return change;
}

Result<SchemaChangeRecord> ParseCanalStatement(const Record& record) {
  SchemaChangeRecord change;
  JsonCursor cursor = record.payload;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "sql") {
      DRIFTLESS_ASSIGN_OR_RETURN(change.ddl, Text(&cursor));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(&cursor, "is malformed", take_field));
  std::string_view database = record.database;
  if (database.size() > 2 && database.front() == '`' && database.back() == '`') {
    database = database.substr(1, database.size() - 2);  // of statements about databases
  }
  change.database = database;
  change.names_no_database = database.empty();
  return change;
}

namespace {

// Maxwell's words for types have no lengths: a type of the same kind that holds every value.
void Widen(ColumnText* column) {
  const std::string& type = column->type;
  if (type == "varchar" || type == "char") {
    column->type = "longtext";
  } else if (type == "varbinary" || type == "binary") {
    column->type = "longblob";
  } else if (type == "decimal") {
    column->length = "65";
    column->scale = "30";
  } else if (type == "bit") {
    column->length = "64";
  }
}

Result<ColumnText> ReadMaxwellColumn(JsonCursor* cursor) {
  ColumnText column;
  bool is_unsigned = false;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "name") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.name, Text(cursor));
    } else if (key == "type") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.type, Text(cursor));
    } else if (key == "enum-values") {
      DRIFTLESS_ASSIGN_OR_RETURN(column.members, Texts(cursor));
    } else if (key == "signed") {
      is_unsigned = cursor->Token() == "false";
      cursor->Advance();
    } else if (key == "column-length" && !cursor->IsNull()) {
      column.length = cursor->Token();
      cursor->Advance();
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has a malformed column", take_field));
  for (std::string& member : column.members) {
    std::string quoted = "'";
    for (const char c : member) quoted.append(c == '\'' || c == '\\' ? 2 : 1, c);
    member = quoted + "'";
  }
  Widen(&column);
  if (is_unsigned) column.type += " UNSIGNED";
  return column;
}

// "def": {"database","table","columns":[...],"primary-key":[...]}
Result<void> ReadDefinition(JsonCursor* cursor, SchemaChangeRecord::TableChange* change) {
  std::vector<ColumnText> columns;
  std::vector<std::string> key_names;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "database") {
      DRIFTLESS_ASSIGN_OR_RETURN(change->table.database, Text(cursor));
    } else if (key == "table") {
      DRIFTLESS_ASSIGN_OR_RETURN(change->table.table, Text(cursor));
    } else if (key == "primary-key") {
      DRIFTLESS_ASSIGN_OR_RETURN(key_names, Texts(cursor));
    } else if (key == "columns") {
      const auto take_element = [&]() -> Result<void> {
        DRIFTLESS_ASSIGN_OR_RETURN(ColumnText column, ReadMaxwellColumn(cursor));
        columns.push_back(std::move(column));
        return {};
      };
      DRIFTLESS_TRY(ReadElements(cursor, "has malformed columns", take_element));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(cursor, "has a malformed table", take_field));
  std::string definitions;
  for (ColumnText& column : columns) {
    column.optional = std::find(key_names.begin(), key_names.end(), column.name) == key_names.end();
    change->columns.push_back(column.name);
    definitions += (definitions.empty() ? "" : ", ") + column.Definition();
  }
  change->create = definitions + PrimaryKey(key_names);
  return {};
}

}  // namespace

Result<SchemaChangeRecord> ParseMaxwellStatement(const Record& record) {
  SchemaChangeRecord change;
  SchemaChangeRecord::TableChange table;
  table.table = {"", std::string(record.database), std::string(record.table)};
  std::string type;
  JsonCursor cursor = record.payload;
  const auto take_field = [&](std::string_view key) -> Result<bool> {
    if (key == "sql") {
      DRIFTLESS_ASSIGN_OR_RETURN(change.ddl, Text(&cursor));
    } else if (key == "type") {
      DRIFTLESS_ASSIGN_OR_RETURN(type, Text(&cursor));
    } else if (key == "def" && cursor.Peek() == '{') {
      DRIFTLESS_TRY(ReadDefinition(&cursor, &table));
    } else {
      return false;
    }
    return true;
  };
  DRIFTLESS_TRY(ReadFields(&cursor, "is malformed", take_field));
  change.database = record.database;
  if (!type.starts_with("table-")) return change;
  table.type = type == "table-create" ? "CREATE" : type == "table-drop" ? "DROP" : "ALTER";
  table.create = "CREATE TABLE " + Quoted(table.table.database) + "." + Quoted(table.table.table) +
                 " (" + table.create + ")";
  if (table.type == "DROP" || !table.columns.empty()) change.tables.push_back(std::move(table));
  return change;
}

}  // namespace driftless::debezium
