#include "sinks/api/projected_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "schema/events/change_batch_builder.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Fill = EvolvedColumn::Fill;

// id BIGINT NOT NULL (key), qty BIGINT, note STRING
TableSchemaPtr Orders() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("qty", LogicalType::BigInt());
  schema->AddColumn("note", LogicalType::String());
  schema->primary_key = {1};
  return schema;
}

EvolvedColumn Fed(std::string name, LogicalType type, ColumnId source) {
  EvolvedColumn column;
  column.sink.name = std::move(name);
  column.sink.type = std::move(type);
  column.source = source;
  return column;
}

EvolvedColumn Free(std::string name, LogicalType type, Fill fill) {
  EvolvedColumn column = Fed(std::move(name), std::move(type), 0);
  column.fill = fill;
  return column;
}

EvolvedSchema SameAsOrders() {
  EvolvedSchema sink;
  sink.path = {"", "lake", "orders"};
  sink.columns = {Fed("id", LogicalType::BigInt().NotNull(), 1),
                  Fed("qty", LogicalType::BigInt(), 2), Fed("note", LogicalType::String(), 3)};
  sink.primary_key = {"id"};
  return sink;
}

class Rows {
 public:
  explicit Rows(TableSchemaPtr schema = Orders()) : builder_(std::move(schema), 0) {}
  Rows& Insert(int64_t id, int64_t qty, std::string_view note) {
    Begin(Op::kInsert);
    builder_.after(0).AppendInt(id);
    builder_.after(1).AppendInt(qty);
    builder_.after(2).AppendBytes(note);
    builder_.EndRow();
    return *this;
  }
  Rows& InsertNulls(int64_t id) {
    Begin(Op::kInsert);
    builder_.after(0).AppendInt(id);
    builder_.after(1).AppendNull();
    builder_.after(2).AppendNull();
    builder_.EndRow();
    return *this;
  }
  // An update that did not send `note`; `before` says whether the before image has it.
  Rows& UpdateWithoutNote(int64_t id, bool before) {
    Begin(Op::kUpdate);
    builder_.after(0).AppendInt(id);
    builder_.after(1).AppendInt(5);
    builder_.before(0).AppendInt(id);
    if (before) builder_.before(2).AppendBytes("old note");
    builder_.EndRow();
    return *this;
  }
  Rows& Delete(int64_t id) {
    Begin(Op::kDelete);
    builder_.before(0).AppendInt(id);
    builder_.EndRow();
    return *this;
  }
  Rows& DeleteWithoutKey() {
    Begin(Op::kDelete);
    builder_.before(1).AppendInt(1);
    builder_.EndRow();
    return *this;
  }
  ChangeBatchPtr Seal() { return builder_.Seal(); }

 private:
  void Begin(Op op) { builder_.BeginRow(op, Point{0, 2, ++line_, 0, 0}, 0); }
  ChangeBatchBuilder builder_;
  uint64_t line_ = 0;
};

class Reporter : public RowReporter {
 public:
  void DeadLetter(const ChangeBatch&, uint32_t row, const Error& why) override {
    lines.push_back("dead " + std::to_string(row) + ": " + why.ToString());
  }
  void Count(const TablePath& table, std::string_view column, Loss loss, int64_t rows) override {
    static constexpr const char* kNames[] = {"misfit", "null", "absent"};
    lines.push_back(std::string(kNames[static_cast<int>(loss)]) + " " + table.ToString() + "." +
                    std::string(column) + " " + std::to_string(rows));
  }
  std::vector<std::string> lines;
};

