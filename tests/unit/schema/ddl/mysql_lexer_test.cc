#include "schema/ddl/mysql/lexer.h"

#include <gtest/gtest.h>

#include <vector>

namespace driftless::mysql {
namespace {

struct Options {
  Dialect dialect = Dialect::kMySql;
  int version = 0;
  SqlMode mode;
};

// Tokens as "kind:text", joined by blanks.
std::string Lex(std::string_view sql, const Options& options = {}) {
  static constexpr const char* kKinds[] = {"end", "w",    "q",   "s",   "n",  "num",
                                           "hex", "bits", "var", "sym", "bad"};
  ServerSettings settings;
  settings.dialect = options.dialect;
  settings.version = options.version;
  Lexer lexer(sql, settings, options.mode);
  std::string text;
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    if (!text.empty()) text += " ";
    text += std::string(kKinds[static_cast<int>(token.kind)]) + ":" + token.text;
    if (token.kind == TokenKind::kBad) break;
  }
  return text;
}

TEST(MySqlLexerTest, NamesAndNumbers) {
  EXPECT_EQ(Lex("a1 _ $x 1c 20240101t größe `a``b` 名前"),
            "w:a1 w:_ w:$x w:1c w:20240101t w:größe q:a`b w:名前");
  EXPECT_EQ(Lex("1 1.5 .5 1. 1e3 1.5E-10 1e3x 0x1F 0xZZ 0b01 0b2"),
            "num:1 num:1.5 num:.5 num:1. num:1e3 num:1.5E-10 w:1e3x hex:1F w:0xZZ bits:01 w:0b2");
  EXPECT_EQ(Lex("shop.20240102 t.1e5 shop.select db . t"),
            "w:shop sym:. w:20240102 w:t sym:. w:1e5 w:shop sym:. w:select w:db sym:. w:t");
}

TEST(MySqlLexerTest, StringsAndModes) {
  EXPECT_EQ(Lex(R"('it''s' "say ""hi""" 'a\'b\n\%\q')"), "s:it's s:say \"hi\" s:a'b\n\\%q");
  EXPECT_EQ(Lex(R"(n'x' N'y' x'41' X'4' b'101')"), "n:x n:y hex:41 bad:malformed x'...' literal");
  Options ansi;
  ansi.mode.ansi_quotes = true;
  EXPECT_EQ(Lex(R"("q t" 'x')", ansi), "q:q t s:x");
  Options plain;
  plain.mode.no_backslash_escapes = true;
  EXPECT_EQ(Lex(R"('a\' 'b\n')", plain), "s:a\\ s:b\\n");
  EXPECT_EQ(Lex(R"(`t\\`)"), "q:t\\\\");
  EXPECT_EQ(Lex("a 'open"), "w:a bad:string without end");
  EXPECT_EQ(Lex("a `open"), "w:a bad:quoted name without end");
}

TEST(MySqlLexerTest, Comments) {
  EXPECT_EQ(Lex("a # b\nc -- d\ne --f\n/* g ; */ h /**/i"), "w:a w:c w:e sym:- sym:- w:f w:h w:i");
  EXPECT_EQ(Lex("a /* open"), "w:a bad:comment without end");
  EXPECT_EQ(Lex("a--\nb"), "w:a w:b");
}

TEST(MySqlLexerTest, VersionedCommentsAreCodeWhereTheServerTakesThem) {
  EXPECT_EQ(Lex("/*! a */ /*!50100 b*/ /*!80023c*/ /*!99999 d */ /*!100100 e */ f"),
            "w:a w:b w:c w:f");
  Options old;
  old.version = 50744;
  EXPECT_EQ(Lex("/*!50744 a */ /*!50745 b */ /*!80000 c */ d", old), "w:a w:d");
  Options maria;
  maria.dialect = Dialect::kMariaDb;
  EXPECT_EQ(Lex("/*M! a */ /*M!100100 b */ /*M!999999 c */ /*!50503 d */ /*!50700 e */ "
                "/*!99999 f */ /*!100100 g */",
                maria),
            "w:a w:b w:d w:g");
  EXPECT_EQ(Lex("/*M! a */ b"), "w:b");
  EXPECT_EQ(Lex("/*!99999 a /* nested */ b */ c"), "w:c");
  EXPECT_EQ(Lex("/*!50100 a"), "w:a bad:comment without end");
}

TEST(MySqlLexerTest, PlacesCountCharactersAndLines) {
  const std::string text = "größe\n\tцвет x";
  const size_t x = text.size() - 1;
  EXPECT_EQ(LocateOffset(text, 0).line, 1);
  EXPECT_EQ(LocateOffset(text, x).line, 2);
  EXPECT_EQ(LocateOffset(text, x).column, 7);
  EXPECT_EQ(LocateOffset(text, text.size()).column, 8);
}

}  // namespace
}  // namespace driftless::mysql
