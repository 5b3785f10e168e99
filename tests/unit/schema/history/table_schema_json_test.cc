#include <gtest/gtest.h>

#include "schema/history/history.h"
#include "tests/doubles/random_schema.h"

namespace driftless {
namespace {

TEST(TableSchemaJsonTest, AnySchemaComesBackEqual) {
  testing::RandomSchemas random(20);
  for (int i = 0; i < 2000; ++i) {
    const TableSchema schema = random.Table();
    const std::string text = Serialize(schema);
    const auto back = ParseTableSchema(text);
    ASSERT_TRUE(back.has_value()) << back.error().ToString() << "\n" << text;
    ASSERT_EQ(*back, schema) << text;
  }
}

TEST(TableSchemaJsonTest, TheTextIsWhatTheStateFormatSays) {
  TableSchema schema;
  schema.path = {"", "shop", "orders"};
  schema.incarnation = 3;
  schema.version = 1;
  Column& id = schema.AddColumn("id", LogicalType::BigInt().NotNull());
  id.source.type_text = "bigint";
  id.source.is_auto_increment = true;
  schema.AddColumn("qty", LogicalType::Int()).default_value = {DefaultValue::Kind::kLiteral, "0"};
  schema.primary_key = {1};
  EXPECT_EQ(Serialize(schema),
            R"({"path":{"database":"shop","table":"orders"},"incarnation":3,"version":1,)"
            R"("next_column_id":3,"columns":[{"id":1,"name":"id","type":"BIGINT NOT NULL",)"
            R"("source":{"type":"bigint","auto_increment":true}},{"id":2,"name":"qty",)"
            R"("type":"INT","default":{"kind":"literal","text":"0"}}],"primary_key":[1]})");
}

TEST(TableSchemaJsonTest, BrokenTextSaysWhereItIsBroken) {
  const auto message = [](std::string_view text) {
    const auto result = ParseTableSchema(text);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? std::string() : result.error().message();
  };
  EXPECT_NE(message("{").find("not a table's schema"), std::string::npos);
  EXPECT_NE(message("[]").find("an object"), std::string::npos);
  EXPECT_NE(message("{}").find("path is missing"), std::string::npos);
  EXPECT_NE(message(R"({"path":{"table":"t"},"version":-1})").find("version"), std::string::npos);
  EXPECT_NE(message(R"({"path":{},"columns":[{"id":1,"name":"a","type":"NUMBR"}]})")
                .find("columns.type: unknown type NUMBR"),
            std::string::npos);
}

}  // namespace
}  // namespace driftless
