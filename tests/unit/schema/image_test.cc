#include <gtest/gtest.h>

#include "schema/events/change_batch_builder.h"
#include "schema/events/change_batch_image.h"
#include "schema/events/statement_change_image.h"

namespace driftless {
namespace {

TableSchemaPtr Wide() {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull());
  schema->AddColumn("note", LogicalType::String());
  schema->AddColumn("paid", LogicalType::Boolean());
  schema->AddColumn("tags", LogicalType::Array(LogicalType::Int()));
  schema->primary_key = {1};
  return schema;
}

ChangeBatchPtr Sample(const TableSchemaPtr& schema) {
  ChangeBatchBuilder builder(schema, 7);
  for (int i = 0; i < 10; ++i) {
    builder.BeginRow(i % 2 == 0 ? Op::kInsert : Op::kUpdate, Point{7, 1, 100U + i, 2, 0}, 55 + i);
    if (i > 5) builder.SetTransaction("tx-" + std::to_string(i));
    builder.after(0).AppendInt(i);
    if (i % 3 == 0) {
      builder.after(1).AppendNull();
    } else {
      builder.after(1).AppendBytes(std::string(static_cast<size_t>(i), 'x') + '\0' + "\xff");
    }
    builder.after(2).AppendBit(i % 2 == 0);
    if (i != 4) {
      for (int k = 0; k < i; ++k) builder.after(3).child(0).AppendInt(k);
      builder.after(3).CloseList();
    }
    if (i % 2 == 1) builder.before(0).AppendInt(i - 1);
    builder.EndRow();
  }
  return builder.Seal();
}

TEST(ChangeBatchImageTest, ABatchComesBackExactly) {
  const TableSchemaPtr schema = Wide();
  const ChangeBatchPtr batch = Sample(schema);
  std::string image;
  ChangeBatchImage::Append(*batch, &image);
  const auto parsed = ChangeBatchImage::Parse(image, schema);
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  const ChangeBatch& back = **parsed;
  ASSERT_EQ(back.size(), batch->size());
  EXPECT_EQ(back.charged_bytes(), batch->charged_bytes());
  for (int64_t row = 0; row < back.size(); ++row) {
    EXPECT_EQ(back.ops()[row], batch->ops()[row]);
    EXPECT_EQ(back.point(row), batch->point(row));
    EXPECT_EQ(back.commit_times_ms()[row], batch->commit_times_ms()[row]);
    EXPECT_EQ(back.transaction(row), batch->transaction(row));
    EXPECT_EQ(back.HasBefore(row), batch->HasBefore(row));
    EXPECT_EQ(back.after()[0].Fixed<int64_t>(row), row);
    EXPECT_EQ(back.after()[1].IsNull(row), batch->after()[1].IsNull(row));
    EXPECT_EQ(back.after()[1].Bytes(row), batch->after()[1].Bytes(row));
    EXPECT_EQ(back.after()[2].Bit(row), row % 2 == 0);
    EXPECT_EQ(back.after()[3].IsAbsent(row), row == 4);
    EXPECT_EQ(back.after()[3].offsets[row + 1], batch->after()[3].offsets[row + 1]);
    EXPECT_EQ(back.before()[1].IsAbsent(row), batch->before()[1].IsAbsent(row));
  }
  EXPECT_EQ(back.after()[3].children[0].Fixed<int32_t>(5),
            batch->after()[3].children[0].Fixed<int32_t>(5));
}

TEST(ChangeBatchImageTest, DamagedBytesAreRefusedNotRead) {
  const TableSchemaPtr schema = Wide();
  std::string image;
  ChangeBatchImage::Append(*Sample(schema), &image);
  for (size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(ChangeBatchImage::Parse(std::string_view(image).substr(0, size), schema)) << size;
  }
  auto narrower = std::make_shared<TableSchema>(*schema);
  narrower->columns.pop_back();
  EXPECT_FALSE(ChangeBatchImage::Parse(image, narrower));
}

void ExpectSameStatement(const StatementChange& a, const StatementChange& b) {
  EXPECT_EQ(a.table, b.table);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.commit_time_ms, b.commit_time_ms);
  ASSERT_EQ(a.statement == nullptr, b.statement == nullptr);
  if (a.statement != nullptr) {
    EXPECT_EQ(*a.statement, *b.statement);
  }
  EXPECT_EQ(a.from_snapshot, b.from_snapshot);
  EXPECT_EQ(a.inferred, b.inferred);
  ASSERT_EQ(a.parts.size(), b.parts.size());
  for (size_t i = 0; i < a.parts.size(); ++i) {
    EXPECT_EQ(a.parts[i].part, b.parts[i].part);
    EXPECT_EQ(a.parts[i].kind(), b.parts[i].kind());
    EXPECT_EQ(Describe(a.parts[i]), Describe(b.parts[i]));
    ASSERT_EQ(a.parts[i].before == nullptr, b.parts[i].before == nullptr);
    ASSERT_EQ(a.parts[i].after == nullptr, b.parts[i].after == nullptr);
    if (a.parts[i].before != nullptr) {
      EXPECT_EQ(*a.parts[i].before, *b.parts[i].before);
    }
    if (a.parts[i].after != nullptr) {
      EXPECT_EQ(*a.parts[i].after, *b.parts[i].after);
    }
  }
}

