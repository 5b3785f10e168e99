#include "sinks/formats/row_json/mysql_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/catalog.h"

namespace driftless {
namespace {

constexpr std::string_view kWithoutDefaults[] = {
    "text", "blob", "json", "geometry", "point", "polygon", "linestring", "geomcollection"};

std::string Quoted(std::string_view name) {
  std::string text = "`";
  for (const char c : name) {
    text += c;
    if (c == '`') text += c;
  }
  return text + "`";
}

std::string Literal(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    if (c == '\'' || c == '\\') text += c;
    text += c;
  }
  return text + "'";
}

std::string Sized(std::string_view word, int32_t size) {
  return std::string(word) + "(" + std::to_string(size) + ")";
}

std::string WithPrecision(std::string_view word, const LogicalType& type) {
  const int32_t precision = std::min(type.precision(), 6);  // MySQL's finest
  return precision == 0 ? std::string(word) : Sized(word, precision);
}

std::string TableName(const TablePath& path) {
  return Quoted(path.database) + "." + Quoted(path.table);
}

// MySQL has no such types, and statements are written in its words: the type that holds the text of
// every value, and may be a key and have a default as they may. Empty: another type.
std::string InMySqlsWords(const std::string& maria) {
  if (EqualsIgnoringCase(maria, "uuid")) return "varchar(36)";
  if (EqualsIgnoringCase(maria, "inet4")) return "varchar(15)";
  if (EqualsIgnoringCase(maria, "inet6")) return "varchar(45)";
  return "";
}

// Types whose defaults MySQL takes as expressions only (Reference Manual, "Data Type Default
// Values"); MariaDB takes literals.
bool HasOnlyExpressionsAsDefaults(const std::string& type) {
  return std::any_of(std::begin(kWithoutDefaults), std::end(kWithoutDefaults),
                     [&](std::string_view word) { return type.find(word) != std::string::npos; });
}

// Columns that a transform computes, or a merge of several tables has widened, have none.
bool HasMySqlTypes(const TableSchema& schema) {
  return std::any_of(schema.columns.begin(), schema.columns.end(),
                     [](const Column& column) { return !column.source.type_text.empty(); });
}

}  // namespace

std::string MySqlTypeText(const LogicalType& type, const Column* source) {
  if (source != nullptr && !source->source.type_text.empty()) {
    const std::string words = InMySqlsWords(source->source.type_text);
    return words.empty() ? source->source.type_text : words;
  }
  constexpr int32_t kLongestChar = 255;
  constexpr int32_t kLongestVarChar = 16383;  // characters of utf8mb4 in a row
  constexpr int32_t kLongestVarBinary = 65533;
  switch (type.kind()) {
    case TypeKind::kBoolean: return "tinyint(1)";
    case TypeKind::kTinyInt: return "tinyint";
    case TypeKind::kSmallInt: return "smallint";
    case TypeKind::kInt: return "int";
    case TypeKind::kBigInt: return "bigint";
    case TypeKind::kFloat: return "float";
    case TypeKind::kDouble: return "double";
    case TypeKind::kDecimal:
      return "decimal(" + std::to_string(type.precision()) + "," + std::to_string(type.scale()) +
             ")";
    case TypeKind::kChar:
      if (type.length() <= kLongestChar) return Sized("char", type.length());
      [[fallthrough]];
    case TypeKind::kVarChar:
      return type.length() <= kLongestVarChar ? Sized("varchar", type.length()) : "longtext";
    case TypeKind::kBinary:
      if (type.length() <= kLongestChar) return Sized("binary", type.length());
      [[fallthrough]];
    case TypeKind::kVarBinary:
      return type.length() <= kLongestVarBinary ? Sized("varbinary", type.length()) : "longblob";
    case TypeKind::kDate: return "date";
    case TypeKind::kTime: return WithPrecision("time", type);
    case TypeKind::kTimestamp: return WithPrecision("datetime", type);
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return WithPrecision("timestamp", type);
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow:
    case TypeKind::kVariant: return "json";
  }
  return "longtext";
}

int JdbcTypeOf(const LogicalType& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return -7;  // BIT
    case TypeKind::kTinyInt: return -6;  // TINYINT
    case TypeKind::kSmallInt: return 5;  // SMALLINT
    case TypeKind::kInt: return 4;       // INTEGER
    case TypeKind::kBigInt: return -5;   // BIGINT
    case TypeKind::kFloat: return 7;     // REAL
    case TypeKind::kDouble: return 8;    // DOUBLE
    case TypeKind::kDecimal: return 3;   // DECIMAL
    case TypeKind::kChar: return 1;      // CHAR
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return 2004;  // BLOB
    case TypeKind::kDate: return 91;         // DATE
    case TypeKind::kTime: return 92;         // TIME
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: return 93;  // TIMESTAMP
    case TypeKind::kVarChar:
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow:
    case TypeKind::kVariant: return 12;  // VARCHAR
  }
  return 12;
}

