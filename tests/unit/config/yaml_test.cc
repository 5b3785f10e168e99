#include "config/yaml/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace driftless {
namespace {

ReferenceResolver FakeResolver() {
  ReferenceResolver resolver;
  resolver.environment = [](const std::string& name) -> std::optional<std::string> {
    static const std::map<std::string, std::string> kValues = {
        {"PASSWORD", "a: b # c"}, {"EMPTY", ""}, {"USER", "shop"}};
    const auto it = kValues.find(name);
    return it == kValues.end() ? std::nullopt : std::optional(it->second);
  };
  resolver.file = [](const std::string& path) -> Result<std::string> {
    if (path == "/secrets/token") return std::string("t0ken");
    return MakeError(ErrorKind::kNotFound, "cannot read \"" + path + "\"");
  };
  return resolver;
}

struct Parsed {
  YamlNode root;
  std::vector<std::string> problems;
};

Parsed Parse(std::string_view text, bool missing_is_warning = false) {
  ReferenceResolver resolver = FakeResolver();
  resolver.missing_is_warning = missing_is_warning;
  Problems problems;
  Parsed parsed;
  parsed.root = ParseYaml(text, resolver, &problems);
  for (const Problem& problem : problems.Sorted()) {
    parsed.problems.push_back(problem.ToString("f.yaml"));
  }
  return parsed;
}

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

TEST(Yaml, KeepsPlacesKindsAndText) {
  const Parsed parsed = Parse(
      "source:\n"
      "  type: mysql\n"
      "  port: 0123\n"
      "  'name': \"two words\"\n"
      "list: [a, 'b', 3]\n");
  ASSERT_THAT(parsed.problems, IsEmpty());
  const YamlNode::Entry* source = parsed.root.Find("source");
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->at.line, 1);
  ASSERT_TRUE(source->value.is_map());
  const YamlNode::Entry* port = source->value.Find("port");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->value.text, "0123") << "numbers keep their text";
  EXPECT_EQ(port->at.line, 3);
  EXPECT_EQ(port->at.column, 3);
  EXPECT_EQ(port->value.at.column, 9);
  EXPECT_TRUE(source->value.Find("name")->value.quoted);
  const YamlNode& list = parsed.root.Find("list")->value;
  ASSERT_TRUE(list.is_sequence());
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_EQ(list.items[2].text, "3");
}

TEST(Yaml, CountsColumnsInCharacters) {
  const Parsed parsed = Parse("{\"größe\": 1, x: {y: 1, y: 2}}\n");
  EXPECT_THAT(parsed.problems,
              ElementsAre("f.yaml:1:24: error: duplicate key \"y\"; it stands in line 1 already\n"
                          "  hint: Remove one of the two."));
}

TEST(Yaml, TellsWrittenNullFromNothing) {
  const Parsed parsed = Parse("a: null\nb:\nc: ~\nd: ''\n");
  ASSERT_THAT(parsed.problems, IsEmpty());
  EXPECT_EQ(parsed.root.Find("a")->value.text, "null");
  EXPECT_TRUE(parsed.root.Find("a")->value.is_null());
  EXPECT_EQ(parsed.root.Find("b")->value.text, "");
  EXPECT_TRUE(parsed.root.Find("b")->value.is_null());
  EXPECT_EQ(parsed.root.Find("c")->value.text, "~");
  EXPECT_TRUE(parsed.root.Find("d")->value.is_scalar());
}

TEST(Yaml, ReportsEveryDuplicateKey) {
  EXPECT_THAT(
      Parse("a: 1\nb: 2\na: 3\nb: 4\n").problems,
      ElementsAre(StartsWith("f.yaml:3:1: error: duplicate key \"a\"; it stands in line 1"),
                  StartsWith("f.yaml:4:1: error: duplicate key \"b\"; it stands in line 2")));
}

TEST(Yaml, ExplainsIndentation) {
  EXPECT_THAT(Parse("source:\n  type: mysql\n   port: 1\n").problems,
              ElementsAre("f.yaml:3:8: error: a value cannot stand here\n"
                          "  hint: A text that holds \": \" needs quotes; otherwise check the "
                          "indentation."));
  EXPECT_THAT(Parse("source:\n  type: mysql\n port: 1\n").problems,
              ElementsAre(StartsWith(
                  "f.yaml:3:2: error: this line does not belong to the block above it")));
  EXPECT_THAT(Parse("route:\n  - a: 1\n  b: 2\n").problems,
              ElementsAre(StartsWith(
                  "f.yaml:3:3: error: this line does not belong to the block above it")));
}

TEST(Yaml, ExplainsTabs) {
  EXPECT_THAT(Parse("source:\n\ttype: mysql\n").problems,
              ElementsAre("f.yaml:2:1: error: a tab indents this line\n"
                          "  hint: YAML wants spaces; use two per level."));
  EXPECT_THAT(Parse("source:\n  a: 1\n  \tb: 2\n").problems,
              ElementsAre(StartsWith("f.yaml:3:3: error: a tab indents this line")));
}