TEST(StatementChangeImageTest, EveryKindComesBack) {
  const TableSchemaPtr schema = Wide();
  Column added = schema->columns[1];
  added.id = 9;
  added.comment = "c\"'";
  added.default_value = {DefaultValue::Kind::kLiteral, ""};
  added.source.enum_values = {"a", "b"};
  const std::vector<ChangeDetail> details = {
      CreateTable{},
      DropTable{},
      TruncateTable{},
      AddColumns{{{added, {ColumnPlace::Kind::kAfter, 2}}, {added, {}}}},
      DropColumns{{2, 3}, {{"gone", "UPPER(gone)", 3}}},
      RenameColumns{{{2, "a", "b"}, {3, "b", "a"}}},
      AlterColumnTypes{
          {{1, LogicalType::Int(), LogicalType::Decimal(10, 2).NotNull(), "int", "d"}}},
      RelaxNullability{{1}},
      TightenNullability{{2}},
      AlterColumnComments{{{1, "x", "y"}}},
      AlterTableComment{"p", "q"},
      MoveColumns{{{3, {ColumnPlace::Kind::kFirst, 0}}}},
      RenameTable{{"c", "d", "t"}},
      KeyChange{{1}, {1, 2}},
      DefaultChange{{2}},
  };
  ASSERT_EQ(details.size(), static_cast<size_t>(kEventKindCount));
  StatementChange change;
  change.table = schema->path;
  change.point = Point{3, 1, 2, 3, 4};
  change.commit_time_ms = 99;
  change.statement = std::make_shared<const std::string>("ALTER ...");
  change.inferred = true;
  for (const ChangeDetail& detail : details) {
    change.parts.push_back({static_cast<uint32_t>(change.parts.size()), detail,
                            change.parts.empty() ? nullptr : schema,
                            change.parts.size() == 1 ? nullptr : schema});
  }
  const std::string image = StatementChangeImage(change);
  const auto back = ParseStatementChangeImage(image);
  ASSERT_TRUE(back) << back.error().ToString();
  ExpectSameStatement(change, *back);
  const auto& item = std::get<AddColumns>(back->parts[3].detail).items[0];
  EXPECT_EQ(item.column, added);
  EXPECT_EQ(item.place, (ColumnPlace{ColumnPlace::Kind::kAfter, 2}));
  EXPECT_EQ(StatementChangeImage(*back), image);
  for (size_t size = 0; size < image.size(); size += 97) {
    EXPECT_FALSE(ParseStatementChangeImage(std::string_view(image).substr(0, size)));
  }
}

}  // namespace
}  // namespace driftless
