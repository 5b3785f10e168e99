#include "config/upgrade/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/fake_catalog.h"

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kOld =
    "source: {type: mysql, hostname: db, username: u, password: old, tables: a.b}\n"
    "sinks:\n"
    "  - {type: paimon, name: lake, endpoint: a, table.properties.bucket: 4}\n"
    "  - {type: starrocks, exclude.schema.changes: []}\n"
    "route:\n"
    "  - {source-table: a.b, sink-table: c.d}\n"
    "pipeline:\n"
    "  schema.change.rules:\n"
    "    - {event: drop, verdict: skip}\n";

std::vector<std::string> Diff(std::string_view from, std::string_view to) {
  const ParsedPipeline a = ParseFake(from);
  const ParsedPipeline b = ParseFake(to);
  EXPECT_TRUE(a.definition && b.definition) << testing::PrintToString(b.problems);
  std::vector<std::string> lines;
  if (!a.definition || !b.definition) return lines;
  for (const ConfigChange& change : DiffPipelines(*a.definition, *b.definition)) {
    lines.push_back(std::string(ToString(change.effect)) + " " + change.where + " " + change.what +
                    ": " + change.from + " -> " + change.to);
  }
  return lines;
}

TEST(DiffPipelines, FindsNothingWhereOnlyTheTextDiffers) {
  EXPECT_THAT(Diff(kOld, kOld), IsEmpty());
  EXPECT_THAT(Diff(kOld, "# a comment moves every line\n\n" + std::string(kOld)), IsEmpty());
}

TEST(DiffPipelines, GivesEveryChangeItsEffect) {
  EXPECT_THAT(
      Diff(
          kOld,
          "source: {type: mysql, hostname: db, username: u, password: new, tables: a.b, port: 99}\n"
          "sinks:\n"
          "  - {type: paimon, name: lake, endpoint: b, table.properties.bucket: 8}\n"
          "  - {type: print, name: eyes}\n"
          "route:\n"
          "  - {source-table: a.b, sink-table: c.e}\n"
          "pipeline:\n"
          "  checkpoint.interval: 1 s\n"
          "  operator.uid.prefix: x\n"
          "  schema.change.behavior: EVOLVE\n"
          "  schema.change.rules:\n"
          "    - {event: drop, verdict: fail}\n"),
      ElementsAre(
          "restart source mysql port: 3306 -> 99", "restart source mysql password: *** -> ***",
          "restart sink starrocks removed: starrocks -> ",
          "restart sink lake table.properties.*: bucket: 4 -> bucket: 8",
          "new-state sink lake endpoint: a -> b", "new-state sink eyes added:  -> print",
          "new-state route removed: a.b -> c.d -> ", "new-state route added:  -> a.b -> c.e",
          "restart pipeline schema.change.behavior: LENIENT -> EVOLVE",
          "hot pipeline checkpoint.interval: 10 s -> 1 s",
          "nothing pipeline operator.uid.prefix:  -> x", "restart rule removed: skip for drop -> ",
          "restart rule added:  -> fail for drop"));
}

TEST(DiffPipelines, ComparesSinksByName) {
  std::string renamed(kOld);
  renamed.replace(renamed.find("name: lake"), 10, "name: pond");
  EXPECT_THAT(Diff(kOld, renamed), ElementsAre("restart sink lake removed: paimon -> ",
                                               "new-state sink pond added:  -> paimon"));
  std::string retyped(kOld);
  retyped.replace(retyped.find("type: paimon"), 12, "type: print");
  EXPECT_THAT(Diff(kOld, retyped), ElementsAre("incompatible sink lake type: paimon -> print"));
}

TEST(StrongestEffect, IsTheWorst) {
  EXPECT_EQ(StrongestEffect({}), UpgradeEffect::kNothing);
  EXPECT_EQ(StrongestEffect({{UpgradeEffect::kHot}, {UpgradeEffect::kNewState}}),
            UpgradeEffect::kNewState);
}

TEST(PrintPipeline, ShowsWhatHoldsWithoutSecrets) {
  const ParsedPipeline parsed = ParseFake(kOld);
  ASSERT_TRUE(parsed.definition);
  const std::string text = PrintPipeline(*parsed.definition);
  EXPECT_TRUE(
      text.starts_with("source:\n"
                       "  type: mysql\n"
                       "  hostname: db\n"
                       "  # port: 3306\n"
                       "  username: u\n"
                       "  password: '***'\n"
                       "  tables: a.b\n"
                       "sinks:\n"
                       "  - type: paimon\n"
                       "    name: lake\n"
                       "    # on-unavailable: block\n"
                       "    table.properties.bucket: 4\n"
                       "    endpoint: a\n"
                       "  - type: starrocks\n"
                       "    exclude.schema.changes: []\n"
                       "    # on-unavailable: block\n"
                       "route:\n"
                       "  - source-table: 'a.b'\n"
                       "    sink-table: 'c.d'\n"
                       "pipeline:\n"))
      << text;
  EXPECT_NE(text.find("  # schema.change.behavior: LENIENT\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  # rule 1 (line 9): skip for drop\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace driftless
