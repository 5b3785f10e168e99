#include <iterator>

#include "config/expr/expr_parser.h"
#include "config/expr/lexer.h"
#include "config/sql/query.h"

namespace driftless::flink {
namespace {

class QueryParser {
 public:
  explicit QueryParser(TokenCursor* cursor) : c_(*cursor) {}

  Result<Query> Parse() {
    DRIFTLESS_ASSIGN_OR_RETURN(Query query, Whole(0));
    c_.Accept(";");
    if (c_.Peek().kind == TokenKind::kEnd) return query;
    return c_.Unexpected();
  }

 private:
  static Error Beyond(std::string_view what) {
    return MakeError(ErrorKind::kUnsupported,
                     "queries with " + std::string(what) + " are not supported yet");
  }

  static constexpr int kDeepest = 100;

  // [WITH ..] body [ORDER BY ..] [LIMIT ..] [OFFSET ..] [FETCH ..]
  Result<Query> Whole(int depth) {
    if (depth > kDeepest) return Beyond("so many subqueries in each other");
    std::vector<std::pair<std::string, std::shared_ptr<const Query>>> with;
    if (c_.Accept("WITH")) {
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c_.ExpectName());
        DRIFTLESS_TRY(c_.Expect("AS"));
        DRIFTLESS_TRY(c_.Expect("("));
        DRIFTLESS_ASSIGN_OR_RETURN(Query query, Whole(depth + 1));
        DRIFTLESS_TRY(c_.Expect(")"));
        with.emplace_back(std::move(name), std::make_shared<const Query>(std::move(query)));
      } while (c_.Accept(","));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(Query body, Union(depth));
    const bool has_tail = !body.order_by.empty() || body.limit || body.offset > 0;
    if (has_tail && (c_.Is("ORDER") || c_.Is("LIMIT") || c_.Is("OFFSET") || c_.Is("FETCH"))) {
      return c_.Unexpected();
    }
    body.with.insert(body.with.begin(), std::make_move_iterator(with.begin()),
                     std::make_move_iterator(with.end()));
    DRIFTLESS_TRY(Tail(&body));
    return body;
  }

  Result<Query> Union(int depth) {
    DRIFTLESS_ASSIGN_OR_RETURN(Query left, Intersection(depth));
    while (c_.Is("UNION") || c_.Is("EXCEPT") || c_.Is("MINUS")) {
      std::string operation = c_.Next().upper == "UNION" ? "UNION" : "EXCEPT";
      DRIFTLESS_TRY(TakeAll(&operation));
      DRIFTLESS_ASSIGN_OR_RETURN(Query right, Intersection(depth));
      left = Both(std::move(operation), std::move(left), std::move(right));
    }
    return left;
  }
  Result<Query> Intersection(int depth) {
    DRIFTLESS_ASSIGN_OR_RETURN(Query left, Simple(depth));
    while (c_.Accept("INTERSECT")) {
      std::string operation = "INTERSECT";
      DRIFTLESS_TRY(TakeAll(&operation));
      DRIFTLESS_ASSIGN_OR_RETURN(Query right, Simple(depth));
      left = Both(std::move(operation), std::move(left), std::move(right));
    }
    return left;
  }
  Result<void> TakeAll(std::string* operation) {
    if (!c_.Accept("ALL")) {
      c_.Accept("DISTINCT");
      return {};
    }
    if (*operation != "UNION") return Beyond(*operation + " ALL");
    *operation += " ALL";
    return {};
  }
  static Query Both(std::string operation, Query left, Query right) {
    Query both;
    both.set_operation = std::move(operation);
    both.left = std::make_shared<const Query>(std::move(left));
    both.right = std::make_shared<const Query>(std::move(right));
    return both;
  }

  Result<Query> Simple(int depth) {
    if (c_.Accept("(")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Query inner, Whole(depth + 1));
      DRIFTLESS_TRY(c_.Expect(")"));
      return inner;
    }
    query_ = Query();
    if (c_.Accept("VALUES")) {
      DRIFTLESS_TRY(Rows());
    } else {
      DRIFTLESS_TRY(c_.Expect("SELECT"));
      DRIFTLESS_TRY(Select(depth));
    }
    return std::move(query_);
  }

  Result<void> Tail(Query* query) {
    if (c_.Accept("ORDER")) {
      DRIFTLESS_TRY(c_.Expect("BY"));
      do {
        OrderItem item;
        DRIFTLESS_ASSIGN_OR_RETURN(item.expr, ParseExpr(&c_));
        item.descending = c_.Accept("DESC");
        if (!item.descending) c_.Accept("ASC");
        if (c_.Accept("NULLS")) {
          item.nulls_first = c_.Accept("FIRST");
          if (!*item.nulls_first) DRIFTLESS_TRY(c_.Expect("LAST"));
        }
        query->order_by.push_back(std::move(item));
      } while (c_.Accept(","));
    }
    if (c_.Accept("LIMIT")) {
      if (!c_.Accept("ALL")) {
        DRIFTLESS_ASSIGN_OR_RETURN(query->limit, Count());
      }
    }
    if (c_.Accept("OFFSET")) {
      DRIFTLESS_ASSIGN_OR_RETURN(query->offset, Count());
      if (!c_.Accept("ROW")) c_.Accept("ROWS");
    }
    if (c_.Accept("FETCH")) {
      if (!c_.Accept("FIRST")) DRIFTLESS_TRY(c_.Expect("NEXT"));
      DRIFTLESS_ASSIGN_OR_RETURN(query->limit, Count());
      if (!c_.Accept("ROW")) DRIFTLESS_TRY(c_.Expect("ROWS"));
      DRIFTLESS_TRY(c_.Expect("ONLY"));
    }
    return {};
  }
  Result<int64_t> Count() {
    const Token token = c_.Peek();
    const bool whole = token.kind == TokenKind::kNumber && token.text.size() < 19 &&
                       token.text.find_first_not_of("0123456789") == std::string::npos;
    if (!whole) return c_.Unexpected();
    c_.Next();
    return std::stoll(token.text);
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

  Result<void> Select(int depth) {
    query_.distinct = c_.Accept("DISTINCT");
    if (!query_.distinct) c_.Accept("ALL");
    do {
      DRIFTLESS_TRY(Item());
    } while (c_.Accept(","));
    if (!c_.Accept("FROM")) return {};
    DRIFTLESS_TRY(Table("", depth));
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string join, Join());
      if (join.empty()) break;
      DRIFTLESS_TRY(Table(join, depth));
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
    return Windows();
  }

