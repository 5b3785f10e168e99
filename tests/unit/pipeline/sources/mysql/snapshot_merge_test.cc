// Chunks of a snapshot and the log between them: every change comes once, in whatever chunk its key
// lies, and from whichever side of the chunk's view.
#include "pipeline/sources/mysql/snapshot_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TablePath kTable{"", "shop", "t"};

// A server whose texts have no case.
class NoCase : public TextOrder {
 public:
  Result<std::vector<int>> Compare(std::span<const TextPair> pairs) override {
    ++asked;
    std::vector<int> signs;
    for (const TextPair& pair : pairs) {
      EXPECT_EQ(pair.collation, "utf8mb4_general_ci");
      const int order = Lower(pair.left).compare(Lower(pair.right));
      signs.push_back(order < 0 ? -1 : order > 0 ? 1 : 0);
    }
    return signs;
  }
  int asked = 0;

 private:
  static std::string Lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(c));
    return text;
  }
};

class Sent : public SourceOutput {
 public:
  bool Changes(ChangeBatchPtr batch) override {
    const std::string mark = choice.IsAll()                           ? ""
                             : choice.kind == SinkChoice::Kind::kOnly ? " only"
                                                                      : " all but";
    for (int64_t row = 0; row < batch->size(); ++row) {
      const auto& image = batch->ops()[row] == Op::kDelete ? batch->before() : batch->after();
      const bool is_text = batch->schema()->columns[0].type.physical() == PhysicalKind::kVariable;
      const std::string key =
          is_text ? std::string(image[0].Bytes(row)) : std::to_string(image[0].Fixed<int32_t>(row));
      rows.push_back(std::string(1, "IUDR"[static_cast<int>(batch->ops()[row])]) + key + "@" +
                     std::to_string(batch->point(row).offset) + mark);
      for (const std::string& sink : choice.sinks) rows.back() += " " + sink;
    }
    return true;
  }
  bool Schema(StatementChangePtr, std::string) override {
    rows.emplace_back("schema");
    return true;
  }
  bool Progress(const Point&, std::string, int64_t) override { return true; }
  bool DeadLetter(const Point&, std::string, std::string_view, const Error&) override {
    return true;
  }
  void SendTo(SinkChoice sinks) override { choice = std::move(sinks); }
  bool stopping() const override { return false; }
  SinkChoice choice;
  std::vector<std::string> Take() { return std::exchange(rows, {}); }
  std::vector<std::string> rows;
};

TableSchemaPtr NumberTable(bool with_key = true) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = kTable;
  schema->AddColumn("id", LogicalType::Int().NotNull()).source.type_text = "int";
  schema->AddColumn("v", LogicalType::Int()).source.type_text = "int";
  if (with_key) schema->primary_key = {1};
  return schema;
}

TableSchemaPtr TextTable() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = kTable;
  Column& column = schema->AddColumn("code", LogicalType::VarChar(20).NotNull());
  column.source.type_text = "varchar(20)";
  column.source.charset = "utf8mb4";
  column.source.collation = "utf8mb4_general_ci";
  schema->primary_key = {1};
  return schema;
}

class SnapshotMergeTest : public ::testing::Test {
 protected:
  SnapshotMergeTest()
      : merge_(&sent_, &order_,
               {.chosen = [this](const TableSchema&) { return chosen_; },
                .persist =
                    [this] {
                      sent_.rows.emplace_back("persist");
                      return true;
                    }}) {}

  TableProgress& table() { return merge_.progress().tables[kTable]; }
  static LogPlace At(uint64_t offset) { return {1, offset}; }

