#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/parser_core.h"

// A column's definition: type, then attributes in any order.
namespace driftless::mysql {

bool Parser::ParseColumnSpec(ColumnSpec* column) {
  return ParseColumnName(&column->name) && ParseColumnBody(column);
}

bool Parser::ParseColumnBody(ColumnSpec* column) {
  if (!ParseType(column)) return false;
  if (Accept("COLLATE")) {
    column->collation_at = Peek().begin;
    if (!ParseCollationName(&column->collation)) return false;
  }
  bool matched = false;
  if (!ParseGenerated(column, &matched)) return false;
  // MariaDB allows a generated column nothing that could set its value or nullability.
  const bool few_attributes = column->generated && settings_.IsMariaDb();
  matched = true;
  while (matched) {
    matched = false;
    if (few_attributes &&
        AtAny({"NOT", "NULL", "DEFAULT", "ON", "AUTO_INCREMENT", "SERIAL", "PRIMARY", "KEY"})) {
      return true;
    }
    if (settings_.IsMariaDb() && !column->checks.empty()) return true;  // CHECK comes last there
    if (!ParseColumnAttribute(column, &matched)) return false;
    if (!matched && !ParseRareColumnAttribute(column, &matched)) return false;
  }
  return true;
}

bool Parser::ParsePosition(ColumnPosition* position) {
  if (Accept("FIRST")) {
    position->kind = ColumnPosition::Kind::kFirst;
  } else if (Accept("AFTER")) {
    position->kind = ColumnPosition::Kind::kAfter;
    return ParseName(&position->after, "a column name");
  }
  return true;
}

// ---------------------------------------------------------------- types

bool Parser::ParseType(ColumnSpec* column) {
  ColumnType& type = column->type;
  type.at = Peek().begin;
  if (settings_.IsMariaDb()) AcceptWords({"MARIADB_SCHEMA", "."});
  if (Peek().kind != TokenKind::kWord) return Fail("a column type");
  const Token word = Peek();
  if (word.Is("SERIAL")) {  // BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE
    Take();
    type.base = BaseType::kBigInt;
    type.is_unsigned = true;
    column->nullable = false;
    column->auto_increment = true;
    column->unique = true;
    return true;
  }
  bool matched = false;
  if (mode_.oracle && settings_.IsMariaDb() && !ParseOracleType(word, &type, &matched))
    return false;
  if (!matched && !ParseIntegerType(word, &type, &matched)) return false;
  if (!matched && !ParseRealType(word, &type, &matched)) return false;
  if (!matched && !ParseCharacterType(word, &type, &matched)) return false;
  if (!matched && !ParseTextType(word, &type, &matched)) return false;
  if (!matched && !ParseOtherType(word, &type, &matched)) return false;
  return matched || Fail("a column type");
}

bool Parser::ParseLength(int64_t* length, bool required) {
  if (!required && !At("(")) return true;
  return Expect("(") && ParseNumber(length, "a length") && Expect(")");
}

// (M,D); also (M) where that is allowed.
bool Parser::ParsePrecision(ColumnType* type, bool allow_one) {
  if (!Accept("(")) return true;
  if (!ParseNumber(&type->length, "a length")) return false;
  if (!allow_one || At(",")) {
    if (!Expect(",") || !ParseNumber(&type->decimals, "a number of decimals")) return false;
  }
  return Expect(")");
}

bool Parser::ParseNumericOptions(ColumnType* type) {
  bool sign_given = false;  // MariaDB takes only one of SIGNED and UNSIGNED
  while (true) {
    if (settings_.IsMariaDb() && sign_given && AtAny({"SIGNED", "UNSIGNED"})) return true;
    if (Accept("UNSIGNED")) {
      type->is_unsigned = sign_given = true;
    } else if (Accept("ZEROFILL")) {
      type->zerofill = type->is_unsigned = true;
    } else if (Accept("SIGNED")) {
      sign_given = true;
    } else {
      return true;
    }
  }
}

bool Parser::ParseIntegerType(const Token& word, ColumnType* type, bool* matched) {
  struct Integer {
    std::string_view word;
    BaseType base;
  };
  static constexpr Integer kIntegers[] = {
      {"INT", BaseType::kInt},
      {"INTEGER", BaseType::kInt},
      {"INT4", BaseType::kInt},
      {"BIGINT", BaseType::kBigInt},
      {"INT8", BaseType::kBigInt},
      {"TINYINT", BaseType::kTinyInt},
      {"INT1", BaseType::kTinyInt},
      {"SMALLINT", BaseType::kSmallInt},
      {"INT2", BaseType::kSmallInt},
      {"MEDIUMINT", BaseType::kMediumInt},
      {"MIDDLEINT", BaseType::kMediumInt},
      {"INT3", BaseType::kMediumInt},
  };
  for (const Integer& entry : kIntegers) {
    if (!word.Is(entry.word)) continue;
    *matched = true;
    type->base = entry.base;
    Take();
    return ParseLength(&type->length, /*required=*/false) && ParseNumericOptions(type);
  }
  if (word.Is("BOOL") || word.Is("BOOLEAN")) {
    *matched = true;
    Take();
    type->base = BaseType::kTinyInt;
    type->length = 1;
    type->is_bool = true;
  }
  return true;
}

bool Parser::ParseRealType(const Token& word, ColumnType* type, bool* matched) {
  *matched = true;
  if (word.Is("DECIMAL") || word.Is("DEC") || word.Is("NUMERIC") || word.Is("FIXED")) {
    Take();
    type->base = BaseType::kDecimal;
    return ParsePrecision(type, /*allow_one=*/true) && ParseNumericOptions(type);
  }
  if (word.Is("FLOAT") || word.Is("FLOAT4")) {
    Take();
    type->base = BaseType::kFloat;
    return ParsePrecision(type, /*allow_one=*/true) && ParseNumericOptions(type);
  }
  if (word.Is("DOUBLE") || word.Is("REAL") || word.Is("FLOAT8")) {
    Take();
    if (word.Is("DOUBLE")) Accept("PRECISION");
    type->base = word.Is("REAL") && mode_.real_as_float ? BaseType::kFloat : BaseType::kDouble;
    return ParsePrecision(type, /*allow_one=*/false) && ParseNumericOptions(type);
  }
  *matched = false;
  return true;
}

// CHAR, VARCHAR and their national forms.
bool Parser::ParseCharacterType(const Token& word, ColumnType* type, bool* matched) {
  bool national = false;
  bool varying = false;
  if (word.Is("NATIONAL") &&
      (At("CHAR", 1) || At("CHARACTER", 1) || At("VARCHAR", 1) || At("VARCHARACTER", 1))) {
    Take();
    national = true;
  }
  const Token base = Peek();
  if (base.Is("CHAR") || base.Is("CHARACTER")) {
    Take();
    varying = Accept("VARYING");
  } else if (base.Is("VARCHAR") || base.Is("VARCHARACTER")) {
    Take();
    varying = true;
  } else if (base.Is("NCHAR")) {
    Take();
    national = true;
    varying = AcceptAny({"VARYING", "VARCHAR", "VARCHARACTER"});
  } else if (base.Is("NVARCHAR")) {
    Take();
    national = varying = true;
  } else {
    return true;
  }
  *matched = true;
  type->base = varying ? BaseType::kVarChar : BaseType::kChar;
  if (!ParseLength(&type->length, /*required=*/varying)) return false;
  if (national) {
    type->charset = FindCharset("utf8mb3", settings_);
    type->binary_attribute = Accept("BINARY");
    return true;
  }
  return ParseCharsetAttributes(type);
}

// What may stand right behind a character type: CHARACTER SET x, ASCII, UNICODE, BYTE, BINARY.
bool Parser::ParseCharsetAttributes(ColumnType* type) {
  while (true) {
    if (AcceptCharsetWords()) {
      if (Accept("BINARY")) {
        type->charset = FindCharset("binary", settings_);
      } else if (settings_.IsMariaDb() && Accept("DEFAULT")) {
        type->charset = {};
      } else if (!ParseCharsetName(&type->charset)) {
        return false;
      }
    } else if (Accept("ASCII")) {
      type->charset = FindCharset("latin1", settings_);
    } else if (Accept("UNICODE")) {
      type->charset = FindCharset("ucs2", settings_);
    } else if (Accept("BYTE")) {
      type->charset = FindCharset("binary", settings_);
    } else if (Accept("BINARY")) {
      type->binary_attribute = true;
    } else {
      return true;
    }
  }
}

bool Parser::ParseTextType(const Token& word, ColumnType* type, bool* matched) {
  struct Text {
    std::string_view word;
    BaseType base;
    bool has_length;
  };
  static constexpr Text kTexts[] = {
      {"TEXT", BaseType::kText, true},
      {"TINYTEXT", BaseType::kTinyText, false},
      {"MEDIUMTEXT", BaseType::kMediumText, false},
      {"LONGTEXT", BaseType::kLongText, false},
      {"BLOB", BaseType::kBlob, true},
      {"TINYBLOB", BaseType::kTinyBlob, false},
      {"MEDIUMBLOB", BaseType::kMediumBlob, false},
      {"LONGBLOB", BaseType::kLongBlob, false},
  };
  for (const Text& entry : kTexts) {
    if (!word.Is(entry.word)) continue;
    *matched = true;
    Take();
    type->base = entry.base;
    if (entry.has_length && !ParseLength(&type->length, /*required=*/false)) return false;
    const bool is_blob = entry.word.find("BLOB") != std::string_view::npos;
    return is_blob || ParseCharsetAttributes(type);
  }
  if (word.Is("LONG")) {
    *matched = true;
    Take();
    if (Accept("VARBINARY")) {
      type->base = BaseType::kMediumBlob;
      return true;
    }
    if (!AcceptAny({"VARCHAR", "VARCHARACTER"})) {
      if (At("CHAR") || At("CHARACTER")) {
        Take();
        if (!Expect("VARYING")) return false;
      }
    }
    type->base = BaseType::kMediumText;
    return ParseCharsetAttributes(type);
  }
  return true;
}

bool Parser::ParseMembers(ColumnType* type) {
  if (!Expect("(")) return false;
  do {
    std::string member;
    if (Peek().kind == TokenKind::kWord && Peek().text[0] == '_' &&
        Peek(1).kind == TokenKind::kString) {
      Take();
    }
    if (Peek().kind == TokenKind::kHex) {
      const std::string digits = Take().text;
      for (size_t i = digits.size() % 2; i + 1 < digits.size() + 1; i += 2) {
        member += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
      }
    } else if (!ParseString(&member, "a string")) {
      return false;
    }
    while (!member.empty() && member.back() == ' ') member.pop_back();
    type->members.push_back(std::move(member));
  } while (Accept(","));
  return Expect(")") && ParseCharsetAttributes(type);
}

bool Parser::ParseOtherType(const Token& word, ColumnType* type, bool* matched) {
  struct Other {
    std::string_view word;
    BaseType base;
    enum { kNone, kOptional, kRequired } length;
  };
  static constexpr Other kOthers[] = {
      {"BIT", BaseType::kBit, Other::kOptional},
      {"BINARY", BaseType::kBinary, Other::kOptional},
      {"VARBINARY", BaseType::kVarBinary, Other::kRequired},
      {"DATE", BaseType::kDate, Other::kNone},
      {"TIME", BaseType::kTime, Other::kOptional},
      {"DATETIME", BaseType::kDateTime, Other::kOptional},
      {"TIMESTAMP", BaseType::kTimestamp, Other::kOptional},
      {"JSON", BaseType::kJson, Other::kNone},
      {"VECTOR", BaseType::kVector, Other::kOptional},
  };
  static constexpr std::string_view kGeometries[] = {
      "GEOMETRY",        "POINT",        "LINESTRING",         "POLYGON",       "MULTIPOINT",
      "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION", "GEOMCOLLECTION"};
  static constexpr Other kMariaOnly[] = {
      {"UUID", BaseType::kUuid, Other::kNone},
      {"INET4", BaseType::kInet4, Other::kNone},
      {"INET6", BaseType::kInet6, Other::kNone},
      {"XMLTYPE", BaseType::kXml, Other::kNone},
  };
  *matched = true;
  for (const Other& entry : kOthers) {
    if (!word.Is(entry.word)) continue;
    Take();
    type->base = entry.base;
    return entry.length == Other::kNone ||
           ParseLength(&type->length, entry.length == Other::kRequired);
  }
  if (word.Is("YEAR")) {
    Take();
    type->base = BaseType::kYear;
    return ParseLength(&type->length, /*required=*/false) && ParseNumericOptions(type);
  }
  if (word.Is("ENUM") || word.Is("SET")) {
    Take();
    type->base = word.Is("ENUM") ? BaseType::kEnum : BaseType::kSet;
    return ParseMembers(type);
  }
  for (std::string_view geometry : kGeometries) {
    if (!word.Is(geometry)) continue;
    Take();
    type->base = BaseType::kGeometry;
    type->geometry = LowerCase(geometry);
    return !settings_.IsMariaDb() || !At("(") || SkipParenthesised();
  }
  for (const Other& entry : kMariaOnly) {
    if (!settings_.IsMariaDb() || !word.Is(entry.word)) continue;
    Take();
    type->base = entry.base;
    return true;
  }
  *matched = false;
  return true;
}

// MariaDB under sql_mode ORACLE ("sql_mode=ORACLE", Synonyms for Basic SQL Types).
bool Parser::ParseOracleType(const Token& word, ColumnType* type, bool* matched) {
  *matched = true;
  if (word.Is("VARCHAR2")) {
    Take();
    type->base = BaseType::kVarChar;
    return ParseLength(&type->length, /*required=*/true) && ParseCharsetAttributes(type);
  }
  if (word.Is("NUMBER")) {
    Take();
    type->base = At("(") ? BaseType::kDecimal : BaseType::kDouble;
    return ParsePrecision(type, /*allow_one=*/true);
  }
  if (word.Is("RAW")) {
    Take();
    type->base = BaseType::kVarBinary;
    return ParseLength(&type->length, /*required=*/true);
  }
  if (word.Is("CLOB")) {
    Take();
    type->base = BaseType::kLongText;
    return ParseCharsetAttributes(type);
  }
  if (word.Is("DATE")) {
    Take();
    type->base = BaseType::kDateTime;
    return true;
  }
  if (word.Is("BLOB") && !At("(", 1)) {
    Take();
    type->base = BaseType::kLongBlob;
    return true;
  }
  *matched = false;
  return true;
}

// ---------------------------------------------------------------- attributes

bool Parser::ParseGenerated(ColumnSpec* column, bool* matched) {
  const bool long_form = At("GENERATED");
  const bool rows = settings_.IsMariaDb() && At("ROW", 1);
  if (!long_form && !(At("AS") && (At("(", 1) || rows))) return true;
  *matched = true;
  if (long_form) {
    Take();
    if (!Expect("ALWAYS") || !At("AS")) return Fail("\"AS\"");
  }
  Take();
  if (settings_.IsMariaDb() && Accept("ROW")) {
    column->row_start = Accept("START");
    column->row_end = !column->row_start && Accept("END");
    return column->row_start || column->row_end || Fail("START or END");
  }
  column->generated = true;
  if (!SkipParenthesised(&column->generated_from)) return false;
  if (AcceptAny({"STORED", "PERSISTENT"})) {
    column->stored = true;
  } else {
    Accept("VIRTUAL");
  }
  return true;
}

bool Parser::ParseColumnAttribute(ColumnSpec* column, bool* matched) {
  *matched = true;
  if (At("NOT") && At("NULL", 1)) {
    Take();
    Take();
    column->nullable = false;
    return true;
  }
  if (At("NOT") && !At("SECONDARY", 1)) {
    Take();
    return Expect("NULL");
  }
  if (Accept("NULL")) {
    column->nullable = true;
    return true;
  }
  if (Accept("DEFAULT")) return ParseDefault(&column->default_value);
  if (At("ON") && At("UPDATE", 1)) {
    Take();
    Take();
    std::string fraction;
    bool is_now = false;
    if (!ParseNow(&fraction, &is_now)) return false;
    if (!is_now) return Fail("CURRENT_TIMESTAMP");
    column->on_update = "CURRENT_TIMESTAMP" + (fraction.empty() ? "" : "(" + fraction + ")");
    return true;
  }
  if (Accept("AUTO_INCREMENT")) {
    column->auto_increment = true;
    return true;
  }
  if (AcceptWords({"SERIAL", "DEFAULT", "VALUE"})) {
    column->auto_increment = column->unique = true;
    column->nullable = false;
    return true;
  }
  if (Accept("PRIMARY")) {
    column->primary = true;
    return Expect("KEY");
  }
  if (Accept("KEY")) {
    column->primary = true;
    return true;
  }
  if (Accept("UNIQUE")) {
    Accept("KEY");
    column->unique = true;
    return true;
  }
  if (Accept("COMMENT")) return ParseString(&column->comment, "a string");
  if (Accept("COLLATE")) {
    column->collation_at = Peek().begin;
    return ParseCollationName(&column->collation);
  }
  *matched = false;
  return true;
}

bool Parser::ParseRareColumnAttribute(ColumnSpec* column, bool* matched) {
  *matched = true;
  if (AcceptAny({"VISIBLE", "INVISIBLE"})) {
    column->invisible = last_.Is("INVISIBLE");
    return true;
  }
  if (At("CONSTRAINT") || At("CHECK")) {
    Name name;
    if (Accept("CONSTRAINT") && !At("CHECK") && !ParseName(&name, "a constraint's name")) {
      return false;
    }
    if (!Expect("CHECK") || !SkipParenthesised() || !ParseCheckTail()) return false;
    column->checks.push_back(name.text);
    return true;
  }
  if (At("REFERENCES")) {
    ForeignReference reference;
    return ParseReferences(&reference);
  }
  if (Accept("COLUMN_FORMAT")) {
    return AcceptAny({"FIXED", "DYNAMIC", "DEFAULT"}) || Fail("FIXED, DYNAMIC or DEFAULT");
  }
  if (!settings_.IsMariaDb() && Accept("STORAGE")) {
    return AcceptAny({"DISK", "MEMORY", "DEFAULT"}) || Fail("DISK, MEMORY or DEFAULT");
  }
  if (AcceptAny({"ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "EXTERNAL_FORMAT"})) {
    std::string value;
    Accept("=");
    return ParseString(&value, "a string");
  }
  int64_t number = 0;
  if (!settings_.IsMariaDb()) {
    if (Accept("SRID")) return ParseNumber(&number, "a number");
    if (AcceptWords({"NOT", "SECONDARY"})) return true;
    *matched = false;
    return true;
  }
  if (Accept("REF_SYSTEM_ID")) {
    Accept("=");
    return ParseNumber(&number, "a number");
  }
  if (Accept("COMPRESSED")) {
    column->type.compressed = true;
    std::string method;
    return !Accept("=") || ParseWordOrString(&method, "a compression method");
  }
  if (AcceptWords({"WITH", "SYSTEM", "VERSIONING"}) ||
      AcceptWords({"WITHOUT", "SYSTEM", "VERSIONING"})) {
    return true;
  }
  if (AtName() && At("=", 1)) {  // an attribute of the storage engine
    Take();
    Take();
    std::string value;
    if (Peek().kind == TokenKind::kNumber) return ParseNumber(&number, "a value");
    return ParseWordOrString(&value, "a value");
  }
  *matched = false;
  return true;
}

// CURRENT_TIMESTAMP and its synonyms, with an optional fraction.
bool Parser::ParseNow(std::string* fraction, bool* matched) {
  *matched =
      AtAny({"CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP"}) || (At("NOW") && At("(", 1));
  if (!*matched) return true;
  Take();
  if (!Accept("(")) return true;
  int64_t digits = 0;
  if (!At(")")) {
    if (!ParseNumber(&digits, "a number of digits")) return false;
    if (digits > 0) *fraction = std::to_string(digits);
  }
  return Expect(")");
}

bool Parser::ParseDefault(ColumnDefault* value) {
  using Kind = ColumnDefault::Kind;
  value->at = Peek().begin;
  bool is_now = false;
  std::string fraction;
  if (!ParseNow(&fraction, &is_now)) return false;
  if (is_now) {
    *value = {Kind::kNow, fraction, value->at};
    return true;
  }
  if (Accept("NULL")) {
    value->kind = Kind::kNull;
    return true;
  }
  if (AcceptAny({"TRUE", "FALSE"})) {
    *value = {Kind::kBool, last_.Is("TRUE") ? "1" : "0", value->at};
    return true;
  }
  if (At("(")) {
    value->kind = Kind::kExpression;
    return SkipParenthesised(nullptr, &value->text);
  }
  const bool introducer = Peek().kind == TokenKind::kWord && Peek().text[0] == '_' &&
                          (Peek(1).kind == TokenKind::kString || Peek(1).kind == TokenKind::kHex ||
                           Peek(1).kind == TokenKind::kBits);
  const bool temporal = AtAny({"DATE", "TIME", "TIMESTAMP"}) && Peek(1).kind == TokenKind::kString;
  if (introducer || temporal) Take();
  const TokenKind kind = Peek().kind;
  if (kind == TokenKind::kString || kind == TokenKind::kNational) {
    value->kind = Kind::kString;
    value->text = Take().text;
    while (Peek().kind == TokenKind::kString) value->text += Take().text;  // 'a' 'b' is 'ab'
    return true;
  }
  if (kind == TokenKind::kHex || kind == TokenKind::kBits) {
    value->kind = kind == TokenKind::kHex ? Kind::kHex : Kind::kBits;
    value->text = Take().text;
    return true;
  }
  std::string sign;
  while (AtAny({"-", "+"})) {
    if (Take().text == "-") sign = sign.empty() ? "-" : "";
  }
  if (Peek().kind == TokenKind::kNumber) {
    value->kind = Kind::kNumber;
    value->text = sign + Take().text;
    return true;
  }
  return ParseDefaultExpression(value);
}

// MariaDB: a function call, NEXT VALUE FOR s, or a constant such as CURRENT_DATE without
// parentheses.
bool Parser::ParseDefaultExpression(ColumnDefault* value) {
  if (!settings_.IsMariaDb() || Peek().kind == TokenKind::kSymbol ||
      Peek().kind == TokenKind::kEnd || Peek().kind == TokenKind::kBad) {
    return Fail("a default value");
  }
  value->kind = ColumnDefault::Kind::kExpression;
  if (AcceptWords({"NEXT", "VALUE", "FOR"}) || AcceptWords({"PREVIOUS", "VALUE", "FOR"})) {
    TableName sequence;
    if (!ParseTableName(&sequence)) return false;
  } else {
    const bool constant = AtAny({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_USER", "CURRENT_ROLE",
                                 "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP", "CURDATE", "CURTIME"});
    if (!constant && !At("(", 1) && !At(".", 1)) return Fail("a default value");
    Take();
    while (Accept(".")) Take();
    if (At("(")) {
      int depth = 0;
      do {  // may be empty, so SkipParenthesised does not fit
        if (Peek().kind == TokenKind::kEnd || Peek().kind == TokenKind::kBad) return Fail("\")\"");
        if (At("(")) ++depth;
        if (At(")")) --depth;
        Take();
      } while (depth > 0);
    }
  }
  value->text = std::string(sql_.substr(value->at, last_.end - value->at));
  return true;
}

}  // namespace driftless::mysql
