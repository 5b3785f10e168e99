#include "schema/ddl/mysql/catalog.h"

#include <gtest/gtest.h>

#include "schema/ddl/mysql/splitter.h"

namespace driftless::mysql {
namespace {

class CatalogTest : public testing::Test {
 protected:
  explicit CatalogTest(ServerSettings settings = {}) : catalog_(std::move(settings)) {}

  StatementEffect Apply(std::string_view sql) {
    auto effect = catalog_.Apply(sql, context_);
    EXPECT_TRUE(effect) << sql << ": " << effect.error().ToString();
    return effect ? *std::move(effect) : StatementEffect{};
  }
  Error Fails(std::string_view sql) {
    const auto tables = catalog_.Tables();
    auto effect = catalog_.Apply(sql, context_);
    EXPECT_EQ(catalog_.Tables(), tables);
    EXPECT_FALSE(effect) << sql;
    return effect ? MakeError(ErrorKind::kInternal, "accepted") : effect.error();
  }
  TableSchemaPtr Table(const std::string& name) const { return catalog_.Find({"", "shop", name}); }
  ColumnId Id(const std::string& table, const std::string& column) const {
    return Table(table)->FindName(column)->id;
  }
  static std::string Names(const TableSchema& table) {
    std::string text;
    for (const Column& column : table.columns) text += (text.empty() ? "" : ",") + column.name;
    return text;
  }
  static std::string Kinds(const StatementEffect& effect) {
    std::string text;
    for (const StatementChange& change : effect.changes) {
      for (const SchemaChange& part : change.parts) {
        text += (text.empty() ? "" : " ") + std::string(Tag(part.kind()));
      }
    }
    return text;
  }

  DdlCatalog catalog_;
  StatementContext context_{"shop", {}};
};

struct WithoutCommentsTest : CatalogTest {
  WithoutCommentsTest() : CatalogTest({.without_comments = true}) {}
};

TEST_F(WithoutCommentsTest, NoStatementBringsAComment) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY COMMENT 'i', a INT) COMMENT 'x'");
  EXPECT_EQ(Kinds(Apply("ALTER TABLE t COMMENT 'y', MODIFY a INT COMMENT 'k'")), "");
  Apply("ALTER TABLE t ADD b INT COMMENT 'l'");
  EXPECT_EQ(Table("t")->comment, "");
  for (const Column& column : Table("t")->columns) EXPECT_EQ(column.comment, "") << column.name;
}

TEST_F(CatalogTest, PartsStandInThePolicysOrderAndJoinUp) {
  Apply(
      "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(5) NOT NULL, c INT, d INT) COMMENT "
      "'x'");
  const auto effect = Apply(
      "ALTER TABLE t COMMENT 'y', ADD n INT AFTER id, CHANGE a a2 BIGINT NOT NULL COMMENT 'k', "
      "MODIFY b VARCHAR(5), MODIFY d INT FIRST, DROP c, ALTER id SET DEFAULT 3");
  EXPECT_EQ(Kinds(effect),
            "drop.column alter.column.type relax.nullability tighten.nullability default.change "
            "rename.column add.column alter.column.position alter.column.comment "
            "alter.table.comment");
  const auto& parts = effect.changes[0].parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].part, i);
    EXPECT_EQ(parts[i].after->version, i + 1);
    if (i > 0) {
      EXPECT_EQ(parts[i].before, parts[i - 1].after);
    }
  }
  EXPECT_EQ(parts.back().after, Table("t"));
  EXPECT_EQ(Names(*Table("t")), "d,id,n,a2,b");
}

TEST_F(CatalogTest, IdentityFollowsRenamesNotNames) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT)");
  const ColumnId a = Id("t", "a");
  const ColumnId b = Id("t", "b");
  const ColumnId c = Id("t", "c");
  Apply("ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO c, RENAME COLUMN c TO a");
  EXPECT_EQ(Id("t", "b"), a);
  EXPECT_EQ(Id("t", "c"), b);
  EXPECT_EQ(Id("t", "a"), c);
  Apply("ALTER TABLE t DROP a, ADD a INT");
  EXPECT_NE(Id("t", "a"), c);
  EXPECT_EQ(Id("t", "a"), 5u);
  Apply("ALTER TABLE t CHANGE A a BIGINT");
  EXPECT_EQ(Id("t", "a"), 5u);
}

