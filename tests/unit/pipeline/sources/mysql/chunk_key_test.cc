// By which columns tables are split, and what is asked of the server for it.
#include "pipeline/sources/mysql/chunk_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/sources/mysql/source_options.h"

namespace driftless::mysql {
namespace {

struct Spec {
  const char* name;
  LogicalType type;
  const char* text;
  bool is_key = true;
};

TableSchema Table(const std::vector<Spec>& specs) {
  TableSchema schema;
  schema.path = {"", "shop", "t`x"};
  for (const Spec& spec : specs) {
    Column& column = schema.AddColumn(spec.name, spec.is_key ? spec.type.NotNull() : spec.type);
    column.source.type_text = spec.text;
    if (std::string_view(spec.text).find("char") != std::string_view::npos) {
      column.source.charset = "latin1";
      column.source.collation = "latin1_swedish_ci";
    }
    if (spec.is_key) schema.primary_key.push_back(column.id);
  }
  return schema;
}

std::vector<size_t> Columns(const std::vector<Spec>& specs) {
  return ChunkKey::Make(Table(specs), "")->columns();
}

TEST(ChunkKey, IsTheBeginningOfThePrimaryKeyWhoseOrderIsKnown) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  const Spec id{"id", LogicalType::Decimal(20, 0), "bigint unsigned"};
  const Spec code{"code", LogicalType::VarChar(20), "varchar(20)"};
  const Spec kind{"kind", LogicalType::VarChar(1), "enum('b','a')"};
  const Spec flag{"flag", LogicalType::Boolean(), "tinyint(1)"};
  const Spec day{"day", LogicalType::Date(), "date"};
  const Spec bin{"bin", LogicalType::VarBinary(16), "varbinary(16)"};
  const Spec body{"body", LogicalType::VarChar(LogicalType::kMaxLength), "text"};
  EXPECT_THAT(Columns({id, code}), ElementsAre(0, 1));
  EXPECT_THAT(Columns({day, bin, id}), ElementsAre(0, 1, 2));
  EXPECT_THAT(Columns({id, kind, code}), ElementsAre(0));
  EXPECT_THAT(Columns({kind, id}), IsEmpty());
  EXPECT_THAT(Columns({flag}), IsEmpty());
  EXPECT_THAT(Columns({body}), IsEmpty());
  EXPECT_THAT(Columns({{"v", LogicalType::Int(), "int", /*is_key=*/false}}), IsEmpty());
}

TEST(ChunkKey, AsksByAllOfItsColumns) {
  const TableSchema schema =
      Table({{"a", LogicalType::Int(), "int"}, {"b", LogicalType::VarChar(9), "varchar(9)"}});
  const ChunkKey key = *ChunkKey::Make(schema, "");
  EXPECT_EQ(key.Condition({}, {}), "");
  EXPECT_EQ(key.Condition({"7", "q"}, {}),
            "`a` >= 7 AND ((`a` > 7) OR (`a` = 7 AND `b` > _utf8mb4 x'71'))");
  EXPECT_EQ(key.Condition({}, {"8", ""}),
            "`a` <= 8 AND ((`a` < 8) OR (`a` = 8 AND `b` <= _utf8mb4 x''))");
  EXPECT_EQ(key.BoundQuery({}, 100),
            "SELECT `a`, `b` FROM `shop`.`t``x` ORDER BY `a`, `b` LIMIT 99, 1");
  const ChunkKey one = *ChunkKey::Make(Table({{"a", LogicalType::Int(), "int"}}), "");
  EXPECT_EQ(one.Condition({"-1"}, {"5"}), "(`a` > -1) AND (`a` <= 5)");
}

TEST(ChunkKey, TakesTheColumnThatIsNamed) {
  const TableSchema keyless = Table({{"v", LogicalType::Int(), "int", /*is_key=*/false},
                                     {"f", LogicalType::Float(), "float", /*is_key=*/false}});
  const ChunkKey key = *ChunkKey::Make(keyless, "V");
  // NULL comes first, with the first chunk.
  EXPECT_EQ(key.Condition({}, {"5"}), "((`v` <= 5) OR `v` IS NULL)");
  EXPECT_EQ(key.Condition({"5"}, {}), "(`v` > 5)");
  EXPECT_EQ(key.BoundQuery({}, 10),
            "SELECT `v` FROM `shop`.`t``x` WHERE `v` IS NOT NULL ORDER BY `v` LIMIT 9, 1");
  EXPECT_FALSE(ChunkKey::Make(keyless, "f"));
  EXPECT_FALSE(ChunkKey::Make(keyless, "nothing"));
  const TableSchema keyed = Table(
      {{"id", LogicalType::Int(), "int"}, {"v", LogicalType::Int(), "int", /*is_key=*/false}});
  EXPECT_TRUE(ChunkKey::Make(keyed, "id"));
  EXPECT_FALSE(ChunkKey::Make(keyed, "v"));
}

TEST(ChunkKey, OrderOfBoundsFollowsColumnsAndCollations) {
  TableSchema schema =
      Table({{"a", LogicalType::Int(), "int"}, {"b", LogicalType::VarChar(9), "varchar(9)"}});
  const std::string order = ChunkKey::Make(schema, "")->order();
  schema.columns[0].name = "renamed";
  schema.columns[1].source.type_text = "varchar(90)";
  EXPECT_EQ(ChunkKey::Make(schema, "")->order(), order);
  schema.columns[1].source.collation = "latin1_bin";
  EXPECT_NE(ChunkKey::Make(schema, "")->order(), order);
}

TEST(ChunkColumns, AreReadByTable) {
  const auto columns = ReadChunkColumns(R"(shop.a:id; shop.b_\.* : `v` ;)");
  ASSERT_TRUE(columns) << columns.error().ToString();
  SourceOptions options;
  options.chunk_columns = *columns;
  EXPECT_EQ(options.ChunkColumn({"", "shop", "a"}), "id");
  EXPECT_EQ(options.ChunkColumn({"", "shop", "b_1"}), "v");
  EXPECT_EQ(options.ChunkColumn({"", "shop", "c"}), "");
  EXPECT_FALSE(ReadChunkColumns("shop.a"));
  EXPECT_FALSE(ReadChunkColumns("shop.a:"));
}

}  // namespace
}  // namespace driftless::mysql
