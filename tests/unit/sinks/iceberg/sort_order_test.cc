#include "sinks/iceberg/sort_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sinks/iceberg/schema_step.h"
#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IcebergRig;

SortField By(int32_t source, std::string transform = "identity", bool descending = false,
             bool nulls_first = true) {
  return {source, std::move(transform), descending, nulls_first};
}

Schema TwoColumns() {
  Schema schema;
  for (const auto& [id, name, type] :
       {std::tuple(1, "id", LogicalType::BigInt()), std::tuple(2, "note", LogicalType::String())}) {
    Field field;
    field.id = id;
    field.name = name;
    field.type = type;
    schema.fields.push_back(field);
  }
  return schema;
}

// Rows (id, note); none: null. What the sorter makes of them, as "id note".
std::vector<std::string> Sorted(
    const std::vector<SortField>& order,
    const std::vector<std::pair<std::optional<int64_t>, std::optional<std::string>>>& rows) {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("id", LogicalType::BigInt());
  schema->AddColumn("note", LogicalType::String());
  ChangeBatchBuilder builder(schema, 0);
  std::vector<lake::RowRef> refs;
  for (const auto& [id, note] : rows) {
    builder.BeginRow(Op::kInsert, Point{0, 0, refs.size() + 1, 0, 0}, 0);
    id ? builder.after(0).AppendInt(*id) : builder.after(0).AppendNull();
    note ? builder.after(1).AppendBytes(*note) : builder.after(1).AppendNull();
    builder.EndRow();
    refs.emplace_back(0, static_cast<uint32_t>(refs.size()), lake::RowKind::kInsert);
  }
  const ChangeBatchPtr batch = builder.Seal();
  const std::vector<lake::RowImage> images = {{batch->after()}};
  const auto sorter = RowSorter::Make(TwoColumns(), {7, order}, {0, 1});
  EXPECT_TRUE(sorter) << sorter.error().ToString();
  EXPECT_EQ(sorter->order_id(), 7);
  sorter->Sort(images, &refs);
  std::vector<std::string> texts;
  for (const lake::RowRef ref : refs) {
    const auto& columns = images[0].columns;
    texts.push_back(
        (columns[0].IsNull(ref.row) ? "-" : std::to_string(columns[0].Fixed<int64_t>(ref.row))) +
        " " + std::string(columns[1].IsNull(ref.row) ? "-" : columns[1].Bytes(ref.row)));
  }
  return texts;
}

TEST(IcebergSortOrder, ComparesColumnsTransformsDirectionsAndNulls) {
  const std::vector<std::pair<std::optional<int64_t>, std::optional<std::string>>> rows = {
      {12, "b"}, {std::nullopt, "a"}, {-3, std::nullopt}, {17, "b"}, {12, "a"}};
  EXPECT_THAT(Sorted({By(1)}, rows), ElementsAre("- a", "-3 -", "12 b", "12 a", "17 b"));
  EXPECT_THAT(Sorted({By(1, "identity", true, false)}, rows),
              ElementsAre("17 b", "12 b", "12 a", "-3 -", "- a"));
  EXPECT_THAT(Sorted({By(2, "identity", false, false), By(1, "identity", true)}, rows),
              ElementsAre("- a", "12 a", "17 b", "12 b", "-3 -"));
  // Both 12 and 17 are 10 there, and keep their order.
  EXPECT_THAT(Sorted({By(1, "truncate[10]", true, true)}, rows),
              ElementsAre("- a", "12 b", "17 b", "12 a", "-3 -"));
  EXPECT_THAT(Sorted({By(1, "void")}, rows), ElementsAre("12 b", "- a", "-3 -", "17 b", "12 a"));
}

TEST(IcebergSortOrder, WhatCannotBeKeptIsRefused) {
  EXPECT_FALSE(RowSorter::Make(TwoColumns(), {1, {By(1, "zorder")}}, {0, 1}));
  EXPECT_FALSE(RowSorter::Make(TwoColumns(), {1, {By(9)}}, {0, 1})) << "inside a nested column";
}

TEST(IcebergSortOrder, ExpressionsOfTheOption) {
  std::string source;
  const auto parsed = ParseSortExpression("day(ts)  desc nulls first", &source);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(source, "ts");
  EXPECT_EQ(parsed->transform, "day");
  EXPECT_TRUE(parsed->descending);
  EXPECT_TRUE(parsed->nulls_first);
  EXPECT_FALSE(ParseSortExpression("id desc", &source)->nulls_first) << "as the reference says it";
  EXPECT_TRUE(ParseSortExpression("id", &source)->nulls_first);
  for (const char* wrong :
       {"", "id down", "id asc nulls", "id nulls never", "bucket(id)", "a b c"}) {
    EXPECT_FALSE(ParseSortExpression(wrong, &source)) << wrong;
  }
}

// The rows of a data file in file order.
std::vector<std::string> RowsOf(const IcebergRig& rig, const ManifestEntry& entry) {
  std::vector<std::string> rows;
  TableScan scan = TableScan::OfFiles(std::make_shared<const LoadedTable>(rig.Table()), {entry});
  for (ScannedRow row; *scan.Next(&row);) {
    const auto columns = row.row.columns();
    rows.push_back(std::string(columns[1].Bytes(row.row.row)) + " " +
                   std::to_string(columns[0].Fixed<int64_t>(row.row.row)));
  }
  return rows;
}