TEST_F(CatalogTest, StatedPlacesAreKept) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  const auto effect = Apply("ALTER TABLE t ADD z INT AFTER a, ADD y INT, ADD x INT FIRST");
  const auto& items = std::get<AddColumns>(effect.changes[0].parts[0].detail).items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].place, (ColumnPlace{ColumnPlace::Kind::kAfter, Id("t", "a")}));
  EXPECT_EQ(items[1].place, (ColumnPlace{}));
  EXPECT_EQ(items[2].place.kind, ColumnPlace::Kind::kFirst);
  // An added column behind one that moves later: the parts add first, so the place is derived.
  const auto moved = Apply("ALTER TABLE t MODIFY a INT FIRST, ADD n INT AFTER a");
  EXPECT_EQ(Names(*Table("t")), "a,n,x,id,z,y");
  EXPECT_EQ(moved.changes[0].after(), Table("t"));
  // A move to where the column stands is none.
  EXPECT_TRUE(Apply("ALTER TABLE t MODIFY n INT AFTER a").changes.empty());
}

TEST_F(CatalogTest, KeyChangesNameTheKeyBeforeAndAfter) {
  Apply("CREATE TABLE t (id INT, a INT, PRIMARY KEY (id))");
  auto effect = Apply("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a, id)");
  EXPECT_EQ(Kinds(effect), "tighten.nullability default.change key.change");
  const auto& key = std::get<KeyChange>(effect.changes[0].parts[2].detail);
  EXPECT_EQ(key.from, std::vector<ColumnId>{1});
  EXPECT_EQ(key.to, (std::vector<ColumnId>{2, 1}));
  // A key goes by names: the new column takes the dropped one's part in it.
  effect = Apply("ALTER TABLE t DROP id, ADD id INT");
  EXPECT_EQ(Kinds(effect), "drop.column add.column key.change");
  EXPECT_EQ(Table("t")->primary_key, (std::vector<ColumnId>{2, 3}));
  EXPECT_FALSE(Table("t")->FindName("id")->type.nullable());
}

TEST_F(CatalogTest, CharsetsAndDefaultsAreInherited) {
  Apply("CREATE DATABASE old CHARACTER SET latin1");
  Apply(
      "CREATE TABLE old.t (a VARCHAR(5), b TEXT CHARACTER SET utf8, c VARCHAR(5) COLLATE "
      "utf8mb4_bin)");
  const TableSchemaPtr table = catalog_.Find({"", "old", "t"});
  EXPECT_EQ(table->charset, "latin1");
  EXPECT_EQ(table->columns[0].source.charset, "latin1");
  EXPECT_EQ(table->columns[1].source.charset, "utf8mb3");
  EXPECT_EQ(table->columns[2].source.collation, "utf8mb4_bin");
  EXPECT_EQ(table->columns[0].default_value.kind, DefaultValue::Kind::kNull);
  const auto effect = Apply("ALTER TABLE old.t CONVERT TO CHARACTER SET utf8mb4");
  EXPECT_EQ(Kinds(effect), "alter.column.type default.change");
  ASSERT_EQ(effect.rows_without_events.size(), 1u);
  EXPECT_TRUE(effect.rows_without_events[0].is_conversion);
  EXPECT_EQ(catalog_.Find({"", "old", "t"})->columns[1].source.type_text, "mediumtext");
}

TEST_F(CatalogTest, CreateLikeCarriesIdentitiesIntoAnotherIncarnation) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  Apply("ALTER TABLE t DROP a, ADD a INT");
  Apply("CREATE TABLE u LIKE t");
  EXPECT_EQ(Id("u", "a"), Id("t", "a"));
  EXPECT_NE(Table("u")->incarnation, Table("t")->incarnation);
  EXPECT_EQ(Table("u")->version, 0u);
}

TEST_F(CatalogTest, ReplacedAndRecreatedTablesAreOtherIncarnations) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY)");
  const uint64_t first = Table("t")->incarnation;
  EXPECT_EQ(Kinds(Apply("DROP TABLE t")), "drop.table");
  Apply("CREATE TABLE t (id INT PRIMARY KEY)");
  EXPECT_GT(Table("t")->incarnation, first);
}

