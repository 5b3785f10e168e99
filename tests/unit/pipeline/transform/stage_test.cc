#include "pipeline/transform/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/events/change_batch_builder.h"
#include "schema/model/schema_diff.h"

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TablePath kTable{"", "shop", "t"};

class MemoryStore : public TransformStore {
 public:
  Result<void> PutTransform(const TransformVersion& version) override {
    for (TransformVersion& known : versions) {
      if (known.table == version.table && known.since == version.since) {
        known = version;
        return {};
      }
    }
    versions.push_back(version);
    return {};
  }
  Result<std::vector<TransformVersion>> Transforms(StreamId) const override { return versions; }

  std::vector<TransformVersion> versions;
};

class OneTable : public SchemaHistoryStore {
 public:
  explicit OneTable(TableSchemaPtr schema) : schema_(std::move(schema)) {}
  Result<void> Put(const SchemaVersion&) override { return {}; }
  Result<std::vector<SchemaVersion>> At(const Point&) const override { return All(std::nullopt); }
  Result<std::optional<SchemaVersion>> Find(const TablePath&, const Point&) const override {
    return std::optional<SchemaVersion>();
  }
  Result<std::vector<SchemaVersion>> All(const std::optional<TablePath>&) const override {
    SchemaVersion version;
    version.table = kTable;
    version.schema = schema_;
    return std::vector<SchemaVersion>{version};
  }

 private:
  TableSchemaPtr schema_;
};

TableSchemaPtr Source() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = kTable;
  schema->incarnation = 1;
  schema->AddColumn("id", LogicalType::Int().NotNull());
  schema->AddColumn("a", LogicalType::Int());
  schema->primary_key = {1};
  return schema;
}

PipelineDefinition Definition(const std::string& projection) {
  PipelineDefinition definition;
  if (projection.empty()) return definition;
  TransformDefinition transform;
  transform.source_table = "shop.t";
  transform.selector = *TableSelector::Parse("shop.t");
  transform.projection = projection;
  definition.transforms.push_back(transform);
  return definition;
}

ChangeBatchPtr Batch(const TableSchemaPtr& schema, uint64_t from, uint64_t to) {
  ChangeBatchBuilder builder(schema, 0);
  for (uint64_t offset = from; offset <= to; ++offset) {
    builder.BeginRow(Op::kInsert, Point{0, 0, offset}, 0);
    builder.after(0).AppendInt(static_cast<int64_t>(offset));
    builder.after(1).AppendInt(1);
    builder.EndRow();
  }
  return builder.Seal();
}

class StageTest : public testing::Test {
 protected:
  std::unique_ptr<TransformStage> Start(const PipelineDefinition& definition,
                                        std::optional<uint64_t> from,
                                        std::optional<uint64_t> covered) {
    TransformStage::Context context;
    context.definition = &definition;
    context.clock = SystemClock();
    context.store = &store_;
    context.history = &history_;
    if (from) context.from = Point{0, 0, *from};
    if (covered) context.covered = Point{0, 0, *covered};
    context.warn = [this](const std::string& text) { warnings_.push_back(text); };
    auto stage = TransformStage::Make(std::move(context));
    EXPECT_TRUE(stage) << stage.error().ToString();
    return stage ? *std::move(stage) : nullptr;
  }
  static std::vector<std::string> Columns(const ChangeBatchPtr& batch) {
    std::vector<std::string> names;
    for (const Column& column : batch->schema()->columns) names.push_back(column.name);
    return names;
  }

  const TableSchemaPtr source_ = Source();
  MemoryStore store_;
  OneTable history_{source_};
  std::vector<std::string> warnings_;
};

TEST_F(StageTest, ChangedRulesBeginBehindWhatIsWritten) {
  const PipelineDefinition first = Definition("id, a");
  const auto before = Start(first, std::nullopt, std::nullopt);
  ASSERT_NE(before, nullptr);
  ASSERT_TRUE(before->Apply(Batch(source_, 1, 3)));
  ASSERT_EQ(store_.versions.size(), 1u);

  // A sink has everything up to 5, another only up to 2, from where the source is read again.
  const PipelineDefinition second = Definition("id, a, a + 1 AS b");
  const auto stage = Start(second, 2, 5);
  ASSERT_NE(stage, nullptr);
  EXPECT_EQ(store_.versions.size(), 2u);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("transforms are others"));
  const auto nothing = stage->SwitchesBefore(Point{0, 0, 5});
  ASSERT_TRUE(nothing);
  EXPECT_THAT(*nothing, IsEmpty());
  const auto switches = stage->SwitchesBefore(Point{0, 0, 8});
  ASSERT_TRUE(switches);
  ASSERT_EQ(switches->size(), 1u);
  EXPECT_EQ((*switches)[0]->point.offset, 5u);
  EXPECT_TRUE((Point{0, 0, 5}.Precedes((*switches)[0]->point)));
  ASSERT_EQ((*switches)[0]->parts.size(), 1u);
  EXPECT_EQ((*switches)[0]->parts[0].kind(), EventKind::kAddColumn);

  const auto output = stage->Apply(Batch(source_, 4, 7));
  ASSERT_TRUE(output);
  ASSERT_EQ(output->batches.size(), 2u);
  EXPECT_THAT(Columns(output->batches[0]), ElementsAre("id", "a"));
  EXPECT_EQ(output->batches[0]->size(), 2);
  EXPECT_THAT(Columns(output->batches[1]), ElementsAre("id", "a", "b"));
  EXPECT_NE(output->batches[0]->schema()->version, output->batches[1]->schema()->version);

  // Once more: the same rules begin at the same point, and again with others behind it.
  const auto again = Start(second, 2, 5);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(store_.versions.size(), 2u);
  const PipelineDefinition none = Definition("");
  const auto gone = Start(none, 5, 5);
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(store_.versions.size(), 3u);
  const auto both = gone->SwitchesBefore(Point{0, 0, 6});
  ASSERT_TRUE(both);
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[1]->parts[0].kind(), EventKind::kDropColumn);
  EXPECT_TRUE((*both)[0]->point.Precedes((*both)[1]->point));
}