// By note, downwards. `id`: what the files say of themselves.
void ExpectSorted(const IcebergRig& rig, int32_t id) {
  const auto note = [](const std::string& row) { return row.substr(0, row.rfind(' ')); };
  for (const ManifestEntry& entry : rig.Live().data) {
    EXPECT_EQ(entry.file.sort_order_id, id) << entry.file.path;
    EXPECT_TRUE(std::ranges::is_sorted(RowsOf(rig, entry), std::greater<>(), note))
        << entry.file.path;
  }
  for (const ManifestEntry& entry : rig.Live().deletes) {
    EXPECT_EQ(entry.file.sort_order_id, entry.file.content == FileContent::kPositionDeletes
                                            ? std::nullopt
                                            : std::optional(0));
  }
}

class IcebergSortedTable : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Shapes, IcebergSortedTable, ::testing::Values(false, true));

TEST_P(IcebergSortedTable, FilesAreSortedAndStaySoWhenTheyAreMerged) {
  IcebergRig::Shape shape;
  shape.has_key = GetParam();
  shape.sort = {By(2, "identity", true, false)};
  shape.format_version = GetParam() ? 2 : 3;
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  for (int commit = 1; commit <= 12; ++commit) {
    rig.CommitRandom(60, 200);
    ExpectSorted(rig, 1);
    if (commit % 6 != 0) continue;
    EXPECT_GT(rig.Compact().files_removed, 0);
    ExpectSorted(rig, 1);
    EXPECT_EQ(rig.Read(), rig.Expected());
  }
}

// More rows than a row group of a compaction holds.
TEST(IcebergSortOrder, LargeFilesAreMergedRowByRow) {
  IcebergRig::Shape shape;
  shape.has_key = false;
  shape.sort = {By(2, "identity", true, false)};
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  for (int commit = 0; commit < 5; ++commit) rig.CommitInserts(15000);
  EXPECT_EQ(rig.Compact().files_removed, 5);
  ASSERT_EQ(rig.Live().data.size(), 1u);
  EXPECT_GT(rig.Live().data[0].file.split_offsets.size(), 1u) << "one row group shows nothing";
  ExpectSorted(rig, 1);
  EXPECT_EQ(rig.Read(), rig.Expected());
}

// The files from before the table had an order are no reason to call a mixture sorted.
TEST(IcebergSortOrder, AFileThatIsNotSortedDoesNotSayIt) {
  IcebergRig::Shape shape;
  shape.has_key = false;
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  for (int commit = 0; commit < 5; ++commit) rig.CommitInserts(15000);
  for (const ManifestEntry& entry : rig.Live().data) EXPECT_EQ(entry.file.sort_order_id, 0);
  const LoadedTable table = rig.Table();
  TableMetadata next = table.metadata;
  next.carried["default-sort-order-id"] = "1";
  next.carried["sort-orders"] = R"([{"order-id":0,"fields":[]},{"order-id":1,"fields":[)"
                                R"({"transform":"identity","source-id":2,"direction":"desc",)"
                                R"("null-order":"nulls-last"}]}])";
  rig.ReplaceMetadata(table, next);
  EXPECT_EQ(rig.Compact().files_removed, 5);
  ASSERT_EQ(rig.Live().data.size(), 1u);
  EXPECT_EQ(rig.Live().data[0].file.sort_order_id, 0);
  rig.CommitInserts(100);
  EXPECT_EQ(rig.Live().data[1].file.sort_order_id, 1);
  EXPECT_EQ(rig.Read(), rig.Expected());
}

// An order that we cannot make is left to others: the files say that they are unsorted.
TEST(IcebergSortOrder, AnOrderThatIsNotKnownLeavesFilesUnsorted) {
  IcebergRig::Shape shape;
  shape.sort = {By(2, "zorder")};
  IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  rig.CommitRandom(60, 200);
  EXPECT_EQ(rig.Live().data[0].file.sort_order_id, 0);
  EXPECT_EQ(rig.Read(), rig.Expected());
}

// Readers would refuse a table whose default order names a column that is gone.
TEST(IcebergSortOrder, AColumnOfTheOrderIsNotDropped) {
  IcebergRig::Shape shape;
  shape.sort = {By(2)};
  const IcebergRig rig(std::make_shared<MemoryStore>(), shape);
  const TableMetadata metadata = rig.Table().metadata;
  Step step;
  step.before = ToSinkTable(metadata, metadata.schema(), rig.path);
  step.after = step.before;
  step.after->columns.pop_back();
  step.payload = "drop\tnote";
  const auto dropped = SchemaAfter(metadata, step);
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().kind(), ErrorKind::kRefused);
  EXPECT_THAT(dropped.error().message(), HasSubstr("note"));
  const IcebergRig unsorted(std::make_shared<MemoryStore>(), {});
  EXPECT_TRUE(SchemaAfter(unsorted.Table().metadata, step));
}

}  // namespace
}  // namespace driftless::iceberg
