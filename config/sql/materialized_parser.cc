#include "config/sql/materialized_parser.h"

#include "config/expr/expr_parser.h"
#include "config/expr/lexer.h"
#include "config/sql/alter_parser.h"
#include "config/sql/schema_parser.h"

namespace driftless::flink {
namespace {

void TakeQuery(TokenCursor* c, std::string_view sql, Statement* s) {
  s->query_at = c->Peek().begin;
  size_t end = s->query_at;
  while (c->Peek().kind != TokenKind::kEnd && !c->Is(";")) end = c->Next().end;
  s->query = std::string(sql.substr(s->query_at, end - s->query_at));
}

Result<void> RefreshMode(TokenCursor* c, Statement* s) {
  DRIFTLESS_TRY(c->Expect("="));
  s->refreshes_fully = c->Accept("FULL");
  if (*s->refreshes_fully || c->Accept("CONTINUOUS")) return {};
  return c->Unexpected();
}

// What stands between the name and AS.
Result<void> Clauses(TokenCursor* c, Statement* s) {
  if (c->Is("(")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->schema, ParseSchema(c, false));
  }
  if (c->Accept("COMMENT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->comment, c->ExpectString());
  }
  if (c->Accept("DISTRIBUTED")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->distribution, ParseDistribution(c));
  }
  if (c->Accept("PARTITIONED")) {
    DRIFTLESS_TRY(c->Expect("BY"));
    DRIFTLESS_ASSIGN_OR_RETURN(s->partition_keys, ParseNames(c));
  }
  if (c->Accept("WITH")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->options, ParseOptions(c));
  }
  if (c->Accept("FRESHNESS")) {
    DRIFTLESS_TRY(c->Expect("="));
    DRIFTLESS_ASSIGN_OR_RETURN(s->freshness, ParseExpr(c));
  }
  if (c->Accept("REFRESH_MODE")) DRIFTLESS_TRY(RefreshMode(c, s));
  return {};
}

}  // namespace

Result<void> ParseCreateMaterialized(TokenCursor* c, std::string_view sql, Statement* s) {
  if (s->temporary) {
    return SqlError(kParseException, "CREATE TEMPORARY MATERIALIZED TABLE is not supported.");
  }
  s->verb = Verb::kCreateMaterialized;
  if (c->Accept("IF")) {
    DRIFTLESS_TRY(c->Expect("NOT"));
    DRIFTLESS_TRY(c->Expect("EXISTS"));
    s->if_exists = true;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  DRIFTLESS_TRY(Clauses(c, s));
  if (!c->Accept("AS")) return c->Unexpected();
  TakeQuery(c, sql, s);
  return {};
}

Result<void> ParseAlterMaterialized(TokenCursor* c, std::string_view sql, Statement* s) {
  s->verb = Verb::kAlterMaterialized;
  if (c->Is("IF") && c->Is("EXISTS", 1)) {
    c->Next();
    return c->Unexpected();  // there is no IF EXISTS
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  for (const std::string_view word : {"ADD", "MODIFY", "DROP"}) {
    if (!c->Accept(word)) continue;
    s->word = word;
    s->materialized = true;
    if (c->Is("PARTITION") || c->Is("IF")) return c->Unexpected();
    return word == "DROP" ? ParseDropPart(c, s) : ParseAddOrModify(c, word == "ADD", s);
  }
  for (const std::string_view word : {"SUSPEND", "RESUME", "REFRESH", "SET", "RESET", "AS"}) {
    if (!c->Accept(word)) continue;
    s->word = word;
    TakeQuery(c, sql, s);
    return {};
  }
  return c->Unexpected();
}

Result<void> ParseDropMaterialized(TokenCursor* c, Statement* s) {
  if (s->temporary) {
    return SqlError(kParseException, "DROP TEMPORARY MATERIALIZED TABLE is not supported.");
  }
  s->verb = Verb::kDropMaterialized;
  if (c->Accept("IF")) {
    DRIFTLESS_TRY(c->Expect("EXISTS"));
    s->if_exists = true;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  return {};
}

}  // namespace driftless::flink