// The same expression under another name is the same column, whatever comes under the old name.
TEST_F(StageTest, ComputedColumnsThatAreRenamedKeepTheirIdentity) {
  struct Step {
    std::string projection;
    std::vector<EventKind> events;
  };
  const std::vector<Step> steps = {
      {"id, a + 1 AS b, a AS z", {}},
      {"id, a + 1 AS c, a AS z", {EventKind::kRenameColumn}},
      {"id, a * 2 AS b, a + 1 AS c, a AS z", {EventKind::kAddColumn}},
      {"id, a * 2 AS b, a AS z", {EventKind::kDropColumn}},
      {"id, a * 2 AS d, a AS z", {EventKind::kRenameColumn}},
      // Two that could be meant are none.
      {"id, a * 2 AS d, a * 2 AS e, a AS z", {EventKind::kAddColumn}},
      {"id, a * 2 AS f, a * 2 AS g, a AS z", {EventKind::kDropColumn, EventKind::kAddColumn}},
      {"id, a * 3 AS h, a * 2 AS g, a AS z", {EventKind::kDropColumn, EventKind::kAddColumn}},
  };
  std::optional<uint64_t> at;
  for (const Step& step : steps) {
    const PipelineDefinition definition = Definition(step.projection);
    const auto stage = Start(definition, at, at);
    ASSERT_NE(stage, nullptr);
    at = at.value_or(0) + 1;
    const auto switches = stage->SwitchesBefore(Point{0, 0, *at});
    ASSERT_TRUE(switches);
    std::vector<EventKind> events;
    for (const StatementChangePtr& change : *switches) {
      for (const SchemaChange& part : change->parts) events.push_back(part.kind());
    }
    EXPECT_EQ(events, step.events) << step.projection;
    ASSERT_TRUE(stage->Apply(Batch(source_, *at, *at)));
  }
}

TEST_F(StageTest, TablesThatHadNoRulesGetThemBehindWhatIsWritten) {
  const PipelineDefinition definition = Definition("id");
  const auto stage = Start(definition, 4, 4);
  ASSERT_NE(stage, nullptr);
  const auto switches = stage->SwitchesBefore(Point{0, 0, 5});
  ASSERT_TRUE(switches);
  ASSERT_EQ(switches->size(), 1u);
  EXPECT_EQ((*switches)[0]->parts[0].kind(), EventKind::kDropColumn);
}

TEST_F(StageTest, StatementsBecomeTheDifferenceOfTheOutputs) {
  const PipelineDefinition definition = Definition("*, a * 2 AS twice");
  const auto stage = Start(definition, std::nullopt, std::nullopt);
  ASSERT_NE(stage, nullptr);
  TableSchema changed = *source_;
  changed.columns[1].type = LogicalType::BigInt();
  changed.AddColumn("c", LogicalType::Date());
  auto statement = std::make_shared<StatementChange>();
  statement->table = kTable;
  statement->point = Point{0, 0, 9};
  statement->parts = DiffByIdentity(source_, changed);
  const auto made = stage->Apply(StatementChangePtr(statement));
  ASSERT_TRUE(made) << made.error().ToString();
  ASSERT_NE(*made, nullptr);
  std::vector<std::string> parts;
  for (const SchemaChange& part : (*made)->parts) parts.push_back(Describe(part));
  EXPECT_THAT(parts, ElementsAre("change type of a from INT to BIGINT, twice from INT to BIGINT",
                                 "add column c DATE after a"));

  const PipelineDefinition narrow = Definition("id");
  store_.versions.clear();
  const auto other = Start(narrow, std::nullopt, std::nullopt);
  const auto unseen = other->Apply(StatementChangePtr(statement));
  ASSERT_TRUE(unseen);
  EXPECT_EQ(*unseen, nullptr);
}

TEST_F(StageTest, AHalfDoneSchemaChangeIsFinishedUnderTheFormerRules) {
  const PipelineDefinition first = Definition("id, a");
  ASSERT_TRUE(Start(first, std::nullopt, std::nullopt)->Apply(Batch(source_, 1, 1)));
  const PipelineDefinition second = Definition("id");
  TransformStage::Context context;
  context.definition = &second;
  context.clock = SystemClock();
  context.store = &store_;
  context.covered = Point{0, 0, 1};
  context.may_change = false;
  const auto stage = TransformStage::Make(std::move(context));
  ASSERT_FALSE(stage);
  EXPECT_THAT(stage.error().ToString(), HasSubstr("half done"));
}

}  // namespace
}  // namespace driftless
