#include "config/sql/model_parser.h"

#include "config/expr/lexer.h"
#include "config/sql/schema_parser.h"

namespace driftless::flink {
namespace {

constexpr std::string_view kSqlValidateException =
    "org.apache.flink.sql.parser.error.SqlValidateException";

Result<void> IfExists(TokenCursor* c, bool negated, Statement* s) {
  if (!c->Accept("IF")) return {};
  if (negated) DRIFTLESS_TRY(c->Expect("NOT"));
  DRIFTLESS_TRY(c->Expect("EXISTS"));
  s->if_exists = true;
  return {};
}

Error Invalid(std::string text) { return SqlError(kSqlValidateException, std::move(text)); }

// What Flink checks when it has read the statement (SqlCreateModel.validate).
Result<void> Check(const Statement& s) {
  if (s.schema.columns.empty() && !s.output.columns.empty()) {
    return Invalid("Input column list can not be empty with non-empty output column list.");
  }
  if (!s.schema.columns.empty() && s.output.columns.empty()) {
    return Invalid("Output column list can not be empty with non-empty input column list.");
  }
  if (s.options.empty()) return Invalid("Model property list can not be empty.");
  return {};
}

}  // namespace

Result<void> ParseCreateModel(TokenCursor* c, std::string_view sql, Statement* s) {
  s->verb = Verb::kCreateModel;
  DRIFTLESS_TRY(IfExists(c, true, s));
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  if (c->Accept("INPUT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->schema, ParseSchema(c, false));
  }
  if (c->Accept("OUTPUT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->output, ParseSchema(c, false));
  }
  if (c->Accept("COMMENT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->comment, c->ExpectString());
  }
  if (c->Accept("WITH")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->options, ParseOptions(c));
  }
  if (c->Accept("AS")) {
    s->query_at = c->Peek().begin;
    size_t end = s->query_at;
    while (c->Peek().kind != TokenKind::kEnd && !c->Is(";")) end = c->Next().end;
    s->query = std::string(sql.substr(s->query_at, end - s->query_at));
  }
  return Check(*s);
}

Result<void> ParseAlterModel(TokenCursor* c, Statement* s) {
  DRIFTLESS_TRY(IfExists(c, false, s));
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  if (c->Accept("SET")) {
    s->verb = Verb::kAlterModelSet;
    DRIFTLESS_ASSIGN_OR_RETURN(s->options, ParseOptions(c));
    return {};
  }
  if (c->Accept("RESET")) {
    s->verb = Verb::kAlterModelReset;
    DRIFTLESS_ASSIGN_OR_RETURN(s->keys, ParseKeys(c));
    return {};
  }
  if (c->Accept("RENAME")) {
    s->verb = Verb::kAlterModelRename;
    DRIFTLESS_TRY(c->Expect("TO"));
    DRIFTLESS_ASSIGN_OR_RETURN(s->new_name, c->ExpectPath());
    return {};
  }
  return c->Unexpected();
}

Result<void> ParseDropModel(TokenCursor* c, Statement* s) {
  s->verb = Verb::kDropModel;
  DRIFTLESS_TRY(IfExists(c, false, s));
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  return {};
}

}  // namespace driftless::flink
