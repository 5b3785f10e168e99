#include "config/sql/statement_parser.h"

#include <re2/re2.h>

#include <utility>

#include "config/sql/alter_parser.h"
#include "config/sql/materialized_parser.h"
#include "config/sql/model_parser.h"
#include "config/sql/schema_parser.h"
#include "config/sql/show_parser.h"

namespace driftless::flink {
namespace {

class StatementParser {
 public:
  StatementParser(TokenCursor* cursor, std::string_view sql) : c_(*cursor), sql_(sql) {}

  Result<Statement> Parse() {
    DRIFTLESS_TRY(Dispatch());
    if (c_.Accept(";") && c_.Peek().kind != TokenKind::kEnd) {
      return SqlError("java.lang.IllegalArgumentException", "only single statement supported");
    }
    if (c_.Peek().kind != TokenKind::kEnd) return c_.Unexpected();
    return std::move(s_);
  }

 private:
  Result<void> Dispatch() {
    const Token first = c_.Peek();
    if (first.kind != TokenKind::kName) {
      if (first.upper == "(") return Query(Verb::kQuery);
      return c_.Unexpected();
    }
    if (c_.Accept("CREATE")) return Create();
    if (c_.Accept("DROP")) return Drop();
    if (c_.Accept("ALTER")) return ParseAlter(&c_, sql_, &s_);
    if (c_.Accept("USE")) return Use();
    if (c_.Accept("DESCRIBE") || c_.Accept("DESC")) return ParseDescribe(&c_, &s_);
    if (c_.Is("SHOW")) return ParseShow(&c_, &s_);
    if (c_.Accept("SET")) return Set();
    if (c_.Accept("RESET")) return Reset();
    if (c_.Accept("LOAD")) return Module(Verb::kLoadModule);
    if (c_.Accept("UNLOAD")) return Module(Verb::kUnloadModule);
    if (c_.Accept("TRUNCATE")) {
      s_.verb = Verb::kTruncate;
      DRIFTLESS_TRY(c_.Expect("TABLE"));
      return Name();
    }
    if (c_.Is("SELECT") || c_.Is("WITH") || c_.Is("VALUES")) return Query(Verb::kQuery);
    if (c_.Is("INSERT") || c_.Is("UPSERT")) return Insert();
    if (c_.Accept("DELETE")) {
      DRIFTLESS_TRY(c_.Expect("FROM"));
      return ChangeRows();
    }
    if (c_.Accept("UPDATE")) return ChangeRows();
    if (c_.Accept("EXPLAIN") && !c_.Is("DESCRIBE") && !c_.Is("SHOW") && !c_.Is("CREATE")) {
      return Explain();
    }
    if (c_.Is("EXECUTE") && c_.Is("STATEMENT", 1) && c_.Is("SET", 2)) return StatementSet();
    if (c_.Is("BEGIN") && c_.Is("STATEMENT", 1) && c_.Is("SET", 2)) {
      c_.Rewind(c_.position() + 3);
      s_.verb = Verb::kBeginStatementSet;
      return {};
    }
    if (c_.Is("END") && (c_.Is(";", 1) || c_.Peek(1).kind == TokenKind::kEnd)) {
      c_.Next();
      s_.verb = Verb::kEndStatementSet;
      return {};
    }
    if (c_.position() > 0) c_.Rewind(0);
    for (const std::string_view word :
         {"CALL", "ANALYZE", "EXPLAIN", "EXECUTE", "BEGIN", "COMPILE", "ADD", "REMOVE"}) {
      if (!c_.Accept(word)) continue;
      if (word == "EXPLAIN" && (c_.Is("DESCRIBE") || c_.Is("SHOW") || c_.Is("CREATE"))) {
        return c_.Unexpected(true);
      }
      return Rest(std::string(word));
    }
    return SqlError("org.apache.calcite.runtime.CalciteException",
                    "Non-query expression encountered in illegal context");
  }

  Result<void> Name() {
    DRIFTLESS_ASSIGN_OR_RETURN(s_.name, c_.ExpectPath());
    return {};
  }

  // Everything up to the end belongs to a statement that only names itself here.
  Result<void> Rest(std::string word) {
    s_.verb = Verb::kOther;
    s_.word = std::move(word);
    while (c_.Peek().kind != TokenKind::kEnd && !c_.Is(";")) c_.Next();
    return {};
  }

