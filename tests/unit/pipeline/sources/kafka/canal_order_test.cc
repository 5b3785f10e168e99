#include "pipeline/sources/kafka/canal_order.h"

#include <gtest/gtest.h>

#include <string>

namespace driftless {
namespace {

std::string Message(const std::string& type, bool is_ddl, int64_t batch, int64_t built_ms) {
  return R"({"data":[{"id":"7","ts":"12"}],"database":"shop","es":5000,"gtid":"","id":)" +
         std::to_string(batch) + R"(,"isDdl":)" + (is_ddl ? "true" : "false") +
         R"(,"mysqlType":{"ts":"int"},"old":null,"pkNames":["id"],"sql":"ALTER \"isDdl\":true",)" +
         R"("sqlType":{"ts":93},"table":"orders","ts":)" + std::to_string(built_ms) +
         R"(,"type":")" + type + "\"}";
}

TEST(CanalOrderTest, StatementsAreCanalsOwnMessages) {
  const auto alter = CanalStatementOf(Message("ALTER", true, 3, 1700));
  ASSERT_TRUE(alter);
  EXPECT_EQ(alter->database, "shop");
  EXPECT_EQ(alter->table, "orders");
  EXPECT_EQ(alter->place.batch, 3);
  EXPECT_EQ(alter->place.built_ms, 1700);
  EXPECT_EQ(alter->place.event_ms, 5000);
  EXPECT_FALSE(alter->is_of_whole_table);
  EXPECT_TRUE(CanalStatementOf(Message("TRUNCATE", true, 3, 1700))->is_of_whole_table);
  EXPECT_FALSE(CanalStatementOf(Message("INSERT", false, 3, 1700)));
  EXPECT_FALSE(CanalStatementOf(Message("ALTER", true, 0, 1700))) << "of another program";
  EXPECT_FALSE(CanalStatementOf(R"({"isDdl":true)"));
  EXPECT_FALSE(CanalStatementOf(""));
}

TEST(CanalOrderTest, ItsTimeIsTheMessagesOwn) {
  EXPECT_EQ(CanalBuiltAt(Message("INSERT", false, 3, 1700)), 1700);
  EXPECT_EQ(CanalBuiltAt(R"({"ts": 42, "id": 1})"), 42);
  EXPECT_EQ(CanalBuiltAt("{}"), 0);
}

TEST(CanalOrderTest, MessagesAreMadeOneAfterTheOther) {
  const auto order = [](CanalPlace row, CanalPlace statement, bool whole = false) {
    return OrderOf(row, {statement, "shop", "orders", whole});
  };
  EXPECT_EQ(order({10, 1, 0}, {11, 1, 0}), CanalOrder::kBefore);
  EXPECT_EQ(order({12, 1, 0}, {11, 1, 0}), CanalOrder::kBehind);
  EXPECT_EQ(order({10, 1, 0}, {10, 2, 0}), CanalOrder::kBefore);
  EXPECT_EQ(order({10, 3, 0}, {10, 2, 0}), CanalOrder::kBehind);
  EXPECT_EQ(order({10, 2, 0}, {10, 2, 0}), CanalOrder::kUnknown);
  EXPECT_EQ(order({50, 1, 0}, {10, 900, 0}), CanalOrder::kBehind) << "Canal was started again";
  // What empties a table keeps rows away as long as it runs; an ALTER need not.
  EXPECT_EQ(order({10, 2, 6000}, {10, 2, 5000}, true), CanalOrder::kBehind);
  EXPECT_EQ(order({10, 2, 4000}, {10, 2, 5000}, true), CanalOrder::kBefore);
  EXPECT_EQ(order({10, 2, 6000}, {10, 2, 5000}, false), CanalOrder::kUnknown);
}

}  // namespace
}  // namespace driftless
