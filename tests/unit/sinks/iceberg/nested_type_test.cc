#include "sinks/iceberg/nested_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sinks/iceberg/metadata.h"
#include "sinks/iceberg/types.h"

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;

// ARRAY<ROW<a SMALLINT, b MAP<CHAR(3), ARRAY<DATE>>>>
LogicalType Source() {
  const LogicalType map =
      LogicalType::Map(LogicalType::Char(3), LogicalType::Array(LogicalType::Date()));
  return LogicalType::Array(
      LogicalType::Row({{"a", LogicalType::SmallInt().NotNull(), "said"}, {"b", map, ""}}));
}

TEST(NestedType, EveryFieldInsideHasAnId) {
  const auto type = ToIcebergType(Source(), false);
  ASSERT_TRUE(type) << type.error().ToString();
  int32_t last_id = 7;
  const auto json = TypeToJson(*type, &last_id);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, R"({"type":"list","element-id":8,"element":{"type":"struct","fields":[)"
                   R"({"id":9,"name":"a","required":true,"type":"int"},)"
                   R"({"id":10,"name":"b","required":false,"type":{"type":"map","key-id":11,)"
                   R"("key":"string","value-id":12,"value":{"type":"list","element-id":13,)"
                   R"("element":"date","element-required":false},"value-required":false}}]},)"
                   R"("element-required":false})");
  EXPECT_EQ(last_id, 13);
  EXPECT_THAT(NestedIds(*json), ElementsAre(8, 9, 10, 11, 12, 13));
  EXPECT_THAT(NestedIds("\"long\""), ElementsAre());
  // Read back it is the same type.
  const auto schema = ParseSchemaJson(R"({"schema-id":0,"fields":[{"id":7,"name":"c",)"
                                      R"("required":false,"doc":"said","type":)" +
                                      *json + "}]}");
  ASSERT_TRUE(schema) << schema.error().ToString();
  EXPECT_EQ(schema->fields[0].type, *type);
}

TEST(NestedType, MembersAreFoundByIdWhateverAFileCallsThem) {
  const LogicalType type = *ToIcebergType(Source(), false);
  const LogicalType named =
      NamedAsIn(type, {8, 9, 10, 11, 12, 13}, {{8, "element"}, {9, "once"}, {11, "key"}});
  const std::vector<RowField>& members = named.children()[0].type.children();
  EXPECT_EQ(members[0].name, "once");
  EXPECT_EQ(members[1].name, "") << "a file without the member";
  EXPECT_EQ(members[1].type, type.children()[0].type.children()[1].type);
}

TEST(NestedType, WhatIcebergCannotHold) {
  EXPECT_FALSE(ToIcebergType(Source(), true));
  EXPECT_FALSE(ToIcebergType(LogicalType::Multiset(LogicalType::Int()), false));
  EXPECT_FALSE(ToIcebergType(LogicalType::Array(LogicalType::Multiset(LogicalType::Int())), false));
}

}  // namespace
}  // namespace driftless::iceberg
