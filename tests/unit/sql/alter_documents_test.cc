// The examples of Flink's pages about ALTER TABLE, as a person works through them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/sql/session.h"

namespace driftless::flink {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AlterDocuments : public ::testing::Test {
 protected:
  AlterDocuments() {
    Run("CREATE TABLE MyTable (id BIGINT, measurement INT, request_body STRING) WITH ('connector' "
        "= 'datagen', 'rows-per-second' = '5')");
  }

  std::string Run(const std::string& sql) {
    const auto answer = session_.Execute(sql);
    return answer ? *answer : answer.error().message();
  }
  void Succeeds(const std::string& sql) {
    EXPECT_EQ(Run(sql), "[INFO] Execute statement succeeded.\n") << sql;
  }
  // The rows of DESCRIBE, cells joined by one bar.
  std::vector<std::string> Described(const std::string& table = "MyTable") {
    std::vector<std::string> rows;
    const std::string text = Run("DESCRIBE " + table);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (!line.starts_with("| ") || line.find("| name |") != std::string::npos) continue;
      std::string row;
      for (size_t at = 1; at < line.size();) {
        const size_t bar = line.find('|', at);
        std::string cell = line.substr(at, bar - at);
        cell.erase(0, cell.find_first_not_of(' '));
        cell.erase(cell.find_last_not_of(' ') + 1);
        row += (row.empty() ? "" : "|") + cell;
        at = bar + 1;
      }
      if (!row.starts_with("name|")) rows.push_back(row);
    }
    return rows;
  }

  Session session_;
};

TEST_F(AlterDocuments, ColumnsComputedColumnKeyAndWatermarkInOneAlter) {
  Succeeds(
      "ALTER TABLE MyTable ADD (log_ts STRING COMMENT 'log timestamp string' FIRST, ts AS "
      "TO_TIMESTAMP(log_ts) AFTER log_ts, PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - "
      "INTERVAL '3' SECOND)");
  EXPECT_THAT(
      Described(),
      ElementsAre("log_ts|STRING|TRUE||||log timestamp string",
                  "ts|TIMESTAMP(3) *ROWTIME*|TRUE||AS `TO_TIMESTAMP`(`log_ts`)|`ts` - INTERVAL '3' "
                  "SECOND|",
                  "id|BIGINT|FALSE|PRI(id)|||", "measurement|INT|TRUE||||",
                  "request_body|STRING|TRUE||||"));
  // All or nothing: one part that is wrong changes nothing.
  const auto before = Described();
  EXPECT_THAT(Run("ALTER TABLE MyTable ADD (extra INT, wrong AS nothing + 1)"),
              HasSubstr("nothing"));
  EXPECT_EQ(Described(), before);
}

TEST_F(AlterDocuments, APrimaryKeyMakesItsColumnsNotNull) {
  EXPECT_EQ(Described()[0], "id|BIGINT|TRUE|||");
  Succeeds("ALTER TABLE MyTable ADD PRIMARY KEY (id) NOT ENFORCED");
  EXPECT_EQ(Described()[0], "id|BIGINT|FALSE|PRI(id)||");
  EXPECT_THAT(Run("SHOW CREATE TABLE MyTable"), HasSubstr("`id` BIGINT NOT NULL"));
  Succeeds("ALTER TABLE MyTable DROP PRIMARY KEY");
  EXPECT_EQ(Described()[0], "id|BIGINT|FALSE|||");  // it stays NOT NULL
}

TEST_F(AlterDocuments, ModifyDropAndRename) {
  Succeeds("ALTER TABLE MyTable MODIFY measurement DOUBLE COMMENT 'bytes per second' FIRST");
  EXPECT_EQ(Described()[0], "measurement|DOUBLE|TRUE||||bytes per second");
  Succeeds("ALTER TABLE MyTable RENAME request_body TO payload");
  Succeeds("ALTER TABLE MyTable DROP (measurement, payload)");
  EXPECT_EQ(Described().size(), 1u);
  Succeeds("ALTER TABLE MyTable RENAME TO NewTable");
  EXPECT_THAT(Run("DESCRIBE MyTable"), HasSubstr("doesn't exist"));
  EXPECT_EQ(Described("NewTable").size(), 1u);
}

TEST_F(AlterDocuments, IfExistsDoesNothingTwice) {
  for (int i = 0; i < 2; ++i) {
    Succeeds("ALTER TABLE IF EXISTS nothing ADD x INT");
    Succeeds("ALTER TABLE IF EXISTS nothing RENAME TO something");
    Succeeds("ALTER TABLE IF EXISTS nothing SET ('a' = 'b')");
    Succeeds("DROP TABLE IF EXISTS nothing");
  }
  EXPECT_THAT(Run("ALTER TABLE nothing ADD x INT"), HasSubstr("doesn't exist"));
  EXPECT_THAT(Run("SHOW TABLES"), Not(HasSubstr("thing")));
}

TEST_F(AlterDocuments, SetAndReset) {
  Succeeds("ALTER TABLE MyTable SET ('rows-per-second' = '10', 'fields.id.kind' = 'sequence')");
  EXPECT_THAT(Run("SHOW CREATE TABLE MyTable"), AllOf(HasSubstr("'rows-per-second' = '10'"),
                                                      HasSubstr("'fields.id.kind' = 'sequence'"),
                                                      HasSubstr("'connector' = 'datagen'")));
  Succeeds("ALTER TABLE MyTable RESET ('rows-per-second')");
  const std::string shown = Run("SHOW CREATE TABLE MyTable");
  EXPECT_THAT(shown, Not(HasSubstr("rows-per-second")));
  EXPECT_THAT(shown, HasSubstr("fields.id.kind"));
  Succeeds("ALTER TABLE MyTable RESET ('rows-per-second')");  // what is not there
  EXPECT_THAT(Run("ALTER TABLE MyTable RESET ('connector')"),
              HasSubstr("ALTER TABLE RESET does not support changing 'connector'"));
  EXPECT_THAT(Run("ALTER TABLE MyTable RESET ()"), HasSubstr("ALTER TABLE RESET does not support"));
}

}  // namespace
}  // namespace driftless::flink
