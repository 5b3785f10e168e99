// Pipeline files in the form of Flink CDC's documentation: they must be pipelines here too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "config/definition/pipeline_definition.h"
#include "pipeline/cli/catalog.h"
#include "tests/doubles/source_dir.h"

namespace driftless {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(SourceDir()) / "tests" / "data" / "flink_cdc";

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

PipelineDefinition Parse(const std::string& file) {
  const Result<std::string> text = ReadPipelineFile(kFolder / file);
  EXPECT_TRUE(text.has_value()) << file;
  ReferenceResolver resolver = ReferenceResolver::OfProcess();
  resolver.missing_is_warning = true;
  Problems problems;
  std::optional<PipelineDefinition> definition =
      ParsePipeline(text.value_or(""), file, AllComponents(), resolver, &problems);
  for (const Problem& problem : problems.Sorted()) {
    EXPECT_NE(problem.severity, Problem::Severity::kError) << problem.ToString(file);
  }
  return definition.value_or(PipelineDefinition());
}

TEST(FlinkCdcFiles, AllAreGood) {
  EXPECT_GE(Files().size(), 9u);
  for (const std::string& file : Files()) {
    const PipelineDefinition definition = Parse(file);
    EXPECT_EQ(definition.sources.size(), 1u) << file;
    EXPECT_EQ(definition.sinks.size(), 1u) << file;
  }
}

TEST(FlinkCdcFiles, KeepTheirMeaning) {
  const PipelineDefinition doris = Parse("mysql-to-doris.yaml");
  EXPECT_EQ(doris.sinks[0].type, "selectdb");
  EXPECT_EQ(doris.options.parallelism, 2);
  EXPECT_EQ(doris.options.behavior, Behavior::kLenient);
  EXPECT_EQ(doris.sinks[0].options.String("password"), "");
  EXPECT_EQ(doris.sinks[0].options.Map("table.create.properties.*").at("replication_num"), "1");

  const PipelineDefinition starrocks = Parse("mysql-to-starrocks.yaml");
  EXPECT_EQ(starrocks.options.behavior, Behavior::kEvolve);
  EXPECT_EQ(starrocks.sources[0].options.String("password"), "pass: word # not a comment");
  EXPECT_EQ(starrocks.sinks[0].options.DurationMs("table.schema-change.timeout"), 1'800'000);
  EXPECT_THAT(starrocks.sinks[0].options.List("load-url"),
              testing::ElementsAre("127.0.0.1:8030", "127.0.0.2:8030"));
  const auto target = starrocks.routes[0].pattern.Apply({"", "adb", "orders"});
  ASSERT_TRUE(target.has_value() && target->has_value());
  EXPECT_EQ((*target)->ToString(), "ods.orders");

  const PipelineDefinition kafka = Parse("include-exclude.yaml");
  EXPECT_THAT(kafka.sinks[0].accepted, testing::Not(testing::Contains(EventKind::kDropColumn)));
  EXPECT_THAT(kafka.sinks[0].accepted, testing::Contains(EventKind::kDropTable));

  const PipelineDefinition transform = Parse("transform.yaml");
  EXPECT_EQ(transform.transforms[0].projection,
            "*, UPPER(product_name) AS product_name, localtimestamp AS new_ts");
  EXPECT_EQ(transform.transforms[2].table_options.at("sequence.field"), "a,b");
  EXPECT_EQ(transform.options.route_mode, RouteMode::kFirstMatch);

  const PipelineDefinition hologres = Parse("mysql-to-hologres.yaml");
  EXPECT_EQ(MakeSinkPolicy(hologres, hologres.sinks[0]).on_null_violation,
            OnNullViolation::kDefaultValue)
      << "the sink's own option, given explicitly, overrides on-null-violation";

  const PipelineDefinition selectdb = Parse("kafka-to-selectdb.yaml");
  EXPECT_EQ(selectdb.sinks[0].options.Bool("sink.enable-batch-mode"), true);
  EXPECT_EQ(selectdb.sinks[0].options.DurationMs("schema.evolution.timeout"), 300'000);
}

}  // namespace
}  // namespace driftless