  // One row of the log; a number below zero is no image.
  void Row(const TableSchemaPtr& schema, Op op, int before, int after, uint64_t offset) {
    ChangeBatchBuilder builder(schema, 1);
    builder.BeginRow(op, Point{1, 1, offset, 0, 0}, 0);
    if (before >= 0) builder.before(0).AppendInt(before);
    if (after >= 0) builder.after(0).AppendInt(after);
    builder.EndRow();
    ASSERT_TRUE(merge_.Changes(builder.Seal()));
  }
  void Insert(int key, uint64_t offset) { Row(numbers_, Op::kInsert, -1, key, offset); }
  void Text(const std::string& key, uint64_t offset) {
    ChangeBatchBuilder builder(texts_, 1);
    builder.BeginRow(Op::kInsert, Point{1, 1, offset, 0, 0}, 0);
    builder.after(0).AppendBytes(key);
    builder.EndRow();
    ASSERT_TRUE(merge_.Changes(builder.Seal()));
  }

  const TableSchemaPtr numbers_ = NumberTable();
  const TableSchemaPtr texts_ = TextTable();
  std::string chosen_;
  Sent sent_;
  NoCase order_;
  SnapshotMerge merge_;
};

TEST_F(SnapshotMergeTest, WhatIsNotReadIsLeftToItsChunk) {
  table();
  EXPECT_FALSE(merge_.Wants(kTable, At(10)));
  Insert(1, 10);
  EXPECT_THAT(sent_.Take(), IsEmpty());
  EXPECT_TRUE(merge_.Wants({"", "shop", "other"}, At(10)));
}

TEST_F(SnapshotMergeTest, EachChunkHasItsOwnView) {
  table().Add({{"10"}, At(100)});
  table().Add({{"20"}, At(105)});
  for (const uint64_t offset : {100, 101, 105, 106}) {
    for (const int key : {10, 20, 21}) Insert(key, offset);
  }
  EXPECT_THAT(sent_.Take(), ElementsAre("I10@101", "I10@105", "I10@106", "I20@106"));
  merge_.progress().Pass(At(106));
  Insert(9, 107);
  Insert(20, 107);
  Insert(21, 107);
  EXPECT_THAT(sent_.Take(), ElementsAre("I9@107", "I20@107"));
  EXPECT_TRUE(merge_.Wants(kTable, At(107)));
}

TEST_F(SnapshotMergeTest, AnUpdateBetweenChunksGoesInHalves) {
  table().Add({{"10"}, At(100)});
  merge_.progress().Pass(At(100));
  Row(numbers_, Op::kUpdate, 5, 15, 101);  // leaves what is read
  Row(numbers_, Op::kUpdate, 15, 6, 102);  // comes into it
  Row(numbers_, Op::kUpdate, 7, 8, 103);
  Row(numbers_, Op::kUpdate, 15, 16, 104);
  Row(numbers_, Op::kUpdate, -1, 9, 105);
  Row(numbers_, Op::kDelete, 3, -1, 106);
  Row(numbers_, Op::kDelete, 30, -1, 107);
  EXPECT_THAT(sent_.Take(), ElementsAre("D5@101", "I6@102", "U8@103", "U9@105", "D3@106"));
}

TEST_F(SnapshotMergeTest, TheLastChunkReachesToTheEnd) {
  table().Add({{"10"}, At(100)});
  table().Add({{}, At(104)});
  Insert(1000, 104);
  Insert(1000, 105);
  EXPECT_THAT(sent_.Take(), ElementsAre("I1000@105"));
  EXPECT_EQ(merge_.progress().furthest(), At(104));
  merge_.progress().Pass(At(103));
  EXPECT_FALSE(merge_.progress().done());
  merge_.progress().Pass(At(104));
  EXPECT_TRUE(merge_.progress().done());
  Insert(1000, 104);
  EXPECT_THAT(sent_.Take(), ElementsAre("I1000@104"));
}

TEST_F(SnapshotMergeTest, ATableWithoutKeyIsOneChunk) {
  const TableSchemaPtr keyless = NumberTable(/*with_key=*/false);
  table().Add({{}, At(100)});
  EXPECT_FALSE(merge_.Wants(kTable, At(100)));
  EXPECT_TRUE(merge_.Wants(kTable, At(101)));
  Row(keyless, Op::kInsert, -1, 1, 100);
  Row(keyless, Op::kUpdate, 1, 2, 101);
  EXPECT_THAT(sent_.Take(), ElementsAre("U2@101"));
}

