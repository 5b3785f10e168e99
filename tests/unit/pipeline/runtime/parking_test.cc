#include "pipeline/runtime/parking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "schema/events/change_batch_builder.h"
#include "tests/unit/pipeline/state/temp_folder.h"

namespace driftless {
namespace {

TableSchemaPtr Orders() {
  static const TableSchemaPtr kSchema = [] {
    auto schema = std::make_shared<TableSchema>();
    schema->path = {"", "shop", "orders"};
    schema->AddColumn("id", LogicalType::BigInt());
    return schema;
  }();
  return kSchema;
}

ParkedItem Batch(int64_t id, MemoryBudget* budget) {
  ChangeBatchBuilder builder(Orders(), 1);
  builder.BeginRow(Op::kInsert, Point{1, 0, static_cast<uint64_t>(id), 0, 0}, 0);
  builder.after(0).AppendInt(id);
  builder.EndRow();
  return BatchItem{Charge(builder.Seal(), budget)};
}

int64_t IdOf(const ParkedItem& item) {
  return std::get<BatchItem>(item).batch->after()[0].Fixed<int64_t>(0);
}

struct Space {
  explicit Space(int64_t memory_bytes_max)
      : space(folder.path(), 1, memory_bytes_max, 1 << 30, &budget) {}
  TempFolder folder;
  MemoryBudget budget{1 << 30};
  ParkingSpace space;
};

TEST(ParkingLotTest, KeepsOrderWhileItSpillsInTheMiddle) {
  Space s(10'000);
  ParkingLot lot(&s.space);
  int64_t popped = 0;
  for (int64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(lot.Append(Batch(i, &s.budget)));
    if (i % 3 == 0) {
      EXPECT_EQ(IdOf(**lot.Front()), popped++);
      lot.PopFront();
    }
  }
  EXPECT_TRUE(lot.on_disk());
  EXPECT_EQ(s.space.memory_bytes(), 0);
  while (!lot.empty()) {
    EXPECT_EQ(IdOf(**lot.Front()), popped++);
    lot.PopFront();
  }
  EXPECT_EQ(popped, 100);
  EXPECT_FALSE(lot.on_disk());
  EXPECT_EQ(s.budget.used_bytes(), 0) << "every batch has given its charge back";
  EXPECT_FALSE(lot.TakeRetired().empty());
}

TEST(ParkingLotTest, ALotIsRestoredFromItsSegments) {
  Space s(0);
  std::vector<ParkedSegment> segments;
  {
    ParkingLot lot(&s.space);
    for (int64_t i = 0; i < 10; ++i) ASSERT_TRUE(lot.Append(Batch(i, &s.budget)));
    segments = *lot.Sync();
    ASSERT_TRUE(lot.Append(Batch(99, &s.budget)));  // never recorded
  }
  ParkingLot lot(&s.space);
  lot.Restore(segments);
  ASSERT_TRUE(lot.Append(Batch(10, &s.budget)));
  for (int64_t i = 0; i < 11; ++i) {
    const auto front = lot.Front();
    ASSERT_TRUE(front) << front.error().ToString();
    EXPECT_EQ(IdOf(**front), i);
    lot.PopFront();
  }
  EXPECT_TRUE(lot.empty());
}

TEST(ParkingSegmentTest, EveryDamagedByteIsNoticed) {
  Space s(0);
  ParkingLot writer(&s.space);
  for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE(writer.Append(Batch(i, &s.budget)));
  const ParkedSegment segment = writer.Sync()->at(0);
  const std::string path = s.space.PathOf(segment.number);
  std::string bytes(static_cast<size_t>(std::filesystem::file_size(path)), '\0');
  std::ifstream(path, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_EQ(static_cast<int64_t>(bytes.size()), segment.bytes);
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    std::ofstream(path, std::ios::binary) << damaged;
    bool noticed = false;
    auto reader = SegmentReader::Open(path, segment.bytes);
    if (!reader) {
      noticed = true;
    } else {
      while (!noticed && !reader->AtEnd()) noticed = !reader->Next();
    }
    EXPECT_TRUE(noticed) << "byte " << at;
  }
}

TEST(ParkingSpaceTest, StrangersAreRemovedAtTheStart) {
  Space s(0);
  std::ofstream(s.space.PathOf(5)) << "left over";
  std::ofstream(s.space.PathOf(6)) << "known";
  ParkedTable known;
  known.segments = {{6, 5, 1}};
  s.space.RemoveStrangers({known});
  EXPECT_FALSE(std::filesystem::exists(s.space.PathOf(5)));
  EXPECT_TRUE(std::filesystem::exists(s.space.PathOf(6)));
}

}  // namespace
}  // namespace driftless
