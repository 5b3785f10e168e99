#include "sinks/lake/merge_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/memory_budget.h"
#include "sinks/lake/row_groups.h"

namespace driftless::lake {
namespace {

struct Row {
  std::string key;
  int64_t sequence = 0;
  RowKind kind = RowKind::kInsert;
  friend bool operator==(const Row&, const Row&) = default;
};

TableSchemaPtr KeyedSchema() {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("k", LogicalType::String().NotNull());
  return schema;
}

KeyOrder ByKey() { return KeyOrder({0}, {LogicalType::String().NotNull()}); }

FileRowsPtr FileRowsOf(std::span<const Row> rows) {
  auto made = std::make_shared<FileRows>();
  ChangeBatchBuilder builder(KeyedSchema(), 0);
  for (const Row& row : rows) {
    builder.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(row.sequence), 0, 0}, 0);
    builder.after(0).AppendBytes(row.key);
    builder.EndRow();
    made->sequences.push_back(row.sequence);
    made->kinds.push_back(row.kind);
  }
  made->values = builder.Seal();
  return made;
}

// Gives rows a few at a time, as a file does.
class ListedRows : public RowSource {
 public:
  ListedRows(std::vector<Row> rows, size_t at_once) : rows_(std::move(rows)), at_once_(at_once) {}
  Result<FileRowsPtr> Next() override {
    if (at_ == rows_.size()) return FileRowsPtr();
    const size_t n = std::min(at_once_, rows_.size() - at_);
    at_ += n;
    return FileRowsOf(std::span(rows_).subspan(at_ - n, n));
  }

 private:
  std::vector<Row> rows_;
  size_t at_once_;
  size_t at_ = 0;
};

std::vector<Row> Merged(std::vector<std::unique_ptr<RowSource>> sources, Retractions retractions) {
  MergeReader merge(ByKey(), std::move(sources), retractions);
  std::vector<Row> rows;
  MergedRow row;
  while (true) {
    const Result<bool> more = merge.Next(&row);
    EXPECT_TRUE(more.has_value());
    if (!more || !*more) return rows;
    rows.push_back({std::string(row.columns()[0].Bytes(row.row)), row.sequence, row.kind});
  }
}

// Keys share their first eight bytes in part, so that the order is not that of prefixes alone.
TEST(MergeReaderTest, GivesTheNewestRowOfEveryKeyInOrder) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    std::map<std::string, Row> newest;
    std::vector<std::vector<Row>> runs(1 + random() % 9);
    int64_t sequence = 0;
    for (auto& run : runs) {
      std::map<std::string, Row> rows;
      for (uint64_t n = random() % 40; n > 0; --n) {
        Row row{"key-" + std::to_string(random() % 5) + "/" + std::to_string(random() % 30),
                ++sequence, random() % 4 == 0 ? RowKind::kDelete : RowKind::kUpdateAfter};
        rows[row.key] = row;
      }
      for (const auto& [key, row] : rows) {
        run.push_back(row);
        newest[key] = row;
      }
    }
    std::ranges::shuffle(runs, random);  // the order of the sources says nothing
    for (const Retractions retractions : {Retractions::kKeep, Retractions::kDrop}) {
      std::vector<std::unique_ptr<RowSource>> sources;
      for (const auto& run : runs) {
        sources.push_back(std::make_unique<ListedRows>(run, 1 + random() % 7));
      }
      std::vector<Row> expected;
      for (const auto& [key, row] : newest) {
        if (retractions == Retractions::kKeep || !IsRetract(row.kind)) expected.push_back(row);
      }
      ASSERT_EQ(Merged(std::move(sources), retractions), expected) << "round " << round;
    }
  }
}

TEST(RowGroupsTest, ChargesTheBatchesOfAGroupAndHandsOnEveryRowOnce) {
  MemoryBudget budget(1 << 30);
  std::vector<Row> even;
  std::vector<Row> odd;
  for (int i = 0; i < 600; ++i) {
    (i % 2 == 0 ? even : odd).push_back({"key-" + std::to_string(1000 + i), i, RowKind::kInsert});
  }
  std::vector<std::unique_ptr<RowSource>> sources;
  sources.push_back(std::make_unique<ListedRows>(even, 50));
  sources.push_back(std::make_unique<ListedRows>(odd, 50));
  MergeReader merge(ByKey(), std::move(sources), Retractions::kKeep);

  constexpr int64_t kGroupBytes = 16 << 10;
  std::vector<int64_t> taken;
  int groups = 0;
  RowGroups rows(
      [&](std::span<const RowImage> images, std::span<const RowRef> refs,
          std::span<const int64_t> sequences) -> Result<void> {
        ++groups;
        EXPECT_GE(budget.used_bytes(), static_cast<int64_t>(images.size()) * 2048);
        EXPECT_LT(budget.used_bytes(), kGroupBytes + (8 << 10)) << "one batch more at most";
        for (size_t i = 0; i < refs.size(); ++i) {
          const std::string key(images[refs[i].image].columns[0].Bytes(refs[i].row));
          EXPECT_EQ(key, "key-" + std::to_string(1000 + sequences[i]));
          taken.push_back(sequences[i]);
        }
        return {};
      },
      std::nullopt, kGroupBytes, &budget);
  MergedRow row;
  while (*merge.Next(&row)) ASSERT_TRUE(rows.Add(row).has_value());
  ASSERT_TRUE(rows.Flush().has_value());
  EXPECT_GT(groups, 1);
  EXPECT_EQ(budget.used_bytes(), 0);
  ASSERT_EQ(taken.size(), 600u);
  for (size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], static_cast<int64_t>(i));
}

}  // namespace
}  // namespace driftless::lake
