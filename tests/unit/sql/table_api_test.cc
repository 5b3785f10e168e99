// Plays what was recorded of Flink's Table API, and what Java would not compile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <string>
#include <vector>

#include "config/table_api/java_text.h"
#include "config/table_api/session.h"
#include "tests/unit/sql/transcript.h"

namespace driftless::table_api {
namespace {

using ::testing::HasSubstr;

// What was recorded, without the tables that the recorder itself made by printing variables: a
// Java table gets a name of its own, UnnamedTable$7, when it is turned into text.
std::vector<std::string> Recorded(std::vector<std::string> lines) {
  static const RE2* const kUnnamed = new RE2(R"((, )?UnnamedTable\$\d+)");
  for (std::string& line : lines) {
    if (RE2::GlobalReplace(&line, *kUnnamed, "") > 0) RE2::Replace(&line, R"(\[, )", "[");
  }
  return lines;
}

class TableApiTranscript : public ::testing::TestWithParam<std::string> {};

TEST_P(TableApiTranscript, AnswersAsFlinkDoes) {
  const flink::Transcript transcript =
      flink::ReadTranscript(flink::TranscriptFolder() / (GetParam() + ".transcript"));
  TableSession session({.batch = transcript.header.at("mode") == "batch"});
  int different = 0;
  std::string report;
  for (const flink::TranscriptRecord& record : transcript.records) {
    std::string difference;
    const auto statements = ParseJava(record.statement);
    if (!statements || statements->size() != 1) {
      difference = statements ? "not one statement" : statements.error().ToString();
    } else {
      const auto printed = session.Execute(statements->front());
      if (printed.has_value() != record.ok) {
        difference = printed ? "succeeded" : printed.error().ToString();
      } else if (printed) {
        difference = flink::FirstDifference(Recorded(record.output), flink::LinesOf(*printed));
      } else if (printed.error().message() != record.chain) {
        difference = "wanted: " + record.chain + "\n     got: " + printed.error().message();
      }
    }
    if (difference.empty()) continue;
    ++different;
    report += "\n> " + record.statement + "\n" + difference + "\n";
  }
  EXPECT_EQ(different, 0) << report;
}

INSTANTIATE_TEST_SUITE_P(Flink, TableApiTranscript,
                         ::testing::Values("table_api_batch", "table_api_columns",
                                           "table_api_typed"),
                         [](const auto& suite) { return suite.param; });

// What the statements print; the first error in its place.
std::string Play(const std::string& text, TableOptions options = {.batch = true}) {
  const auto statements = ParseJava(text);
  if (!statements) return statements.error().ToString();
  TableSession session(options);
  std::string out;
  for (const Statement& statement : *statements) {
    const auto printed = session.Execute(statement);
    if (!printed) return out + printed.error().ToString();
    out += *printed;
  }
  return out;
}

constexpr const char* kPeople =
    "Table people = fromValues(row(1, \"Ann\", 30), row(2, \"Bob\", 40)).as(\"id\", \"name\", "
    "\"age\");\n";

TEST(TableApi, MisuseIsExplained) {
  const std::string people = kPeople;
  EXPECT_THAT(
      Play(people + "people.addColumns(\"Active\");"),
      HasSubstr("addColumns takes expressions, not the Java value 'Active' (line 2, column 8). "
                "Write lit(..) around a constant"));
  EXPECT_THAT(Play(people + "people.addColumns(lit(1).as(\"age\"));"),
              HasSubstr("Ambiguous column name: age (line 2, column 8). Use addOrReplaceColumns"));
  EXPECT_THAT(Play(people + "people.select(concat($(\"name\"), $(\"age\")));"),
              HasSubstr("concat takes texts: write $(\"..\").cast(DataTypes.STRING())"));
  EXPECT_THAT(Play(people + "people.addColumn(lit(1));"), HasSubstr("Did you mean \"addColumns\""));
  EXPECT_THAT(Play(people + "people.select($(\"id\").plu(1));"),
              HasSubstr("Did you mean \"plus\""));
  EXPECT_THAT(Play("person.printSchema();"),
              HasSubstr("there is no variable person (line 1, column 1)"));
  EXPECT_THAT(Play("fromValues(row(1, 'a'));"), HasSubstr("a text stands in double quotes"));
  EXPECT_THAT(Play("fromValues(lit(null));"), HasSubstr("lit(null, DataTypes.STRING())"));
  EXPECT_THAT(Play("fromValues(row(1)"), HasSubstr("expected ',' or ')', found the end"));
  EXPECT_THAT(Play(people + "people.where($(\"id\"));"),
              HasSubstr("requires a boolean expression"));
  EXPECT_THAT(Play("$(\"a\").cast(DataTypes.STRNG());"), HasSubstr("Did you mean \"STRING\""));
  EXPECT_THAT(Play("\"a\".upperCase();"), HasSubstr("Write lit('a').upperCase(..)"));
}

TEST(TableApi, ExpressionsOfEveryKind) {
  const std::string people = kPeople;
  EXPECT_EQ(
      Play(people + "people.select(ifThenElse($(\"age\").isGreater(35), lit(\"old\"), "
                    "lit(\"young\")).as(\"a\"),"
                    "$(\"age\").minus(1).times(2).dividedBy(3).mod(7).as(\"b\"),"
                    "and($(\"id\").isEqual(1), $(\"age\").between(20, 30), "
                    "not($(\"name\").isNull())).as(\"c\"),"
                    "$(\"name\").substring(2).as(\"d\"), lit(-5L).as(\"e\"), lit(2.5f).as(\"f\"),"
                    "$(\"name\").in(\"Bob\", \"Eve\").as(\"g\")).execute().print();"),
      "+--------------------------------+-------------+--------+--------------------------------+"
      "----------------------+--------------------------------+--------+\n"
      "|                              a |           b |      c |                              d |"
      "                    e |                              f |      g |\n"
      "+--------------------------------+-------------+--------+--------------------------------+"
      "----------------------+--------------------------------+--------+\n"
      "|                          young |           5 |   TRUE |                             nn |"
      "                   -5 |                            2.5 |  FALSE |\n"
      "|                            old |           5 |  FALSE |                             ob |"
      "                   -5 |                            2.5 |   TRUE |\n"
      "+--------------------------------+-------------+--------+--------------------------------+"
      "----------------------+--------------------------------+--------+\n"
      "2 rows in set\n");
}

TEST(TableApi, OlderSchemaStyle) {
  EXPECT_EQ(
      Play(std::string(kPeople) + "people.printSchema();", {.schema_style = SchemaStyle::kTree}),
      "root\n |-- id: INT NOT NULL\n |-- name: CHAR(3) NOT NULL\n |-- age: INT NOT NULL\n");
}

TEST(TableApi, TablesOfConnectorsHaveNoRowsHere) {
  EXPECT_THAT(Play("tEnv.executeSql(\"CREATE TABLE t (a INT) WITH ('connector' = 'datagen')\");\n"
                   "tEnv.from(\"t\").execute();"),
              HasSubstr("Run it on Flink"));
}

}  // namespace
}  // namespace driftless::table_api
