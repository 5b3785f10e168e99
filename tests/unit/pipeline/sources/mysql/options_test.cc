// Options of Flink CDC's MySQL source that are not there: refused or ignored aloud, never silently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/definition/pipeline_definition.h"
#include "config/upgrade/diff.h"
#include "pipeline/cli/catalog.h"
#include "pipeline/runtime/assemble.h"
#include "pipeline/sources/registry.h"

namespace driftless {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// What is said of a pipeline whose source has this line too.
std::vector<std::string> Said(const std::string& line) {
  const std::string text =
      "source:\n  type: mysql\n  hostname: h\n  username: u\n  password: p\n  tables: a.b\n  " +
      line +
      "\nsink:\n  type: paimon\n  catalog.properties.warehouse: /tmp/w\npipeline:\n  name: p\n";
  Problems problems;
  ParsePipeline(text, "p.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
  std::vector<std::string> said;
  for (const Problem& problem : problems.Sorted()) {
    const bool is_error = problem.severity == Problem::Severity::kError;
    said.push_back((is_error ? "error: " : "warning: ") + problem.ToString("p.yaml"));
  }
  return said;
}

TEST(MySqlOptions, RefusesWhatIsNotThere) {
  for (const std::string line :
       {"scan.startup.specific-offset.skip-events: 2", "scan.startup.specific-offset.skip-rows: 1",
        "schema-change.enabled: false"}) {
    EXPECT_THAT(Said(line), Contains(HasSubstr("is not there for MySQL"))) << line;
  }
  EXPECT_THAT(Said("scan.newly-added-table.enabled: true"), testing::IsEmpty());
  EXPECT_THAT(Said("scan.startup.mode: timestamp"), Contains(HasSubstr("needs a time")));
  EXPECT_THAT(Said("scan.startup.mode: timestamp\n  scan.startup.timestamp-millis: 1"),
              testing::IsEmpty());
  EXPECT_THAT(Said("schema-change.enabled: true"), testing::IsEmpty());
}

TEST(MySqlOptions, SaysWhereAChunkColumnIsNoneAtAll) {
  const std::string key = "scan.incremental.snapshot.chunk.key-column: ";
  EXPECT_THAT(Said(key + "a.b:c"), testing::IsEmpty());
  EXPECT_THAT(Said(key + "a.b"), Contains(HasSubstr("database.table:column")));
  EXPECT_THAT(Said("connection.pool.size: 5"), testing::IsEmpty());
  EXPECT_THAT(Said("connection.pool.size: 0"), testing::Not(testing::IsEmpty()));
}

TEST(MySqlOptions, TablesMayChangeWhereNewOnesAreTaken) {
  const auto effect = [](const std::string& more) {
    const auto parsed = [&](const std::string& tables) {
      Problems problems;
      return ParsePipeline("source:\n  type: mysql\n  hostname: h\n  username: u\n  password: p\n" +
                               more + "  tables: " + tables +
                               "\nsink:\n  type: blackhole\npipeline:\n  name: p\n",
                           "p.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
    };
    return StrongestEffect(DiffPipelines(*parsed("a.b"), *parsed("a.b, a.c")));
  };
  EXPECT_EQ(effect(""), UpgradeEffect::kNewState);
  EXPECT_EQ(effect("  scan.newly-added-table.enabled: true\n"), UpgradeEffect::kRestart);
}

// Before anything is asked of the server.
TEST(MySqlOptions, ResyncWantsAStartWithASnapshot) {
  const auto connect = [](const std::string& mode) {
    Problems problems;
    const auto definition = ParsePipeline(
        "source:\n  type: mysql\n  hostname: 127.0.0.1\n  port: 1\n  username: u\n"
        "  password: p\n  tables: a.b\n  scan.startup.mode: " +
            mode + "\nsink:\n  type: blackhole\n",
        "p.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
    auto source = MakeMySqlSource(definition->sources[0].options);
    SourceContext context;
    context.reads_tables_again = true;
    return (*source)->Connect(context).error();
  };
  EXPECT_THAT(connect("latest-offset").ToString(), HasSubstr("rows-without-events: resync"));
  EXPECT_EQ(connect("initial").kind(), ErrorKind::kUnavailable);  // nobody listens
}

TEST(MySqlOptions, SourcesWithoutTablesRefuseResync) {
  Problems problems;
  const auto definition = ParsePipeline(
      "source: {type: file, path: x.jsonl}\nsink: {type: blackhole}\n"
      "pipeline: {name: p, rows-without-events: resync}\n",
      "p.yaml", AllComponents(), ReferenceResolver::OfProcess(), &problems);
  const auto parts = AssembleParts(*definition, nullptr, SystemClock(), nullptr);
  ASSERT_FALSE(parts);
  EXPECT_THAT(parts.error().ToString(), HasSubstr("a file source has no tables"));
}

TEST(MySqlOptions, SaysWhatItIgnores) {
  for (const std::string line :
       {"connect.max-retries: 7", "heartbeat.interval: 10s", "scan.snapshot.fetch.size: 100",
        "scan.incremental.snapshot.backfill.skip: true",
        "scan.parse.online.schema.changes.enabled: true",
        "scan.binlog.newly-added-table.enabled: true", "metadata.list: op_ts"}) {
    EXPECT_THAT(Said(line), testing::ElementsAre(HasSubstr("is ignored here"))) << line;
  }
}

}  // namespace
}  // namespace driftless