TEST(Yaml, ExplainsQuotesAndStars) {
  EXPECT_THAT(
      Parse("a: 'x\n").problems,
      ElementsAre("f.yaml:1:4: error: this quote is not closed\n  hint: Add the missing quote."));
  EXPECT_THAT(
      Parse("a: \"db.\\.*\"\n").problems,
      ElementsAre(StartsWith("f.yaml:1:8: error: unknown escape in a text in double quotes")));
  EXPECT_THAT(Parse("a: 'it''s\n  more'\nb: \"say \\\"hi\\\"\"\n").problems, IsEmpty());
  EXPECT_THAT(Parse("projection: *, 1\n").problems.size(), 1u);
}

TEST(Yaml, RefusesTagsAndSecondDocuments) {
  EXPECT_THAT(Parse("a: !!binary aGk=\n").problems,
              ElementsAre(StartsWith("f.yaml:1:4: error: the tag \"tag:yaml.org,2002:binary\"")));
  EXPECT_THAT(Parse("a: !!str 1\n").problems, IsEmpty());
  EXPECT_THAT(Parse("a: 1\n---\nb: 2\n").problems,
              ElementsAre(StartsWith("f.yaml:2:1: error: a second document starts here")));
}

TEST(Yaml, RefusesWhatIsNotText) {
  EXPECT_THAT(Parse("a: 1\nb: x\xff\n").problems,
              ElementsAre(StartsWith("f.yaml:2:5: error: this is not UTF-8 text")));
  EXPECT_THAT(Parse(std::string_view("a: \0\n", 5)).problems,
              ElementsAre(StartsWith("f.yaml:1:4: error: this is not UTF-8 text")));
}

TEST(Yaml, ExpandsAnchorsAndMergeKeys) {
  const Parsed parsed = Parse(
      "base: &base {host: h, port: 1}\n"
      "copy:\n"
      "  <<: *base\n"
      "  port: 2\n");
  ASSERT_THAT(parsed.problems, IsEmpty());
  const YamlNode& copy = parsed.root.Find("copy")->value;
  EXPECT_EQ(copy.Find("host")->value.text, "h");
  EXPECT_EQ(copy.Find("port")->value.text, "2");
}

TEST(Yaml, BoundsWhatAliasesExpandTo) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) text += ", " + last;
    text += "]\n";
  }
  EXPECT_THAT(Parse(text).problems, ElementsAre(testing::HasSubstr("more than 200000 nodes")));
}

TEST(Yaml, BoundsDepth) {
  EXPECT_EQ(Parse("a: " + std::string(5000, '[')).problems.size(), 1u);
  EXPECT_EQ(Parse("a: " + std::string(5000, '{')).problems.size(), 1u);
}

TEST(Yaml, ResolvesReferencesAfterParsing) {
  const Parsed parsed = Parse(
      "a: ${ENV:PASSWORD}\n"
      "b: 'x${ENV:USER}y${FILE:/secrets/token}'\n"
      "c: ${ENV:NONE:-fallback}\n"
      "d: ${ENV:EMPTY}\n"
      "e: $${ENV:USER} costs $5\n"
      "f: ${secret_values.USER}\n");
  ASSERT_THAT(parsed.problems, IsEmpty());
  const auto text = [&](std::string_view key) { return parsed.root.Find(key)->value.text; };
  EXPECT_EQ(text("a"), "a: b # c") << "a value cannot change the structure";
  EXPECT_EQ(text("b"), "xshopyt0ken");
  EXPECT_EQ(text("c"), "fallback");
  EXPECT_EQ(text("d"), "");
  EXPECT_EQ(text("e"), "${ENV:USER} costs $5");
  EXPECT_EQ(text("f"), "shop");
  EXPECT_EQ(parsed.root.Find("a")->value.PrintableText(), "${ENV:PASSWORD}");
  EXPECT_EQ(parsed.root.Find("e")->value.written, "");
}

TEST(Yaml, ReportsReferencesThatCannotBeResolved) {
  EXPECT_THAT(Parse("a: ${ENV:NONE}\nb: ${FILE:/none}\nc: ${OTHER:x}\nd: ${ENV:USER\n").problems,
              ElementsAre("f.yaml:1:4: error: environment variable NONE is not set\n"
                          "  hint: Set it, or give a default: ${ENV:NONE:-default}.",
                          "f.yaml:2:4: error: cannot read \"/none\"",
                          StartsWith("f.yaml:3:4: error: unknown reference \"${OTHER:x}\""),
                          StartsWith("f.yaml:4:4: error: \"${\" is not closed")));
  const Parsed lax = Parse("a: ${ENV:NONE}\n", /*missing_is_warning=*/true);
  EXPECT_THAT(lax.problems,
              ElementsAre("f.yaml:1:4: warning: environment variable NONE is not set"));
  EXPECT_EQ(lax.root.Find("a")->value.text, "${ENV:NONE}");
}

}  // namespace
}  // namespace driftless