TEST_F(SnapshotMergeTest, ATableWithoutKeyIsSplitByTheChosenColumn) {
  chosen_ = "v";
  auto schema = std::make_shared<TableSchema>(*NumberTable(/*with_key=*/false));
  table().Add({{"5"}, At(100)});
  merge_.progress().Pass(At(100));
  ChangeBatchBuilder builder(schema, 1);
  for (const int v : {5, 6}) {
    builder.BeginRow(Op::kInsert, Point{1, 1, 101, static_cast<uint32_t>(v), 0}, 0);
    builder.after(0).AppendInt(v * 10);
    builder.after(1).AppendInt(v);
    builder.EndRow();
  }
  builder.BeginRow(Op::kInsert, Point{1, 1, 101, 7, 0}, 0);
  builder.after(0).AppendInt(70);
  builder.after(1).AppendNull();  // before all values
  builder.EndRow();
  ASSERT_TRUE(merge_.Changes(builder.Seal()));
  EXPECT_THAT(sent_.Take(), ElementsAre("I50@101", "I70@101"));
}

TEST_F(SnapshotMergeTest, TheServerComparesTexts) {
  table().Add({{"Bob"}, At(100)});
  table().Add({{"carl"}, At(105)});
  for (const char* key : {"alice", "BOB", "bobby", "CARL", "carla"}) Text(key, 103);
  EXPECT_THAT(sent_.Take(), ElementsAre("Ialice@103", "IBOB@103"));
  for (const char* key : {"bobby", "CARL", "carla"}) Text(key, 106);
  EXPECT_THAT(sent_.Take(), ElementsAre("Ibobby@106", "ICARL@106"));
  EXPECT_GT(order_.asked, 0);
}

StatementChangePtr Statement(ChangeDetail detail, TableSchemaPtr after) {
  auto change = std::make_shared<StatementChange>();
  change->table = kTable;
  change->parts.push_back({0, std::move(detail), nullptr, std::move(after)});
  return change;
}

TEST_F(SnapshotMergeTest, AnEmptiedTableIsTheLogsFromThereOn) {
  table().Add({{"10"}, At(100)});
  ASSERT_TRUE(merge_.Schema(Statement(TruncateTable{}, numbers_), ""));
  // Recorded behind the statement, before any row.
  EXPECT_THAT(sent_.Take(), ElementsAre("schema", "persist"));
  EXPECT_TRUE(merge_.progress().done());
  Insert(99, 101);
  EXPECT_THAT(sent_.Take(), ElementsAre("I99@101"));
}

TEST_F(SnapshotMergeTest, AnAlteredKeyBeginsAnewAndLeavesNothingOut) {
  table().Add({{"10"}, At(100)});
  table().order = (*ChunkKey::Make(*numbers_, "")).order();
  auto wider = std::make_shared<TableSchema>(*numbers_);
  wider->AddColumn("w", LogicalType::Int());
  ASSERT_TRUE(merge_.Schema(Statement(AddColumns{}, wider), ""));
  EXPECT_THAT(sent_.Take(), ElementsAre("schema"));
  EXPECT_EQ(table().frontier(), ChunkBound{"10"});
  auto other = std::make_shared<TableSchema>(*numbers_);
  other->primary_key = {2};
  ASSERT_TRUE(merge_.Schema(Statement(KeyChange{}, other), ""));
  EXPECT_THAT(sent_.Take(), ElementsAre("schema", "persist"));
  EXPECT_TRUE(table().repeats);
  EXPECT_FALSE(table().begun());
  EXPECT_TRUE(merge_.Wants(kTable, At(1)));
  Insert(99, 101);
  EXPECT_THAT(sent_.Take(), ElementsAre("I99@101"));
}

