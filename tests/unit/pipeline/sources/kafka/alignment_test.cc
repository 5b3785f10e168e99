#include "pipeline/sources/kafka/alignment.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "pipeline/sources/kafka/resume.h"

namespace driftless {
namespace {

using Turn = StatementAlignment::Turn;

class Output : public SourceOutput {
 public:
  bool Changes(ChangeBatchPtr) override { return true; }
  bool Schema(StatementChangePtr, std::string) override { return true; }
  bool Progress(const Point&, std::string, int64_t) override { return true; }
  bool DeadLetter(const Point&, std::string, std::string_view, const Error&) override {
    return true;
  }
  bool stopping() const override { return stops; }
  std::atomic<bool> stops = false;
};

// Reads the statements of one partition, as its thread does; says what became of each.
std::string Read(StatementAlignment* alignment, size_t partition,
                 const std::vector<StatementMark>& marks, const Output& output,
                 StatementMark known = {}) {
  std::string text;
  for (const StatementMark& mark : marks) {
    const Turn turn = mark.run == 0 ? alignment->ArriveUnmarked(partition, output)
                                    : alignment->Arrive(partition, mark, known == mark, output);
    if (turn == Turn::kSend) alignment->Sent(partition);
    text += turn == Turn::kSend     ? "send "
            : turn == Turn::kFollow ? "follow "
            : turn == Turn::kSkip   ? "skip "
                                    : "stop ";
    if (turn == Turn::kStop) return text;
  }
  alignment->End(partition);
  return text;
}

// All partitions at the same time.
std::vector<std::string> ReadAll(StatementAlignment* alignment,
                                 const std::vector<std::vector<StatementMark>>& partitions) {
  const Output output;
  std::vector<std::future<std::string>> running;
  for (size_t i = 0; i < partitions.size(); ++i) {
    running.push_back(std::async(std::launch::async,
                                 [&, i] { return Read(alignment, i, partitions[i], output); }));
  }
  std::vector<std::string> turns;
  for (auto& one : running) turns.push_back(one.get());
  return turns;
}

TEST(StatementAlignmentTest, OnePartitionSendsAndTheOthersFollow) {
  StatementAlignment alignment(3);
  const std::vector<StatementMark> marks = {{0, 0}, {0, 0}, {7, 1}, {7, 2}, {9, 1}};
  EXPECT_EQ(
      ReadAll(&alignment, {marks, marks, marks}),
      (std::vector<std::string>{"send send send send send ", "follow follow follow follow follow ",
                                "follow follow follow follow follow "}));
  EXPECT_EQ(alignment.unmarked(1), 2u);
}

// Its writer was killed while it sent it, and another table's came first when it went on.
TEST(StatementAlignmentTest, AStatementThatSomePartitionsLackIsPassedOver) {
  StatementAlignment alignment(3);
  EXPECT_EQ(ReadAll(&alignment, {{{7, 5}, {7, 6}, {9, 1}, {9, 2}},
                                 {{7, 5}, {9, 1}, {9, 2}},
                                 {{7, 5}, {9, 1}, {9, 2}}}),
            (std::vector<std::string>{"send skip send send ", "follow follow follow ",
                                      "follow follow follow "}));
}

// What was sent before is not sent again, and what nobody sent then is passed over now.
TEST(StatementAlignmentTest, PositionsSayWhatWasSent) {
  StatementAlignment alignment(2);
  alignment.Begin(0, 0, {9, 1});
  alignment.Begin(1, 0, {7, 5});
  EXPECT_EQ(ReadAll(&alignment, {{{9, 2}}, {{7, 6}, {9, 1}, {9, 2}}}),
            (std::vector<std::string>{"send ", "skip follow follow "}));
}

// One partition carried it out when the others had ended; it comes again in all of them.
TEST(StatementAlignmentTest, WhoHasNotMetARepeatedStatementFollows) {
  StatementAlignment alignment(2);
  const Output output;
  auto first = std::async(std::launch::async, [&] {
    return Read(&alignment, 0, {{9, 1}, {9, 2}}, output, /*known=*/{9, 1});
  });
  EXPECT_EQ(Read(&alignment, 1, {{9, 1}, {9, 2}}, output), "follow follow ");
  EXPECT_EQ(first.get(), "skip send ");
}

TEST(StatementAlignmentTest, AClockThatGoesBackHidesNoStatement) {
  StatementAlignment alignment(2);
  const std::vector<StatementMark> marks = {{9, 1}, {9, 2}, {7, 1}, {7, 2}};
  EXPECT_EQ(ReadAll(&alignment, {marks, marks}),
            (std::vector<std::string>{"send send send send ", "follow follow follow follow "}));
}

TEST(StatementAlignmentTest, AnEndedPartitionHoldsNobodyUp) {
  StatementAlignment alignment(2);
  EXPECT_EQ(ReadAll(&alignment, {{}, {{7, 5}, {7, 6}}}),
            (std::vector<std::string>{"", "send send "}));
}

// What a row shows of a table, as a change.
StatementChange Learnt(const TableSchemaPtr& before, const TableSchemaPtr& after) {
  StatementChange change;
  change.table = after->path;
  change.inferred = true;
  change.parts.push_back(
      {0, before == nullptr ? ChangeDetail(CreateTable{}) : AddColumns{}, before, after});
  return change;
}

TableSchemaPtr Table(int columns) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "t"};
  for (int i = 0; i < columns; ++i) {
    schema->AddColumn("c" + std::to_string(i), LogicalType::Int());
  }
  return schema;
}

