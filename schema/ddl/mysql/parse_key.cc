#include "schema/ddl/mysql/parser_core.h"

// Keys, constraints and references, and CREATE INDEX.
namespace driftless::mysql {

// Whether a key or constraint begins here, and not a column of that name.
bool Parser::AtKeySpec() {
  if (Peek().kind != TokenKind::kWord) return false;
  if (AtAny({"CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "INDEX", "FULLTEXT", "SPATIAL", "FOREIGN",
             "CHECK"})) {
    return true;
  }
  return At("VECTOR") && (At("INDEX", 1) || At("KEY", 1));
}

bool Parser::SkipKeyType() {
  while (AcceptAny({"USING", "TYPE"})) {
    if (!AcceptAny({"BTREE", "HASH", "RTREE"})) return Fail("BTREE or HASH");
  }
  return true;
}

bool Parser::ParseKeyOptions() {
  while (true) {
    if (AtAny({"USING", "TYPE"})) {
      if (!SkipKeyType()) return false;
    } else if (Accept("KEY_BLOCK_SIZE")) {
      int64_t size = 0;
      Accept("=");
      if (!ParseNumber(&size, "a number")) return false;
    } else if (AcceptWords({"WITH", "PARSER"})) {
      Name parser;
      if (!ParseName(&parser, "a parser's name")) return false;
    } else if (Accept("COMMENT")) {
      std::string comment;
      if (!ParseString(&comment, "a string")) return false;
    } else if (!settings_.IsMariaDb() && AcceptAny({"VISIBLE", "INVISIBLE"})) {
      continue;
    } else if (AcceptAny({"ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"})) {
      std::string value;
      Accept("=");
      if (!ParseString(&value, "a string")) return false;
    } else if (settings_.IsMariaDb() && (Accept("IGNORED") || AcceptWords({"NOT", "IGNORED"}))) {
      continue;
    } else if (settings_.IsMariaDb() && AtName() && At("=", 1)) {
      Take();
      Take();
      const TokenKind kind = Peek().kind;
      if (kind == TokenKind::kEnd || kind == TokenKind::kBad || kind == TokenKind::kSymbol) {
        return Fail("a value");
      }
      Take();
    } else {
      return true;
    }
  }
}

bool Parser::ParseKeyParts(KeySpec* key) {
  if (!Expect("(")) return false;
  do {
    KeySpec::Part part;
    if (At("(")) {
      if (settings_.IsMariaDb()) return Fail("a column name");
      if (!SkipParenthesised()) return false;
    } else {
      if (!ParseName(&part.column, "a column name")) return false;
      if (At("(") && !ParseLength(&part.prefix, /*required=*/true)) return false;
    }
    AcceptAny({"ASC", "DESC"});
    if (settings_.IsMariaDb() && AcceptWords({"WITHOUT", "OVERLAPS"})) continue;
    key->parts.push_back(std::move(part));
  } while (Accept(","));
  return Expect(")");
}

bool Parser::ParseReferences(ForeignReference* reference) {
  if (!Expect("REFERENCES") || !ParseTableName(&reference->table)) return false;
  if (Accept("(")) {
    do {
      Name column;
      if (!ParseName(&column, "a column name")) return false;
      reference->columns.push_back(std::move(column));
    } while (Accept(","));
    if (!Expect(")")) return false;
  }
  if (Accept("MATCH") && !AcceptAny({"FULL", "PARTIAL", "SIMPLE"})) {
    return Fail("FULL, PARTIAL or SIMPLE");
  }
  while (At("ON") && (At("DELETE", 1) || At("UPDATE", 1))) {
    Take();
    Take();
    if (!AcceptAny({"RESTRICT", "CASCADE"}) && !AcceptWords({"SET", "NULL"}) &&
        !AcceptWords({"NO", "ACTION"}) && !AcceptWords({"SET", "DEFAULT"})) {
      return Fail("RESTRICT, CASCADE, SET NULL or NO ACTION");
    }
  }
  return true;
}

bool Parser::ParseCheckTail() {
  if (settings_.IsMariaDb()) return true;
  if (Accept("ENFORCED") || AcceptWords({"NOT", "ENFORCED"})) return true;
  return true;
}

// [CONSTRAINT [name]] PRIMARY KEY | UNIQUE | KEY | FULLTEXT | SPATIAL | FOREIGN KEY | CHECK ...
bool Parser::ParseKeySpec(KeySpec* key) {
  key->at = Peek().begin;
  const bool constraint = Accept("CONSTRAINT");
  if (constraint && settings_.IsMariaDb() && !ParseIfNotExists(&key->if_not_exists)) return false;
  if (constraint && !AtAny({"PRIMARY", "UNIQUE", "FOREIGN", "CHECK"}) &&
      !ParseName(&key->name, "a constraint's name")) {
    return false;
  }
  const Token word = Peek();
  if (Accept("CHECK")) {
    key->kind = KeySpec::Kind::kCheck;
    return SkipParenthesised(&key->check_columns) && ParseCheckTail();
  }
  if (Accept("PRIMARY")) {
    key->kind = KeySpec::Kind::kPrimary;
    if (!Expect("KEY")) return false;
  } else if (Accept("UNIQUE")) {
    key->kind = KeySpec::Kind::kUnique;
    AcceptAny({"KEY", "INDEX"});
  } else if (Accept("FOREIGN")) {
    key->kind = KeySpec::Kind::kForeign;
    if (!Expect("KEY")) return false;
  } else if (constraint) {
    return Fail("PRIMARY KEY, UNIQUE, FOREIGN KEY or CHECK");
  } else if (AcceptAny({"FULLTEXT", "SPATIAL", "VECTOR"})) {
    key->kind = word.Is("FULLTEXT")  ? KeySpec::Kind::kFulltext
                : word.Is("SPATIAL") ? KeySpec::Kind::kSpatial
                                     : KeySpec::Kind::kVector;
    AcceptAny({"KEY", "INDEX"});
  } else if (!AcceptAny({"KEY", "INDEX"})) {
    return Fail("a key");
  }
  if (settings_.IsMariaDb() && !key->if_not_exists && !ParseIfNotExists(&key->if_not_exists)) {
    return false;
  }
  if (!At("(") && !AtAny({"USING"}) && !(At("TYPE") && !At("(", 1))) {
    // The name behind the key word wins over the constraint's, except for a foreign key.
    Name name;
    if (!ParseName(&name, "\"(\"")) return false;
    if (key->kind != KeySpec::Kind::kForeign || key->name.empty()) {
      if (key->kind != KeySpec::Kind::kPrimary) key->name = std::move(name);
    }
  }
  if (key->kind == KeySpec::Kind::kForeign) {
    return ParseKeyParts(key) && ParseReferences(&key->references);
  }
  return SkipKeyType() && ParseKeyParts(key) && ParseKeyOptions();
}

// Behind CREATE [OR REPLACE].
bool Parser::ParseCreateIndex(bool or_replace, Statement* out) {
  CreateIndexStatement create;
  create.or_replace = or_replace;
  KeySpec& key = create.key;
  if (At("SPATIAL") && At("REFERENCE", 1)) return Ignore(IgnoredStatement::Kind::kOther, out);
  key.at = Peek().begin;
  if (Accept("UNIQUE"))
    key.kind = KeySpec::Kind::kUnique;
  else if (Accept("FULLTEXT"))
    key.kind = KeySpec::Kind::kFulltext;
  else if (Accept("SPATIAL"))
    key.kind = KeySpec::Kind::kSpatial;
  else if (Accept("VECTOR"))
    key.kind = KeySpec::Kind::kVector;
  if (!Expect("INDEX")) return false;
  if (settings_.IsMariaDb() && !ParseIfNotExists(&key.if_not_exists)) return false;
  if (!ParseName(&key.name, "an index name") || !SkipKeyType() || !Expect("ON") ||
      !ParseTableName(&create.table) || !ParseKeyParts(&key)) {
    return false;
  }
  // Options, ALGORITHM and LOCK may be mixed.
  while (true) {
    if (!ParseKeyOptions() || !SkipWait()) return false;
    if (!AcceptAny({"ALGORITHM", "LOCK"})) break;
    Accept("=");
    std::string value;
    if (!ParseWordOrString(&value, "a value")) return false;
  }
  *out = std::move(create);
  return true;
}

}  // namespace driftless::mysql
