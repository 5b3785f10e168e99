#include "config/options/render.h"

#include <gtest/gtest.h>

#include "config/definition/json_schema.h"
#include "config/options/parse.h"
#include "schema/base/json_writer.h"

namespace driftless {
namespace {

const std::vector<OptionSpec>& Specs() {
  static const std::vector<OptionSpec> specs = {
      {.key = "host", .required = true, .doc = "The server's name | address.", .aliases = {"h"}},
      {.key = "port",
       .type = OptionType::kInt,
       .default_value = "1",
       .doc = "The port.",
       .min = 1,
       .max = 9,
       .change = OnChange::kNewState},
      {.key = "password", .secret = true, .doc = "The password."},
      {.key = "old",
       .doc = "Ignored.",
       .flink_cdc = FlinkCdc::kIgnored,
       .flink_cdc_note = "It means nothing here."},
      {.key = "events", .type = OptionType::kSequence, .doc = "Events."},
      {.key = "props.*", .type = OptionType::kMap, .doc = "Properties."},
  };
  return specs;
}

TEST(Render, Text) {
  EXPECT_EQ(RenderOptionsText(Specs()),
            "  host  (text, required)\n"
            "      The server's name | address. Also written h.\n"
            "  port  (number, 1 to 9, default 1)\n"
            "      The port. A change needs a new state.\n"
            "  password  (text, secret)\n"
            "      The password.\n"
            "  old  (text)\n"
            "      Ignored. It means nothing here.\n"
            "  events  (list)\n"
            "      Events.\n"
            "  props.*  (map)\n"
            "      Properties.\n");
}

TEST(Render, Markdown) {
  EXPECT_EQ(RenderOptionsMarkdown(std::span(Specs()).first(2)),
            "| Option | Type | Default | Meaning |\n"
            "| --- | --- | --- | --- |\n"
            "| `host` | text | required | The server's name \\| address. Also written h. |\n"
            "| `port` | number, 1 to 9 | `1` | The port. A change needs a new state. |\n");
}

TEST(Render, Json) {
  std::string text;
  JsonWriter json(&text);
  WriteOptionsJson(std::span(Specs()).first(2), &json);
  EXPECT_EQ(text,
            R"([{"key":"host","type":"string","required":true,"secret":false,)"
            R"("doc":"The server's name | address.","aliases":["h"],"flink_cdc":"extension",)"
            R"("change":"restart"},{"key":"port","type":"int","default":"1","required":false,)"
            R"("secret":false,"doc":"The port.","min":1,"max":9,"flink_cdc":"extension",)"
            R"("change":"new_state"}])");
}

TEST(Render, ValuesWithoutSecrets) {
  Problems problems;
  ReferenceResolver resolver;
  resolver.environment = [](const std::string&) { return std::optional<std::string>("hunter2"); };
  const YamlNode node = ParseYaml(
      "host: ${ENV:HOST}\npassword: hunter2\nevents: [a, 'b c']\nprops.x: it's\nprops: {y: '1'}\n",
      resolver, &problems);
  const std::vector<OptionValues> values = ParseOptions(node, "x", {Specs()}, &problems);
  ASSERT_FALSE(problems.has_errors());
  EXPECT_EQ(RenderValues(values[0], 2),
            "  host: ${ENV:HOST}\n"
            "  # port: 1\n"
            "  password: '***'\n"
            "  events: [a, 'b c']\n"
            "  props.x: 'it''s'\n"
            "  props.y: 1\n");
}

TEST(IndentJson, PutsOneValuePerLine) {
  EXPECT_EQ(IndentJson(R"({"a":[1,"x,\"{"],"b":{},"c":[]})"),
            "{\n  \"a\": [\n    1,\n    \"x,\\\"{\"\n  ],\n  \"b\": {},\n  \"c\": []\n}\n");
}

}  // namespace
}  // namespace driftless
