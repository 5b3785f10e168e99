#include "config/sql/alter_parser.h"

#include <utility>

#include "config/sql/materialized_parser.h"
#include "config/sql/model_parser.h"
#include "config/sql/schema_parser.h"

namespace driftless::flink {
namespace {

Result<void> SetOptions(TokenCursor* c, Verb verb, Statement* s) {
  s->verb = verb;
  DRIFTLESS_ASSIGN_OR_RETURN(s->options, ParseOptions(c));
  return {};
}

Result<void> ResetKeys(TokenCursor* c, Verb verb, Statement* s) {
  s->verb = verb;
  DRIFTLESS_ASSIGN_OR_RETURN(s->keys, ParseKeys(c));
  return {};
}

Result<void> AlterTable(TokenCursor* c, Statement* s) {
  if (c->Accept("IF")) {
    DRIFTLESS_TRY(c->Expect("EXISTS"));
    s->if_exists = true;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  if (c->Accept("RENAME")) {
    if (c->Accept("TO")) {
      s->verb = Verb::kAlterTableRename;
    } else {
      s->verb = Verb::kAlterTableRenameColumn;
      DRIFTLESS_ASSIGN_OR_RETURN(Path column, c->ExpectPath());
      s->columns.push_back(std::move(column));
      DRIFTLESS_TRY(c->Expect("TO"));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(s->new_name, c->ExpectPath());
    return {};
  }
  if (c->Accept("SET")) return SetOptions(c, Verb::kAlterTableSet, s);
  if (c->Accept("RESET")) return ResetKeys(c, Verb::kAlterTableReset, s);
  if (c->Accept("ADD")) return ParseAddOrModify(c, true, s);
  if (c->Accept("MODIFY")) return ParseAddOrModify(c, false, s);
  if (c->Accept("DROP")) return ParseDropPart(c, s);
  return c->Unexpected();
}

Result<void> AlterView(TokenCursor* c, std::string_view sql, Statement* s) {
  if (c->Is("IF") && c->Is("EXISTS", 1)) {
    c->Next();
    return c->Unexpected();  // views have no IF EXISTS
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  if (c->Accept("RENAME")) {
    DRIFTLESS_TRY(c->Expect("TO"));
    s->verb = Verb::kAlterViewRename;
    DRIFTLESS_ASSIGN_OR_RETURN(s->new_name, c->ExpectPath());
    return {};
  }
  DRIFTLESS_TRY(c->Expect("AS"));
  s->verb = Verb::kAlterViewAs;
  s->query_at = c->Peek().begin;
  size_t end = s->query_at;
  while (c->Peek().kind != TokenKind::kEnd && !c->Is(";")) end = c->Next().end;
  s->query = std::string(sql.substr(s->query_at, end - s->query_at));
  return {};
}

Result<void> AlterCatalog(TokenCursor* c, Statement* s) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c->ExpectName());
  s->name = {std::move(name)};
  if (c->Accept("SET")) return SetOptions(c, Verb::kAlterCatalogSet, s);
  if (c->Accept("RESET")) return ResetKeys(c, Verb::kAlterCatalogReset, s);
  DRIFTLESS_TRY(c->Expect("COMMENT"));
  s->verb = Verb::kAlterCatalogComment;
  DRIFTLESS_ASSIGN_OR_RETURN(s->comment, c->ExpectString());
  return {};
}

Result<void> AlterFunction(TokenCursor* c, Statement* s) {
  s->verb = Verb::kAlterFunction;
  if (c->Accept("IF")) {
    DRIFTLESS_TRY(c->Expect("EXISTS"));
    s->if_exists = true;
  }
  DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
  DRIFTLESS_TRY(c->Expect("AS"));
  DRIFTLESS_ASSIGN_OR_RETURN(s->class_name, c->ExpectString());
  return ParseLanguage(c, s);
}

}  // namespace

Result<void> ParseAddOrModify(TokenCursor* c, bool add, Statement* s) {
  if (c->Accept("DISTRIBUTION")) {
    s->verb = add ? Verb::kAlterTableAddDistribution : Verb::kAlterTableModifyDistribution;
    DRIFTLESS_ASSIGN_OR_RETURN(s->distribution, ParseDistribution(c));
    return {};
  }
  const bool partitions = add && (c->Is("PARTITION") || c->Is("IF"));
  if (partitions) {
    s->verb = Verb::kAlterTableAddPartitions;
    if (c->Accept("IF")) {
      DRIFTLESS_TRY(c->Expect("NOT"));
      DRIFTLESS_TRY(c->Expect("EXISTS"));
      s->cascade = true;
      if (!c->Is("PARTITION")) return c->Unexpected();
    }
    while (c->Is("PARTITION")) {
      DRIFTLESS_ASSIGN_OR_RETURN(PartitionSpec partition, ParsePartition(c));
      if (c->Accept("WITH")) {
        DRIFTLESS_ASSIGN_OR_RETURN(partition.options, ParseOptions(c));
      }
      s->partitions.push_back(std::move(partition));
    }
    return {};
  }
  s->verb = add ? Verb::kAlterTableAdd : Verb::kAlterTableModify;
  if (!c->Is("(")) return ParseSchemaPart(c, true, &s->schema);
  DRIFTLESS_ASSIGN_OR_RETURN(s->schema, ParseSchema(c, true));
  return {};
}

Result<void> ParseDropPart(TokenCursor* c, Statement* s) {
  if (c->Is("PARTITION") || c->Is("IF")) {
    s->verb = Verb::kAlterTableDropPartitions;
    if (c->Accept("IF")) {
      DRIFTLESS_TRY(c->Expect("EXISTS"));
      s->cascade = true;
      if (!c->Is("PARTITION")) return c->Unexpected();
    }
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(PartitionSpec partition, ParsePartition(c));
      s->partitions.push_back(std::move(partition));
    } while (c->Accept(","));
    return {};
  }
  if (c->Accept("PRIMARY")) {
    s->verb = Verb::kAlterTableDropKey;
    return c->Expect("KEY");
  }
  if (c->Accept("WATERMARK")) {
    s->verb = Verb::kAlterTableDropWatermark;
    return {};
  }
  if (c->Accept("DISTRIBUTION")) {
    s->verb = Verb::kAlterTableDropDistribution;
    return {};
  }
  if (c->Accept("CONSTRAINT")) {
    s->verb = Verb::kAlterTableDropConstraint;
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c->ExpectName());
    s->new_name = {std::move(name)};
    return {};
  }
  s->verb = Verb::kAlterTableDropColumns;
  const bool list = c->Accept("(");
  do {
    DRIFTLESS_ASSIGN_OR_RETURN(Path column, c->ExpectPath());
    s->columns.push_back(std::move(column));
  } while (list && c->Accept(","));
  if (list) return c->Expect(")");
  return {};
}

