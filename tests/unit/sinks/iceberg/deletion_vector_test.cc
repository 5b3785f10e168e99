#include "sinks/iceberg/deletion_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace driftless::iceberg {
namespace {

using Positions = std::vector<int64_t>;

TEST(DeletionVector, PositionsOfAnySizeComeBack) {
  Positions dense;
  for (int64_t i = 0; i < 70'000; ++i) dense.push_back(i);
  Positions scattered = {0, 1, 65'535, 65'536, (1LL << 32) - 1, 1LL << 32, (5LL << 32) + 7};
  Positions half;
  for (int64_t i = 0; i < 65'536; i += 2) half.push_back(i);
  for (const Positions& positions : {Positions{}, Positions{3}, dense, scattered, half}) {
    const auto back = DecodeDeletionVector(EncodeDeletionVector(positions));
    ASSERT_TRUE(back) << back.error().ToString();
    EXPECT_EQ(*back, positions);
  }
}

// The framing of the specification: length, magic, one bitmap under the key 0 that holds an array
// container with the values 1 and 3, checksum.
TEST(DeletionVector, BytesAreThoseOfTheSpecification) {
  const std::string blob = EncodeDeletionVector(Positions{1, 3});
  ASSERT_EQ(blob.size(), 4 + 4 + 8 + 4 + 4 + 4 + 4 + 4 + 4 + 4U);
  EXPECT_EQ(blob.substr(0, 8), std::string("\0\0\0\x24\xD1\xD3\x39\x64", 8));
  EXPECT_EQ(blob.substr(8, 12), std::string("\x01\0\0\0\0\0\0\0\0\0\0\0", 12));
  EXPECT_EQ(blob.substr(20, 8), std::string("\x3a\x30\0\0\x01\0\0\0", 8));
  EXPECT_EQ(blob.substr(36, 4), std::string("\x01\0\x03\0", 4));
}

TEST(DeletionVector, DamageIsFound) {
  const std::string blob = EncodeDeletionVector(Positions{1, 3, 1LL << 33});
  for (size_t i = 0; i < blob.size(); ++i) {
    std::string damaged = blob;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
    const auto read = DecodeDeletionVector(damaged);
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().kind(), ErrorKind::kCorrupt);
    EXPECT_FALSE(DecodeDeletionVector(std::string_view(blob).substr(0, i)));
  }
}

TEST(DeletionVector, EntriesPointIntoThePuffinFile) {
  std::vector<DataFile> entries;
  const std::vector<DeletedRows> deleted = {{"file:///a", {1, 2}}, {"file:///b", {7}}};
  const std::string file = EncodeDeletionVectors(deleted, &entries);
  ASSERT_EQ(entries.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(entries[i].referenced_data_file, deleted[i].path);
    EXPECT_EQ(entries[i].record_count, static_cast<int64_t>(deleted[i].positions.size()));
    EXPECT_EQ(entries[i].size, static_cast<int64_t>(file.size()));
    EXPECT_EQ(*DecodeDeletionVector(
                  std::string_view(file).substr(static_cast<size_t>(*entries[i].content_offset),
                                                static_cast<size_t>(*entries[i].content_size))),
              deleted[i].positions);
  }
  EXPECT_TRUE(file.starts_with("PFA1") && file.ends_with("PFA1"));
  EXPECT_NE(file.find(R"("type":"deletion-vector-v1")"), std::string::npos);
}

}  // namespace
}  // namespace driftless::iceberg
