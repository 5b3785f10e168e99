#include "config/sql/show_parser.h"

#include <utility>

#include "config/sql/schema_parser.h"

namespace driftless::flink {
namespace {

enum class Like : uint8_t { kNone, kLike, kBoth };

Result<void> From(TokenCursor* c, Statement* s) {
  if (!c->Accept("FROM") && !c->Accept("IN")) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  return {};
}

Result<void> ParseLike(TokenCursor* c, Like allowed, Statement* s) {
  if (allowed == Like::kNone) return {};
  s->not_like = c->Accept("NOT");
  s->ignore_case = allowed == Like::kBoth && c->Accept("ILIKE");
  if (s->ignore_case || c->Accept("LIKE")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->like, c->ExpectString());
  } else if (s->not_like) {
    return c->Unexpected();
  }
  return {};
}

Result<void> ShowCreate(TokenCursor* c, Statement* s) {
  s->verb = Verb::kShowCreate;
  for (const std::string_view word : {"TABLE", "VIEW", "CATALOG", "MODEL"}) {
    if (!c->Accept(word)) continue;
    s->word = word;
    DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
    return {};
  }
  if (c->Accept("OR", "ALTER") || c->Is("MATERIALIZED")) {
    DRIFTLESS_TRY(c->Expect("MATERIALIZED"));
    DRIFTLESS_TRY(c->Expect("TABLE"));
    s->word = "MATERIALIZED TABLE";
    DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
    return {};
  }
  return c->Unexpected();
}

}  // namespace

Result<void> ParseShow(TokenCursor* c, Statement* s) {
  static constexpr struct {
    std::string_view word;
    bool from;
    Like like;
  } kLists[] = {
      {"CATALOGS", false, Like::kBoth},   {"DATABASES", true, Like::kBoth},
      {"TABLES", true, Like::kLike},      {"VIEWS", true, Like::kLike},
      {"FUNCTIONS", true, Like::kBoth},   {"PROCEDURES", true, Like::kBoth},
      {"MODELS", true, Like::kLike},      {"MODULES", false, Like::kNone},
      {"JARS", false, Like::kNone},       {"JOBS", false, Like::kNone},
      {"CONNECTIONS", true, Like::kLike},
  };
  s->verb = Verb::kShow;
  for (const auto& list : kLists) {
    if (!c->Is(list.word, 1)) continue;
    c->Rewind(c->position() + 2);
    s->word = list.word;
    if (list.from) DRIFTLESS_TRY(From(c, s));
    return ParseLike(c, list.like, s);
  }
  const Token& next = c->Peek(1);
  const std::string word = next.upper;
  const size_t show = c->position();
  c->Rewind(show + 2);
  if (word == "CREATE") return ShowCreate(c, s);
  if (word == "CURRENT") {
    s->word = c->Is("CATALOG") ? "CURRENT CATALOG" : "CURRENT DATABASE";
    if (c->Accept("CATALOG")) return {};
    return c->Expect("DATABASE");
  }
  if (word == "USER") {
    DRIFTLESS_TRY(c->Expect("FUNCTIONS"));
    s->word = "USER FUNCTIONS";
    DRIFTLESS_TRY(From(c, s));
    return ParseLike(c, Like::kBoth, s);
  }
  if (word == "FULL") {
    s->word = "FULL MODULES";
    return c->Expect("MODULES");
  }
  if (word == "MATERIALIZED") {
    DRIFTLESS_TRY(c->Expect("TABLES"));
    s->word = "MATERIALIZED TABLES";
    DRIFTLESS_TRY(From(c, s));
    return ParseLike(c, Like::kLike, s);
  }
  if (word == "COLUMNS") {
    s->word = "COLUMNS";
    if (!c->Is("FROM") && !c->Is("IN")) return c->Unexpected();
    DRIFTLESS_TRY(From(c, s));
    return ParseLike(c, Like::kLike, s);
  }
  if (word == "PARTITIONS") {
    s->word = "PARTITIONS";
    DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
    if (c->Is("PARTITION")) {
      DRIFTLESS_ASSIGN_OR_RETURN(PartitionSpec spec, ParsePartition(c));
      s->partitions.push_back(std::move(spec));
    }
    return {};
  }
  c->Rewind(show);
  return c->Unexpected(true);
}

Result<void> ParseDescribe(TokenCursor* c, Statement* s) {
  s->verb = Verb::kDescribeTable;
  const bool named = c->IsName(1) || c->Is("EXTENDED", 1);
  if (c->Is("CATALOG")) {
    // CATALOG is no reserved word, yet behind DESCRIBE it is one.
    c->Next();
    s->verb = Verb::kDescribeCatalog;
  } else if (c->Is("FUNCTION")) {
    c->Next();
    s->verb = Verb::kDescribeFunction;
  } else if (c->Is("MODEL") && named) {
    c->Next();
    s->verb = Verb::kDescribeModel;
  } else if ((c->Is("DATABASE") || c->Is("JOB") || c->Is("CONNECTION")) &&
             (named || c->Peek(1).kind == TokenKind::kString)) {
    s->word = "DESCRIBE " + c->Peek().upper;
    s->verb = Verb::kOther;
    while (c->Peek().kind != TokenKind::kEnd && !c->Is(";")) c->Next();
    return {};
  } else if (c->Is("TABLE")) {
    c->Next();
  }
  if (c->Peek().kind == TokenKind::kString && s->verb == Verb::kDescribeTable) {
    return SqlError("org.apache.calcite.runtime.CalciteException",
                    "Non-query expression encountered in illegal context");
  }
  s->extended = c->Accept("EXTENDED");
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  return {};
}

}  // namespace driftless::flink
