#include "config/definition/pipeline_definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/fake_catalog.h"

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kSource =
    "source:\n"
    "  type: mysql\n"
    "  hostname: db\n"
    "  username: u\n"
    "  password: ${ENV:PASSWORD}\n"
    "  tables: shop.\\.*\n";
constexpr std::string_view kSink = "sink:\n  type: paimon\n";

std::string Join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

TEST(PipelineDefinition, ReadsAWholePipeline) {
  const ParsedPipeline parsed = ParseFake(Join({kSource,
                                                "sinks:\n"
                                                "  - type: paimon\n"
                                                "    name: lake\n"
                                                "    catalog.properties.warehouse: /data/lake\n"
                                                "    include.schema.changes: [column]\n"
                                                "    exclude.schema.changes: [drop.column]\n"
                                                "  - type: starrocks\n"
                                                "    exclude.schema.changes: []\n"
                                                "    capability.extensions: [rename.column]\n"
                                                "    on-unavailable: stop-sink\n"
                                                "route:\n"
                                                "  - source-table: shop.order_\\.*\n"
                                                "    sink-table: ods.orders\n"
                                                "    sinks: lake\n"
                                                "transform:\n"
                                                "  - source-table: shop.users\n"
                                                "    projection: \\*, UPPER(name) AS name\n"
                                                "    filter: id > 10\n"
                                                "    primary-keys: id, region\n"
                                                "    table-options: bucket=4,file.format = orc\n"
                                                "pipeline:\n"
                                                "  name: Shop to lake\n"
                                                "  parallelism: 4\n"
                                                "  schema.change.behavior: try_evolve\n"
                                                "  schema.change.approval: [drop.table]\n"
                                                "  approval.timeout: 2 h\n"
                                                "  drop.skip: null\n"
                                                "  rename.skip: 'null'\n"
                                                "  on-cast-failure: dead-letter\n"
                                                "  checkpoint.interval: 5s\n"
                                                "  local-time-zone: GMT+8\n"}));
  EXPECT_THAT(parsed.problems, IsEmpty());
  ASSERT_TRUE(parsed.definition);
  const PipelineDefinition& d = *parsed.definition;
  ASSERT_EQ(d.sources.size(), 1u);
  EXPECT_EQ(d.sources[0].name, "mysql");
  EXPECT_EQ(d.sources[0].options.String("password"), "hunter2");
  ASSERT_EQ(d.sinks.size(), 2u);
  const SinkDefinition& lake = *d.FindSink("lake");
  EXPECT_EQ(lake.options.Map("catalog.properties.*").at("warehouse"), "/data/lake");
  EXPECT_TRUE(lake.accepted.contains(EventKind::kCreateTable)) << "implied";
  EXPECT_TRUE(lake.accepted.contains(EventKind::kAddColumn));
  EXPECT_FALSE(lake.accepted.contains(EventKind::kDropColumn));
  EXPECT_FALSE(lake.accepted.contains(EventKind::kDropTable));
  const SinkDefinition& starrocks = *d.FindSink("starrocks");
  EXPECT_TRUE(starrocks.has_exclude_list);
  EXPECT_EQ(starrocks.accepted, AllEvents());
  EXPECT_THAT(starrocks.extensions, ElementsAre("rename.column"));
  EXPECT_EQ(starrocks.on_unavailable, OnUnavailable::kStopSink);
  ASSERT_EQ(d.routes.size(), 1u);
  EXPECT_TRUE(d.routes[0].IsFor("lake"));
  EXPECT_FALSE(d.routes[0].IsFor("starrocks"));
  ASSERT_EQ(d.transforms.size(), 1u);
  EXPECT_EQ(d.transforms[0].projection, "*, UPPER(name) AS name");
  EXPECT_THAT(d.transforms[0].primary_keys, ElementsAre("id", "region"));
  EXPECT_EQ(d.transforms[0].table_options.at("file.format"), "orc");
  EXPECT_EQ(d.options.name, "Shop to lake");
  EXPECT_EQ(d.options.parallelism, 4);
  EXPECT_EQ(d.options.behavior, Behavior::kTryEvolve);
  EXPECT_EQ(d.options.local_time_zone, "Etc/GMT-8");
  EXPECT_EQ(d.options.checkpoint_interval_ms, 5000);
  EXPECT_EQ(d.options.rename_skip, RenameSkip::kNull);

  const SinkPolicy policy = MakeSinkPolicy(d, lake);
  EXPECT_EQ(policy.behavior, Behavior::kTryEvolve);
  EXPECT_EQ(policy.accepted, lake.accepted);
  EXPECT_THAT(policy.approval, ElementsAre(EventKind::kDropTable));
  EXPECT_EQ(policy.approval_timeout_ms, 2 * 3600 * 1000);
  EXPECT_EQ(policy.drop_skip, DropSkip::kNull);
  EXPECT_EQ(policy.on_cast_failure, OnCastFailure::kDeadLetter);
  EXPECT_EQ(policy.on_null_violation, std::nullopt);
}

