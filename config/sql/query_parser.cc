#include "config/expr/expr_parser.h"
#include "config/expr/lexer.h"
#include "config/sql/query.h"

namespace driftless::flink {
namespace {

class QueryParser {
 public:
  explicit QueryParser(TokenCursor* cursor) : c_(*cursor) {}

  Result<Query> Parse() {
    if (c_.Accept("VALUES")) {
      DRIFTLESS_TRY(Rows());
    } else {
      DRIFTLESS_TRY(c_.Expect("SELECT"));
      DRIFTLESS_TRY(Select());
    }
    c_.Accept(";");
    if (c_.Peek().kind == TokenKind::kEnd) return std::move(query_);
    for (const std::string_view word :
         {"ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "INTERSECT", "EXCEPT", "WINDOW"}) {
      if (c_.Is(word)) return Beyond(word);
    }
    return c_.Unexpected();
  }

 private:
  static Error Beyond(std::string_view what) {
    return MakeError(ErrorKind::kUnsupported,
                     "queries with " + std::string(what) + " are not supported yet");
  }

  Result<void> Rows() {
    do {
      const bool word = c_.Accept("ROW");
      if (!word && !c_.Is("(")) {
        DRIFTLESS_ASSIGN_OR_RETURN(Expr single, ParseExpr(&c_));
        query_.rows.push_back({std::move(single)});
        continue;
      }
      DRIFTLESS_TRY(c_.Expect("("));
      std::vector<Expr>& row = query_.rows.emplace_back();
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(Expr value, ParseExpr(&c_));
        row.push_back(std::move(value));
      } while (c_.Accept(","));
      DRIFTLESS_TRY(c_.Expect(")"));
    } while (c_.Accept(","));
    return {};
  }

  Result<void> Select() {
    query_.distinct = c_.Accept("DISTINCT");
    if (!query_.distinct) c_.Accept("ALL");
    do {
      DRIFTLESS_TRY(Item());
    } while (c_.Accept(","));
    if (!c_.Accept("FROM")) return {};
    DRIFTLESS_TRY(Table(""));
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string join, Join());
      if (join.empty()) break;
      DRIFTLESS_TRY(Table(join));
    }
    if (c_.Accept("WHERE")) {
      DRIFTLESS_ASSIGN_OR_RETURN(query_.where, ParseExpr(&c_));
    }
    if (c_.Accept("GROUP")) {
      DRIFTLESS_TRY(c_.Expect("BY"));
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(Expr key, ParseExpr(&c_));
        query_.group_by.push_back(std::move(key));
      } while (c_.Accept(","));
    }
    if (c_.Accept("HAVING")) {
      DRIFTLESS_ASSIGN_OR_RETURN(query_.having, ParseExpr(&c_));
    }
    return {};
  }

  Result<void> Item() {
    SelectItem item;
    const Token first = c_.Peek();
    if (c_.Accept("*")) {
      item.expr.kind = ExprKind::kStar;
    } else if (c_.IsName() && c_.Is(".", 1) && c_.Is("*", 2)) {
      item.expr.kind = ExprKind::kStar;
      item.expr.path = {c_.Next().text};
      c_.Rewind(c_.position() + 2);
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(item.expr, ParseExpr(&c_));
      const bool as = c_.Accept("AS");
      if (as || c_.IsName()) {
        DRIFTLESS_ASSIGN_OR_RETURN(item.alias, c_.ExpectName());
      }
    }
    item.expr.line = first.line;
    item.expr.column = first.column;
    query_.items.push_back(std::move(item));
    return {};
  }

  // How the next table is joined; empty: there is none.
  Result<std::string> Join() {
    if (c_.Accept("JOIN")) return std::string("INNER JOIN");
    if (c_.Accept("INNER", "JOIN")) return std::string("INNER JOIN");
    for (const std::string_view side : {"LEFT", "RIGHT", "FULL"}) {
      if (!c_.Is(side)) continue;
      c_.Next();
      c_.Accept("OUTER");
      DRIFTLESS_TRY(c_.Expect("JOIN"));
      return std::string(side) + " JOIN";
    }
    if (c_.Is("CROSS") || c_.Is("NATURAL") || c_.Is(",")) return Beyond("CROSS and NATURAL joins");
    return std::string();
  }

  Result<void> Table(const std::string& join) {
    TableUse use;
    use.join = join;
    if (c_.Is("(") || c_.Is("LATERAL") || c_.Is("UNNEST") || (c_.Is("TABLE") && c_.Is("(", 1))) {
      return Beyond("subqueries and table functions");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(use.name, c_.ExpectPath());
    if (c_.Is("FOR") || c_.Is("/")) return Beyond("FOR SYSTEM_TIME");
    const bool as = c_.Accept("AS");
    if (as || c_.IsName()) {
      DRIFTLESS_ASSIGN_OR_RETURN(use.alias, c_.ExpectName());
    }
    if (!join.empty()) {
      if (c_.Is("USING")) return Beyond("USING");
      DRIFTLESS_TRY(c_.Expect("ON"));
      DRIFTLESS_ASSIGN_OR_RETURN(use.on, ParseExpr(&c_));
    }
    query_.from.push_back(std::move(use));
    return {};
  }

  TokenCursor& c_;
  Query query_;
};

}  // namespace

Result<Query> ParseQuery(const Statement& s, std::string_view sql) {
  // What stands before the query becomes blanks, so that its places are those of the statement.
  std::string blank;
  for (size_t i = 0; i < s.query_at; ++i) {
    const auto byte = static_cast<unsigned char>(sql[i]);
    if ((byte & 0xC0) != 0x80) blank += byte == '\n' ? '\n' : ' ';
  }
  const std::string padded = blank + s.query;
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(padded));
  TokenCursor cursor(std::move(tokens), padded);
  return QueryParser(&cursor).Parse();
}

}  // namespace driftless::flink
