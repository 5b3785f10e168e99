#include "config/options/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/options/suggest.h"

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::vector<OptionSpec>& Specs() {
  static const std::vector<OptionSpec> specs = {
      {.key = "hostname", .required = true, .doc = "The server's name."},
      {.key = "port", .type = OptionType::kInt, .default_value = "3306", .min = 1, .max = 65535},
      {.key = "password", .secret = true},
      {.key = "token", .type = OptionType::kInt, .secret = true},
      {.key = "mode",
       .type = OptionType::kEnum,
       .default_value = "safe",
       .values = {"safe", "fast"}},
      {.key = "drop.skip", .type = OptionType::kEnum, .values = {"null", "keep"}},
      {.key = "batch", .type = OptionType::kBool, .aliases = {"sink.enable.batch"}},
      {.key = "wait", .type = OptionType::kDuration, .default_value = "10 s", .min = 1000},
      {.key = "size", .type = OptionType::kBytes, .max = 1 << 20},
      {.key = "urls", .type = OptionType::kList},
      {.key = "events", .type = OptionType::kSequence},
      {.key = "zones", .type = OptionType::kMap},
      {.key = "table.properties.*", .type = OptionType::kMap},
      {.key = "table.properties.deep.*", .type = OptionType::kMap},
  };
  return specs;
}
const std::vector<OptionSpec>& SharedSpecs() {
  static const std::vector<OptionSpec> specs = {{.key = "type", .required = true}, {.key = "name"}};
  return specs;
}

struct Parsed {
  OptionValues shared;
  OptionValues own;
  std::vector<std::string> problems;
};

Parsed Parse(std::string_view yaml) {
  Problems problems;
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  const YamlNode node = ParseYaml(yaml, resolver, &problems);
  std::vector<OptionValues> values =
      ParseOptions(node, "sink \"lake\"", {SharedSpecs(), Specs()}, &problems);
  Parsed parsed{std::move(values[0]), std::move(values[1]), {}};
  for (const Problem& problem : problems.Sorted()) parsed.problems.push_back(problem.ToString("f"));
  return parsed;
}