TEST_F(CatalogTest, StateSurvivesARestart) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY ix (a))");
  Apply("CREATE TABLE gone (id INT)");
  Apply("DROP TABLE gone");
  DdlCatalog again(catalog_.settings());
  for (const TableSchemaPtr& table : catalog_.Tables()) again.Load(table);
  again.SetNextIncarnation(catalog_.next_incarnation());
  EXPECT_EQ(again.Tables(), catalog_.Tables());
  const auto left = catalog_.Apply("ALTER TABLE t DROP INDEX ix, ADD b INT", context_);
  const auto right = again.Apply("ALTER TABLE t DROP INDEX ix, ADD b INT", context_);
  ASSERT_TRUE(left && right);
  EXPECT_EQ(*left->changes[0].after(), *right->changes[0].after());
  ASSERT_TRUE(again.Apply("CREATE TABLE n (id INT)", context_));
  EXPECT_EQ(again.Find({"", "shop", "n"})->incarnation, 3u);
  // Indexes are not part of it, so statements about them are believed.
  EXPECT_TRUE(again.Apply("ALTER TABLE t DROP INDEX any_name", context_));
}

TEST_F(CatalogTest, PreviewHasNoEffect) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY)");
  const auto tables = catalog_.Tables();
  const uint64_t next = catalog_.next_incarnation();
  const auto effect = catalog_.Preview("CREATE TABLE u (id INT)", context_);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->changes.size(), 1u);
  EXPECT_EQ(catalog_.Tables(), tables);
  EXPECT_EQ(catalog_.next_incarnation(), next);
}

TEST_F(CatalogTest, RefusalsSayWhatAndWhere) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, a INT)");
  struct Case {
    const char* sql;
    ErrorKind kind;
    int column;
  };
  const Case cases[] = {
      {"ALTER TABLE t ADD a INT", ErrorKind::kRefused, 19},
      {"ALTER TABLE t ADD b INT, DROP nope", ErrorKind::kRefused, 31},
      {"ALTER TABLE t ADD b INT AFTER nope", ErrorKind::kRefused, 31},
      {"ALTER TABLE t ADD b DECIMAL(5,9)", ErrorKind::kRefused, 21},
      {"ALTER TABLE t ADD b INT, RENAME COLUMN nope TO x", ErrorKind::kRefused, 40},
      {"ALTER TABLE nope ADD b INT", ErrorKind::kNotFound, 13},
      {"CREATE TABLE t (id INT)", ErrorKind::kRefused, 14},
      {"DROP TABLE t, nope", ErrorKind::kNotFound, 15},
      {"RENAME TABLE t TO u, nope TO v", ErrorKind::kNotFound, 22},
      {"ALTER TABLE t ADD b INTEGERS", ErrorKind::kParse, 21},
      {"ALTER TABLE t ADD order INT", ErrorKind::kParse, 19},
      {"ALTER TABLE t ADD b INT; DROP TABLE t", ErrorKind::kParse, 26},
  };
  for (const Case& test : cases) {
    const Error error = Fails(test.sql);
    EXPECT_EQ(error.kind(), test.kind) << test.sql << ": " << error.message();
    EXPECT_EQ(error.column(), test.column) << test.sql << ": " << error.message();
    EXPECT_EQ(error.line(), 1);
  }
}

TEST_F(CatalogTest, PartitionWorkIsReported) {
  Apply(
      "CREATE TABLE t (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p1 VALUES LESS THAN "
      "(10), PARTITION p2 VALUES LESS THAN (20))");
  Apply("CREATE TABLE x LIKE t");
  for (const char* sql : {"ALTER TABLE t TRUNCATE PARTITION p1", "ALTER TABLE t DROP PARTITION p1",
                          "ALTER TABLE t DISCARD TABLESPACE"}) {
    const auto effect = Apply(sql);
    EXPECT_TRUE(effect.changes.empty()) << sql;
    EXPECT_EQ(effect.rows_without_events.size(), 1u) << sql;
  }
  // Both tables' rows change.
  EXPECT_EQ(Apply("ALTER TABLE t EXCHANGE PARTITION p2 WITH TABLE x").rows_without_events.size(),
            2u);
  EXPECT_EQ(Fails("ALTER TABLE t DROP PARTITION p1").kind(), ErrorKind::kRefused);
}