TEST(PipelineDefinition, HasTheDocumentedDefaults) {
  const ParsedPipeline parsed = ParseFake(Join({kSource, kSink}));
  EXPECT_THAT(parsed.problems, IsEmpty());
  ASSERT_TRUE(parsed.definition);
  const PipelineOptions& options = parsed.definition->options;
  EXPECT_EQ(options.name, "orders") << "from the file's name";
  EXPECT_EQ(options.behavior, Behavior::kLenient);
  EXPECT_FALSE(options.behavior_is_set);
  EXPECT_EQ(options.checkpoint_interval_ms, 10'000);
  EXPECT_EQ(options.approval_timeout_ms, 12LL * 3600 * 1000);
  EXPECT_EQ(options.audit_retention_ms, 90LL * 24 * 3600 * 1000);
  EXPECT_EQ(options.on_unparsed_ddl, OnUnparsedDdl::kPark);
  EXPECT_EQ(options.on_absent, OnAbsent::kFail);
  EXPECT_EQ(options.drop_skip, std::nullopt);
  EXPECT_EQ(options.rename_skip, RenameSkip::kFollow);
  EXPECT_EQ(options.memory_budget_bytes, 192LL << 20);
  EXPECT_EQ(options.http_address, "127.0.0.1:9464");
  EXPECT_FALSE(options.local_time_zone.empty());
}

TEST(PipelineDefinition, ReadsRulesAndKeepsTheirPlaces) {
  const ParsedPipeline parsed = ParseFake(Join({kSource, kSink,
                                                "pipeline:\n"
                                                "  schema.change.rules:\n"
                                                "    - {sink: paimon, table: ods.orders, event: "
                                                "drop.column, column: secret, verdict: apply}\n"
                                                "    - table: ods.\\.*\n"
                                                "      event: [drop, truncate.table]\n"
                                                "      behavior: IGNORE\n"
                                                "    - verdict: fail\n"}));
  ASSERT_THAT(parsed.problems, IsEmpty());
  const std::vector<PolicyRule> rules =
      MakeSinkPolicy(*parsed.definition, parsed.definition->sinks[0]).rules;
  ASSERT_EQ(rules.size(), 4u) << "tags and families of one entry are two rules";
  EXPECT_EQ(rules[0].text,
            "rule 1 (line 11): apply for drop.column of column secret in ods.orders at paimon");
  EXPECT_TRUE(rules[0].table_is_exact);
  EXPECT_TRUE(rules[0].table(TablePath{"", "ods", "ORDERS"}));
  EXPECT_FALSE(rules[0].table(TablePath{"", "ods", "orders2"}));
  EXPECT_EQ(rules[0].verdict, VerdictKind::kApply);
  EXPECT_EQ(rules[0].column, "secret");
  EXPECT_THAT(rules[1].events, ElementsAre(EventKind::kTruncateTable));
  EXPECT_FALSE(rules[1].events_are_family);
  EXPECT_THAT(rules[2].events, ElementsAre(EventKind::kDropTable, EventKind::kDropColumn));
  EXPECT_TRUE(rules[2].events_are_family);
  EXPECT_EQ(rules[2].behavior, Behavior::kIgnore);
  EXPECT_EQ(rules[3].text, "rule 3 (line 15): fail for every event");
  EXPECT_FALSE(rules[3].table);
}

TEST(PipelineDefinition, ReportsEverythingAtOnce) {
  const ParsedPipeline parsed = ParseFake(
      "source:\n"
      "  type: mysq\n"
      "sinks:\n"
      "  - type: paimon\n"
      "    include.schema.changes: add\n"
      "    exclude.schema.changes: [drop.colum, tighten.nullability]\n"
      "  - type: paimon\n"
      "    capability.extensions: [rename.column]\n"
      "route:\n"
      "  source-table: a.b\n"
      "transform:\n"
      "  - source-table: a.(\n"
      "    projektion: x\n"
      "pipeline:\n"
      "  schema.change.behaviour: EVOLVE\n"
      "  http.address: here\n"
      "  local-time-zone: CST\n"
      "  schema.change.rules:\n"
      "    - {event: all}\n"
      "    - {verdict: skip, behavior: IGNORE, sink: lake}\n"
      "    - {verdict: rewrite}\n"
      "pipelines: 1\n");
  EXPECT_FALSE(parsed.definition);
  EXPECT_THAT(
      parsed.problems,
      ElementsAre(
          "orders.yaml:2:9: error: unknown source type \"mysq\"\n  hint: Did you mean \"mysql\"?",
          "orders.yaml:5:29: error: \"include.schema.changes\" must be a list, not a value\n"
          "  hint: Write [add].",
          "orders.yaml:6:30: error: \"exclude.schema.changes\": unknown event \"drop.colum\"\n"
          "  hint: Did you mean \"drop.column\"?",
          "orders.yaml:6:42: error: \"exclude.schema.changes\": unknown event "
          "\"tighten.nullability\"\n"
          "  hint: NULLABLE to NOT NULL never becomes an event at a sink.",
          "orders.yaml:7:5: error: two sinks have the name \"paimon\"; the other stands in line 4\n"
          "  hint: Give each a \"name\" of its own.",
          "orders.yaml:8:29: error: paimon has no extension \"rename.column\"\n"
          "  hint: paimon has no extensions at all.",
          "orders.yaml:10:3: error: \"route\" must be a list, not a map\n"
          "  hint: Begin each entry with \"- \".",
          "orders.yaml:12:19: error: \"source-table\": \"(\" is not a regular expression: missing "
          "): "
          "(\n"
          "  hint: A dot separates database and table; write \\. for \"any character\", as in "
          "db\\.* "
          "or shop.order_\\.*",
          "orders.yaml:13:5: error: unknown option \"projektion\" of a transform\n"
          "  hint: Did you mean \"projection\"?",
          "orders.yaml:15:3: error: unknown option \"schema.change.behaviour\" of \"pipeline\"\n"
          "  hint: Did you mean \"schema.change.behavior\"?",
          "orders.yaml:16:17: error: \"http.address\": \"here\" is no address\n"
          "  hint: Write host:port, such as 127.0.0.1:9464 or 0.0.0.0:9464, or off.",
          "orders.yaml:17:20: error: \"CST\" means different time zones to different programs\n"
          "  hint: Write an IANA name such as Asia/Shanghai or UTC.",
          "orders.yaml:19:7: error: a rule decides nothing\n"
          "  hint: Give it a verdict (apply, skip, hold, fail) or a behavior.",
          "orders.yaml:20:17: error: a rule has both a behavior and a verdict\n"
          "  hint: Keep one of the two.",
          "orders.yaml:20:47: error: a rule names the sink \"lake\", which is not there\n"
          "  hint: One of: paimon, paimon.",
          "orders.yaml:21:17: error: \"verdict\": unknown value \"rewrite\"\n"
          "  hint: One of: apply, skip, hold, fail.",
          "orders.yaml:22:1: error: unknown top-level key \"pipelines\"\n"
          "  hint: Did you mean \"pipeline\"?"));
}

TEST(PipelineDefinition, ExplainsTheTopLevel) {
  EXPECT_THAT(ParseFake("").problems, ElementsAre("orders.yaml:1:1: error: the file is empty\n"
                                                  "  hint: A pipeline needs a source and a sink."));
  EXPECT_THAT(ParseFake("- a\n").problems,
              ElementsAre(StartsWith("orders.yaml:1:1: error: a pipeline is a map, not a list")));
  EXPECT_THAT(ParseFake("pipeline:\n").problems,
              ElementsAre(HasSubstr("there is no \"source\""), HasSubstr("there is no \"sink\"")));
  EXPECT_THAT(ParseFake(Join({kSource, kSink, "schema.change.behavior: EVOLVE\n"})).problems,
              ElementsAre(HasSubstr("Write \"schema.change.behavior\" below \"pipeline:\".")));
  EXPECT_THAT(ParseFake(Join({kSource, "sink: paimon\n"})).problems,
              ElementsAre(HasSubstr("\"sink\" is a value")));
  EXPECT_THAT(ParseFake(Join({kSource, "sink: [{type: paimon}]\n"})).problems,
              ElementsAre(HasSubstr("Write \"sinks:\" for several.")));
  EXPECT_THAT(ParseFake(Join({kSource, kSink, "sinks: [{type: print}]\n"})).problems,
              ElementsAre(HasSubstr("both \"sink\" and \"sinks\"")));
  EXPECT_THAT(ParseFake(Join({kSource, "sinks: []\n"})).problems,
              ElementsAre(HasSubstr("\"sinks\" is empty")));
  EXPECT_THAT(ParseFake(Join({kSource, "sink:\n  name: x\n"})).problems,
              ElementsAre(HasSubstr("this sink has no \"type\"\n  hint: One of: paimon, starrocks, "
                                    "hologres, print.")));
}

TEST(PipelineDefinition, AcceptsFlinkCdcsIgnoredOptionsWithAWarning) {
  const ParsedPipeline parsed = ParseFake(Join({kSource, kSink,
                                                "pipeline:\n"
                                                "  operator.uid.prefix: x\n"
                                                "  schema-operator.rpc-timeout: 3 min\n"
                                                "  sink.partitioning.strategy: primary_key\n"
                                                "  user-defined-function:\n"
                                                "    - {name: f, classpath: a.b.C}\n"}));
  EXPECT_TRUE(parsed.definition);
  EXPECT_THAT(parsed.problems,
              ElementsAre(HasSubstr("warning: \"operator.uid.prefix\" is ignored here"),
                          HasSubstr("warning: \"schema-operator.rpc-timeout\" is ignored here"),
                          HasSubstr("warning: \"sink.partitioning.strategy\" is ignored here"),
                          HasSubstr("warning: \"user-defined-function\" is ignored here")));
}

TEST(PipelineDefinition, RefusesTryEvolveForSinksThatDoNotHaveIt) {
  constexpr std::string_view kHologres = "sink:\n  type: hologres\n";
  const auto errors = [](const ParsedPipeline& parsed) {
    std::vector<std::string> found;
    for (const std::string& problem : parsed.problems) {
      if (problem.find("error:") != std::string::npos) found.push_back(problem);
    }
    return found;
  };
  constexpr std::string_view kTry = "pipeline:\n  schema.change.behavior: TRY_EVOLVE\n";
  EXPECT_THAT(errors(ParseFake(Join({kSource, kHologres, kTry}))),
              ElementsAre("orders.yaml:8:3: error: sink \"hologres\": hologres does not support "
                          "TRY_EVOLVE\n"
                          "  hint: Use LENIENT or EVOLVE for it, or a rule for this sink."));
  EXPECT_THAT(errors(ParseFake(Join({kSource, kHologres, kTry,
                                     "  schema.change.rules:\n"
                                     "    - {sink: hologres, behavior: EVOLVE}\n"}))),
              IsEmpty());
  EXPECT_THAT(errors(ParseFake(Join({kSource, kHologres,
                                     "pipeline:\n"
                                     "  schema.change.rules:\n"
                                     "    - {event: drop, behavior: TRY_EVOLVE}\n"}))),
              ElementsAre(StartsWith("orders.yaml:11:7: error: a rule gives TRY_EVOLVE to sink "
                                     "\"hologres\"")));
}

TEST(PipelineDefinition, WarnsOfSinksThatWillReallyDestroy) {
  constexpr std::string_view kStarrocks = "sink:\n  type: starrocks\n";
  EXPECT_THAT(
      ParseFake(Join({kSource, kStarrocks})).problems,
      ElementsAre(StartsWith("orders.yaml:8:3: warning: sink \"starrocks\" (starrocks) will "
                             "really DROP and TRUNCATE a table when the source does")));
  EXPECT_THAT(
      ParseFake(Join({kSource, kStarrocks, "pipeline:\n  schema.change.approval: [drop.table]\n"}))
          .problems,
      ElementsAre(HasSubstr("will really TRUNCATE a table")));
  for (std::string_view said :
       {"pipeline:\n  schema.change.behavior: LENIENT\n",
        "pipeline:\n  schema.change.lenient.style: flink-cdc\n", "  exclude.schema.changes: []\n",
        "pipeline:\n  schema.change.approval: [table]\n",
        "pipeline:\n  schema.change.rules:\n    - {event: [drop, truncate], verdict: hold}\n"}) {
    EXPECT_THAT(ParseFake(Join({kSource, kStarrocks, said})).problems, IsEmpty()) << said;
  }
  EXPECT_THAT(ParseFake(Join({kSource, kSink})).problems, IsEmpty()) << "paimon skips both";
}

TEST(PipelineDefinition, WarnsOfWhatRunRefuses) {
  EXPECT_THAT(ParseFake(Join({"source:\n  type: file\n", kSink,
                              "pipeline:\n  rows-without-events: resync\n"}))
                  .problems,
              ElementsAre(HasSubstr("warning: rows-without-events: resync: the source \"file\" "
                                    "(file) has no tables that could be read again")));
  for (const std::string_view choice : {"resync", "fail"}) {
    EXPECT_THAT(
        ParseFake(Join({kSource, kSink, "pipeline:\n  rows-without-events: ", choice, "\n"}))
            .problems,
        IsEmpty())
        << choice;
  }
}

TEST(PipelineDefinition, WarnsOfRoutesThatDoNothing) {
  EXPECT_THAT(ParseFake(Join({kSource, kSink,
                              "route:\n"
                              "  - {source-table: a.b, sink-table: c.d}\n"
                              "  - {source-table: a.b, sink-table: c.d}\n"
                              "  - {source-table: a.b, sink-table: c.e}\n"
                              "pipeline:\n  route-mode: first_match\n"}))
                  .problems,
              ElementsAre(HasSubstr("this route repeats the one in line 10"),
                          HasSubstr("this route is never reached: the one in line 10"),
                          HasSubstr("this route is never reached: the one in line 11")));
}

TEST(PipelineDefinition, NeverPrintsSecrets) {
  const ParsedPipeline parsed =
      ParseFake("source:\n  type: ${ENV:PASSWORD}\nsink:\n  type: ${ENV:PASSWORD}\n");
  ASSERT_EQ(parsed.problems.size(), 2u);
  for (const std::string& problem : parsed.problems) {
    EXPECT_EQ(problem.find("hunter2"), std::string::npos) << problem;
  }
}

TEST(PipelineDefinition, ExplainsMissingFiles) {
  EXPECT_EQ(LoadPipeline("/does/not/exist.yaml", FakeCatalog()).error().ToString(),
            "there is no file \"/does/not/exist.yaml\"");
  EXPECT_EQ(LoadPipeline("/", FakeCatalog()).error().ToString(),
            "\"/\" is a folder. Name a pipeline file.");
}

}  // namespace
}  // namespace driftless