  Result<void> ChangeRows() {
    DRIFTLESS_TRY(Name());
    DRIFTLESS_TRY(Rest(""));
    s_.verb = Verb::kChangeRows;
    return {};
  }

  Result<void> Query(Verb verb) {
    s_.verb = verb;
    s_.query_at = c_.Peek().begin;
    size_t end = s_.query_at;
    while (c_.Peek().kind != TokenKind::kEnd && !c_.Is(";")) end = c_.Next().end;
    s_.query = std::string(sql_.substr(s_.query_at, end - s_.query_at));
    return {};
  }

  Result<void> Insert() {
    c_.Next();
    if (!c_.Accept("INTO")) DRIFTLESS_TRY(c_.Expect("OVERWRITE"));
    DRIFTLESS_TRY(Name());
    // (a, b) in front of a query are columns; (SELECT ..) is the query.
    if (c_.Is("(") && c_.IsName(1) && (c_.Is(",", 2) || c_.Is(")", 2))) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseNames(&c_));
      for (const std::string& name : names) s_.columns.push_back({name});
    }
    return Query(Verb::kInsert);
  }

  // EXPLAIN [PLAN FOR | detail {, detail}] statement
  Result<void> Explain() {
    if (!c_.Accept("PLAN", "FOR")) {
      while (c_.Is("ESTIMATED_COST") || c_.Is("CHANGELOG_MODE") || c_.Is("JSON_EXECUTION_PLAN") ||
             c_.Is("PLAN_ADVICE")) {
        c_.Next();
        c_.Accept(",");
      }
    }
    if (!c_.Is("SELECT") && !c_.Is("WITH") && !c_.Is("VALUES") && !c_.Is("(") && !c_.Is("INSERT")) {
      return c_.Unexpected();
    }
    return Query(Verb::kExplain);
  }

  // EXECUTE STATEMENT SET BEGIN insert; insert; END
  Result<void> StatementSet() {
    c_.Rewind(c_.position() + 3);
    DRIFTLESS_TRY(c_.Expect("BEGIN"));
    s_.verb = Verb::kStatementSet;
    while (!c_.Is("END")) {
      if (!c_.Is("INSERT")) return c_.Unexpected();
      const size_t begin = c_.Peek().begin;
      size_t end = begin;
      while (c_.Peek().kind != TokenKind::kEnd && !c_.Is(";")) end = c_.Next().end;
      DRIFTLESS_TRY(c_.Expect(";"));
      s_.keys.emplace_back(sql_.substr(begin, end - begin));
    }
    c_.Next();
    return {};
  }

  Result<void> IfNotExists() {
    if (!c_.Accept("IF")) return {};
    DRIFTLESS_TRY(c_.Expect("NOT"));
    DRIFTLESS_TRY(c_.Expect("EXISTS"));
    s_.if_exists = true;
    return {};
  }
  Result<void> IfExists() {
    if (!c_.Accept("IF")) return {};
    DRIFTLESS_TRY(c_.Expect("EXISTS"));
    s_.if_exists = true;
    return {};
  }
  Result<void> Comment() {
    if (!c_.Accept("COMMENT")) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(s_.comment, c_.ExpectString());
    return {};
  }
  Result<void> With() {
    if (!c_.Accept("WITH")) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(s_.options, ParseOptions(&c_));
    return {};
  }

  Result<void> Create() {
    const bool replace = c_.Accept("OR", "REPLACE");
    s_.or_alter = !replace && c_.Is("OR") && c_.Is("ALTER", 1) && c_.Is("MATERIALIZED", 2);
    if (s_.or_alter) c_.Rewind(c_.position() + 2);
    s_.temporary = c_.Accept("TEMPORARY");
    s_.system = c_.Is("SYSTEM") && c_.Is("FUNCTION", 1);
    if (s_.system) c_.Next();
    (void)replace;  // parsed and dropped where it means nothing, as in Flink
    if (c_.Accept("TABLE")) return CreateTable();
    if (c_.Accept("VIEW")) return CreateView();
    if (c_.Accept("FUNCTION")) return CreateFunction();
    const bool database = c_.Accept("DATABASE");
    if (database || c_.Accept("CATALOG")) {
      s_.verb = database ? Verb::kCreateDatabase : Verb::kCreateCatalog;
      DRIFTLESS_TRY(IfNotExists());
      DRIFTLESS_TRY(Name());
      DRIFTLESS_TRY(Comment());
      return With();
    }
    if (c_.Accept("MODEL")) return ParseCreateModel(&c_, sql_, &s_);
    if (c_.Accept("MATERIALIZED", "TABLE")) return ParseCreateMaterialized(&c_, sql_, &s_);
    if (c_.Is("CONNECTION")) {
      return Rest("CREATE " + c_.Peek().upper);
    }
    return c_.Unexpected();
  }

