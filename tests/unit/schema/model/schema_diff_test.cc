#include "schema/model/schema_diff.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/doubles/random_schema.h"
#include "tests/doubles/source_table.h"

namespace driftless {
namespace {

// Another version of the table: columns dropped, changed, renamed (swaps too), added, shuffled.
TableSchema Mutate(TableSchema schema, testing::RandomSchemas* random) {
  std::erase_if(schema.columns, [&](const Column&) { return random->Below(4) == 0; });
  for (Column& column : schema.columns) {
    if (random->Below(4) == 0) column.type = random->Type();
    if (random->Below(4) == 0) column.type = column.type.WithNullability(random->Coin());
    if (random->Below(4) == 0) column.comment = random->Name();
    if (random->Below(5) == 0) column.default_value = {DefaultValue::Kind::kLiteral, "5"};
    if (random->Below(5) == 0) column.source.type_text = random->Name();
  }
  if (schema.columns.size() >= 2 && random->Coin()) {
    std::swap(schema.columns[0].name, schema.columns[1].name);
  }
  for (Column& column : schema.columns) {
    const std::string name = random->Name();
    if (random->Below(4) == 0 && schema.IndexOfName(name) < 0) column.name = name;
  }
  for (uint64_t i = random->Below(4); i > 0; --i) {
    const std::string name = random->Name();
    if (schema.IndexOfName(name) >= 0) continue;
    Column column = schema.AddColumn(name, random->Type());
    schema.columns.pop_back();
    const auto at = static_cast<std::ptrdiff_t>(random->Below(schema.columns.size() + 1));
    schema.columns.insert(schema.columns.begin() + at, column);
  }
  if (random->Below(3) == 0) {
    std::shuffle(schema.columns.begin(), schema.columns.end(), random->engine());
  }
  if (random->Below(3) == 0) schema.comment = random->Name();
  const auto gone = [&](ColumnId id) { return schema.Find(id) == nullptr; };
  std::erase_if(schema.primary_key, gone);
  std::erase_if(schema.partition_keys, gone);
  if (random->Below(4) == 0 && !schema.columns.empty()) {
    schema.primary_key = {schema.columns.back().id};
  }
  return schema;
}

// Replays the parts one by one; every step must be what the part says it is.
TableSchema Replay(const TableSchemaPtr& before, const std::vector<SchemaChange>& parts) {
  TableSchema schema = *before;
  for (const SchemaChange& part : parts) {
    EXPECT_EQ(*part.before, schema);
    auto next = ApplyPart(schema, part);
    if (!next) {
      ADD_FAILURE() << Describe(part) << ": " << next.error().ToString();
      return schema;
    }
    schema = *std::move(next);
    EXPECT_EQ(*part.after, schema) << Describe(part);
  }
  return schema;
}

TEST(SchemaDiffTest, ReplayOfTheDifferenceGivesTheTarget) {
  testing::RandomSchemas random(61);
  size_t parts_seen = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto before = std::make_shared<const TableSchema>(random.Table());
    TableSchema after = Mutate(*before, &random);
    const std::vector<SchemaChange> parts = DiffByIdentity(before, after);
    parts_seen += parts.size();
    TableSchema replayed = Replay(before, parts);
    EXPECT_EQ(replayed.version, before->version + parts.size());
    after.version = replayed.version;
    // Ids that were given and dropped again inside the statement leave no part.
    after.next_column_id = replayed.next_column_id;
    ASSERT_EQ(replayed, after);
  }
  EXPECT_GT(parts_seen, 6000u);
}

TEST(SchemaDiffTest, PartsStandInThePolicysOrder) {
  static constexpr int kRank[] = {/*create*/ 0,        0, 0,
                                  /*add*/ 6,
                                  /*drop*/ 1,
                                  /*rename*/ 5,
                                  /*type*/ 2,
                                  /*relax*/ 3,
                                  /*tighten*/ 3,
                                  /*comments*/ 8,      8,
                                  /*move*/ 7,
                                  /*rename table*/ 10,
                                  /*key*/ 9,
                                  /*default*/ 4};
  testing::RandomSchemas random(62);
  for (int round = 0; round < 500; ++round) {
    const auto before = std::make_shared<const TableSchema>(random.Table());
    int rank = 0;
    for (const SchemaChange& part : DiffByIdentity(before, Mutate(*before, &random))) {
      EXPECT_GE(kRank[static_cast<int>(part.kind())], rank) << Describe(part);
      rank = kRank[static_cast<int>(part.kind())];
    }
  }
}

TEST(SchemaDiffTest, EqualSchemasHaveNoParts) {
  testing::RandomSchemas random(63);
  const auto table = std::make_shared<const TableSchema>(random.Table());
  EXPECT_TRUE(DiffByIdentity(table, *table).empty());
  EXPECT_TRUE(DiffByName(table, *table, NameMatch::kExact).empty());
}

std::vector<std::string> Texts(const std::vector<SchemaChange>& parts) {
  std::vector<std::string> texts;
  for (const SchemaChange& part : parts) texts.push_back(Describe(part));
  return texts;
}

TEST(SchemaDiffTest, ByNameARenameIsADropAndAnAdd) {
  const SourceTable before("shop.orders", {"id BIGINT NOT NULL", "qty INT", "Note STRING"}, {"id"});
  const SourceTable target("x.y", {"id BIGINT NOT NULL", "quantity INT", "note VARCHAR(9)"},
                           {"id"});
  EXPECT_EQ(
      Texts(DiffByName(before.schema(), *target.schema(), NameMatch::kIgnoringCase)),
      (std::vector<std::string>{"drop column qty",
                                "change type of Note from STRING to "
                                "VARCHAR(9)",
                                "rename column Note to note", "add column quantity INT after id"}));
  const auto exact = DiffByName(before.schema(), *target.schema(), NameMatch::kExact);
  EXPECT_EQ(Texts(exact), (std::vector<std::string>{"drop column qty, Note",
                                                    "add column quantity INT, note VARCHAR(9)"}));
  EXPECT_EQ(exact.back().after->path, before.schema()->path);
}

TEST(SchemaDiffTest, ByNameReplayGivesTheTarget) {
  testing::RandomSchemas random(64);
  for (int round = 0; round < 1000; ++round) {
    const auto before = std::make_shared<const TableSchema>(random.Table());
    const TableSchema target = random.Coin() ? random.Table() : Mutate(*before, &random);
    TableSchema replayed = Replay(before, DiffByName(before, target, NameMatch::kExact));
    const TableSchema bound = BindByName(*before, target, NameMatch::kExact);
    replayed.version = bound.version;
    ASSERT_EQ(replayed, bound);
    for (size_t i = 0; i < target.columns.size(); ++i) {
      EXPECT_EQ(bound.columns[i].name, target.columns[i].name);
      EXPECT_EQ(bound.columns[i].type, target.columns[i].type);
    }
  }
}

TEST(ApplyPartTest, RefusesWhatDoesNotFit) {
  SourceTable table("shop.orders", {"id BIGINT NOT NULL", "qty INT"}, {"id"});
  const TableSchema& schema = *table.schema();
  const auto apply = [&](ChangeDetail detail) {
    return ApplyPart(schema, {0, std::move(detail), nullptr, nullptr});
  };
  EXPECT_FALSE(apply(DropColumns{{9}}));
  EXPECT_FALSE(apply(RenameColumns{{{2, "qty", "id"}}}));
  EXPECT_TRUE(apply(RenameColumns{{{2, "qty", "id"}, {1, "id", "qty"}}}));
  EXPECT_FALSE(apply(MoveColumns{{{2, {ColumnPlace::Kind::kAfter, 2}}}}));
  EXPECT_FALSE(apply(MoveColumns{{{2, {ColumnPlace::Kind::kAfter, 7}}}}));
  EXPECT_FALSE(apply(KeyChange{{1}, {8}}));
  Column again = schema.columns[1];
  EXPECT_FALSE(apply(AddColumns{{{again, {}}}}));
  EXPECT_TRUE(apply(DropColumns{{1}}));
  EXPECT_TRUE(apply(DropColumns{{1}})->primary_key.empty());
}

}  // namespace
}  // namespace driftless
