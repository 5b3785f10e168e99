#include "config/definition/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/definition/selector.h"

namespace driftless {
namespace {

using testing::HasSubstr;

TablePath Path(std::string database, std::string table) {
  return {"", std::move(database), std::move(table)};
}

bool Selects(std::string_view selector, const TablePath& table) {
  Result<TableSelector> parsed = TableSelector::Parse(selector);
  EXPECT_TRUE(parsed.has_value()) << selector;
  return parsed && parsed->Matches(table);
}

TEST(TableSelector, MatchesWholeNamesWithoutLetterCase) {
  EXPECT_TRUE(Selects("db.t_\\.*", Path("DB", "T_1")));
  EXPECT_TRUE(Selects("app.orders", Path("app", "orders")));
  EXPECT_FALSE(Selects("app.orders", Path("app", "orders2"))) << "anchored at the end";
  EXPECT_FALSE(Selects("app.orders", Path("myapp", "orders"))) << "anchored at the start";
  EXPECT_TRUE(Selects("app_[0-9]+.\\.*", Path("app_12", "x")));
  EXPECT_TRUE(Selects("\\.*.\\.*", Path("any", "thing")));
  EXPECT_TRUE(Selects("db.(a|b)", Path("db", "b")));
}

TEST(TableSelector, SplitsListsAndKeepsEscapedCommas) {
  EXPECT_TRUE(Selects("db.a, db.b ", Path("db", "b")));
  EXPECT_TRUE(Selects("db.t{1\\,3}", Path("db", "ttt")));
  EXPECT_FALSE(Selects("db.t{1\\,3}", Path("db", "tttt")));
}

TEST(TableSelector, ComparesPartsByNumber) {
  const TablePath three{"cat", "s", "t"};
  EXPECT_TRUE(Selects("other.db.t", Path("db", "t"))) << "three parts ignore the first for two";
  EXPECT_FALSE(Selects("s.t", three));
  EXPECT_TRUE(Selects("cat.s.t", three));
  EXPECT_FALSE(Selects("dog.s.t", three));
  EXPECT_TRUE(Selects("t", TablePath{"", "", "t"}));
  EXPECT_FALSE(Selects("t", Path("db", "t")));
}

TEST(TableSelector, KnowsExactNames) {
  EXPECT_TRUE(TableSelector::Parse("db.t_1")->is_exact());
  EXPECT_FALSE(TableSelector::Parse("db.t_1,db.t_2")->is_exact());
  EXPECT_FALSE(TableSelector::Parse("db.t\\.*")->is_exact());
}

TEST(TableSelector, ExplainsMistakes) {
  EXPECT_EQ(TableSelector::Parse("a.b.c.d").error().ToString(),
            "\"a.b.c.d\" has 4 parts; a table has at most three. A dot separates the parts; write "
            "\\. for the \"any character\" of a regular expression.");
  EXPECT_EQ(TableSelector::Parse("db.").error().ToString(),
            "\"db.\" has an empty part. Write database.table; \\.* stands for every name.");
  EXPECT_THAT(
      TableSelector::Parse("db.*").error().ToString(),
      HasSubstr("\"*\" is not a regular expression: no argument for repetition operator: *"));
  EXPECT_THAT(TableSelector::Parse("db.(?!tmp)\\.*").error().ToString(),
              HasSubstr("uses \"(?!\", which regular expressions here do not have"));
  EXPECT_FALSE(TableSelector::Parse(" , ").has_value());
}

std::string Routed(std::string_view source_table, std::string_view sink_table,
                   std::string_view symbol, const TablePath& source) {
  Result<RoutePattern> pattern = RoutePattern::Parse(source_table, sink_table, symbol);
  if (!pattern) return "parse: " + pattern.error().ToString();
  Result<std::optional<TablePath>> target = pattern->Apply(source);
  if (!target) return "apply: " + target.error().ToString();
  if (!*target) return "none";
  const TablePath& path = **target;
  return path.catalog + "|" + path.database + "|" + path.table;
}

TEST(RoutePattern, MatchesTheWholeNameWithLetterCase) {
  EXPECT_EQ(Routed("db.t_\\.*", "ods.t", "", Path("db", "t_1")), "|ods|t");
  EXPECT_EQ(Routed("db.t_\\.*", "ods.t", "", Path("DB", "t_1")), "none");
  EXPECT_EQ(Routed("db.t", "ods.t", "", Path("db", "t_1")), "none");
  EXPECT_EQ(Routed("db.t, db.t_1", "ods.x", "", Path("db", "t_1")), "|ods|x")
      << "no entry matches a prefix of a name";
  EXPECT_EQ(Routed("dbxt", "ods.t", "", Path("db", "t")), "none") << "a dot is a dot";
}

TEST(RoutePattern, ReplacesTheSymbolByTheTableName) {
  EXPECT_EQ(Routed("db.\\.*", "ods.x_<>", "<>", Path("db", "t1")), "|ods|x_t1");
  EXPECT_EQ(Routed("db.\\.*", "<>.<>_<>", "<>", Path("db", "t")), "|t|t_t");
  EXPECT_EQ(Routed("db.\\.*", "ods.$1_<>", "<>", Path("db", "t")), "|ods|$1_t")
      << "with a symbol a dollar is a dollar";
  EXPECT_EQ(Routed("db.\\.*", "ods.<>", "<>", Path("db", "a.b")), "|ods|a.b")
      << "a dot in a name separates nothing";
}

TEST(RoutePattern, SubstitutesGroups) {
  EXPECT_EQ(Routed("db_(\\.*).(\\.*)_tbl", "s_$1.s_$2", "", Path("db_1", "a_tbl")), "|s_1|s_a");
  EXPECT_EQ(Routed("(\\.*)", "$1", "", Path("db", "t")), "|db|t");
  EXPECT_EQ(Routed("(\\.*)", "lake.$1", "", Path("db", "t.x")), "lake|db|t.x");
  EXPECT_EQ(Routed("a.(x\\.*), b.(y\\.*)", "o.$1$2", "", Path("b", "y1")), "|o|y1")
      << "groups are numbered through all entries";
  EXPECT_EQ(Routed("db.(\\.*)", "o.\\$_$10", "", Path("db", "t")), "|o|$_t0");
  EXPECT_EQ(Routed("db.\\.*", "ods.$0", "", Path("db", "t")), "ods|db|t");
}

TEST(RoutePattern, ExplainsMistakes) {
  EXPECT_EQ(Routed("db.(\\.*)", "o.$2", "", Path("db", "t")),
            "parse: sink-table \"o.$2\" names group 2; source-table has 1. Groups are the ( ) of "
            "source-table, counted from 1.");
  EXPECT_EQ(Routed("db.(\\.*)", "o.$x", "", Path("db", "t")),
            "parse: \"$\" in sink-table \"o.$x\" names no group. Write \\$ for a dollar sign in a "
            "name.");
  EXPECT_EQ(
      Routed("db.t", "a.b.c.d", "", Path("db", "t")),
      "parse: sink-table \"a.b.c.d\" is not a table name. A sink table is \"database.table\", "
      "or one or three such parts.");
  EXPECT_THAT(Routed("db.t", "a.", "", Path("db", "t")), HasSubstr("is not a table name"));
  EXPECT_THAT(Routed("(\\.*)", "a.b.$1", "", Path("db", "t")),
              HasSubstr("apply: what sink-table \"a.b.$1\" makes of source table db.t is not"));
  EXPECT_THAT(Routed("db.(", "a.b", "", Path("db", "t")), HasSubstr("missing )"));
  EXPECT_THAT(Routed(" ", "a.b", "", Path("db", "t")), HasSubstr("names no table"));
}

TEST(RoutePattern, KnowsManyToOneAndLetterCase) {
  EXPECT_TRUE(RoutePattern::Parse("db.t_\\.*", "ods.t", "")->is_many_to_one());
  EXPECT_FALSE(RoutePattern::Parse("db.t_\\.*", "ods.<>", "<>")->is_many_to_one());
  EXPECT_FALSE(RoutePattern::Parse("db.t", "ods.t", "")->is_many_to_one());
  EXPECT_TRUE(RoutePattern::Parse("db.T", "ods.t", "")->MatchesIgnoringCase(Path("db", "t")));
}

}  // namespace
}  // namespace driftless
