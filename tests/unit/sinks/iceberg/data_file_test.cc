#include "sinks/iceberg/data_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/iceberg_rig.h"

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;
using testing::IcebergRig;
using ::testing::Pair;

// Readers match a file by equal bounds of its path, so that bounds are never cut.
TEST(IcebergDataFile, PositionDeletesAreSortedUnderWholePaths) {
  const IcebergRig rig(std::make_shared<MemoryStore>(), {});
  const LoadedTable table = rig.Table();
  lake::FileNames names("owner", 1, 1);
  const FilePlace place{&table.files, "db/t/data", &names};
  const std::string first =
      table.files.Uri("db/t/data/a-name-that-is-longer-than-sixteen-1.parquet");
  const std::string second =
      table.files.Uri("db/t/data/a-name-that-is-longer-than-sixteen-2.parquet");
  const auto file = WritePositionDeletes(place, {{second, {3}}, {first, {9, 2, 5}}}, {}, {});
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->record_count, 4);
  EXPECT_EQ(file->sort_order_id, std::nullopt);
  EXPECT_EQ(file->referenced_data_file, std::nullopt) << "two files are meant";
  EXPECT_THAT(file->lower_bounds, ElementsAre(Pair(kDeletePathId, first)));
  EXPECT_THAT(file->upper_bounds, ElementsAre(Pair(kDeletePathId, second)));
  std::vector<RowField> fields;
  auto rows = *OpenTableFile(table, table.metadata.schema(), file->path,
                             {kDeletePathId, kDeletePosId}, &fields);
  const auto batch = *rows->Next();
  ASSERT_EQ(batch->values->size(), 4);
  std::vector<std::pair<std::string, int64_t>> read;
  for (int64_t i = 0; i < 4; ++i) {
    read.emplace_back(batch->values->after()[0].Bytes(i),
                      batch->values->after()[1].Fixed<int64_t>(i));
  }
  EXPECT_THAT(read, ElementsAre(Pair(first, 2), Pair(first, 5), Pair(first, 9), Pair(second, 3)));
  const auto one = WritePositionDeletes(place, {{second, {3}}}, {}, {});
  EXPECT_EQ(one->referenced_data_file, second);
}

// What readers plan by: sizes that are exact, counts, bounds, and where row groups begin.
TEST(IcebergDataFile, EntriesSayWhatIsInTheirFiles) {
  IcebergRig rig(std::make_shared<MemoryStore>(), {});
  rig.CommitRandom(300, 100'000);
  const LiveFiles live = rig.Live();
  ASSERT_EQ(live.data.size(), 1u);
  const DataFile& file = live.data[0].file;
  const LoadedTable table = rig.Table();
  const std::string bytes = *table.files.Read(file.path);
  EXPECT_EQ(file.size, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(file.record_count, static_cast<int64_t>(rig.Expected().size()));
  EXPECT_EQ(file.split_offsets, std::vector<int64_t>{4}) << "behind the magic bytes";
  EXPECT_EQ(file.value_counts,
            (std::map<int32_t, int64_t>{{1, file.record_count}, {2, file.record_count}}));
  EXPECT_EQ(file.null_counts, (std::map<int32_t, int64_t>{{1, 0}, {2, 0}}));
  int64_t columns = 0;
  for (const auto& [id, size] : file.column_sizes) columns += size;
  EXPECT_EQ(file.column_sizes.size(), 2u);
  EXPECT_GT(columns, 0);
  EXPECT_LT(columns, file.size);
  int64_t lowest = INT64_MAX;
  int64_t highest = INT64_MIN;
  for (const std::string& row : rig.Expected()) {
    lowest = std::min<int64_t>(lowest, std::stoll(row));
    highest = std::max<int64_t>(highest, std::stoll(row));
  }
  const auto long_of = [](const std::string& text) {
    int64_t value = 0;
    std::memcpy(&value, text.data(), sizeof value);
    return value;
  };
  EXPECT_EQ(long_of(file.lower_bounds.at(1)), lowest);
  EXPECT_EQ(long_of(file.upper_bounds.at(1)), highest);
}

TEST(IcebergDataFile, OldMetadataFilesGo) {
  IcebergRig rig(std::make_shared<MemoryStore>(), {});  // keeps five
  for (int commit = 0; commit < 20; ++commit) rig.CommitRandom(3, 50);
  size_t count = 0;
  const auto objects = *rig.store->List("db/t/metadata", ObjectStore::Depth::kDirect);
  for (const ListedObject& object : objects) {
    count += object.path.ends_with(".metadata.json") ? 1 : 0;
  }
  EXPECT_EQ(count, 6u) << "the current one and five before it";
}

}  // namespace
}  // namespace driftless::iceberg
