#include <gtest/gtest.h>

#include "schema/ddl/mysql/column_types.h"

namespace driftless::mysql {
namespace {

struct Case {
  const char* text;
  const char* mysql;    // as the server prints it
  const char* mariadb;  // null: not there
  const char* logical;
};

// Flink CDC's mapping of MySQL types, and how either server prints a type that it accepts.
const Case kCases[] = {
    {"TINYINT(1)", "tinyint(1)", "tinyint(1)", "BOOLEAN"},
    {"BOOL", "tinyint(1)", "tinyint(1)", "BOOLEAN"},
    {"TINYINT", "tinyint", "tinyint(4)", "TINYINT"},
    {"TINYINT(1) UNSIGNED", "tinyint unsigned", "tinyint(1) unsigned", "SMALLINT"},
    {"TINYINT UNSIGNED", "tinyint unsigned", "tinyint(3) unsigned", "SMALLINT"},
    {"SMALLINT", "smallint", "smallint(6)", "SMALLINT"},
    {"SMALLINT UNSIGNED", "smallint unsigned", "smallint(5) unsigned", "INT"},
    {"MEDIUMINT UNSIGNED", "mediumint unsigned", "mediumint(8) unsigned", "INT"},
    {"INT", "int", "int(11)", "INT"},
    {"INT(5) ZEROFILL", "int(5) unsigned zerofill", "int(5) unsigned zerofill", "BIGINT"},
    {"BIGINT", "bigint", "bigint(20)", "BIGINT"},
    {"BIGINT UNSIGNED", "bigint unsigned", "bigint(20) unsigned", "DECIMAL(20, 0)"},
    {"BIT", "bit(1)", "bit(1)", "BOOLEAN"},
    {"BIT(12)", "bit(12)", "bit(12)", "BINARY(2)"},
    {"FLOAT", "float", "float", "FLOAT"},
    {"FLOAT(7,3)", "float(7,3)", "float(7,3)", "DOUBLE"},
    {"FLOAT(30)", "double", "double", "DOUBLE"},
    {"DOUBLE PRECISION", "double", "double", "DOUBLE"},
    {"DECIMAL", "decimal(10,0)", "decimal(10,0)", "DECIMAL(10, 0)"},
    {"DECIMAL(38,10)", "decimal(38,10)", "decimal(38,10)", "DECIMAL(38, 10)"},
    {"DECIMAL(39,10)", "decimal(39,10)", "decimal(39,10)", "STRING"},
    {"DATE", "date", "date", "DATE"},
    {"TIME(3)", "time(3)", "time(3)", "TIME(3)"},
    {"DATETIME", "datetime", "datetime", "TIMESTAMP(0)"},
    {"TIMESTAMP(6)", "timestamp(6)", "timestamp(6)", "TIMESTAMP_LTZ(6)"},
    {"YEAR(4)", "year", "year(4)", "INT"},
    {"CHAR", "char(1)", "char(1)", "CHAR(1)"},
    {"CHAR(0)", "char(0)", "char(0)", "CHAR(1)"},
    {"VARCHAR(20)", "varchar(20)", "varchar(20)", "VARCHAR(20)"},
    {"VARCHAR(0)", "varchar(0)", "varchar(0)", "STRING"},
    {"VARCHAR(9) CHARACTER SET binary", "varbinary(9)", "varbinary(9)", "VARBINARY(9)"},
    {"TEXT(300)", "text", "text", "STRING"},
    {"BINARY(4)", "binary(4)", "binary(4)", "BINARY(4)"},
    {"VARBINARY(9)", "varbinary(9)", "varbinary(9)", "VARBINARY(9)"},
    {"BLOB(70000)", "mediumblob", "mediumblob", "BYTES"},
    {"ENUM('a','it''s')", "enum('a','it''s')", "enum('a','it''s')", "STRING"},
    {"SET('x','y')", "set('x','y')", "set('x','y')", "ARRAY<STRING>"},
    {"JSON", "json", "longtext", "STRING"},
    {"GEOMETRYCOLLECTION", "geomcollection", "geometrycollection", "STRING"},
    {"VECTOR(3)", "vector(3)", "vector(3)", "ARRAY<FLOAT>"},
    {"UUID", nullptr, "uuid", "STRING"},
};

TEST(MySqlTypesTest, PrintsAndMaps) {
  for (const Case& test : kCases) {
    for (const Dialect dialect : {Dialect::kMySql, Dialect::kMariaDb}) {
      SCOPED_TRACE(std::string(test.text) + (dialect == Dialect::kMySql ? " mysql" : " mariadb"));
      ServerSettings settings;
      settings.dialect = dialect;
      const char* printed = dialect == Dialect::kMySql ? test.mysql : test.mariadb;
      const auto type = ParseTypeText(test.text, {"utf8mb4", "utf8mb4_bin"}, settings);
      ASSERT_EQ(static_cast<bool>(type), printed != nullptr);
      if (!type) continue;
      EXPECT_EQ(type->text, printed);
      EXPECT_EQ(MapType(type->type, settings).ToString(), test.logical);
      // What the server prints means the same again.
      const auto again = ParseTypeText(type->text, {"utf8mb4", "utf8mb4_bin"}, settings);
      ASSERT_TRUE(again) << again.error().ToString();
      EXPECT_EQ(again->text, type->text);
    }
  }
}

TEST(MySqlTypesTest, TinyintOneIsATinyintOnDemand) {
  ServerSettings settings;
  settings.tinyint1_is_boolean = false;
  const auto type = ParseTypeText("TINYINT(1)", {}, settings);
  ASSERT_TRUE(type);
  EXPECT_EQ(MapType(type->type, settings), LogicalType::TinyInt());
}

TEST(MySqlTypesTest, MembersSurvivePrinting) {
  const ServerSettings settings;
  const auto type =
      ParseTypeText(R"(ENUM('b\\s','it''s','a,b','l\nf'))", {"utf8mb4", ""}, settings);
  ASSERT_TRUE(type);
  const auto again = ParseTypeText(type->text, {"utf8mb4", ""}, settings);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->type.members, (std::vector<std::string>{"b\\s", "it's", "a,b", "l\nf"}));
}

TEST(MySqlTypesTest, OldServersShowWidths) {
  ServerSettings settings;
  settings.version = 50744;
  EXPECT_EQ(ParseTypeText("INT UNSIGNED", {}, settings)->text, "int(10) unsigned");
  EXPECT_EQ(ParseTypeText("YEAR", {}, settings)->text, "year(4)");
}

TEST(MySqlTypesTest, RefusesWhatTheServerRefuses) {
  for (const char* text : {"DECIMAL(5,9)", "DECIMAL(66)", "VARCHAR(70000)", "CHAR(256)", "BIT(65)",
                           "FLOAT(54)", "DATETIME(7)", "ENUM('a','a')", "SET('a,b')", "YEAR(2)"}) {
    const auto type = ParseTypeText(text, {"utf8mb4", "utf8mb4_bin"}, {});
    ASSERT_FALSE(type) << text;
    EXPECT_EQ(type.error().kind(), ErrorKind::kRefused) << text;
  }
  EXPECT_EQ(ParseTypeText("INT, ADD x INT", {}, {}).error().kind(), ErrorKind::kParse);
  EXPECT_EQ(ParseTypeText("NOTHING", {}, {}).error().kind(), ErrorKind::kParse);
}

}  // namespace
}  // namespace driftless::mysql