std::vector<uint32_t> All(const ChangeBatchPtr& batch) {
  std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

Result<std::shared_ptr<const ProjectedBatch>> Project(const ChangeBatchPtr& batch,
                                                      const EvolvedSchema& sink,
                                                      const ProjectionPolicy& policy = {},
                                                      RowReporter* reporter = nullptr) {
  // The projection may go away: the batch keeps nothing of it.
  const Projection projection = Projection::Make(*batch->schema(), sink, policy);
  return ProjectedBatch::Make(batch, projection, All(batch), reporter);
}

// The `after` values of the rows to write, one text per row: "1|5|note".
std::vector<std::string> Values(const ProjectedBatch& batch, const EvolvedSchema& sink) {
  std::vector<std::string> lines;
  for (const uint32_t row : batch.rows()) {
    std::string line;
    for (size_t i = 0; i < sink.columns.size(); ++i) {
      if (i > 0) line += "|";
      const ColumnView& column = batch.after()[i];
      if (column.IsAbsent(row)) {
        line += "absent";
      } else {
        AppendJson(sink.columns[i].sink.type, column, row, {}, &line);
      }
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Written(const ChangeBatchPtr& batch, const EvolvedSchema& sink,
                                 const ProjectionPolicy& policy = {},
                                 RowReporter* reporter = nullptr) {
  auto projected = Project(batch, sink, policy, reporter);
  if (!projected) return {projected.error().ToString()};
  return Values(**projected, sink);
}

TEST(ProjectionTest, TheSameSchemaIsPassedOnWithoutACopy) {
  const ChangeBatchPtr batch = Rows().Insert(1, 2, "a").Delete(1).Seal();
  const EvolvedSchema sink = SameAsOrders();
  EXPECT_TRUE(Projection::Make(*Orders(), sink, ProjectionPolicy{}).is_identity());
  const auto projected = Project(batch, sink);
  ASSERT_TRUE(projected.has_value()) << projected.error().ToString();
  EXPECT_EQ((*projected)->own_bytes(), 0);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*projected)->after()[i].values, batch->after()[i].values);
    EXPECT_EQ((*projected)->before()[i].values, batch->before()[i].values);
  }
  EXPECT_THAT((*projected)->rows(), ElementsAre(0u, 1u));
}

TEST(ProjectionTest, ColumnsGoByIdentityNotByNameOrPlace) {
  // qty and note were swapped by renames at the source; the sink did not follow and reordered.
  EvolvedSchema sink = SameAsOrders();
  sink.columns = {Fed("qty", LogicalType::String(), 3), Fed("id", LogicalType::BigInt(), 1),
                  Fed("note", LogicalType::BigInt(), 2)};
  EXPECT_THAT(Written(Rows().Insert(1, 2, "a").Seal(), sink), ElementsAre("\"a\"|1|2"));
  const Projection projection = Projection::Make(*Orders(), sink, ProjectionPolicy{});
  EXPECT_FALSE(projection.is_identity());
  EXPECT_TRUE(projection.dropped().empty());
}

TEST(ProjectionTest, ASkippedAddIsDropped) {
  EvolvedSchema sink = SameAsOrders();
  sink.columns.pop_back();
  const Projection projection = Projection::Make(*Orders(), sink, ProjectionPolicy{});
  EXPECT_THAT(projection.dropped(), ElementsAre(3u));
  EXPECT_THAT(Written(Rows().Insert(1, 2, "a").Seal(), sink), ElementsAre("1|2"));
}

TEST(ProjectionTest, FreeColumnsAreFilledAsTheDropSays) {
  EvolvedSchema sink = SameAsOrders();
  sink.columns.push_back(Free("a", LogicalType::Int(), Fill::kNull));
  sink.columns.push_back(Free("b", LogicalType::Int(), Fill::kKeep));
  sink.columns.push_back(Free("c", LogicalType::Int().NotNull(), Fill::kZero));
  sink.columns.push_back(Free("d", LogicalType::VarChar(9).NotNull(), Fill::kDefault));
  sink.columns.back().sink.default_value = {DefaultValue::Kind::kLiteral, "new"};
  sink.columns.push_back(Free("e", LogicalType::Date().NotNull(), Fill::kDefault));
  sink.columns.back().sink.default_value = {DefaultValue::Kind::kExpression, "CURRENT_DATE"};
  sink.columns.push_back(Free("f", LogicalType::Array(LogicalType::Int()).NotNull(), Fill::kZero));
  const ChangeBatchPtr batch = Rows().Insert(1, 2, "x").Insert(3, 4, "y").Seal();
  EXPECT_THAT(Written(batch, sink), ElementsAre("1|2|\"x\"|null|null|0|\"new\"|\"1970-01-01\"|[]",
                                                "3|4|\"y\"|null|null|0|\"new\"|\"1970-01-01\"|[]"));
  EXPECT_THAT(Written(batch, sink, {.partial_update = true}),
              ElementsAre("1|2|\"x\"|null|absent|0|\"new\"|\"1970-01-01\"|[]",
                          "3|4|\"y\"|null|absent|0|\"new\"|\"1970-01-01\"|[]"));
}

TEST(ProjectionTest, ARowFromBeforeTheColumnHasNullThere) {
  EvolvedSchema sink = SameAsOrders();
  sink.columns.push_back(Fed("later", LogicalType::Int(), 9));
  sink.columns.push_back(Fed("later2", LogicalType::Int().NotNull(), 10));
  sink.columns.back().sink.default_value = {DefaultValue::Kind::kLiteral, "7"};
  EXPECT_THAT(Written(Rows().Insert(1, 2, "a").Seal(), sink), ElementsAre("1|2|\"a\"|null|7"));
}

EvolvedSchema NarrowQty() {
  EvolvedSchema sink = SameAsOrders();
  sink.columns[1].sink.type = LogicalType::TinyInt();
  return sink;
}

TEST(ProjectionTest, AValueThatFitsIsCast) {
  EXPECT_THAT(Written(Rows().Insert(1, 127, "a").Seal(), NarrowQty()), ElementsAre("1|127|\"a\""));
}

TEST(ProjectionTest, AMisfitFailsWithTableColumnValueAndPoint) {
  const auto projected = Project(Rows().Insert(1, 5, "a").Insert(2, 128, "b").Seal(), NarrowQty());
  ASSERT_FALSE(projected.has_value());
  EXPECT_EQ(projected.error().kind(), ErrorKind::kInvalidInput);
  const std::string text = projected.error().ToString();
  for (const char* part : {"lake.orders", "qty", "128", "TINYINT", "2:2:0.0", "on-cast-failure"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ProjectionTest, AMisfitBecomesNullAndIsCounted) {
  Reporter reporter;
  EXPECT_THAT(Written(Rows().Insert(1, 5, "a").Insert(2, 128, "b").Insert(3, 999, "c").Seal(),
                      NarrowQty(), {.on_cast_failure = OnCastFailure::kNull}, &reporter),
              ElementsAre("1|5|\"a\"", "2|null|\"b\"", "3|null|\"c\""));
  EXPECT_THAT(reporter.lines, ElementsAre("misfit lake.orders.qty 2"));
}

TEST(ProjectionTest, AMisfitBecomesADeadLetter) {
  Reporter reporter;
  EXPECT_THAT(Written(Rows().Insert(1, 5, "a").Insert(2, 128, "b").Insert(3, 6, "c").Seal(),
                      NarrowQty(), {.on_cast_failure = OnCastFailure::kDeadLetter}, &reporter),
              ElementsAre("1|5|\"a\"", "3|6|\"c\""));
  ASSERT_EQ(reporter.lines.size(), 1u);
  EXPECT_THAT(reporter.lines[0], HasSubstr("dead 1: table lake.orders: column qty: the value 128"));
}

TEST(ProjectionTest, OnlyTheRowsOfTheWriterAreLookedAt) {
  const ChangeBatchPtr batch = Rows().Insert(1, 5, "a").Insert(2, 128, "b").Seal();
  const Projection projection = Projection::Make(*Orders(), NarrowQty(), ProjectionPolicy{});
  const std::vector<uint32_t> mine = {0};
  EXPECT_TRUE(ProjectedBatch::Make(batch, projection, mine, nullptr).has_value());
  const std::vector<uint32_t> other = {1};
  EXPECT_FALSE(ProjectedBatch::Make(batch, projection, other, nullptr).has_value());
}

TEST(ProjectionTest, KeyPartitionAndBucketColumnsNeverBecomeNull) {
  for (const int which : {0, 1, 2}) {
    EvolvedSchema sink = NarrowQty();
    if (which == 0) sink.primary_key = {"id", "qty"};
    if (which == 1) sink.partition_keys = {"qty"};
    if (which == 2) sink.options["bucket-key"] = "id, qty";
    for (const OnCastFailure choice : {OnCastFailure::kNull, OnCastFailure::kDeadLetter}) {
      Reporter reporter;
      const auto projected =
          Project(Rows().Insert(2, 128, "b").Seal(), sink, {.on_cast_failure = choice}, &reporter);
      ASSERT_FALSE(projected.has_value());
      EXPECT_THAT(projected.error().ToString(), HasSubstr("key, partition or bucket"));
      EXPECT_TRUE(reporter.lines.empty());
    }
  }
}

EvolvedSchema NotNullNote() {
  EvolvedSchema sink = SameAsOrders();
  sink.columns[2].sink.type = LogicalType::String().NotNull();
  sink.columns[2].sink.default_value = {DefaultValue::Kind::kLiteral, "none"};
  return sink;
}

TEST(ProjectionTest, ANullForANotNullColumnFollowsThePolicy) {
  const ChangeBatchPtr batch = Rows().Insert(1, 5, "a").InsertNulls(2).Delete(3).Seal();
  const auto failed = Project(batch, NotNullNote());
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().ToString(), HasSubstr("on-null-violation"));

  Reporter reporter;
  auto projected = Project(batch, NotNullNote(),
                           {.on_null_violation = OnNullViolation::kDefaultValue}, &reporter);
  ASSERT_TRUE(projected.has_value());
  EXPECT_EQ(Values(**projected, NotNullNote())[1], "2|null|\"none\"");
  EXPECT_THAT(reporter.lines, ElementsAre("null lake.orders.note 1"));

  reporter.lines.clear();
  projected =
      Project(batch, NotNullNote(), {.on_null_violation = OnNullViolation::kDeadLetter}, &reporter);
  ASSERT_TRUE(projected.has_value());
  EXPECT_THAT((*projected)->rows(), ElementsAre(0u, 2u));
  EXPECT_EQ(reporter.lines.size(), 1u);
}

TEST(ProjectionTest, WithoutAReporterADeadLetterIsAnError) {
  const ChangeBatchPtr batch = Rows().InsertNulls(2).Seal();
  EXPECT_FALSE(Project(batch, NotNullNote(), {.on_null_violation = OnNullViolation::kDeadLetter}));
}

TEST(ProjectionTest, AbsentValuesComeFromTheBeforeImage) {
  const ChangeBatchPtr batch =
      Rows().Insert(1, 5, "a").UpdateWithoutNote(2, /*before=*/true).Delete(3).Seal();
  EXPECT_THAT(Written(batch, SameAsOrders())[1], "2|5|\"old note\"");
}

TEST(ProjectionTest, AValueThatIsMissingEverywhereFollowsOnAbsent) {
  const ChangeBatchPtr batch = Rows().UpdateWithoutNote(2, /*before=*/false).Delete(3).Seal();
  const auto failed = Project(batch, SameAsOrders());
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().ToString(), HasSubstr("REPLICA IDENTITY FULL"));
  Reporter reporter;
  EXPECT_EQ(Written(batch, SameAsOrders(), {.on_absent = OnAbsent::kNull}, &reporter)[0],
            "2|5|absent");
  EXPECT_THAT(reporter.lines, ElementsAre("absent lake.orders.note 1"));
  EXPECT_EQ(Written(batch, SameAsOrders(), {.on_absent = OnAbsent::kLookup})[0], "2|5|absent");
  EXPECT_EQ(Written(batch, NotNullNote(), {.partial_update = true})[0], "2|5|absent");
}

TEST(ProjectionTest, ADeleteNeedsItsKeyOnly) {
  EXPECT_TRUE(Project(Rows().Delete(3).Seal(), NotNullNote()).has_value());
  const auto failed = Project(Rows().DeleteWithoutKey().Seal(), SameAsOrders());
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().ToString(), HasSubstr("which row goes"));
  EvolvedSchema append = SameAsOrders();
  append.primary_key.clear();
  EXPECT_TRUE(Project(Rows().DeleteWithoutKey().Seal(), append).has_value());
}

TEST(ProjectionTest, BeforeImagesAreProjectedToo) {
  EvolvedSchema sink = SameAsOrders();
  sink.columns[0].sink.type = LogicalType::String().NotNull();
  const auto projected = Project(Rows().Delete(42).Seal(), sink);
  ASSERT_TRUE(projected.has_value());
  EXPECT_EQ((*projected)->before()[0].Bytes(0), "42");
  EXPECT_TRUE((*projected)->before()[1].IsNull(0));
}

}  // namespace
}  // namespace driftless