TEST_F(SnapshotMergeTest, ARenamedTableIsReadUnderItsNewName) {
  table().Add({{"10"}, At(100)});
  auto renamed = std::make_shared<TableSchema>(*numbers_);
  renamed->path = {"", "shop", "u"};
  ASSERT_TRUE(merge_.Schema(Statement(RenameTable{renamed->path}, renamed), ""));
  EXPECT_FALSE(merge_.progress().tables.contains(kTable));
  EXPECT_FALSE(merge_.progress().tables.at(renamed->path).begun());
}

// A sink that was added reads the table for itself; the log goes on at the others.
TEST_F(SnapshotMergeTest, OthersGetTheWholeLogWhileOneSinkReads) {
  table().only_for = {"new"};
  EXPECT_TRUE(merge_.Wants(kTable, At(10)));
  Insert(1, 10);
  EXPECT_THAT(sent_.Take(), ElementsAre("I1@10 all but new"));
  table().Add({{"10"}, At(100)});
  Insert(5, 101);
  EXPECT_THAT(sent_.Take(), ElementsAre("I5@101 all but new", "I5@101 only new"));
  Row(numbers_, Op::kUpdate, 5, 15, 102);
  EXPECT_THAT(sent_.Take(), ElementsAre("U15@102 all but new", "D5@102 only new"));
  table().repeats = true;
  Insert(20, 103);
  EXPECT_THAT(sent_.Take(), ElementsAre("I20@103"));
  EXPECT_TRUE(sent_.choice.IsAll());
}

TEST_F(SnapshotMergeTest, ASinkThatComesWhileATableIsReadGetsItAfterwards) {
  table().Add({{"10"}, At(100)});
  table().owed_to = {"new"};
  Insert(5, 101);
  Insert(15, 101);
  EXPECT_THAT(sent_.Take(), ElementsAre("I5@101 all but new"));
  table().Add({{}, At(110)});
  merge_.progress().Pass(At(110));
  ASSERT_TRUE(merge_.progress().tables.contains(kTable));
  EXPECT_THAT(table().only_for, ElementsAre("new"));
  EXPECT_THAT(table().owed_to, IsEmpty());
  EXPECT_FALSE(table().begun());
  Insert(5, 111);
  EXPECT_THAT(sent_.Take(), ElementsAre("I5@111 all but new"));
  table().Add({{}, At(120)});
  merge_.progress().Pass(At(120));
  EXPECT_TRUE(merge_.progress().done());
}

TEST_F(SnapshotMergeTest, AnEmptiedTableIsOwedToNobody) {
  table().Add({{"10"}, At(100)});
  table().owed_to = {"new"};
  ASSERT_TRUE(merge_.Schema(Statement(TruncateTable{}, numbers_), ""));
  EXPECT_TRUE(merge_.progress().done());
}

TEST_F(SnapshotMergeTest, ARenamedTableIsReadForTheSameSinks) {
  const TablePath to{"", "shop", "u"};
  table().Add({{}, At(100)});  // whole for the one, and nothing yet for the other
  table().only_for = {"first"};
  table().owed_to = {"second"};
  auto renamed = std::make_shared<TableSchema>(*numbers_);
  renamed->path = to;
  ASSERT_TRUE(merge_.Schema(Statement(RenameTable{to}, renamed), ""));
  EXPECT_THAT(merge_.progress().tables.at(to).only_for, ElementsAre("second"));
  EXPECT_THAT(merge_.progress().tables.at(to).owed_to, IsEmpty());
}

