// The statements of a start: what is announced, before the first event of the log.
#include "pipeline/sources/mysql/log_stream.h"

#include <gtest/gtest.h>

#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/mysql/tables.h"
#include "pipeline/state/state_store.h"
#include "tests/doubles/replayed_tables.h"
#include "tests/unit/pipeline/state/temp_folder.h"

namespace driftless::mysql {
namespace {

const TablePath kTable{"", "shop", "early"};

class LogStreamTest : public ::testing::Test {
 protected:
  LogStreamTest() {
    store_ = std::move(*StateStore::Open(folder_.path(), "test", *SystemClock()));
    options_.tables = *TableSelector::Parse("shop.early");
    context_.history = store_.get();
  }

  // A start that begins anew at the place where all of them begin: `known` is what the history has
  // of the table, and `columns` what the server has. Returns the schema that rows are decoded with.
  TableSchemaPtr Start(const std::vector<TableSchemaPtr>& known, const std::string& columns) {
    testing::ReplayedTables sent;
    LogStream log(options_, settings_, context_, 1, &sent, {});
    LogPosition start;
    start.file = "binlog.000003";
    start.offset = 4;
    log.Begin(start, {}, 10);
    auto now = SchemaOfStatement("CREATE TABLE early (" + columns + ", PRIMARY KEY (id))", kTable,
                                 settings_, false, 1);
    EXPECT_TRUE(now) << now.error().ToString();
    EXPECT_TRUE(log.NumberBehindHistory());
    EXPECT_TRUE(log.Announce(known.empty() ? *now : known.front()));
    for (size_t i = 1; i < known.size(); ++i) EXPECT_TRUE(log.Repeat(known[i]));
    if (!known.empty()) {
      EXPECT_TRUE(log.Alter(*now));
    }
    EXPECT_TRUE(sent.faults.empty());
    return log.Find(kTable);
  }

  static std::string Columns(const TableSchema& schema) {
    std::string text;
    for (const Column& column : schema.columns) {
      text += (text.empty() ? "" : ", ") + column.name + " " + column.source.type_text + " #" +
              std::to_string(column.id);
    }
    return text;
  }

  TempFolder folder_;
  std::unique_ptr<StateStore> store_;
  SourceOptions options_;
  ServerSettings settings_;
  SourceContext context_;
};

// A server whose log is asked for by GTIDs begins every start at the same file and offset.
TEST_F(LogStreamTest, EveryStartKnowsTheColumnsOfTheOnesBefore) {
  const TableSchemaPtr first = Start({}, "id INT, t TEXT");
  EXPECT_EQ(Columns(*first), "id int #1, t text #2");
  const TableSchemaPtr second = Start({first}, "x0 INT, id INT, t MEDIUMTEXT");
  EXPECT_EQ(Columns(*second), "x0 int #3, id int #1, t mediumtext #2");
  const TableSchemaPtr third = Start({first, second}, "x1 INT, x0 INT, id INT, t LONGTEXT");
  EXPECT_EQ(Columns(*third), "x1 int #4, x0 int #3, id int #1, t longtext #2");
  EXPECT_EQ(store_->All(kTable)->back().schema->columns.size(), 4U);
}

}  // namespace
}  // namespace driftless::mysql
