#include "sinks/paimon/binary_row.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schema/events/change_batch_builder.h"
#include "sinks/paimon/bucket.h"

namespace driftless::paimon {
namespace {

std::string Hex(std::string_view bytes) {
  static const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

// A batch of one row whose columns the callback fills.
template <typename Fill>
ChangeBatchPtr OneRow(const std::vector<LogicalType>& types, Fill fill) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "d", "t"};
  for (size_t i = 0; i < types.size(); ++i) schema->AddColumn("c" + std::to_string(i), types[i]);
  ChangeBatchBuilder builder(schema, 1);
  builder.BeginRow(Op::kInsert, Point{1, 0, 1, 0, 0}, 0);
  fill(builder);
  builder.EndRow();
  return builder.Seal();
}

struct Golden {
  const char* name;
  std::vector<LogicalType> types;
  void (*fill)(ChangeBatchBuilder&);
  const char* row_bytes;
  int32_t hash;
  int32_t of_4;
  int32_t of_16;
};

TEST(BinaryRowTest, MatchesTheReferenceVectors) {
  const std::vector<Golden> golden = {
      {"INT 1",
       {LogicalType::Int()},
       [](auto& b) { b.after(0).AppendInt(1); },
       "00000000000000000100000000000000",
       1465514398,
       2,
       14},
      {"BIGINT 1",
       {LogicalType::BigInt()},
       [](auto& b) { b.after(0).AppendInt(1); },
       "00000000000000000100000000000000",
       1465514398,
       2,
       14},
      {"BOOLEAN true",
       {LogicalType::Boolean()},
       [](auto& b) { b.after(0).AppendBit(true); },
       "00000000000000000100000000000000",
       1465514398,
       2,
       14},
      {"INT -1",
       {LogicalType::Int()},
       [](auto& b) { b.after(0).AppendInt(-1); },
       "0000000000000000ffffffff00000000",
       1133687267,
       3,
       3},
      {"BIGINT 42",
       {LogicalType::BigInt()},
       [](auto& b) { b.after(0).AppendInt(42); },
       "00000000000000002a00000000000000",
       907821237,
       1,
       5},
      {"STRING a",
       {LogicalType::String()},
       [](auto& b) { b.after(0).AppendBytes("a"); },
       "00000000000000006100000000000081",
       943281246,
       2,
       14},
      {"STRING empty",
       {LogicalType::String()},
       [](auto& b) { b.after(0).AppendBytes(""); },
       "00000000000000000000000000000080",
       302122119,
       3,
       7},
      {"STRING 7",
       {LogicalType::String()},
       [](auto& b) { b.after(0).AppendBytes("iceberg"); },
       "00000000000000006963656265726787",
       2081578848,
       0,
       0},
      {"STRING 8",
       {LogicalType::String()},
       [](auto& b) { b.after(0).AppendBytes("driftles"); },
       "0000000000000000080000001000000064726966746c6573",
       -920789356,
       0,
       12},
      {"DECIMAL(10,2)",
       {LogicalType::Decimal(10, 2)},
       [](auto& b) { b.after(0).AppendInt128(1234); },
       "0000000000000000d204000000000000",
       -1096042293,
       1,
       5},
      {"DECIMAL(20,2)",
       {LogicalType::Decimal(20, 2)},
       [](auto& b) { b.after(0).AppendInt128(1234); },
       "0000000000000000020000001000000004d20000000000000000000000000000",
       -531788649,
       1,
       9},
      {"TIMESTAMP(3)",
       {LogicalType::Timestamp(3)},
       [](auto& b) { b.after(0).AppendInt(1000000); },
       "0000000000000000e803000000000000",
       18631685,
       1,
       5},
      {"TIMESTAMP(6)",
       {LogicalType::Timestamp(6)},
       [](auto& b) { b.after(0).AppendInt(1000500); },
       "000000000000000020a1070010000000e803000000000000",
       1454163277,
       1,
       13},
      {"INT, STRING",
       {LogicalType::Int(), LogicalType::String()},
       [](auto& b) {
         b.after(0).AppendInt(7);
         b.after(1).AppendBytes("eu");
       },
       "000000000000000007000000000000006575000000000082",
       -274105467,
       3,
       11},
      {"INT null",
       {LogicalType::Int()},
       [](auto& b) { b.after(0).AppendNull(); },
       "00010000000000000000000000000000",
       -1748325344,
       0,
       0},
  };
  for (const Golden& g : golden) {
    SCOPED_TRACE(g.name);
    const ChangeBatchPtr batch = OneRow(g.types, g.fill);
    BinaryRowBuilder builder(static_cast<int>(g.types.size()));
    std::vector<int> columns;
    for (size_t i = 0; i < g.types.size(); ++i) {
      builder.SetFromColumn(static_cast<int>(i), g.types[i], batch->after()[i], 0);
      columns.push_back(static_cast<int>(i));
    }
    EXPECT_EQ(Hex(builder.row_bytes()), g.row_bytes);
    EXPECT_EQ(HashRowBytes(builder.row_bytes()), g.hash);
    RowHasher hasher(columns, g.types);
    EXPECT_EQ(hasher.Hash(batch->after(), 0), g.hash);
    EXPECT_EQ(hasher.Bucket(BucketFunction::kMurmur, batch->after(), 0, 4), g.of_4);
    EXPECT_EQ(hasher.Bucket(BucketFunction::kMurmur, batch->after(), 0, 16), g.of_16);
  }
}

TEST(BinaryRowTest, ModIsTheFloorRemainder) {
  const ChangeBatchPtr batch =
      OneRow({LogicalType::Int()}, [](auto& b) { b.after(0).AppendInt(-1); });
  RowHasher hasher({0}, {LogicalType::Int()});
  EXPECT_EQ(hasher.Bucket(BucketFunction::kMod, batch->after(), 0, 5), 4);
}

TEST(BinaryRowTest, ReadsBackWhatItWrote) {
  BinaryRowBuilder builder(6);
  builder.SetFixed(0, static_cast<uint64_t>(int64_t{-7}), 8);
  builder.SetBytes(1, "short");
  builder.SetBytes(2, "a text of more than seven bytes");
  const __int128 wide = -(static_cast<__int128>(1) << 100);
  builder.SetWideDecimal(3, wide);
  builder.SetWideTimestamp(4, -1, 999999);
  builder.SetNullWideDecimal(5);
  const std::string bytes = builder.Serialized();
  const auto view = BinaryRowView::Parse(bytes, 6);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->Fixed<int64_t>(0), -7);
  EXPECT_EQ(*view->Bytes(1), "short");
  EXPECT_EQ(*view->Bytes(2), "a text of more than seven bytes");
  EXPECT_TRUE(*view->Decimal(3, 38) == wide);
  int32_t nanos = 0;
  EXPECT_EQ(*view->TimestampMillis(4, 9, &nanos), -1);
  EXPECT_EQ(nanos, 999999);
  EXPECT_FALSE(view->IsNull(4));
  EXPECT_TRUE(view->IsNull(5));
}