TEST_F(CatalogTest, NamesTheTablesOfAnUnparsableText) {
  Apply("CREATE TABLE orders (id INT)");
  Apply("CREATE TABLE items (id INT)");
  Apply("CREATE TABLE wh.items (id INT)");
  const auto named = [&](std::string_view sql) {
    std::string text;
    for (const TablePath& path : catalog_.TablesNamedIn(sql, context_))
      text += path.ToString() + " ";
    return text;
  };
  EXPECT_EQ(named("ALTER TABLE orders FROB x /* items */ COMMENT 'items'"), "shop.orders ");
  EXPECT_EQ(named("FROB `items`"), "shop.items wh.items ");
  EXPECT_EQ(named("ALTER TABLE \"ORDERS\" ADD x"), "shop.orders ");
  // It cannot be split into words to its end, so every occurrence counts.
  EXPECT_EQ(named("ALTER TABLE x ADD 'items"), "shop.items wh.items ");
  EXPECT_EQ(named("FROB unknown"), "");
}

TEST_F(CatalogTest, OtherStatementsAreClassified) {
  EXPECT_EQ(Apply("BEGIN").kind, StatementEffect::Kind::kTransaction);
  EXPECT_EQ(Apply("INSERT INTO t VALUES ('DROP TABLE t')").kind, StatementEffect::Kind::kRows);
  EXPECT_EQ(Apply("GRANT SELECT ON *.* TO x").kind, StatementEffect::Kind::kOther);
  const auto use = Apply("USE `wh`");
  EXPECT_EQ(use.kind, StatementEffect::Kind::kUse);
  EXPECT_EQ(use.database, "wh");
}

class LowerCaseCatalogTest : public CatalogTest {
 protected:
  static ServerSettings Lower() {
    ServerSettings settings;
    settings.table_name_case = TableNameCase::kLower;
    return settings;
  }
  LowerCaseCatalogTest() : CatalogTest(Lower()) {}
};

TEST_F(LowerCaseCatalogTest, TableNamesAreLowered) {
  Apply("CREATE TABLE Orders (Id INT)");
  ASSERT_NE(Table("orders"), nullptr);
  EXPECT_EQ(Table("ORDERS")->path.table, "orders");
  EXPECT_EQ(Table("orders")->columns[0].name, "Id");
  EXPECT_EQ(Fails("CREATE TABLE ORDERS (id INT)").kind(), ErrorKind::kRefused);
}

class OldServerCatalogTest : public CatalogTest {
 protected:
  static ServerSettings Old() {
    ServerSettings settings;
    settings.version = 50744;
    return settings;
  }
  OldServerCatalogTest() : CatalogTest(Old()) {}
};

TEST_F(OldServerCatalogTest, ReadsWhatNewerServersRefuse) {
  Apply("CREATE TABLE t (id INT PRIMARY KEY, rank INT, groups INT, a INT)");
  EXPECT_EQ(Kinds(Apply("ALTER TABLE shop.t DROP t.a, MODIFY t.rank BIGINT")),
            "drop.column alter.column.type");
}

TEST(SplitterTest, SplitsAtSemicolonsOnlyWhereStatementsEnd) {
  const std::string_view script =
      "-- first\nCREATE TABLE t (v VARCHAR(9) DEFAULT ';') /* ; */;;\n"
      "/*!50100 ALTER TABLE t ADD x INT */;\n"
      "CREATE PROCEDURE p() BEGIN IF a THEN SELECT 1; ELSE SELECT IF(1,2,3); END IF; "
      "CASE x WHEN 1 THEN SELECT 1; END CASE; WHILE a DO SET a = 0; END WHILE; END;\n"
      "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 'x';\n"
      "DROP TABLE `a;b`;\n# end\nDROP TABLE 'open; DROP TABLE t";
  const auto statements = SplitStatements(script, {}, {});
  ASSERT_EQ(statements.size(), 6u);
  EXPECT_EQ(statements[0].text.substr(0, 8), "-- first");
  EXPECT_EQ(statements[1].text, "/*!50100 ALTER TABLE t ADD x INT */");
  EXPECT_EQ(statements[2].text.substr(statements[2].text.size() - 10), "WHILE; END");
  EXPECT_EQ(statements[4].text, "DROP TABLE `a;b`");
  EXPECT_EQ(statements[5].text, "# end\nDROP TABLE 'open; DROP TABLE t");
  EXPECT_EQ(script.substr(statements[4].begin, 4), "DROP");
}

}  // namespace
}  // namespace driftless::mysql