Result<void> ParseLanguage(TokenCursor* c, Statement* s) {
  s->language = "JAVA";
  if (!c->Accept("LANGUAGE")) return {};
  for (const std::string_view language : {"JAVA", "SCALA", "SQL", "PYTHON"}) {
    if (!c->Accept(language)) continue;
    s->language = language;
    return {};
  }
  return c->Unexpected();
}

Result<void> ParseAlter(TokenCursor* c, std::string_view sql, Statement* s) {
  s->temporary = c->Accept("TEMPORARY");
  s->system = s->temporary && c->Accept("SYSTEM");
  if (c->Accept("FUNCTION")) return AlterFunction(c, s);
  if (s->temporary) return c->Unexpected();
  if (c->Accept("TABLE")) return AlterTable(c, s);
  if (c->Accept("VIEW")) return AlterView(c, sql, s);
  if (c->Accept("CATALOG")) return AlterCatalog(c, s);
  if (c->Accept("DATABASE")) {
    DRIFTLESS_ASSIGN_OR_RETURN(s->name, c->ExpectPath());
    DRIFTLESS_TRY(c->Expect("SET"));
    return SetOptions(c, Verb::kAlterDatabase, s);
  }
  if (c->Accept("MODEL")) return ParseAlterModel(c, s);
  if (c->Accept("MATERIALIZED", "TABLE")) return ParseAlterMaterialized(c, sql, s);
  return c->Unexpected();
}

}  // namespace driftless::flink