TEST(BinaryRowTest, RefusesBytesThatAreNoRow) {
  EXPECT_FALSE(BinaryRowView::Parse("", 1).has_value());
  EXPECT_FALSE(BinaryRowView::Parse(std::string(12, '\0'), 1).has_value());
  std::string cut(12, '\0');
  cut[3] = 1;
  EXPECT_FALSE(BinaryRowView::Parse(cut, 1).has_value());
  std::string outside(20, '\0');
  outside[3] = 1;
  outside[12] = 9;    // length 9
  outside[16] = 100;  // offset 100
  const auto view = BinaryRowView::Parse(outside, 1);
  ASSERT_TRUE(view.has_value());
  EXPECT_FALSE(view->Bytes(0).has_value());
}

TEST(BinaryRowTest, OrdersRowsAsPaimonDoes) {
  const auto text = [](std::string_view value) {
    BinaryRowBuilder builder(1);
    builder.SetBytes(0, value);
    return builder.Serialized();
  };
  const std::vector<LogicalType> string_type = {LogicalType::String()};
  EXPECT_EQ(*CompareBinaryRows(string_type, text("abc"), text("abd")), -1);
  EXPECT_EQ(*CompareBinaryRows(string_type, text("z"), text("\xC3\xA9")), -1);
  EXPECT_EQ(*CompareBinaryRows(string_type, text("same"), text("same")), 0);
  const auto number = [](double value) {
    BinaryRowBuilder builder(1);
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    builder.SetFixed(0, bits, 8);
    return builder.Serialized();
  };
  const std::vector<LogicalType> double_type = {LogicalType::Double()};
  EXPECT_EQ(*CompareBinaryRows(double_type, number(-0.0), number(0.0)), -1);
  EXPECT_EQ(*CompareBinaryRows(double_type, number(INFINITY), number(NAN)), -1);
  BinaryRowBuilder null_row(1);
  null_row.SetNull(0);
  EXPECT_EQ(*CompareBinaryRows(double_type, null_row.Serialized(), number(-INFINITY)), -1);
}

}  // namespace
}  // namespace driftless::paimon
