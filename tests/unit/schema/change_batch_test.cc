#include <gtest/gtest.h>

#include "schema/events/change_batch_builder.h"

namespace driftless {
namespace {

TableSchemaPtr Orders() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("note", LogicalType::String());
  schema->AddColumn("paid", LogicalType::Boolean());
  schema->AddColumn("tags", LogicalType::Array(LogicalType::Int()));
  schema->primary_key = {1};
  return schema;
}

Point At(uint64_t line) { return Point{7, 0, line, 0, 0}; }

TEST(ChangeBatchBuilderTest, KeepsNullsAbsentValuesAndBeforeImagesApart) {
  ChangeBatchBuilder builder(Orders(), 7);
  builder.BeginRow(Op::kInsert, At(1), 100);
  builder.after(0).AppendInt(42);
  builder.after(1).AppendBytes("hello");
  builder.after(2).AppendBit(true);
  builder.after(3).child(0).AppendInt(1);
  builder.after(3).child(0).AppendInt(2);
  builder.after(3).CloseList();
  builder.EndRow();
  builder.BeginRow(Op::kUpdate, At(2), 101);
  builder.SetTransaction("tx-9");
  builder.after(0).AppendInt(43);
  builder.after(1).AppendNull();
  builder.before(0).AppendInt(42);
  builder.EndRow();
  const ChangeBatchPtr batch = builder.Seal();

  ASSERT_EQ(batch->size(), 2);
  EXPECT_EQ(batch->after()[0].Fixed<int64_t>(1), 43);
  EXPECT_EQ(batch->after()[1].Bytes(0), "hello");
  EXPECT_TRUE(batch->after()[1].IsNull(1));
  EXPECT_FALSE(batch->after()[1].IsAbsent(1));
  EXPECT_TRUE(batch->after()[2].Bit(0));
  EXPECT_TRUE(batch->after()[2].IsAbsent(1));
  ASSERT_EQ(batch->after()[3].child_count, 1);
  EXPECT_EQ(batch->after()[3].children[0].Fixed<int32_t>(1), 2);
  EXPECT_FALSE(batch->HasBefore(0));
  ASSERT_TRUE(batch->HasBefore(1));
  EXPECT_EQ(batch->before()[0].Fixed<int64_t>(1), 42);
  EXPECT_TRUE(batch->before()[1].IsAbsent(1));
  EXPECT_EQ(batch->transaction(0), "");
  EXPECT_EQ(batch->transaction(1), "tx-9");
  EXPECT_EQ(batch->last_point(), At(2));
  EXPECT_EQ(builder.Seal(), nullptr);
}

TEST(ChangeBatchBuilderTest, AnAbandonedRowLeavesNothing) {
  ChangeBatchBuilder builder(Orders(), 7);
  for (int i = 0; i < 20; ++i) {
    builder.BeginRow(Op::kInsert, At(i + 1), 0);
    builder.after(0).AppendInt(i);
    if (i % 3 == 0) {
      builder.after(1).AppendNull();
    } else {
      builder.after(1).AppendBytes("x");
    }
    builder.after(2).AppendBit(true);
    if (i % 2 == 1) {
      builder.AbandonRow();
    } else {
      builder.EndRow();
    }
  }
  const ChangeBatchPtr batch = builder.Seal();
  ASSERT_EQ(batch->size(), 10);
  for (int row = 0; row < 10; ++row) {
    EXPECT_EQ(batch->after()[0].Fixed<int64_t>(row), row * 2);
    EXPECT_EQ(batch->after()[1].IsNull(row), row * 2 % 3 == 0);
    EXPECT_TRUE(batch->after()[2].Bit(row));
    EXPECT_TRUE(batch->after()[3].IsAbsent(row));
  }
}

}  // namespace
}  // namespace driftless
