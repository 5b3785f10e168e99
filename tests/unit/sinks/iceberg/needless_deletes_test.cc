#include "sinks/iceberg/needless_deletes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Long(int64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

DataFile FileOf(std::string path, FileContent content, int64_t lower, int64_t upper) {
  DataFile file;
  file.path = std::move(path);
  file.content = content;
  file.lower_bounds[1] = Long(lower);
  file.upper_bounds[1] = Long(upper);
  if (content == FileContent::kEqualityDeletes) file.equality_ids = {1};
  return file;
}
DataFile Rows(int64_t lower, int64_t upper) {
  return FileOf("rows", FileContent::kData, lower, upper);
}
DataFile Deletes(std::string path, int64_t lower, int64_t upper) {
  return FileOf(std::move(path), FileContent::kEqualityDeletes, lower, upper);
}

Schema KeyOf(const LogicalType& type) {
  Schema schema;
  Field field;
  field.id = 1;
  field.name = "id";
  field.type = type;
  schema.fields = {field};
  return schema;
}

std::vector<std::string> LeftOut(const std::vector<std::vector<DataFile>>& batches,
                                 const LogicalType& type = LogicalType::BigInt(),
                                 const PartitionSpec& spec = {}) {
  std::vector<std::string> needless;
  const auto kept = WithoutNeedlessDeletes(KeyOf(type), spec, batches, &needless);
  EXPECT_EQ(kept.size(), batches.size());
  size_t before = 0;
  size_t after = needless.size();
  for (const auto& batch : batches) before += batch.size();
  for (const auto& batch : kept) after += batch.size();
  EXPECT_EQ(before, after);
  return needless;
}

TEST(NeedlessDeletes, KeysApartFromAllRowsBefore) {
  EXPECT_THAT(LeftOut({{Rows(1, 10), Deletes("a", 1, 12)},
                       {Rows(11, 20), Deletes("b", 11, 20)},
                       {Rows(30, 40), Deletes("c", 20, 40)},
                       {Rows(-5, -1), Deletes("d", -5, 0)},
                       {Rows(2, 2), Deletes("e", 2, 2)}}),
              ElementsAre("a", "b", "d"));
}

TEST(NeedlessDeletes, BatchesOfDeletesAlone) {
  EXPECT_THAT(LeftOut({{Deletes("a", 1, 2)}}), IsEmpty()) << "a snapshot says something";
  EXPECT_THAT(LeftOut({{Rows(1, 2)}, {Deletes("a", 1, 1), Rows(3, 4)}}), IsEmpty());
}

TEST(NeedlessDeletes, BoundsThatDoNotSayAll) {
  DataFile open = Rows(1, 10);
  open.upper_bounds.clear();
  EXPECT_THAT(LeftOut({{open}, {Rows(50, 60), Deletes("a", 50, 60)}}), IsEmpty());
  EXPECT_THAT(LeftOut({{open}, {Rows(-9, -5), Deletes("a", -9, -5)}}), ElementsAre("a"));
  // NaN is beyond the bounds.
  EXPECT_THAT(LeftOut({{Rows(1, 10)}, {Rows(50, 60), Deletes("a", 50, 60)}}, LogicalType::Double()),
              IsEmpty());
}

TEST(NeedlessDeletes, RowsOfOtherPartitionsAreNotHit) {
  PartitionSpec spec;
  spec.fields = {{1, 1000, "id_bucket", "bucket[3]"}};
  const auto in = [](DataFile file, const std::string& partition) {
    file.partition = {partition};
    return file;
  };
  EXPECT_THAT(LeftOut({{in(Rows(1, 10), "0")},
                       {in(Rows(1, 9), "1"), in(Deletes("a", 1, 9), "1")},
                       {in(Rows(3, 3), "0"), in(Deletes("b", 3, 3), "0")}},
                      LogicalType::BigInt(), spec),
              ElementsAre("a"));
}

}  // namespace
}  // namespace driftless::iceberg