TEST(StatementAlignmentTest, WhatRowsShowBetweenTwoStatementsIsSentOnceAndToldToAll) {
  using Rows = StatementAlignment::Rows;
  StatementAlignment alignment(2, "t");
  const Output output;
  const auto announce = [&](size_t partition, TableSchemaPtr before, TableSchemaPtr after) {
    const StatementChange change = Learnt(before, after);
    auto sends = alignment.Announce(partition, Rows::kMayChange, change, "t", output);
    if (!sends) return std::string("refused");
    if (*sends) alignment.Announced(partition, Rows::kMayChange, change.table);
    return std::string(*sends ? "sent" : "followed");
  };
  EXPECT_EQ(announce(0, nullptr, Table(1)), "sent");
  EXPECT_EQ(announce(1, nullptr, Table(1)), "followed");
  EXPECT_EQ(announce(1, Table(1), Table(2)), "sent");
  EXPECT_EQ(announce(0, Table(1), Table(2)), "followed");
  EXPECT_EQ(announce(0, Table(1), Table(3)), "refused") << "the other one shows two columns";
  EXPECT_EQ(alignment.Learnt(0).size(), 2u);
  EXPECT_EQ(alignment.Learnt(0).back()->columns.size(), 2u);
  EXPECT_EQ(ReadAll(&alignment, {{{0, 0}}, {{0, 0}}}),
            (std::vector<std::string>{"send ", "follow "}));
  // Behind the statement everything may be another way.
  EXPECT_TRUE(alignment.Learnt(1).empty());
  EXPECT_EQ(announce(1, Table(2), Table(1)), "sent");
  EXPECT_EQ(announce(0, Table(2), Table(1)), "followed");
}

TEST(StatementAlignmentTest, RowsWithoutAnOrderShowOneSchema) {
  using Rows = StatementAlignment::Rows;
  StatementAlignment alignment(2, "t");
  const Output output;
  EXPECT_TRUE(*alignment.Announce(0, Rows::kShowOneSchema, Learnt(nullptr, Table(1)), "t", output));
  alignment.Announced(0, Rows::kShowOneSchema, Table(1)->path);
  EXPECT_FALSE(
      *alignment.Announce(1, Rows::kShowOneSchema, Learnt(nullptr, Table(1)), "t", output));
  EXPECT_FALSE(
      alignment.Announce(1, Rows::kShowOneSchema, Learnt(Table(1), Table(2)), "t", output));
  EXPECT_FALSE(alignment.Announce(1, Rows::kShowOneSchema, Learnt(nullptr, Table(2)), "t", output));
}

TEST(StatementAlignmentTest, NobodyWaitsWhenThePipelineStops) {
  StatementAlignment alignment(2);
  Output output;
  output.stops = true;
  EXPECT_EQ(alignment.Arrive(0, {7, 1}, false, output), Turn::kStop);
}

TEST(RecentStatementsTest, AStatementIsKnownByItsNameAndItsMessage) {
  RecentStatements recent;
  const uint64_t first = RecentStatements::IdentityOf("shop.t@0:1:0.0", "ALTER");
  EXPECT_NE(first, RecentStatements::IdentityOf("shop.t@0:2:0.0", "ALTER"));
  EXPECT_NE(first, RecentStatements::IdentityOf("shop.t@0:1:0.0", "ALTER 2"));
  recent.Add(first);
  EXPECT_TRUE(RecentStatements::Parse(recent.ToText()).Contains(first));
  for (uint64_t i = 0; i < RecentStatements::kMax; ++i) recent.Add(i);
  EXPECT_FALSE(recent.Contains(first));
  EXPECT_TRUE(RecentStatements::Parse(recent.ToText()).Contains(0));
}

TEST(KafkaResumeTest, IsReadBackAndFromFormerVersionsToo) {
  KafkaResume resume{3, 2, 17, {1764500000000, 12}, {}};
  resume.recent.Add(0xabcdef);
  const KafkaResume read = KafkaResume::Parse(resume.ToText());
  EXPECT_EQ(read.statements, 3u);
  EXPECT_EQ(read.records, 2u);
  EXPECT_EQ(read.next_offset, 17);
  EXPECT_EQ(read.last, (StatementMark{1764500000000, 12}));
  EXPECT_TRUE(read.recent.Contains(0xabcdef));
  EXPECT_EQ(KafkaResume::Parse("3 0 17").next_offset, 17);
  EXPECT_EQ(KafkaResume::Parse("3 0 17").last, StatementMark());
  EXPECT_EQ(KafkaResume::Parse("3").statements, 3u);
}

}  // namespace
}  // namespace driftless
