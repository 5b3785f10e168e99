#include "pipeline/script/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/script/script_rows.h"
#include "schema/types/value_text.h"
#include "tests/doubles/source_table.h"

namespace driftless {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ScriptDirective::Kind;

TEST(ScriptTest, SplitsDirectivesAndKeepsPlaces) {
  const auto script = ParseScript(
      "# a comment\n"
      "pipeline\n"
      "  sink:\n"
      "    type: paimon\n"
      "\n"
      "  pipeline:\n"
      "    name: x\n"
      "\n"
      "ddl shop\n"
      "\tCREATE TABLE a (\n"
      "\t  id INT);\n"
      "refuse \"no \\\"way\\\"\" 2\n"
      "crash after step\r\n"
      "schema lake shop.a\n",
      "x.drift");
  ASSERT_TRUE(script.has_value()) << script.error().ToString();
  ASSERT_EQ(script->directives.size(), 5u);
  const ScriptDirective& pipeline = script->directives[0];
  EXPECT_EQ(pipeline.kind, Kind::kPipeline);
  EXPECT_EQ(JoinBody(pipeline), "sink:\n  type: paimon\n\npipeline:\n  name: x\n");
  EXPECT_EQ(pipeline.body[4].line, 7);
  EXPECT_EQ(script->directives[1].line, 9);
  EXPECT_THAT(script->directives[1].words, ElementsAre("shop"));
  EXPECT_EQ(JoinBody(script->directives[1]), "CREATE TABLE a (\n  id INT);\n");
  EXPECT_THAT(script->directives[2].words, ElementsAre("no \"way\"", "2"));
  EXPECT_THAT(script->directives[3].words, ElementsAre("after", "step"));
  EXPECT_THAT(script->directives[4].words, ElementsAre("lake", "shop.a"));
}

std::string ParseProblem(std::string_view text) {
  const auto script = ParseScript(text, "x.drift");
  return script ? "none" : script.error().ToString();
}

TEST(ScriptTest, SaysWhereAScriptIsWrong) {
  EXPECT_THAT(ParseProblem("restart\nshema a.b\n"), HasSubstr("line 2, column 1"));
  EXPECT_THAT(ParseProblem("shema a.b\n"), HasSubstr("schema"));
  EXPECT_THAT(ParseProblem("  indented\n"), HasSubstr("line 1"));
  EXPECT_THAT(ParseProblem("restart\n  body\n"), HasSubstr("line 2, column 3"));
  EXPECT_THAT(ParseProblem("rows\n"), HasSubstr("rows TABLE"));
  EXPECT_THAT(ParseProblem("fails \"open\n"), HasSubstr("not closed"));
}

Result<ChangeBatchPtr> Rows(const std::string& body) {
  static const SourceTable table("shop.orders",
                                 {"id BIGINT NOT NULL", "note STRING", "price DECIMAL(6, 2)",
                                  "at TIMESTAMP(3)", "raw BYTES", "paid BOOLEAN"},
                                 {"id"});
  const auto script = ParseScript("rows shop.orders\n" + body, "x.drift");
  if (!script) return script.error();
  return ReadRows(script->directives[0], table.schema(), 3);
}

std::string Texts(const ChangeBatch& batch, std::span<const ColumnView> columns, int64_t row) {
  std::string text;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += "|";
    if (columns[i].IsAbsent(row)) {
      text += "absent";
    } else {
      AppendJson(batch.schema()->columns[i].type, columns[i], row, {.bytes = BytesText::kHex},
                 &text);
    }
  }
  return text;
}

TEST(ScriptRowsTest, ReadsEveryKindOfChange) {
  const auto batch = Rows(
      "  +I {\"id\": 1, \"note\": \"a\\nb\", \"price\": 12.5, \"at\": \"2024-01-31 10:00:00.5\",\n"
      "  # a comment\n");
  ASSERT_FALSE(batch.has_value());
  const auto good = Rows(
      "  +I {\"id\": 1, \"note\": \"a\\nb\", \"price\": 12.5, \"raw\": \"0x00ff\", \"paid\": "
      "true}\n"
      "  # a comment\n"
      "\n"
      "  -U {\"id\": 1, \"note\": \"a\"}\n"
      "  +U {\"id\": 1, \"at\": \"2024-01-31 10:00:00.5\"}\n"
      "  -D {\"id\": 1}\n");
  ASSERT_TRUE(good.has_value()) << good.error().ToString();
  const ChangeBatch& changes = **good;
  ASSERT_EQ(changes.size(), 3);
  EXPECT_EQ(Texts(changes, changes.after(), 0), "1|\"a\\nb\"|\"12.50\"|null|\"00ff\"|true");
  EXPECT_EQ(changes.ops()[1], Op::kUpdate);
  EXPECT_EQ(Texts(changes, changes.before(), 1), "1|\"a\"|absent|absent|absent|absent");
  EXPECT_EQ(Texts(changes, changes.after(), 1),
            "1|absent|absent|\"2024-01-31 10:00:00.500\"|absent|absent");
  EXPECT_EQ(changes.ops()[2], Op::kDelete);
  EXPECT_EQ(Texts(changes, changes.before(), 2), "1|absent|absent|absent|absent|absent");
  EXPECT_EQ(changes.point(2).offset, 7u);
  EXPECT_EQ(changes.point(2).stream, 3u);
}

TEST(ScriptRowsTest, SaysWhichRowIsWrong) {
  const auto problem = [](const std::string& body) {
    const auto rows = Rows(body);
    return rows ? std::string("none") : rows.error().ToString();
  };
  EXPECT_THAT(problem("  +I {\"id\": 1, \"nota\": 2}\n"), HasSubstr("no column \"nota\""));
  EXPECT_THAT(problem("  +I {\"id\": \"x\"}\n"), HasSubstr("is no BIGINT NOT NULL"));
  EXPECT_THAT(problem("  +I {\"id\": 1}\n  +X {\"id\": 1}\n"), HasSubstr("line 3"));
  EXPECT_THAT(problem("  -U {\"id\": 1}\n"), HasSubstr("followed by its +U"));
  EXPECT_THAT(problem("  -U {\"id\": 1}\n  +I {\"id\": 1}\n"), HasSubstr("followed by its +U"));
  EXPECT_THAT(problem("  +I {\"id\": 1} x\n"), HasSubstr("not a JSON object"));
  EXPECT_THAT(problem("  +I {\"price\": 12.345}\n"), HasSubstr("DECIMAL(6, 2)"));
  EXPECT_THAT(problem("  +I {\"id\": 1, \"id\": 2}\n"), HasSubstr("given twice"));
}

}  // namespace
}  // namespace driftless
