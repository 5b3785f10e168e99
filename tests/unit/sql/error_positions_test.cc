// Where a statement is broken: in front of the token at which "¦" stands no parser can go on.

#include <gtest/gtest.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "config/sql/session.h"

namespace driftless::flink {
namespace {

constexpr std::string_view kBroken[] = {
    "CREATE ¦TABEL t (a INT)",
    "CREATE TABLE ¦(a INT)",
    "CREATE TABLE t ¦a INT)",
    "CREATE TABLE t (¦)",
    "CREATE TABLE t (a ¦)",
    "CREATE TABLE t (a INT ¦b INT)",
    "CREATE TABLE t (a INT, ¦)",
    "CREATE TABLE t (a INT,\n  b STRING,\n  ¦, c INT)",
    "CREATE TABLE t (a DECIMAL(10 ¦2))",
    "CREATE TABLE t (a DECIMAL(¦x))",
    "CREATE TABLE t (a ARRAY¦<>)",
    "CREATE TABLE t (a MAP<INT¦>)",
    "CREATE TABLE t (a ROW<b ¦>)",
    "CREATE TABLE t (a INT ¦NOT NUL)",
    "CREATE TABLE t (a INT COMMENT ¦x)",
    "CREATE TABLE t (a INT PRIMARY ¦KEI)",
    "CREATE TABLE t (a INT, PRIMARY KEY ¦a)",
    "CREATE TABLE t (a INT, PRIMARY KEY (¦) NOT ENFORCED)",
    "CREATE TABLE t (a INT, PRIMARY KEY (a ¦b))",
    "CREATE TABLE t (a INT, WATERMARK ¦ON a AS a)",
    "CREATE TABLE t (a INT, WATERMARK FOR a ¦a)",
    "CREATE TABLE t (a INT, b AS ¦)",
    "CREATE TABLE t (a INT, b AS a +¦)",
    "CREATE TABLE t (a INT, b AS (a + 1, c ¦INT)",
    "CREATE TABLE t (a INT) ¦COMENT 'x'",
    "CREATE TABLE t (a INT) COMMENT ¦WITH ('a' = 'b')",
    "CREATE TABLE t (a INT) PARTITIONED ¦(a)",
    "CREATE TABLE t (a INT) PARTITIONED BY ¦a",
    "CREATE TABLE t (a INT) WITH ¦'a' = 'b'",
    "CREATE TABLE t (a INT) WITH ('a' 'b'¦)",
    "CREATE TABLE t (a INT) WITH ('a' = ¦b)",
    "CREATE TABLE t (a INT) WITH ('a' = 'b' 'c' ¦= 'd')",
    "CREATE TABLE t (a INT) WITH ('a' = 'b',¦)",
    "CREATE TABLE t LIKE ¦(INCLUDING ALL)",
    "CREATE TABLE t LIKE u (¦OPTIONS)",
    "CREATE TABLE t LIKE u (INCLUDING ¦NOTHING)",
    "CREATE TABLE IF ¦EXISTS t (a INT)",
    "CREATE TABLE IF NOT ¦t (a INT)",
    "CREATE TABLE t (¦date INT)",
    "CREATE TABLE t (a INT) DISTRIBUTED ¦(a)",
    "CREATE TABLE t (a INT) DISTRIBUTED BY (a) INTO ¦x BUCKETS",
    "CREATE VIEW v ¦SELECT 1",
    "CREATE VIEW v (¦) AS SELECT 1",
    "CREATE TABLE t (¦and INT)",
    "SELECT a FROM t WHERE ¦AND a",
    "CREATE VIEW v AS ¦",
    "CREATE DATABASE ¦'d'",
    "CREATE CATALOG c WITH ¦type",
    "CREATE FUNCTION f ¦'c'",
    "CREATE FUNCTION f AS ¦c",
    "CREATE FUNCTION f AS 'c' LANGUAGE ¦COBOL",
    "ALTER ¦TABEL t ADD a INT",
    "ALTER TABLE ADD ¦a INT",
    "ALTER TABLE t ¦ADDD a INT",
    "ALTER TABLE t ADD ¦COLUMN a INT",
    "ALTER TABLE t ADD (¦)",
    "ALTER TABLE t ADD (a INT ¦b INT)",
    "ALTER TABLE t ADD a ¦",
    "ALTER TABLE t ADD a INT AFTER ¦",
    "ALTER TABLE t ADD a INT ¦BEFORE b",
    "ALTER TABLE t ADD a INT FIRST ¦COMMENT 'x'",
    "ALTER TABLE t MODIFY ¦COLUMN a INT",
    "ALTER TABLE t MODIFY (a INT,\n    b STRING ¦AFTR a)",
    "ALTER TABLE t DROP ¦",
    "ALTER TABLE t DROP (a¦",
    "ALTER TABLE t DROP PRIMARY ¦a",
    "ALTER TABLE t RENAME ¦",
    "ALTER TABLE t RENAME a ¦b",
    "ALTER TABLE t RENAME a TO ¦'b'",
    "ALTER TABLE t RENAME TO ¦",
    "ALTER TABLE t SET ¦'a' = 'b'",
    "ALTER TABLE t SET ('a' ¦, 'b')",
    "ALTER TABLE t RESET (¦a)",
    "ALTER TABLE IF ¦t ADD a INT",
    "ALTER TABLE t ADD PARTITION ¦a = 1",
    "ALTER TABLE t DROP PARTITION (a ¦1)",
    "ALTER VIEW v ¦SELECT 1",
    "ALTER DATABASE d ¦RESET ('a')",
    "ALTER CATALOG c SET ¦a",
    "DROP ¦TABEL t",
    "DROP TABLE ¦",
    "DROP TABLE IF ¦NOT EXISTS t",
    "DROP TABLE t ¦CASCADE",
    "DROP DATABASE d ¦NOW",
    "USE ¦",
    "USE CATALOG c ¦d",
    "¦SHOW TABELS",
    "SHOW TABLES ¦t",
    "SHOW TABLES LIKE ¦t",
    "SHOW CREATE ¦t",
    "DESCRIBE t ¦u",
    "SELECT¦",
    "SELECT ¦FROM t",
    "SELECT a FROM¦",
    "SELECT a b ¦c FROM t",
    "SELECT a FROM t WHERE¦",
    "SELECT a FROM t GROUP ¦a",
    "SELECT a FROM t ORDER ¦a",
    "SELECT CASE WHEN a ¦ELSE b END FROM t",
    "SELECT CAST(a ¦INT) FROM t",
    "SELECT a FROM t JOIN u ¦WHERE a = b",
    "SELECT (a + b ¦FROM t",
    "SELECT a FROM t LIMIT ¦x",
    "SELECT '\xE7\xBC\x96\xE5\x8F\xB7' AS a, ¦FROM t",
    "INSERT ¦t VALUES (1)",
    "INSERT INTO ¦VALUES (1)",
    "SET 'a' = ¦b",
    "TRUNCATE ¦t",
    "CREATE TABLE t (\n\ta INT,\n\tb INT ¦NOT ,\n\tc INT)",
};

TEST(ErrorPositions, OfBrokenStatements) {
  EXPECT_GE(std::size(kBroken), 100u);
  static constexpr std::string_view kMark = "\xC2\xA6";
  for (const std::string_view marked : kBroken) {
    const size_t at = marked.find(kMark);
    ASSERT_NE(at, std::string_view::npos) << marked;
    std::string sql(marked);
    sql.erase(at, kMark.size());
    int line = 1;
    int column = 1;
    for (size_t i = 0; i < at; ++i) {
      if (sql[i] == '\n') {
        ++line;
        column = 1;
      } else if ((static_cast<unsigned char>(sql[i]) & 0xC0) != 0x80) {
        ++column;
      }
    }
    // The end of a statement is where its last token ends, whatever blanks follow.
    Session session;
    const auto done = session.Execute(sql);
    EXPECT_FALSE(done) << sql;
    if (done) continue;
    int got_line = 0;
    int got_column = 0;
    const std::string& message = done.error().message();
    const size_t place = message.find("at line ");
    EXPECT_NE(place, std::string::npos) << sql << "\n" << message;
    if (place == std::string::npos) continue;
    std::sscanf(message.c_str() + place, "at line %d, column %d", &got_line, &got_column);
    EXPECT_EQ(std::pair(got_line, got_column), std::pair(line, column)) << marked << "\n"
                                                                        << done.error().message();
  }
}

}  // namespace
}  // namespace driftless::flink
