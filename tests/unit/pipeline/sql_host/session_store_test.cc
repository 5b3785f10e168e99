#include "pipeline/sql_host/session_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "pipeline/sql_host/script_reader.h"

namespace driftless {
namespace {

std::string Execute(const std::string& folder, const std::string& sql) {
  auto store = SqlSessionStore::Open(folder);
  if (!store) return "open: " + store.error().ToString();
  const auto result = store->Execute(sql);
  return result ? *result : result.error().message();
}

TEST(SessionStoreTest, KeepsTheSessionBetweenCalls) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sql_session_store_test";
  std::filesystem::remove_all(folder);
  const std::string done = "[INFO] Execute statement succeeded.\n";
  EXPECT_EQ(Execute(folder, "CREATE DATABASE d;"), done);
  EXPECT_EQ(Execute(folder, "USE d;"), done);
  EXPECT_EQ(Execute(folder, "CREATE TABLE t (a INT) PARTITIONED BY (a);"), done);
  EXPECT_EQ(Execute(folder, "ALTER TABLE t ADD b STRING;"), done);
  // The first partition stays although the statement fails, and stays at the next call too.
  EXPECT_NE(Execute(folder, "ALTER TABLE t ADD PARTITION (a = 1) PARTITION (a = 1);"), done);
  EXPECT_NE(Execute(folder, "SHOW PARTITIONS t;").find("|            a=1 |"), std::string::npos);
  EXPECT_NE(Execute(folder, "DESCRIBE t;").find("|    b | STRING |"), std::string::npos);
  EXPECT_NE(Execute("", "DESCRIBE t;").find("doesn't exist"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(ScriptReaderTest, CutsAsFlinksClient) {
  const auto statements = ReadSqlScript(
      "\nCREATE TABLE t (\n  a STRING COMMENT 'x;\n'\n);\n-- note;\nSHOW TABLES;\nDESCRIBE t");
  ASSERT_EQ(statements.size(), 3U);
  EXPECT_EQ(statements[0].text, "CREATE TABLE t (\n  a STRING COMMENT 'x;\n'\n);");
  EXPECT_EQ(statements[0].line, 2);
  EXPECT_EQ(statements[1].text, "-- note;\nSHOW TABLES;");
  EXPECT_EQ(statements[2].text, "DESCRIBE t");
  EXPECT_EQ(statements[2].line, 8);
}

TEST(ScriptReaderTest, AStatementSetIsOneStatement) {
  const std::string set =
      "EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1;\nINSERT INTO b SELECT 2;\nEND;";
  const auto statements = ReadSqlScript(set + "\nSHOW TABLES;\n");
  ASSERT_EQ(statements.size(), 2U);
  EXPECT_EQ(statements[0].text, set);
}

TEST(SessionStoreTest, AStatementSetOutlivesACall) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "sql_session_store_set_test";
  std::filesystem::remove_all(folder);
  const std::string done = "[INFO] Execute statement succeeded.\n";
  EXPECT_EQ(Execute(folder, "CREATE TABLE s (a INT) WITH ('connector' = 'blackhole');"), done);
  EXPECT_EQ(Execute(folder, "BEGIN STATEMENT SET;"), done);
  EXPECT_NE(Execute(folder, "SELECT 1;").find("Only 'INSERT"), std::string::npos);
  EXPECT_EQ(Execute(folder, "INSERT INTO s SELECT 1;"), done);
  EXPECT_NE(Execute(folder, "END;").find("successfully submitted"), std::string::npos);
  EXPECT_NE(Execute(folder, "SELECT 1;").find("total of 1 row"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace driftless
