#include "schema/types/arrow_mapping.h"

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "schema/types/value_text.h"
#include "tests/doubles/random_values.h"

namespace driftless {
namespace {

LogicalType Type(std::string_view text) { return ParseLogicalType(text).value(); }

TEST(ArrowMappingTest, EveryTypeHasOneArrowType) {
  EXPECT_EQ(ToArrowType(Type("TINYINT"))->ToString(), "int8");
  EXPECT_EQ(ToArrowType(Type("DECIMAL(38, 10)"))->ToString(), "decimal128(38, 10)");
  EXPECT_EQ(ToArrowType(Type("TIME(3)"))->ToString(), "time64[us]");
  EXPECT_EQ(ToArrowType(Type("TIMESTAMP(9)"))->ToString(), "timestamp[ns]");
  EXPECT_EQ(ToArrowType(Type("TIMESTAMP_LTZ(3)"))->ToString(), "timestamp[us, tz=UTC]");
  EXPECT_EQ(ToArrowType(Type("ARRAY<INT NOT NULL>"))->ToString(), "list<element: int32 not null>");
  EXPECT_EQ(ToArrowType(Type("MAP<STRING, INT>"))->ToString(), "map<string, int32>");
  EXPECT_EQ(ToArrowType(Type("MULTISET<INT>"))->ToString(), "map<int32, int32>");
  EXPECT_EQ(ToArrowField("c", Type("CHAR(3) NOT NULL"))->ToString(), "c: string not null");
}

// Random columns of random types are valid Arrow arrays with the same nulls, over the same memory.
TEST(ArrowMappingTest, AnyColumnIsAValidArray) {
  testing::RandomSchemas random(51);
  for (int round = 0; round < 500; ++round) {
    auto schema = std::make_shared<TableSchema>(random.Table());
    ChangeBatchPtr batch =
        testing::RandomBatch(schema, 1 + static_cast<int64_t>(random.Below(30)), &random);
    for (size_t i = 0; i < schema->columns.size(); ++i) {
      const LogicalType& type = schema->columns[i].type;
      const ColumnView column = batch->after()[i];
      const auto array = ToArrowArray(type, column, batch);
      const auto valid = array->ValidateFull();
      ASSERT_TRUE(valid.ok()) << type.ToString() << ": " << valid.ToString();
      ASSERT_EQ(array->length(), column.length);
      for (int64_t row = 0; row < column.length; ++row) {
        ASSERT_EQ(array->IsNull(row), column.IsNull(row));
      }
      if (type.physical() == PhysicalKind::kFixed64) {
        EXPECT_EQ(array->data()->buffers[1]->data(), column.values);
      }
    }
  }
}

TEST(ArrowMappingTest, TheArrayKeepsTheBatchAlive) {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("v", LogicalType::String());
  testing::RandomSchemas random(52);
  ChangeBatchPtr batch = testing::RandomBatch(schema, 5, &random);
  const std::weak_ptr<const ChangeBatch> alive = batch;
  auto array = ToArrowArray(LogicalType::String(), batch->after()[0], batch);
  batch.reset();
  EXPECT_FALSE(alive.expired());
  EXPECT_TRUE(array->ValidateFull().ok());
  array.reset();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace driftless
