#include "schema/ddl/mysql/parser.h"

#include <algorithm>

#include "schema/base/letter_case.h"
#include "schema/ddl/mysql/keywords.h"
#include "schema/ddl/mysql/parser_core.h"

namespace driftless::mysql {
namespace {

std::string Describe(const Token& token, std::string_view sql) {
  if (token.kind == TokenKind::kEnd) return "the end of the statement";
  if (token.kind == TokenKind::kBad) return token.text;
  std::string_view text = sql.substr(token.begin, token.end - token.begin);
  constexpr size_t kShown = 40;
  if (text.size() <= kShown) return "\"" + std::string(text) + "\"";
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return "\"" + std::string(text.substr(0, end)) + "...\"";
}

}  // namespace

Parser::Parser(std::string_view sql, const ServerSettings& settings, const SqlMode& mode)
    : sql_(sql), settings_(settings), mode_(mode), lexer_(sql, settings, mode) {}

Error Parser::TakeError() {
  const LineColumn at = LocateOffset(sql_, error_at_);
  return MakeError(ErrorKind::kParse, std::move(error_)).At(at.line, at.column);
}

// ---------------------------------------------------------------- tokens

const Token& Parser::Peek(size_t ahead) {
  while (tokens_.size() <= ahead) tokens_.push_back(lexer_.Next());
  return tokens_[ahead];
}

bool Parser::AtAny(std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [this](auto word) { return At(word); });
}

Token Parser::Take() {
  Peek();
  last_ = std::move(tokens_.front());
  tokens_.pop_front();
  return last_;
}

bool Parser::Accept(std::string_view word) {
  if (!At(word)) return false;
  Take();
  return true;
}

bool Parser::AcceptWords(std::initializer_list<std::string_view> words) {
  size_t ahead = 0;
  for (std::string_view word : words) {
    if (!At(word, ahead++)) return false;
  }
  for (size_t i = 0; i < words.size(); ++i) Take();
  return true;
}

bool Parser::AcceptAny(std::initializer_list<std::string_view> words) {
  if (!AtAny(words)) return false;
  Take();
  return true;
}

bool Parser::Expect(std::string_view word) {
  return Accept(word) || Fail("\"" + std::string(word) + "\"");
}

bool Parser::Fail(std::string_view expected) {
  const Token& token = Peek();
  if (token.kind == TokenKind::kBad) return FailAt(token.begin, token.text);
  return FailAt(token.begin,
                "expected " + std::string(expected) + ", found " + Describe(token, sql_));
}

bool Parser::FailAt(size_t offset, std::string message) {
  if (error_.empty()) {
    error_at_ = offset;
    error_ = std::move(message);
  }
  return false;
}

// ---------------------------------------------------------------- shared parts

bool Parser::AtName(size_t ahead) {
  const Token& token = Peek(ahead);
  if (token.kind == TokenKind::kQuoted) return true;
  return token.kind == TokenKind::kWord && (token.after_dot || !IsReserved(token.upper, settings_));
}

bool Parser::ParseName(Name* out, std::string_view what) {
  if (!AtName()) {
    const Token& token = Peek();
    if (token.kind == TokenKind::kWord) {
      return FailAt(token.begin, "expected " + std::string(what) + ", found the reserved word " +
                                     Describe(token, sql_) + "; quote it to use it as a name");
    }
    return Fail(what);
  }
  Token token = Take();
  out->text = std::move(token.text);
  out->at = token.begin;
  return true;
}

// MySQL up to 5.7 and MariaDB accept table.column, database.table.column and .column.
bool Parser::ParseColumnName(Name* out) {
  const bool may_qualify = settings_.IsMariaDb() || settings_.Version() < 80000;
  if (may_qualify) Accept(".");
  if (!ParseName(out, "a column name")) return false;
  for (int dots = 0; may_qualify && dots < 2 && Accept("."); ++dots) {
    if (!ParseName(out, "a column name")) return false;
  }
  return true;
}

bool Parser::ParseTableName(TableName* out) {
  const bool may_begin_with_dot = settings_.IsMariaDb() || settings_.Version() < 80000;
  Name first;
  if (may_begin_with_dot) Accept(".");
  if (!ParseName(&first, "a table name")) return false;
  out->at = first.at;
  out->table = std::move(first.text);
  if (Accept(".")) {
    Name second;
    if (!ParseName(&second, "a table name")) return false;
    out->database = std::move(out->table);
    out->table = std::move(second.text);
  }
  return true;
}