TEST(ParseOptions, ReadsTypesAliasesDefaultsAndPrefixMaps) {
  const Parsed parsed = Parse(
      "type: mysql\nhostname: db1\nsink.enable.batch: TRUE\nmode: FAST\nsize: 64kb\n"
      "urls: a;b, c\nevents: [x, y]\nzones: 'a:1,b:2'\ndrop.skip: null\n"
      "table.properties.bucket: 4\n"
      "table.properties:\n  file.format: parquet\n  nested: {key: 1}\n"
      "table.properties.deep.er: 2\n");
  ASSERT_THAT(parsed.problems, IsEmpty());
  EXPECT_EQ(parsed.shared.String("type"), "mysql");
  EXPECT_EQ(parsed.own.String("hostname"), "db1");
  EXPECT_EQ(parsed.own.Int("port"), 3306);
  EXPECT_FALSE(parsed.own.IsSet("port"));
  EXPECT_TRUE(parsed.own.IsSet("hostname"));
  EXPECT_EQ(parsed.own.At("hostname").line, 2);
  EXPECT_EQ(parsed.own.Bool("batch"), true);
  EXPECT_EQ(parsed.own.Enum("mode"), "fast");
  EXPECT_EQ(parsed.own.Enum("drop.skip"), "null");
  EXPECT_EQ(parsed.own.DurationMs("wait"), 10'000);
  EXPECT_EQ(parsed.own.Bytes("size"), 65'536);
  EXPECT_THAT(parsed.own.List("urls"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(parsed.own.List("events"), ElementsAre("x", "y"));
  EXPECT_THAT(parsed.own.Map("zones"), ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_THAT(
      parsed.own.Map("table.properties.*"),
      ElementsAre(Pair("bucket", "4"), Pair("file.format", "parquet"), Pair("nested.key", "1")));
  EXPECT_THAT(parsed.own.Map("table.properties.deep.*"), ElementsAre(Pair("er", "2")));
  EXPECT_EQ(parsed.own.String("password"), std::nullopt);
}

TEST(ParseOptions, ReportsEverythingAtOnce) {
  EXPECT_THAT(
      Parse("type: mysql\nhostnme: db1\nport: 99999\nbatch: yes\nsink.enable.batch: true\n"
            "wait: 10 ms\nsize: 2mb\nmode: saef\nevents: add\nurls:\ntable: {properties: 1}\n")
          .problems,
      ElementsAre(
          "f:1:1: error: sink \"lake\" needs the option \"hostname\"\n  hint: The server's name.",
          "f:2:1: error: unknown option \"hostnme\" of sink \"lake\"\n"
          "  hint: Did you mean \"hostname\"?",
          "f:3:7: error: \"port\": \"99999\" is out of range; it must be between 1 and 65535",
          "f:4:8: error: \"batch\": \"yes\" is neither true nor false",
          "f:5:1: error: \"sink.enable.batch\" and \"batch\" (line 4) are the same option\n"
          "  hint: Keep one of the two.",
          "f:6:7: error: \"wait\": \"10 ms\" is out of range; it must be at least 1000 ms",
          "f:7:7: error: \"size\": \"2mb\" is out of range; it must be at most 1048576 bytes",
          "f:8:7: error: \"mode\": unknown value \"saef\"\n  hint: Did you mean \"safe\"?",
          "f:9:9: error: \"events\" must be a list, not a value\n  hint: Write [add].",
          "f:10:1: error: \"urls\" has no value\n"
          "  hint: Write one, or remove the line; '' is the empty text.",
          "f:11:1: error: unknown option \"table\" of sink \"lake\"\n"
          "  hint: Options are not nested: write \"table.properties.*: ...\" in one line."));
}

TEST(ParseOptions, NeverRepeatsASecret) {
  for (const std::string& problem : Parse("type: x\nhostname: h\ntoken: hunter2\n").problems) {
    EXPECT_EQ(problem.find("hunter2"), std::string::npos) << problem;
  }
  EXPECT_EQ(Parse("type: x\nhostname: h\ntoken: hunter2\n").problems.size(), 1u);
}

TEST(ParseOptions, LeavesWrongValuesOut) {
  const Parsed parsed = Parse("type: x\nhostname: h\nport: abc\n");
  EXPECT_EQ(parsed.problems.size(), 1u);
  EXPECT_EQ(parsed.own.Int("port"), std::nullopt);
}

TEST(ParseOptions, SaysThatABlockMustBeAMap) {
  EXPECT_THAT(Parse("[a]").problems,
              testing::Contains("f:1:1: error: sink \"lake\" must be a map of options, not a list\n"
                                "  hint: Write \"key: value\" lines below it, indented."));
}

TEST(SplitList, HonoursQuotes) {
  EXPECT_THAT(SplitList(" a ; 'b,c' ,, 'it''s' "), ElementsAre("a", "b,c", "it's"));
  EXPECT_THAT(SplitList(""), IsEmpty());
}

TEST(Suggest, FindsTypingMistakes) {
  const std::vector<std::string_view> known = {"hostname", "checkpoint.interval", "port",
                                               "sink.enable-batch-mode"};
  EXPECT_EQ(Nearest("hostnme", known), "hostname");
  EXPECT_EQ(Nearest("HOSTNAME", known), "hostname");
  EXPECT_EQ(Nearest("checkpoint_interval", known), "checkpoint.interval");
  EXPECT_EQ(Nearest("interval", known), "checkpoint.interval");
  EXPECT_EQ(Nearest("opr", known), "");
  EXPECT_EQ(Nearest("prot", known), "port");
  EXPECT_EQ(Nearest("something else", known), "");
  EXPECT_EQ(Suggest("x", std::vector<std::string_view>{"aaaaaa", "bbbbbb"}),
            "One of: aaaaaa, bbbbbb.");
}

}  // namespace
}  // namespace driftless
