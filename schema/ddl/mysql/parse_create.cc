#include "schema/ddl/mysql/parser_core.h"

// CREATE TABLE: elements, options, partitions, query.
namespace driftless::mysql {

bool Parser::AtQuery() {
  size_t ahead = 0;
  while (At("(", ahead)) ++ahead;
  const Token& token = Peek(ahead);
  return token.kind == TokenKind::kWord &&
         (token.Is("SELECT") || token.Is("WITH") || token.Is("TABLE") || token.Is("VALUES"));
}

bool Parser::TakeQuery(std::vector<Token>* query) {
  while (Peek().kind != TokenKind::kEnd && !At(";")) {
    if (Peek().kind == TokenKind::kBad) return Fail("a query");
    query->push_back(Take());
  }
  return true;
}

bool Parser::ParseCreateTable(bool or_replace, bool temporary, Statement* out) {
  CreateTableStatement table;
  table.or_replace = or_replace;
  table.temporary = temporary;
  if (!ParseIfNotExists(&table.if_not_exists) || !ParseTableName(&table.name)) return false;
  const bool like_in_parentheses = At("(") && At("LIKE", 1);
  if (At("LIKE") || like_in_parentheses) {
    if (like_in_parentheses) Take();
    Take();
    TableName like;
    if (!ParseTableName(&like)) return false;
    if (like_in_parentheses && !Expect(")")) return false;
    table.like = std::move(like);
    *out = std::move(table);
    return true;
  }
  const bool query_follows = At("(") && AtQuery();
  if (At("(") && !query_follows && !ParseTableElements(&table)) return false;
  if (!ParseTableOptions(&table.options, /*in_alter=*/false)) return false;
  if (At("PARTITION") && !ParsePartitioning(&table.partitioning)) return false;
  AcceptAny({"IGNORE", "REPLACE"});
  const bool as = Accept("AS");
  if (AtQuery()) {
    if (!TakeQuery(&table.query)) return false;
  } else if (as) {
    return Fail("SELECT");
  } else if (table.columns.empty() && table.keys.empty()) {
    return Fail("\"(\"");
  }
  AcceptWords({"START", "TRANSACTION"});  // MySQL 8 logs CREATE TABLE ... AS SELECT with it
  *out = std::move(table);
  return true;
}

bool Parser::ParseTableElements(CreateTableStatement* table) {
  Take();
  do {
    if (!ParseTableElement(table)) return false;
  } while (Accept(","));
  return Expect(")");
}

bool Parser::ParsePeriod(std::vector<Name>* columns, bool* is_system_time) {
  if (!Expect("PERIOD") || !Expect("FOR")) return false;
  *is_system_time = At("SYSTEM_TIME");
  Name name;
  if (!ParseName(&name, "a period's name") || !Expect("(")) return false;
  do {
    Name column;
    if (!ParseName(&column, "a column name")) return false;
    columns->push_back(std::move(column));
  } while (Accept(","));
  return Expect(")");
}

bool Parser::ParseTableElement(CreateTableStatement* table) {
  if (AtKeySpec()) {
    KeySpec key;
    if (!ParseKeySpec(&key)) return false;
    table->keys.push_back(std::move(key));
    return true;
  }
  if (settings_.IsMariaDb() && At("PERIOD") && At("FOR", 1)) {
    std::vector<Name> columns;
    bool is_system_time = false;
    if (!ParsePeriod(&columns, &is_system_time)) return false;
    table->period_columns.insert(table->period_columns.end(), columns.begin(), columns.end());
    table->period_is_system_time = is_system_time;
    return true;
  }
  ColumnSpec column;
  if (!ParseColumnSpec(&column)) return false;
  table->columns.push_back(std::move(column));
  return true;
}

// ---------------------------------------------------------------- options

bool Parser::ParseTableOptions(TableOptions* options, bool in_alter) {
  bool found = true;
  while (found) {
    found = false;
    if (!ParseTableOption(options, in_alter, &found)) return false;
    // CREATE TABLE allows commas between options; in ALTER TABLE a comma begins the next clause.
    if (found && !in_alter) Accept(",");
  }
  return true;
}

bool Parser::ParseTableOption(TableOptions* options, bool in_alter, bool* found) {
  *found = true;
  const bool with_default = At("DEFAULT") && (At("CHARACTER", 1) || At("CHARSET", 1) ||
                                              At("CHAR", 1) || At("COLLATE", 1));
  if (with_default) Take();
  options->charset_at =
      AtAny({"CHARACTER", "CHARSET", "CHAR", "COLLATE"}) ? Peek().begin : options->charset_at;
  if (AcceptCharsetWords()) {
    Accept("=");
    if (Accept("DEFAULT")) {
      options->charset_is_default = true;
      options->charset.reset();
      return true;
    }
    Charset charset;
    if (!ParseCharsetName(&charset)) return false;
    options->charset = std::move(charset);
    return true;
  }
  if (Accept("COLLATE")) {
    Accept("=");
    if (settings_.IsMariaDb() && Accept("DEFAULT")) return true;
    std::string collation;
    if (!ParseCollationName(&collation)) return false;
    options->collation = std::move(collation);
    return true;
  }
  if (Accept("COMMENT")) {
    Accept("=");
    std::string comment;
    if (!ParseString(&comment, "a string")) return false;
    options->comment = std::move(comment);
    return true;
  }
  if (AcceptAny({"ENGINE", "TYPE"})) {
    Accept("=");
    return ParseWordOrString(&options->engine, "a storage engine");
  }
  if (settings_.IsMariaDb() && !in_alter && AcceptWords({"WITH", "SYSTEM", "VERSIONING"})) {
    options->system_versioning = true;
    return true;
  }
  if (!in_alter && At("START") && At("TRANSACTION", 1)) {
    Take();
    Take();
    return true;
  }
  return ParsePlainOption(found);
}

// An option that says nothing about the schema: NAME [=] value.
bool Parser::ParsePlainOption(bool* found) {
  static constexpr std::string_view kOptions[] = {"AUTOEXTEND_SIZE",
                                                  "AUTO_INCREMENT",
                                                  "AVG_ROW_LENGTH",
                                                  "CHECKSUM",
                                                  "TABLE_CHECKSUM",
                                                  "COMPRESSION",
                                                  "CONNECTION",
                                                  "DELAY_KEY_WRITE",
                                                  "ENCRYPTION",
                                                  "ENGINE_ATTRIBUTE",
                                                  "INSERT_METHOD",
                                                  "KEY_BLOCK_SIZE",
                                                  "MAX_ROWS",
                                                  "MIN_ROWS",
                                                  "PACK_KEYS",
                                                  "PAGE_CHECKSUM",
                                                  "PASSWORD",
                                                  "ROW_FORMAT",
                                                  "SECONDARY_ENGINE_ATTRIBUTE",
                                                  "SECONDARY_ENGINE",
                                                  "STATS_AUTO_RECALC",
                                                  "STATS_PERSISTENT",
                                                  "STATS_SAMPLE_PAGES",
                                                  "TABLESPACE",
                                                  "STORAGE"};
  *found = true;
  if (Accept("UNION")) {
    Accept("=");
    if (!Expect("(")) return false;
    while (!At(")")) {
      TableName name;
      if (!ParseTableName(&name)) return false;
      if (!Accept(",") && !At(")")) return Fail("\")\"");
    }
    return Expect(")");
  }
  const bool directory = (At("DATA") || At("INDEX")) && At("DIRECTORY", 1);
  bool known = directory;
  for (std::string_view option : kOptions) known = known || At(option);
  known = known || (settings_.IsMariaDb() &&
                    AtAny({"PAGE_CHECKSUM", "TRANSACTIONAL", "IETF_QUOTES", "SEQUENCE"}));
  // MariaDB: engines define options of their own; those need the equals sign.
  const bool engine_option = settings_.IsMariaDb() && AtName() && At("=", 1);
  if (!known && !engine_option) {
    *found = false;
    return true;
  }
  if (directory) Take();
  Take();
  Accept("=");
  AcceptAny({"-", "+"});
  const TokenKind kind = Peek().kind;
  if (kind == TokenKind::kEnd || kind == TokenKind::kBad || kind == TokenKind::kSymbol) {
    return Fail("an option's value");
  }
  Take();
  return true;
}

// ---------------------------------------------------------------- partitions

bool Parser::ParsePartitioning(Partitioning* partitioning) {
  partitioning->present = true;
  if (!Expect("PARTITION") || !Expect("BY")) return false;
  Accept("LINEAR");
  int64_t number = 0;
  if (settings_.IsMariaDb() && Accept("SYSTEM_TIME")) {
    if (Accept("INTERVAL")) {
      if (At("(") ? !SkipParenthesised() : (Take(), false)) return false;
      Take();  // the unit
      if (Accept("STARTS")) {
        if (At("(") ? !SkipParenthesised() : (Take(), false)) return false;
        if (Peek().kind == TokenKind::kString) Take();
      }
      Accept("AUTO");
    }
    if (Accept("LIMIT")) {
      if (!ParseNumber(&number, "a number of rows")) return false;
      Accept("AUTO");
    }
  } else if (Accept("KEY")) {
    if (Accept("ALGORITHM") && (!Expect("=") || !ParseNumber(&number, "1 or 2"))) return false;
    if (At("(") && At(")", 1)) {
      Take();
      Take();
    } else if (!SkipParenthesised()) {
      return false;
    }
  } else if (AcceptAny({"HASH", "RANGE", "LIST"})) {
    Accept("COLUMNS");
    if (!SkipParenthesised()) return false;
  } else {
    return Fail("HASH, KEY, RANGE or LIST");
  }
  if (Accept("PARTITIONS") && !ParseNumber(&number, "a number of partitions")) return false;
  if (AcceptWords({"SUBPARTITION", "BY"})) {
    Accept("LINEAR");
    if (!AcceptAny({"HASH", "KEY"})) return Fail("HASH or KEY");
    if (Accept("ALGORITHM") && (!Expect("=") || !ParseNumber(&number, "1 or 2"))) return false;
    if (!SkipParenthesised()) return false;
    if (Accept("SUBPARTITIONS") && !ParseNumber(&number, "a number of subpartitions")) return false;
  }
  return !At("(") || AtQuery() || ParsePartitionDefinitions(&partitioning->names);
}

// (PARTITION name VALUES ... options [(SUBPARTITION ...)], ...)
bool Parser::ParsePartitionDefinitions(std::vector<std::string>* names) {
  if (!Expect("(")) return false;
  do {
    Name name;
    if (!Expect("PARTITION") || !ParseName(&name, "a partition's name")) return false;
    names->push_back(std::move(name.text));
    if (Accept("VALUES")) {
      if (Accept("LESS")) {
        if (!Expect("THAN")) return false;
        if (!Accept("MAXVALUE") && !SkipParenthesised()) return false;
      } else if (!Accept("IN")) {
        return Fail("LESS THAN or IN");
      } else if (!SkipParenthesised()) {
        return false;
      }
    } else if (settings_.IsMariaDb()) {
      AcceptAny({"HISTORY", "CURRENT", "DEFAULT"});
    }
    // Options and subpartitions, up to the comma or the parenthesis.
    while (!At(",") && !At(")")) {
      if (At("(")) {
        if (!SkipParenthesised()) return false;
      } else if (Peek().kind == TokenKind::kEnd || Peek().kind == TokenKind::kBad || At(";")) {
        return Fail("\")\"");
      } else {
        Take();
      }
    }
  } while (Accept(","));
  return Expect(")");
}

}  // namespace driftless::mysql
