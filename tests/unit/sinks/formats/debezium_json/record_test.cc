#include <gtest/gtest.h>

#include "sinks/formats/debezium_json/decode.h"

namespace driftless::debezium {
namespace {

constexpr char kPayload[] =
    R"({"before":null,"after":{"id":7},"source":{"version":"3.6","connector":"mysql","name":"s",)"
    R"("ts_ms":17,"snapshot":"false","db":"shop","table":"or\"ders","gtid":"g:1"},)"
    R"("transaction":null,"op":"c","ts_ms":18})";

class RecordTest : public ::testing::Test {
 protected:
  bool Read(const std::string& line) {
    line_ = line;
    line_.append(kJsonPadding, ' ');
    return reader_.ReadLine({line_.data(), line.size()}, &record_);
  }
  std::string Raw(JsonCursor cursor) { return std::string(cursor.RawValue()); }

  RecordReader reader_;
  Record record_;
  std::string line_;
};

TEST_F(RecordTest, AllFormsOfOneRecordAreTheSame) {
  const std::string payload = kPayload;
  const std::string schema = R"({"type":"struct","fields":[]})";
  for (const std::string& line : {
           payload,
           R"({"topic":"s.shop.orders","key":{"id":7},"value":)" + payload + "}",
           R"({"schema":)" + schema + R"(,"payload":)" + payload + "}",
           R"({"topic":"s.shop.orders","key":{"schema":)" + schema +
               R"(,"payload":{"id":7}},"value":{"schema":)" + schema + R"(,"payload":)" + payload +
               "}}",
           R"( { "value" : { "payload" : )" + payload + R"( , "schema" : )" + schema +
               R"( } , "topic":"s.shop.orders", "key" : null } )",
       }) {
    ASSERT_TRUE(Read(line)) << line << ": " << reader_.fault();
    EXPECT_EQ(record_.kind, RecordKind::kChange);
    EXPECT_EQ(record_.op, Op::kInsert);
    EXPECT_EQ(record_.database, "shop");
    EXPECT_EQ(record_.table, "or\"ders");
    EXPECT_EQ(record_.connector, "mysql");
    EXPECT_EQ(record_.transaction, "g:1");
    EXPECT_EQ(record_.commit_time_ms, 17);
    EXPECT_FALSE(record_.snapshot);
    EXPECT_FALSE(record_.before.valid());
    EXPECT_EQ(Raw(record_.after), R"({"id":7})");
    EXPECT_EQ(!record_.value_schema.empty(), line.find("schema\"") != std::string::npos) << line;
    if (!record_.value_schema.empty()) {
      EXPECT_EQ(record_.value_schema, schema);
    }
  }
}

TEST_F(RecordTest, EmbeddedSchemasKeepTheirNumberWhileTheyStayTheSame) {
  const auto line = [](const std::string& topic, const std::string& schema) {
    return R"({"topic":")" + topic + R"(","key":null,"value":{"schema":)" + schema +
           R"(,"payload":)" + kPayload + "}}";
  };
  ASSERT_TRUE(Read(line("a", R"({"type":"int32"})")));
  const uint64_t first = record_.value_schema_id;
  ASSERT_TRUE(Read(line("b", R"({"type":"int32"})")));
  const uint64_t other = record_.value_schema_id;
  ASSERT_TRUE(Read(line("a", R"({"type":"int32"})")));
  EXPECT_EQ(record_.value_schema_id, first);
  EXPECT_NE(first, other);
  // Longer with the same beginning, and shorter.
  ASSERT_TRUE(Read(line("a", R"({"type":"int32","x":"{\"}"})")));
  EXPECT_NE(record_.value_schema_id, first);
  EXPECT_EQ(record_.value_schema, R"({"type":"int32","x":"{\"}"})");
  ASSERT_TRUE(Read(line("a", R"({"type":"int32"})")));
  EXPECT_EQ(record_.value_schema, R"({"type":"int32"})");
}

TEST_F(RecordTest, KindsWithoutRows) {
  const auto kind = [&](const std::string& line) {
    EXPECT_TRUE(Read(line)) << reader_.fault();
    return record_.kind;
  };
  EXPECT_EQ(kind(R"({"topic":"t","key":{"id":1},"value":null})"), RecordKind::kTombstone);
  EXPECT_EQ(kind(R"({"status":"BEGIN","id":"x","event_count":null,"ts_ms":1})"),
            RecordKind::kTransaction);
  EXPECT_EQ(kind(R"({"ts_ms":1795994809965})"), RecordKind::kHeartbeat);
  EXPECT_EQ(kind(R"({"op":"m","ts_ms":1,"source":{"db":"d"},"message":{"prefix":"p"}})"),
            RecordKind::kMessage);
  EXPECT_EQ(kind(R"({"before":null,"after":null,"source":{"db":"d","table":"t"},"op":"t"})"),
            RecordKind::kTruncate);
  EXPECT_EQ(kind(R"({"source":{"db":"d"},"databaseName":"d","ddl":"x","tableChanges":[]})"),
            RecordKind::kSchemaChange);
}

TEST_F(RecordTest, BrokenRecordsSayWhatIsWrong) {
  const std::string whole =
      R"({"topic":"s.shop.orders","key":{"id":7},"value":)" + std::string(kPayload) + "}";
  // Cut off anywhere, it is never taken for a record.
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Read(whole.substr(0, size))) << whole.substr(0, size);
    EXPECT_NE(std::string(reader_.fault()), "");
  }
  EXPECT_FALSE(Read("\xff\xfe{}"));
  EXPECT_STREQ(reader_.fault(), "the text is not valid UTF-8");
  EXPECT_FALSE(Read(whole + "}"));
  EXPECT_FALSE(Read(R"({"before":null,"after":null,"source":{"table":"t"},"op":"c"})"));
  EXPECT_STREQ(reader_.fault(), "the record has no after image");
  EXPECT_FALSE(Read(R"({"before":null,"after":null,"source":{"table":"t"},"op":"d"})"));
  EXPECT_FALSE(Read(R"({"after":{},"source":{"table":"t"},"op":"q"})"));
  EXPECT_FALSE(Read(R"({"after":{},"source":{"table":7},"op":"c"})"));
  EXPECT_FALSE(Read("[1]"));
  EXPECT_FALSE(Read("7"));
  EXPECT_FALSE(Read(R"({"a":1} {"b":2})"));
}

TEST_F(RecordTest, KeysAreComparedAsText) {
  TableSchema schema;
  schema.path = {"", "db", "t"};
  schema.AddColumn("a", LogicalType::Int());
  schema.AddColumn("b", LogicalType::Int());
  schema.primary_key = {2};
  const RowPlan plan(schema, nullptr, Format{});
  const auto same = [&](const std::string& before, const std::string& after) {
    EXPECT_TRUE(Read(R"({"before":)" + before + R"(,"after":)" + after +
                     R"(,"source":{"db":"db","table":"t"},"op":"u"})"));
    return RowDecoder::SameKey(plan, record_.before, record_.after);
  };
  EXPECT_TRUE(same(R"({"a":1,"b":2})", R"({"a":3,"b":2})"));
  EXPECT_FALSE(same(R"({"a":1,"b":2})", R"({"a":1,"b":3})"));
  EXPECT_FALSE(same(R"({"a":1})", R"({"a":1})"));
  EXPECT_TRUE(RowDecoder::HasOnlyKey(plan, record_.before) == false);
}

}  // namespace
}  // namespace driftless::debezium