// In a restart statements come again that the position of the sinks has.
TEST_F(SnapshotMergeTest, AStatementFromBeforeTheReadingChangesNothingOfIt) {
  table().Add({{"10"}, At(100)});
  table().as_of = Point{1, 1, 100, 0, 0};
  auto change = std::make_shared<StatementChange>(*Statement(TruncateTable{}, numbers_));
  change->point = Point{1, 1, 99, 0, 0};
  ASSERT_TRUE(merge_.Schema(change, ""));
  EXPECT_TRUE(table().begun());
  change = std::make_shared<StatementChange>(*change);
  change->point = Point{1, 1, 101, 0, 0};
  ASSERT_TRUE(merge_.Schema(change, ""));
  EXPECT_TRUE(merge_.progress().done());
}

// In a restart one sink stands in front of the statement, and another behind it.
TEST_F(SnapshotMergeTest, ARenameFindsTheReadingOfASinkThatIsBehindIt) {
  auto renamed = std::make_shared<TableSchema>(*numbers_);
  renamed->path = {"", "shop", "u"};
  table().Add({{"10"}, At(100)});
  table().only_for = {"first"};
  TableProgress& there = merge_.progress().tables[renamed->path];
  there.only_for = {"second"};
  there.Add({{"10"}, At(110)});
  ASSERT_TRUE(merge_.Schema(Statement(RenameTable{renamed->path}, renamed), ""));
  EXPECT_FALSE(merge_.progress().tables.contains(kTable));
  EXPECT_THAT(there.only_for, ElementsAre("first", "second"));
  EXPECT_FALSE(there.begun());
  EXPECT_TRUE(there.repeats);
}

// What a sink is shown is no statement of the log: the reading of the others goes on.
TEST_F(SnapshotMergeTest, AnIntroductionChangesNothingOfWhatIsRead) {
  table().Add({{"10"}, At(100)});
  table().order = (*ChunkKey::Make(*numbers_, "")).order();
  auto other = std::make_shared<TableSchema>(*numbers_);
  other->primary_key = {2};
  auto change = std::make_shared<StatementChange>(*Statement(KeyChange{}, other));
  change->point = Point{1, 1, 100, LogPosition::kIntroductions + 3, 0};
  ASSERT_TRUE(merge_.Schema(change, ""));
  EXPECT_TRUE(table().begun());
  EXPECT_FALSE(table().repeats);
}

TEST(SnapshotProgress, IsTheSameAfterItsText) {
  SnapshotProgress progress;
  progress.attempt = 3;
  progress.number = 71;
  progress.tables_done = 5;
  progress.rows_done = 1234;
  TableProgress& table = progress.tables[kTable];
  table.order = "1 0 ; ";
  table.merged = {"a\tb", ""};
  table.Add({{"x", "y"}, {1, 50}});
  table.Add({{"z", "y"}, {1, 50}});  // the same view: one chunk
  table.Add({{}, {1, 60}});
  table.repeats = true;
  progress.tables[{"", "shop", "fresh"}];
  progress.selection = "shop.*";
  const std::string without = progress.Serialize();
  EXPECT_EQ(SnapshotProgress::Parse(without)->selection, "shop.*");
  table.only_for = {"lake", "a\tsink"};
  table.owed_to = {"later"};
  const auto again = SnapshotProgress::Parse(progress.Serialize());
  ASSERT_TRUE(again) << again.error().ToString();
  EXPECT_EQ(again->Serialize(), progress.Serialize());
  EXPECT_EQ(again->tables.at(kTable).chunks, table.chunks);
  EXPECT_EQ(again->tables.at(kTable).chunks.size(), 2U);
  EXPECT_TRUE(again->tables.at(kTable).finished);
  EXPECT_EQ(again->tables.at(kTable).only_for, table.only_for);
  EXPECT_EQ(again->tables.at(kTable).owed_to, table.owed_to);
  EXPECT_EQ(again->tables.size(), 2U);
  EXPECT_EQ(again->selection, "shop.*");
  EXPECT_TRUE(again->has_unread());
  EXPECT_FALSE(SnapshotProgress::Parse("3\t1\t"));
  EXPECT_FALSE(SnapshotProgress::Parse(""));
}

}  // namespace
}  // namespace driftless::mysql