  // WINDOW w AS (..): put in the place of its name.
  Result<void> Windows() {
    if (!c_.Accept("WINDOW")) return {};
    do {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string name, c_.ExpectName());
      DRIFTLESS_TRY(c_.Expect("AS"));
      DRIFTLESS_ASSIGN_OR_RETURN(OverWindow window, ParseOverWindow(&c_));
      const auto shared = std::make_shared<const OverWindow>(std::move(window));
      for (SelectItem& item : query_.items) Substitute(name, shared, &item.expr);
    } while (c_.Accept(","));
    return {};
  }
  static void Substitute(const std::string& name, const std::shared_ptr<const OverWindow>& window,
                         Expr* e) {
    if (e->over != nullptr && e->over->name == name) e->over = window;
    for (Expr& arg : e->args) Substitute(name, window, &arg);
  }

  // TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)), behind "TABLE(".
  Result<void> WindowFunction(TableUse* use) {
    for (const std::string_view name : {"TUMBLE", "HOP", "CUMULATE", "SESSION"}) {
      if (!c_.Accept(name)) continue;
      use->window_function = name;
    }
    if (use->window_function.empty()) return Beyond("table functions");
    DRIFTLESS_TRY(c_.Expect("("));
    DRIFTLESS_TRY(c_.Expect("TABLE"));
    DRIFTLESS_ASSIGN_OR_RETURN(use->name, c_.ExpectPath());
    DRIFTLESS_TRY(c_.Expect(","));
    DRIFTLESS_TRY(c_.Expect("DESCRIPTOR"));
    DRIFTLESS_TRY(c_.Expect("("));
    DRIFTLESS_ASSIGN_OR_RETURN(use->window_time, c_.ExpectName());
    DRIFTLESS_TRY(c_.Expect(")"));
    while (c_.Accept(",")) {
      DRIFTLESS_ASSIGN_OR_RETURN(Expr size, ParseExpr(&c_));
      use->window_sizes.push_back(std::move(size));
    }
    DRIFTLESS_TRY(c_.Expect(")"));
    return c_.Expect(")");
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
    if (c_.Accept("CROSS", "JOIN") || c_.Accept(",")) return std::string("CROSS JOIN");
    if (c_.Is("NATURAL")) return Beyond("NATURAL joins");
    return std::string();
  }

  Result<void> Table(const std::string& join, int depth) {
    TableUse use;
    use.join = join;
    if (c_.Is("LATERAL") || c_.Is("UNNEST")) return Beyond("table functions");
    if (c_.Accept("TABLE", "(")) {
      DRIFTLESS_TRY(WindowFunction(&use));
    } else if (c_.Accept("(")) {
      Query outer = std::move(query_);
      DRIFTLESS_ASSIGN_OR_RETURN(Query inner, Whole(depth + 1));
      query_ = std::move(outer);
      DRIFTLESS_TRY(c_.Expect(")"));
      use.query = std::make_shared<const Query>(std::move(inner));
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(use.name, c_.ExpectPath());
    }
    if (c_.Accept("FOR")) {
      DRIFTLESS_TRY(c_.Expect("SYSTEM_TIME"));
      DRIFTLESS_TRY(c_.Expect("AS"));
      DRIFTLESS_TRY(c_.Expect("OF"));
      DRIFTLESS_TRY(ParseExpr(&c_));
      use.at_time = true;
    }
    if (c_.Is("/")) return Beyond("hints");
    const bool as = c_.Accept("AS");
    if (as || c_.IsName()) {
      DRIFTLESS_ASSIGN_OR_RETURN(use.alias, c_.ExpectName());
      if (c_.Accept("(")) {
        do {
          DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c_.ExpectName());
          use.columns.push_back(std::move(name));
        } while (c_.Accept(","));
        DRIFTLESS_TRY(c_.Expect(")"));
      }
    }
    if (!join.empty() && join != "CROSS JOIN") {
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

Result<Query> ParseQuery(std::string_view text) {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  TokenCursor cursor(std::move(tokens), text);
  return QueryParser(&cursor).Parse();
}

Result<Query> ParseQuery(const Statement& s, std::string_view sql) {
  // What stands before the query becomes blanks, so that its places are those of the statement.
  std::string blank;
  for (size_t i = 0; i < s.query_at; ++i) {
    const auto byte = static_cast<unsigned char>(sql[i]);
    if ((byte & 0xC0) != 0x80) blank += byte == '\n' ? '\n' : ' ';
  }
  const std::string padded = blank + s.query;
  return ParseQuery(std::string_view(padded));
}

}  // namespace driftless::flink