bool Parser::ParseString(std::string* out, std::string_view what) {
  if (Peek().kind != TokenKind::kString && Peek().kind != TokenKind::kNational) return Fail(what);
  *out = Take().text;
  return true;
}

bool Parser::ParseNumber(int64_t* out, std::string_view what) {
  if (Peek().kind == TokenKind::kHex) {
    *out = 0;
    for (char c : Take().text) {
      const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
      *out = (*out > INT64_MAX / 32) ? *out : *out * 16 + digit;
    }
    return true;
  }
  if (Peek().kind != TokenKind::kNumber) return Fail(what);
  *out = 0;
  // A fraction is cut off: "FLOAT(7.4)" is FLOAT(7) to the server.
  for (char c : Take().text) {
    if (c < '0' || c > '9') break;
    *out = (*out > INT64_MAX / 20) ? *out : *out * 10 + (c - '0');
  }
  return true;
}

bool Parser::ParseWordOrString(std::string* out, std::string_view what) {
  const TokenKind kind = Peek().kind;
  if (kind != TokenKind::kWord && kind != TokenKind::kQuoted && kind != TokenKind::kString) {
    return Fail(what);
  }
  *out = Take().text;
  return true;
}

bool Parser::ParseIfExists(bool* out) {
  *out = false;
  if (!At("IF")) return true;
  Take();
  *out = true;
  return Expect("EXISTS");
}

bool Parser::ParseIfNotExists(bool* out) {
  *out = false;
  if (!At("IF")) return true;
  Take();
  *out = true;
  return Expect("NOT") && Expect("EXISTS");
}

bool Parser::ParseCharsetName(Charset* out) {
  const size_t at = Peek().begin;
  std::string name;
  if (!At("BINARY") && !AtName() && Peek().kind != TokenKind::kString) {
    return Fail("a character set");
  }
  if (!ParseWordOrString(&name, "a character set")) return false;
  *out = FindCharset(name, settings_);
  return !out->empty() || FailAt(at, "unknown character set \"" + name + "\"");
}

bool Parser::ParseCollationName(std::string* out) {
  if (!At("BINARY") && !AtName() && Peek().kind != TokenKind::kString) return Fail("a collation");
  return ParseWordOrString(out, "a collation");
}

bool Parser::AcceptCharsetWords() {
  return Accept("CHARSET") || AcceptWords({"CHARACTER", "SET"}) || AcceptWords({"CHAR", "SET"});
}

// From "(" to its ")". Collects, where wanted, the names in between (lower case) and the text.
bool Parser::SkipParenthesised(std::vector<std::string>* names, std::string* text) {
  const size_t begin = Peek().begin;
  if (!Expect("(")) return false;
  int depth = 1;
  while (depth > 0) {
    const Token& token = Peek();
    if (token.kind == TokenKind::kEnd || token.kind == TokenKind::kBad || token.Is(";")) {
      return Fail("\")\"");
    }
    if (token.Is("(")) ++depth;
    if (token.Is(")")) --depth;
    const bool is_name = token.kind == TokenKind::kQuoted || token.kind == TokenKind::kWord;
    if (names != nullptr && is_name) names->push_back(LowerCase(token.text));
    Take();
  }
  if (last_.begin == begin + 1 ||
      sql_.substr(begin + 1, last_.begin - begin - 1).find_first_not_of(" \t\r\n") ==
          std::string_view::npos) {
    return FailAt(last_.begin, "expected an expression, found \")\"");
  }
  if (text != nullptr) *text = std::string(sql_.substr(begin, last_.end - begin));
  return true;
}

bool Parser::SkipWait() {
  if (!settings_.IsMariaDb()) return true;
  if (Accept("NOWAIT")) return true;
  if (At("WAIT") && Peek(1).kind == TokenKind::kNumber) {
    Take();
    Take();
  }
  return true;
}

bool Parser::SkipToEnd() {
  tokens_.clear();
  tokens_.emplace_back();
  tokens_.back().begin = tokens_.back().end = sql_.size();
  return true;
}

bool Parser::ExpectEnd() {
  bool separated = false;
  while (Accept(";")) separated = true;
  if (Peek().kind == TokenKind::kEnd) return true;
  if (separated) return Fail("nothing behind the statement");
  return Fail("the end of the statement");
}

// ---------------------------------------------------------------- statements

bool Parser::Ignore(IgnoredStatement::Kind kind, Statement* out) {
  *out = IgnoredStatement{kind};
  return SkipToEnd();
}