  Result<void> CreateTable() {
    s_.verb = Verb::kCreateTable;
    DRIFTLESS_TRY(IfNotExists());
    DRIFTLESS_TRY(Name());
    if (c_.Is("(")) {
      DRIFTLESS_ASSIGN_OR_RETURN(s_.schema, ParseSchema(&c_, false));
    }
    DRIFTLESS_TRY(Comment());
    if (c_.Accept("DISTRIBUTED")) {
      DRIFTLESS_ASSIGN_OR_RETURN(s_.distribution, ParseDistribution(&c_));
    }
    if (c_.Accept("PARTITIONED")) {
      DRIFTLESS_TRY(c_.Expect("BY"));
      DRIFTLESS_ASSIGN_OR_RETURN(s_.partition_keys, ParseNames(&c_));
    }
    DRIFTLESS_TRY(With());
    if (c_.Accept("LIKE")) return Like();
    if (c_.Accept("AS")) return Query(Verb::kCreateTable);
    return {};
  }

  Result<void> Like() {
    DRIFTLESS_ASSIGN_OR_RETURN(s_.like_table, c_.ExpectPath());
    if (!c_.Accept("(")) return {};
    while (!c_.Accept(")")) {
      LikeOption option;
      for (const std::string_view mode : {"INCLUDING", "EXCLUDING", "OVERWRITING"}) {
        if (c_.Accept(mode)) option.mode = mode;
      }
      if (option.mode.empty()) return c_.Unexpected();
      for (const std::string_view feature : {"ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED",
                                             "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"}) {
        if (option.feature.empty() && c_.Accept(feature)) option.feature = feature;
      }
      if (option.feature.empty()) return c_.Unexpected();
      s_.like_options.push_back(std::move(option));
    }
    return {};
  }

  Result<void> CreateView() {
    DRIFTLESS_TRY(IfNotExists());
    DRIFTLESS_TRY(Name());
    if (c_.Is("(")) {
      DRIFTLESS_ASSIGN_OR_RETURN(s_.keys, ParseNames(&c_));
    }
    DRIFTLESS_TRY(Comment());
    DRIFTLESS_TRY(c_.Expect("AS"));
    return Query(Verb::kCreateView);
  }

  Result<void> CreateFunction() {
    s_.verb = Verb::kCreateFunction;
    if (s_.system && !s_.temporary) {
      return SqlError(kParseException,
                      "CREATE SYSTEM FUNCTION is not supported, system functions can only be "
                      "registered as temporary functions, you can use CREATE TEMPORARY SYSTEM "
                      "FUNCTION instead.");
    }
    DRIFTLESS_TRY(IfNotExists());
    if (s_.system && c_.IsName() && c_.Is(".", 1)) {
      c_.Next();
      return c_.Unexpected();  // a system function has a simple name
    }
    DRIFTLESS_TRY(Name());
    DRIFTLESS_TRY(c_.Expect("AS"));
    DRIFTLESS_ASSIGN_OR_RETURN(s_.class_name, c_.ExpectString());
    DRIFTLESS_TRY(ParseLanguage(&c_, &s_));
    if (c_.Accept("USING")) {
      do {
        if (!c_.Accept("JAR")) DRIFTLESS_TRY(c_.Expect("ARTIFACT"));
        DRIFTLESS_ASSIGN_OR_RETURN(std::string resource, c_.ExpectString());
        s_.keys.push_back(std::move(resource));
      } while (c_.Accept(","));
    }
    return With();
  }