namespace {

// "`price` decimal(18,4) NOT NULL DEFAULT '0'"
std::string ColumnText(const Column& column) {
  const std::string type = MySqlTypeText(column.type, &column);
  std::string text = Quoted(column.name) + " " + type;
  if (!column.source.charset.empty()) text += " CHARACTER SET " + column.source.charset;
  text += column.type.nullable() ? " NULL" : " NOT NULL";
  if (column.default_value.kind == DefaultValue::Kind::kLiteral) {
    const std::string value = Literal(column.default_value.text);
    const bool is_enum = !column.source.enum_values.empty();
    text += " DEFAULT ";
    text += !is_enum && HasOnlyExpressionsAsDefaults(type) ? "(" + value + ")" : value;
  }
  if (!column.comment.empty()) text += " COMMENT " + Literal(column.comment);
  return text;
}

// "PRIMARY KEY (`a`, `b`)"; the table has one.
std::string KeyText(const TableSchema& schema) {
  std::string text = "PRIMARY KEY (";
  for (size_t i = 0; i < schema.primary_key.size(); ++i) {
    text += (i == 0 ? "" : ", ") + Quoted(schema.Find(schema.primary_key[i])->name);
  }
  return text + ")";
}

std::vector<std::string> KeyNames(const TableSchema& schema) {
  std::vector<std::string> names;
  for (const ColumnId id : schema.primary_key) names.push_back(schema.Find(id)->name);
  return names;
}

// Whether the text, carried out on the table as it was, touches no other one and gives the columns
// and the key that the change says.
bool Tells(const std::string& text, const StatementChange& change) {
  const TableSchemaPtr before = change.before();
  if (before == nullptr) return false;
  mysql::DdlCatalog catalog{mysql::ServerSettings{}};
  catalog.Load(before);
  mysql::StatementContext context;
  context.default_database = change.table.database;
  const auto effect = catalog.Preview(text, context);
  if (!effect || effect->changes.size() > 1) return false;
  TableSchemaPtr told = before;
  if (!effect->changes.empty()) {
    if (effect->changes.front().table != before->path) return false;
    told = effect->changes.front().after();
  }
  const TableSchemaPtr after = change.after();
  if (told == nullptr || after == nullptr) return false;
  return std::equal(told->columns.begin(), told->columns.end(), after->columns.begin(),
                    after->columns.end(),
                    [](const Column& a, const Column& b) { return a.name == b.name; }) &&
         KeyNames(*told) == KeyNames(*after);
}

}  // namespace

std::string CreateTableText(const TableSchema& schema) {
  std::string text = "CREATE TABLE " + TableName(schema.path) + " (";
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    text += (i == 0 ? "" : ", ") + ColumnText(schema.columns[i]);
  }
  if (!schema.primary_key.empty()) text += ", " + KeyText(schema);
  text += ")";
  if (!schema.charset.empty()) text += " DEFAULT CHARSET=" + schema.charset;
  if (!schema.comment.empty()) text += " COMMENT=" + Literal(schema.comment);
  return text;
}

std::string AlterTableText(const TableSchema& before, const TableSchema& after) {
  std::vector<std::string> clauses;
  const bool other_key = before.primary_key != after.primary_key;
  if (other_key && !before.primary_key.empty()) clauses.push_back("DROP PRIMARY KEY");
  std::vector<ColumnId> order;  // as the clauses so far leave it
  for (const Column& column : before.columns) {
    if (after.Find(column.id) == nullptr) {
      clauses.push_back("DROP COLUMN " + Quoted(column.name));
    } else {
      order.push_back(column.id);
    }
  }
  for (size_t i = 0; i < after.columns.size(); ++i) {
    const Column& column = after.columns[i];
    const Column* const former = before.Find(column.id);
    const bool in_place = i < order.size() && order[i] == column.id;
    if (in_place && ColumnText(*former) == ColumnText(column)) continue;
    std::string clause = former == nullptr
                             ? "ADD COLUMN " + ColumnText(column)
                             : "CHANGE COLUMN " + Quoted(former->name) + " " + ColumnText(column);
    if (!in_place) {
      clause += i == 0 ? " FIRST" : " AFTER " + Quoted(after.columns[i - 1].name);
      std::erase(order, column.id);
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(i), column.id);
    }
    clauses.push_back(std::move(clause));
  }
  if (other_key && !after.primary_key.empty()) clauses.push_back("ADD " + KeyText(after));
  if (before.comment != after.comment) clauses.push_back("COMMENT = " + Literal(after.comment));
  std::string text = "ALTER TABLE " + TableName(after.path);
  for (size_t i = 0; i < clauses.size(); ++i) text += (i == 0 ? " " : ", ") + clauses[i];
  return text;
}

std::optional<std::string> StatementText(const StatementChange& change) {
  if (change.parts.empty()) return std::nullopt;
  const TableSchemaPtr known = change.after() != nullptr ? change.after() : change.before();
  if (known == nullptr || !HasMySqlTypes(*known)) return std::nullopt;
  switch (change.parts.front().kind()) {
    case EventKind::kCreateTable: return CreateTableText(*change.after());
    case EventKind::kDropTable:
    case EventKind::kRenameTable: return "DROP TABLE " + TableName(change.table);
    case EventKind::kTruncateTable: return "TRUNCATE TABLE " + TableName(change.table);
    default: break;
  }
  const bool has_text = change.statement != nullptr && !change.statement->empty();
  if (has_text && Tells(*change.statement, change)) return *change.statement;
  // The text is about other tables too (the swap of an online schema change), or about other
  // columns than rows have here (a transform, a merge of tables), or is not understood; or there is
  // none, because the change was seen in rows, or because the table has another name here.
  std::string own = AlterTableText(*change.before(), *change.after());
  return has_text && !Tells(own, change) ? *change.statement : std::move(own);
}

}  // namespace driftless
