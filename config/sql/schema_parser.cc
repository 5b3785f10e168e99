#include "config/sql/schema_parser.h"

#include <charconv>
#include <utility>

#include "config/expr/expr_parser.h"
#include "config/expr/expr_print.h"

namespace driftless::flink {
namespace {

std::optional<bool> ParseEnforced(TokenCursor* c) {
  if (c->Accept("NOT", "ENFORCED")) return false;
  if (c->Accept("ENFORCED")) return true;
  return std::nullopt;
}

bool IsConstraint(const TokenCursor& c) {
  return c.Is("CONSTRAINT") || c.Is("PRIMARY") || c.Is("UNIQUE");
}

Result<KeySpec> ParseConstraint(TokenCursor* c, const NameAt* of_column) {
  KeySpec key;
  if (c->Accept("CONSTRAINT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(key.name, c->ExpectName());
  }
  if (c->Accept("UNIQUE")) {
    key.unique = true;
  } else {
    DRIFTLESS_TRY(c->Expect("PRIMARY"));
    DRIFTLESS_TRY(c->Expect("KEY"));
  }
  if (of_column != nullptr) {
    key.columns.push_back(*of_column);
  } else {
    DRIFTLESS_TRY(c->Expect("("));
    do {
      NameAt column{"", c->Peek().line, c->Peek().column};
      DRIFTLESS_ASSIGN_OR_RETURN(column.name, c->ExpectName());
      key.columns.push_back(std::move(column));
    } while (c->Accept(","));
    DRIFTLESS_TRY(c->Expect(")"));
  }
  key.enforced = ParseEnforced(c);
  return key;
}

Result<void> ParsePlace(TokenCursor* c, ColumnSpec* column) {
  if (c->Accept("FIRST")) {
    column->place = ColumnSpec::Place::kFirst;
  } else if (c->Accept("AFTER")) {
    column->place = ColumnSpec::Place::kAfter;
    DRIFTLESS_ASSIGN_OR_RETURN(column->after, c->ExpectPath());
  }
  return {};
}

Result<void> ParseColumn(TokenCursor* c, bool places, SchemaSpec* into) {
  ColumnSpec column;
  NameAt at{"", c->Peek().line, c->Peek().column};
  DRIFTLESS_ASSIGN_OR_RETURN(column.name, c->ExpectPath());
  at.name = column.name[0];
  if (column.name.size() == 1 && c->Accept("AS")) {
    column.kind = ColumnKind::kComputed;
    DRIFTLESS_ASSIGN_OR_RETURN(column.expr, ParseExpr(c));
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(column.type, ParseType(c));
    if (c->Accept("METADATA")) {
      column.kind = ColumnKind::kMetadata;
      if (c->Accept("FROM")) {
        DRIFTLESS_ASSIGN_OR_RETURN(column.metadata_key, c->ExpectStringLiteral());
      }
      column.is_virtual = c->Accept("VIRTUAL");
    } else if (IsConstraint(*c)) {
      DRIFTLESS_ASSIGN_OR_RETURN(KeySpec key, ParseConstraint(c, &at));
      into->keys.push_back(std::move(key));
    }
  }
  if (c->Accept("COMMENT")) {
    DRIFTLESS_ASSIGN_OR_RETURN(column.comment, c->ExpectString());
  }
  if (places) DRIFTLESS_TRY(ParsePlace(c, &column));
  into->columns.push_back(std::move(column));
  return {};
}

}  // namespace

Result<void> ParseSchemaPart(TokenCursor* c, bool places, SchemaSpec* into) {
  if (IsConstraint(*c)) {
    DRIFTLESS_ASSIGN_OR_RETURN(KeySpec key, ParseConstraint(c, nullptr));
    into->keys.push_back(std::move(key));
    return {};
  }
  if (!c->Accept("WATERMARK")) return ParseColumn(c, places, into);
  WatermarkSpec watermark;
  DRIFTLESS_TRY(c->Expect("FOR"));
  watermark.line = c->Peek().line;
  watermark.column_number = c->Peek().column;
  DRIFTLESS_ASSIGN_OR_RETURN(watermark.column, c->ExpectPath());
  DRIFTLESS_TRY(c->Expect("AS"));
  DRIFTLESS_ASSIGN_OR_RETURN(watermark.expr, ParseExpr(c));
  if (!into->watermarks.empty()) {
    return SqlError(kParseException, "Multiple WATERMARK declarations are not supported yet.");
  }
  into->watermarks.push_back(std::move(watermark));
  return {};
}

Result<SchemaSpec> ParseSchema(TokenCursor* c, bool places) {
  SchemaSpec schema;
  DRIFTLESS_TRY(c->Expect("("));
  do {
    DRIFTLESS_TRY(ParseSchemaPart(c, places, &schema));
  } while (c->Accept(","));
  DRIFTLESS_TRY(c->Expect(")"));
  return schema;
}

Result<Distribution> ParseDistribution(TokenCursor* c) {
  Distribution result;
  if (c->Accept("BY")) {
    for (const std::string_view kind : {"HASH", "RANGE"}) {
      if (c->Accept(kind)) result.kind = kind;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(result.keys, ParseNames(c));
    if (!c->Is("INTO")) return result;
  }
  DRIFTLESS_TRY(c->Expect("INTO"));
  const Token& token = c->Peek();
  int64_t count = 0;
  const char* end = token.text.data() + token.text.size();
  if (token.kind != TokenKind::kNumber ||
      std::from_chars(token.text.data(), end, count).ptr != end) {
    return c->Unexpected();
  }
  c->Next();
  result.buckets = count;
  DRIFTLESS_TRY(c->Expect("BUCKETS"));
  return result;
}

Result<OptionList> ParseOptions(TokenCursor* c) {
  OptionList options;
  DRIFTLESS_TRY(c->Expect("("));
  if (c->Accept(")")) return options;
  do {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string key, c->ExpectStringLiteral());
    DRIFTLESS_TRY(c->Expect("="));
    DRIFTLESS_ASSIGN_OR_RETURN(std::string value, c->ExpectStringLiteral());
    options.emplace_back(std::move(key), std::move(value));
  } while (c->Accept(","));
  DRIFTLESS_TRY(c->Expect(")"));
  return options;
}

Result<std::vector<std::string>> ParseKeys(TokenCursor* c) {
  std::vector<std::string> keys;
  DRIFTLESS_TRY(c->Expect("("));
  if (c->Accept(")")) return keys;
  do {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string key, c->ExpectStringLiteral());
    keys.push_back(std::move(key));
  } while (c->Accept(","));
  DRIFTLESS_TRY(c->Expect(")"));
  return keys;
}

Result<std::vector<std::string>> ParseNames(TokenCursor* c) {
  std::vector<std::string> names;
  DRIFTLESS_TRY(c->Expect("("));
  do {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c->ExpectName());
    names.push_back(std::move(name));
  } while (c->Accept(","));
  DRIFTLESS_TRY(c->Expect(")"));
  return names;
}

Result<PartitionSpec> ParsePartition(TokenCursor* c) {
  PartitionSpec spec;
  DRIFTLESS_TRY(c->Expect("PARTITION"));
  DRIFTLESS_TRY(c->Expect("("));
  do {
    DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c->ExpectName());
    DRIFTLESS_TRY(c->Expect("="));
    DRIFTLESS_ASSIGN_OR_RETURN(const Expr value, ParseExpr(c));
    std::string text = value.text;
    if (value.kind == ExprKind::kUnary && value.args[0].kind == ExprKind::kNumber) {
      text = value.text + value.args[0].text;
    } else if (value.kind != ExprKind::kString && value.kind != ExprKind::kNumber &&
               spec.not_literal.empty()) {
      spec.not_literal = PrintExpr(value, PrintStyle::kAsWritten);
    }
    spec.values.emplace_back(std::move(name), std::move(text));
  } while (c->Accept(","));
  DRIFTLESS_TRY(c->Expect(")"));
  return spec;
}

}  // namespace driftless::flink
