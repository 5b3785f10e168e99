#include "pipeline/sql_host/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace driftless {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Completion, WordsOfTheLanguageAndNames) {
  const std::vector<std::string> names = {"orders", "order_items", "Kunde"};
  EXPECT_EQ(CompleteWord("DESCR", names).insert, "IBE ");
  EXPECT_EQ(CompleteWord("descr", names).insert, "ibe ");
  EXPECT_EQ(CompleteWord("SELECT * FROM Ku", names).insert, "nde ");
  EXPECT_EQ(CompleteWord("SELECT * FROM ku", names).insert, "");
  EXPECT_EQ(CompleteWord("FROM order_", names).insert, "items ");
  const Completion several = CompleteWord("FROM order", names);
  EXPECT_EQ(several.insert, "");
  EXPECT_THAT(several.candidates, ElementsAre("order", "order_items", "orders"));
  EXPECT_EQ(CompleteWord("MATER", names).insert, "IALIZED ");
  // Behind a dot stands a name.
  EXPECT_EQ(CompleteWord("t.ord", names).insert, "er");
  EXPECT_THAT(CompleteWord("SELECT ", names).candidates, IsEmpty());
  EXPECT_THAT(CompleteWord("", names).candidates, IsEmpty());
}

TEST(Completion, HistoryKeepsStatementsInOneLineAndNoSecrets) {
  EXPECT_EQ(HistoryEntry("SELECT 1,\n  2;"), "SELECT 1,   2;");
  EXPECT_EQ(HistoryEntry("SELECT 1, -- one\n 2;"), "SELECT 1, -- one\n 2;");
  EXPECT_EQ(HistoryEntry("SELECT 'a\nb';"), "SELECT 'a\nb';");
  EXPECT_EQ(HistoryEntry("CREATE TABLE t WITH ('Password' = 'x');"), "");
}

}  // namespace
}  // namespace driftless
