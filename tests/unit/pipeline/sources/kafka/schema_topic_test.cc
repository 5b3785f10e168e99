#include "pipeline/sources/kafka/schema_topic.h"

#include <gtest/gtest.h>

namespace driftless {
namespace {

std::string Source(const std::string& connector, const std::string& file, int position) {
  return R"("source":{"version":"3","connector":")" + connector + R"(","file":")" + file +
         R"(","pos":)" + std::to_string(position) + R"(,"row":0})";
}

TEST(LogPlaceTest, IsFoundInTheRecordsOwnSource) {
  const auto place = LogPlaceOf("{\"before\":null,\"after\":{\"id\":1},\"op\":\"c\"," +
                                Source("mysql", "binlog.000003", 154) + "}");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "binlog.000003");
  EXPECT_EQ(place->position, 154u);
  // Within {schema, payload}, and with blanks.
  EXPECT_TRUE(LogPlaceOf("{\"schema\":{\"fields\":[{\"field\":\"source\"}]},\"payload\":{" +
                         Source("mariadb", "m.1", 5) + "}}"));
  EXPECT_EQ(LogPlaceOf(R"({"source": {"connector": "mysql", "file": "b.1", "pos": 7}})")->position,
            7u);
}

// A column named source, with a value that is an object, and a text that holds such a member.
TEST(LogPlaceTest, IsNotTakenFromARowsValues) {
  const std::string row =
      R"({"before":null,"after":{"source":{"wkb":"AQ==","srid":null},"t":"\"source\":{\"connector\":\"mysql\",\"file\":\"x.9\",\"pos\":9}"},)";
  const auto place = LogPlaceOf(row + Source("mysql", "binlog.000003", 154) + "}");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "binlog.000003");
}

TEST(LogPlaceTest, IsNoneWhereTheRecordHasNone) {
  EXPECT_FALSE(LogPlaceOf(""));
  EXPECT_FALSE(LogPlaceOf("null"));
  EXPECT_FALSE(LogPlaceOf("{" + Source("postgresql", "x.1", 1) + "}"));
  EXPECT_FALSE(LogPlaceOf(R"({"source":{"connector":"mysql","file":"x.1"}})"));
  EXPECT_FALSE(LogPlaceOf(R"({"source":{"connector":"mysql","pos":4}})"));
  EXPECT_FALSE(LogPlaceOf(R"({"source":{"connector":"mysql")"));
}

TEST(LogPlaceTest, FilesAreOrderedByTheirNumbers) {
  const auto precedes = [](const char* a, uint64_t at, const char* b, uint64_t behind) {
    return LogPlace{a, at}.Precedes({b, behind});
  };
  EXPECT_TRUE(precedes("b.000001", 9, "b.000002", 1));
  EXPECT_TRUE(precedes("b.999999", 9, "b.1000000", 1));
  EXPECT_TRUE(precedes("b.000001", 1, "b.000001", 2));
  EXPECT_FALSE(precedes("b.000001", 2, "b.000001", 2));
  EXPECT_FALSE(precedes("b.000002", 1, "b.000001", 9));
  EXPECT_FALSE(precedes("a.000001", 1, "b.000002", 1)) << "another server's log";
}

}  // namespace
}  // namespace driftless