bool Parser::ParseOne(Statement* out) {
  while (Accept(";")) {
  }
  if (Peek().kind == TokenKind::kEnd) return FailAt(Peek().begin, "there is no statement");
  bool parsed = false;
  if (Accept("CREATE")) {
    parsed = ParseCreate(out);
  } else if (Accept("ALTER")) {
    parsed = ParseAlter(out);
  } else if (Accept("DROP")) {
    parsed = ParseDrop(out);
  } else if (Accept("RENAME")) {
    parsed = ParseRename(out);
  } else if (Accept("TRUNCATE")) {
    parsed = ParseTruncate(out);
  } else if (Accept("USE")) {
    Name name;
    parsed = ParseName(&name, "a database name");
    *out = UseStatement{name.text};
  } else if (AtAny({"BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "XA"})) {
    return Ignore(IgnoredStatement::Kind::kTransaction, out);
  } else if (At("(") || AtAny({"INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL", "DO",
                               "SELECT", "WITH", "TABLE", "VALUES", "HANDLER"})) {
    return Ignore(IgnoredStatement::Kind::kRows, out);
  } else if (settings_.IsMariaDb() && At("SET") && At("STATEMENT", 1)) {
    return ParseSetStatement(out);
  } else if (AtAny({"SET",     "GRANT",      "REVOKE",   "FLUSH",    "ANALYZE", "OPTIMIZE",
                    "REPAIR",  "CHECK",      "CHECKSUM", "LOCK",     "UNLOCK",  "SHOW",
                    "DESC",    "DESCRIBE",   "EXPLAIN",  "HELP",     "INSTALL", "UNINSTALL",
                    "KILL",    "PURGE",      "RESET",    "CHANGE",   "CACHE",   "PREPARE",
                    "EXECUTE", "DEALLOCATE", "SIGNAL",   "RESIGNAL", "GET",     "SHUTDOWN",
                    "RESTART", "CLONE",      "BINLOG",   "STOP",     "IMPORT",  "BACKUP"})) {
    return Ignore(IgnoredStatement::Kind::kOther, out);
  } else {
    return Fail("a statement");
  }
  return parsed && ExpectEnd();
}

// MariaDB: SET STATEMENT variable = value, ... FOR statement.
bool Parser::ParseSetStatement(Statement* out) {
  Take();
  Take();
  while (true) {
    Name variable;
    if (!ParseName(&variable, "a variable")) return false;
    if (Accept(".") && !ParseName(&variable, "a variable")) return false;
    if (!Accept(":=") && !Expect("=")) return false;
    if (At("(")) {
      if (!SkipParenthesised()) return false;
    } else {
      AcceptAny({"-", "+"});
      const TokenKind kind = Peek().kind;
      if (kind == TokenKind::kEnd || kind == TokenKind::kBad || kind == TokenKind::kSymbol) {
        return Fail("a value");
      }
      Take();
      if (At("(") && !SkipParenthesised()) return false;
    }
    if (Accept(",")) continue;
    if (!Expect("FOR")) return false;
    return ParseOne(out);
  }
}

bool Parser::ParseCreate(Statement* out) {
  const bool or_replace = AcceptWords({"OR", "REPLACE"});
  const bool replace_tables = settings_.IsMariaDb();
  if (At("TABLE") || AtAny({"TEMPORARY", "UNIQUE", "FULLTEXT", "SPATIAL", "INDEX"}) ||
      (At("VECTOR") && At("INDEX", 1))) {
    if (or_replace && !replace_tables) return Fail("VIEW");
    if (At("TEMPORARY") && At("SEQUENCE", 1)) return Ignore(IgnoredStatement::Kind::kOther, out);
    if (Accept("TEMPORARY")) {
      return Expect("TABLE") && ParseCreateTable(or_replace, /*temporary=*/true, out);
    }
    if (Accept("TABLE")) return ParseCreateTable(or_replace, /*temporary=*/false, out);
    return ParseCreateIndex(or_replace, out);
  }
  if (AcceptAny({"DATABASE", "SCHEMA"})) {
    return ParseDatabase(DatabaseStatement::Kind::kCreate, or_replace, out);
  }
  if (settings_.IsMariaDb() && Accept("SEQUENCE")) {
    return ParseCreateRelation(/*is_view=*/false, out);
  }
  if (Accept("VIEW")) return ParseCreateRelation(/*is_view=*/true, out);
  if (AtAny({"DEFINER", "ALGORITHM", "SQL"})) {
    // What comes behind these clauses is a view or a routine; only a view's name matters.
    while (Peek().kind != TokenKind::kEnd && Peek().kind != TokenKind::kBad &&
           !AtAny({"TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE", "AGGREGATE"})) {
      if (Accept("VIEW")) return ParseCreateRelation(/*is_view=*/true, out);
      Take();
    }
    if (Peek().kind == TokenKind::kEnd || Peek().kind == TokenKind::kBad) {
      return Fail("VIEW, TRIGGER, PROCEDURE, FUNCTION or EVENT");
    }
    return Ignore(IgnoredStatement::Kind::kOther, out);
  }
  if (AtAny({"TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "AGGREGATE", "USER", "ROLE", "SERVER",
             "TABLESPACE", "UNDO", "LOGFILE", "RESOURCE", "PACKAGE", "LIBRARY", "JSON",
             "MATERIALIZED"}) ||
      (At("SPATIAL") && At("REFERENCE", 1))) {
    return Ignore(IgnoredStatement::Kind::kOther, out);
  }
  return Fail("TABLE, INDEX, DATABASE or another kind of object");
}

bool Parser::ParseCreateRelation(bool is_view, Statement* out) {
  RelationStatement relation;
  relation.is_view = is_view;
  bool if_not_exists = false;
  TableName name;
  if (!ParseIfNotExists(&if_not_exists) || !ParseTableName(&name)) return false;
  relation.names.push_back(std::move(name));
  *out = std::move(relation);
  return SkipToEnd();
}

bool Parser::ParseAlter(Statement* out) {
  if (AtAny({"TABLE", "ONLINE", "IGNORE"})) return ParseAlterTable(out);
  if (AcceptAny({"DATABASE", "SCHEMA"})) {
    return ParseDatabase(DatabaseStatement::Kind::kAlter, /*or_replace=*/false, out);
  }
  if (AtAny({"VIEW", "ALGORITHM", "DEFINER", "SQL", "USER", "EVENT", "FUNCTION", "PROCEDURE",
             "SERVER", "TABLESPACE", "UNDO", "LOGFILE", "INSTANCE", "RESOURCE", "LIBRARY", "JSON",
             "ROLE", "MATERIALIZED"}) ||
      (settings_.IsMariaDb() && AtAny({"SEQUENCE", "PACKAGE"}))) {
    return Ignore(IgnoredStatement::Kind::kOther, out);
  }
  return Fail("TABLE, DATABASE or another kind of object");
}

bool Parser::ParseDrop(Statement* out) {
  if (Accept("TEMPORARY")) {
    if (At("SEQUENCE")) return Ignore(IgnoredStatement::Kind::kOther, out);
    if (!AcceptAny({"TABLE", "TABLES"})) return Fail("TABLE");
    return ParseDropTables(/*temporary=*/true, out);
  }
  if (AcceptAny({"TABLE", "TABLES"})) return ParseDropTables(/*temporary=*/false, out);
  if (Accept("INDEX")) return ParseDropIndex(out);
  if (AcceptAny({"DATABASE", "SCHEMA"})) {
    return ParseDatabase(DatabaseStatement::Kind::kDrop, /*or_replace=*/false, out);
  }
  if (At("VIEW") || (settings_.IsMariaDb() && At("SEQUENCE"))) {
    RelationStatement relation;
    relation.kind = RelationStatement::Kind::kDrop;
    relation.is_view = Take().Is("VIEW");
    bool if_exists = false;
    if (!ParseIfExists(&if_exists)) return false;
    do {
      TableName name;
      if (!ParseTableName(&name)) return false;
      relation.names.push_back(std::move(name));
    } while (Accept(","));
    AcceptAny({"RESTRICT", "CASCADE"});
    *out = std::move(relation);
    return true;
  }
  if (AtAny({"TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "USER", "ROLE", "SERVER", "TABLESPACE",
             "UNDO", "LOGFILE", "RESOURCE", "SPATIAL", "PREPARE", "PACKAGE", "LIBRARY", "JSON",
             "MATERIALIZED"})) {
    return Ignore(IgnoredStatement::Kind::kOther, out);
  }
  return Fail("TABLE, INDEX, DATABASE or another kind of object");
}

bool Parser::ParseDropTables(bool temporary, Statement* out) {
  DropTablesStatement drop;
  drop.temporary = temporary;
  if (!ParseIfExists(&drop.if_exists)) return false;
  do {
    TableName name;
    if (!ParseTableName(&name)) return false;
    drop.names.push_back(std::move(name));
  } while (Accept(","));
  if (!SkipWait()) return false;
  AcceptAny({"RESTRICT", "CASCADE"});
  *out = std::move(drop);
  return true;
}

bool Parser::ParseDropIndex(Statement* out) {
  DropIndexStatement drop;
  if (settings_.IsMariaDb() && !ParseIfExists(&drop.if_exists)) return false;
  if (At("PRIMARY")) {
    drop.name = {"PRIMARY", Take().begin};
  } else if (!ParseName(&drop.name, "an index name")) {
    return false;
  }
  if (!Expect("ON") || !ParseTableName(&drop.table) || !SkipWait()) return false;
  while (!settings_.IsMariaDb() && AcceptAny({"ALGORITHM", "LOCK"})) {
    Accept("=");
    std::string value;
    if (!ParseWordOrString(&value, "a value")) return false;
  }
  *out = std::move(drop);
  return true;
}

bool Parser::ParseRename(Statement* out) {
  if (At("USER")) return Ignore(IgnoredStatement::Kind::kOther, out);
  if (!AcceptAny({"TABLE", "TABLES"})) return Fail("TABLE");
  RenameTablesStatement rename;
  if (settings_.IsMariaDb() && !ParseIfExists(&rename.if_exists)) return false;
  do {
    RenameTablesStatement::Pair pair;
    if (!ParseTableName(&pair.from) || !SkipWait() || !Expect("TO") || !ParseTableName(&pair.to)) {
      return false;
    }
    rename.pairs.push_back(std::move(pair));
  } while (Accept(","));
  *out = std::move(rename);
  return true;
}

bool Parser::ParseTruncate(Statement* out) {
  TruncateTableStatement truncate;
  Accept("TABLE");
  if (!ParseTableName(&truncate.name) || !SkipWait()) return false;
  *out = std::move(truncate);
  return true;
}

bool Parser::ParseDatabase(DatabaseStatement::Kind kind, bool or_replace, Statement* out) {
  DatabaseStatement database;
  database.kind = kind;
  database.or_replace = or_replace;
  if (or_replace && !settings_.IsMariaDb()) return Fail("VIEW");
  const bool create = kind == DatabaseStatement::Kind::kCreate;
  if (create ? !ParseIfNotExists(&database.if_exists) : !ParseIfExists(&database.if_exists)) {
    return false;
  }
  const bool option_follows = AtAny({"DEFAULT", "CHARACTER", "COLLATE", "CHAR"}) ||
                              (AtAny({"CHARSET", "COMMENT", "ENCRYPTION", "READ"}) && !AtName(1));
  if (kind != DatabaseStatement::Kind::kAlter || !option_follows) {
    Name name;
    if (!ParseName(&name, "a database name")) return false;
    database.name = name.text;
    database.at = name.at;
  }
  size_t options = 0;
  while (kind != DatabaseStatement::Kind::kDrop && Peek().kind != TokenKind::kEnd && !At(";")) {
    ++options;
    if (AcceptWords({"UPGRADE", "DATA", "DIRECTORY", "NAME"})) continue;
    Accept("DEFAULT");
    if (AcceptCharsetWords()) {
      Accept("=");
      Charset charset;
      if (Accept("DEFAULT")) continue;
      if (!ParseCharsetName(&charset)) return false;
      database.charset = charset;
    } else if (Accept("COLLATE")) {
      Accept("=");
      std::string collation;
      if (Accept("DEFAULT")) continue;
      if (!ParseCollationName(&collation)) return false;
      database.collation = collation;
    } else if (AcceptAny({"ENCRYPTION", "COMMENT"})) {
      Accept("=");
      std::string value;
      if (!ParseString(&value, "a string")) return false;
    } else if (AcceptWords({"READ", "ONLY"})) {
      Accept("=");
      if (!Accept("DEFAULT")) Take();
    } else {
      return Fail("CHARACTER SET or COLLATE");
    }
  }
  if (kind == DatabaseStatement::Kind::kAlter && options == 0)
    return Fail("CHARACTER SET or COLLATE");
  *out = std::move(database);
  return true;
}

Result<Statement> ParseStatement(std::string_view sql, const ServerSettings& settings,
                                 const SqlMode& mode) {
  Parser parser(sql, settings, mode);
  Statement statement;
  if (!parser.ParseOne(&statement)) return parser.TakeError();
  return statement;
}

}  // namespace driftless::mysql
