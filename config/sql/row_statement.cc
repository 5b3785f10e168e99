#include "config/sql/row_statement.h"

#include <string>
#include <utility>

#include "config/expr/expr_parser.h"
#include "config/expr/lexer.h"
#include "config/expr/token_cursor.h"

namespace driftless::flink {
namespace {

class RowParser {
 public:
  explicit RowParser(TokenCursor* cursor) : c_(*cursor) {}

  Result<RowStatement> Parse() {
    if (c_.Accept("INSERT")) {
      DRIFTLESS_TRY(Insert());
    } else if (c_.Accept("UPDATE")) {
      DRIFTLESS_TRY(Update());
    } else {
      s_.kind = RowStatement::Kind::kDelete;
      DRIFTLESS_TRY(c_.Expect("DELETE"));
      DRIFTLESS_TRY(c_.Expect("FROM"));
      DRIFTLESS_ASSIGN_OR_RETURN(s_.table, c_.ExpectPath());
      DRIFTLESS_TRY(Where());
    }
    c_.Accept(";");
    if (c_.Peek().kind != TokenKind::kEnd) return c_.Unexpected();
    return std::move(s_);
  }

 private:
  Result<NameAt> Column() {
    const Token at = c_.Peek();
    NameAt column;
    DRIFTLESS_ASSIGN_OR_RETURN(column.name, c_.ExpectName());
    column.line = at.line;
    column.column = at.column;
    return column;
  }

  Result<void> Insert() {
    DRIFTLESS_TRY(c_.Expect("INTO"));
    DRIFTLESS_ASSIGN_OR_RETURN(s_.table, c_.ExpectPath());
    if (c_.Accept("(")) {
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(NameAt column, Column());
        s_.columns.push_back(std::move(column));
      } while (c_.Accept(","));
      DRIFTLESS_TRY(c_.Expect(")"));
    }
    if (!c_.Is("VALUES")) {
      if (!c_.Is("SELECT") && !c_.Is("WITH") && !c_.Is("(")) return c_.Unexpected();
      const Token& at = c_.Peek();
      return MakeError(ErrorKind::kUnsupported, "only literal rows are inserted here, not a query")
          .At(at.line, at.column)
          .Hint("Write INSERT INTO .. VALUES (..), (..).");
    }
    c_.Next();
    do {
      DRIFTLESS_TRY(Row());
    } while (c_.Accept(","));
    return {};
  }

  Result<void> Row() {
    c_.Accept("ROW");
    std::vector<Expr>& row = s_.rows.emplace_back();
    if (!c_.Accept("(")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr single, ParseExpr(&c_));
      row.push_back(std::move(single));
      return {};
    }
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr value, ParseExpr(&c_));
      row.push_back(std::move(value));
    } while (c_.Accept(","));
    return c_.Expect(")");
  }

  Result<void> Update() {
    s_.kind = RowStatement::Kind::kUpdate;
    DRIFTLESS_ASSIGN_OR_RETURN(s_.table, c_.ExpectPath());
    DRIFTLESS_TRY(c_.Expect("SET"));
    s_.rows.emplace_back();
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(NameAt column, Column());
      DRIFTLESS_TRY(c_.Expect("="));
      DRIFTLESS_ASSIGN_OR_RETURN(Expr value, ParseExpr(&c_));
      s_.columns.push_back(std::move(column));
      s_.rows[0].push_back(std::move(value));
    } while (c_.Accept(","));
    return Where();
  }

  Result<void> Where() {
    if (!c_.Accept("WHERE")) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(s_.where, ParseExpr(&c_));
    return {};
  }

  TokenCursor& c_;
  RowStatement s_;
};

}  // namespace

Result<RowStatement> ParseRowStatement(std::string_view sql) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(sql));
  TokenCursor cursor(std::move(tokens), sql);
  return RowParser(&cursor).Parse();
}

}  // namespace driftless::flink