  Result<void> Drop() {
    s_.temporary = c_.Accept("TEMPORARY");
    s_.system = c_.Is("SYSTEM") && c_.Is("FUNCTION", 1);
    if (s_.system) c_.Next();
    if (c_.Accept("MODEL")) return ParseDropModel(&c_, &s_);
    if (c_.Accept("MATERIALIZED", "TABLE")) return ParseDropMaterialized(&c_, &s_);
    if (c_.Is("CONNECTION")) {
      return Rest("DROP " + c_.Peek().upper);
    }
    if (c_.Accept("TABLE")) {
      s_.verb = Verb::kDropTable;
    } else if (c_.Accept("VIEW")) {
      s_.verb = Verb::kDropView;
    } else if (c_.Is("FUNCTION")) {
      const size_t ahead = c_.Is("IF", 1) ? 3 : 1;
      if (!c_.IsName(ahead)) return c_.Unexpected(true);
      c_.Next();
      s_.verb = Verb::kDropFunction;
    } else if (c_.Accept("DATABASE")) {
      s_.verb = Verb::kDropDatabase;
    } else if (c_.Accept("CATALOG")) {
      s_.verb = Verb::kDropCatalog;
    } else {
      return c_.Unexpected();
    }
    DRIFTLESS_TRY(IfExists());
    DRIFTLESS_TRY(Name());
    if (s_.verb == Verb::kDropDatabase && !c_.Accept("RESTRICT")) s_.cascade = c_.Accept("CASCADE");
    return {};
  }

  Result<void> Use() {
    if (c_.Is("MODULES")) {
      c_.Next();
      s_.verb = Verb::kUseModules;
      do {
        DRIFTLESS_ASSIGN_OR_RETURN(std::string name, c_.ExpectName());
        s_.keys.push_back(std::move(name));
      } while (c_.Accept(","));
      return {};
    }
    s_.verb = Verb::kUseDatabase;
    if (c_.Is("CATALOG") && c_.IsName(1)) {
      c_.Next();
      s_.verb = Verb::kUseCatalog;
    }
    return Name();
  }

  Result<void> Set() {
    s_.verb = Verb::kSet;
    if (c_.Is(";") || c_.Peek().kind == TokenKind::kEnd) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(std::string key, c_.ExpectStringLiteral());
    DRIFTLESS_TRY(c_.Expect("="));
    DRIFTLESS_ASSIGN_OR_RETURN(std::string value, c_.ExpectStringLiteral());
    s_.options.emplace_back(std::move(key), std::move(value));
    return {};
  }

  Result<void> Reset() {
    s_.verb = Verb::kReset;
    if (c_.Is(";") || c_.Peek().kind == TokenKind::kEnd) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(std::string key, c_.ExpectStringLiteral());
    s_.keys.push_back(std::move(key));
    return {};
  }

  Result<void> Module(Verb verb) {
    s_.verb = verb;
    DRIFTLESS_TRY(c_.Expect("MODULE"));
    DRIFTLESS_TRY(Name());
    return With();
  }

  TokenCursor& c_;
  std::string_view sql_;
  Statement s_;
};

// SET k = v and RESET k with bare keys never reach Flink's grammar (SetStrategy, ResetStrategy).
bool MatchBareSet(std::string_view sql, Statement* statement) {
  static const RE2* const kSet =
      new RE2("(?is)\\s*SET\\s+([^'\\s=;]+)\\s*=\\s*(?:'((?:[^']|'')*)'|([^;'\\s]+))\\s*;?\\s*");
  static const RE2* const kReset = new RE2("(?is)\\s*RESET\\s+([^'\\s;]+)\\s*;?\\s*");
  std::string key;
  std::string quoted;
  std::string bare;
  if (RE2::FullMatch(sql, *kSet, &key, &quoted, &bare)) {
    statement->verb = Verb::kSet;
    statement->options.emplace_back(key, bare.empty() ? quoted : bare);
    return true;
  }
  if (RE2::FullMatch(sql, *kReset, &key)) {
    statement->verb = Verb::kReset;
    statement->keys.push_back(key);
    return true;
  }
  return false;
}

}  // namespace

Result<Statement> ParseStatement(std::string_view sql) {
  Statement bare;
  if (MatchBareSet(sql, &bare)) return bare;
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(sql));
  TokenCursor cursor(std::move(tokens), sql);
  return StatementParser(&cursor, sql).Parse();
}

}  // namespace driftless::flink
