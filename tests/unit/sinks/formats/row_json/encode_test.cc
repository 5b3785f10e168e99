#include <gtest/gtest.h>

#include <numeric>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projected_batch.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/mysql_text.h"
#include "tests/doubles/evolved.h"
#include "tests/doubles/source_table.h"

// What every format writes, byte for byte: the forms of kafka-clients of Flink CDC, Debezium, Canal
// and Maxwell.
namespace driftless {
namespace {

class EncodeTest : public ::testing::Test {
 protected:
  EncodeTest()
      : table_("shop.orders",
               {"id BIGINT NOT NULL", "name STRING", "price DECIMAL(10, 2)", "at TIMESTAMP(3)",
                "seen TIMESTAMP_LTZ(3)", "day DATE", "ok BOOLEAN", "raw BYTES"},
               {"id"}),
        builder_(table_.schema(), 0) {}

  void Image(bool before, int64_t id, const char* name, int64_t price) {
    const auto column = [&](int i) -> ColumnBuilder& {
      return before ? builder_.before(i) : builder_.after(i);
    };
    column(0).AppendInt(id);
    if (name == nullptr) {
      column(1).AppendNull();
    } else {
      column(1).AppendBytes(name);
    }
    column(2).AppendInt128(price);
    column(3).AppendInt(1767323045678000);  // 2026-01-02 03:04:05.678
    column(4).AppendInt(1767323045678000);
    column(5).AppendInt(20455);
    column(6).AppendBit(true);
    column(7).AppendBytes("\x01\xff");
  }
  void Insert(int64_t id, const char* name, int64_t price) {
    builder_.BeginRow(Op::kInsert, Next(), kTime);
    Image(false, id, name, price);
    builder_.EndRow();
  }
  void Update(int64_t id, const char* from, const char* to, int64_t price) {
    builder_.BeginRow(Op::kUpdate, Next(), kTime);
    Image(true, id, from, price);
    Image(false, id, to, price);
    builder_.EndRow();
  }
  void Delete(int64_t id) {
    builder_.BeginRow(Op::kDelete, Next(), kTime);
    Image(true, id, "gone", 100);
    builder_.EndRow();
  }

  using Maker = std::unique_ptr<MessageEncoder> (*)(const EvolvedSchema&, const EncoderOptions&);
  void Encode(Maker make, EncoderOptions options = {}) {
    batch_ = builder_.Seal();
    const EvolvedSchema evolved = Evolved(*table_.schema());
    ProjectionPolicy policy;
    policy.partial_update = true;
    const Projection projection = Projection::Make(*batch_->schema(), evolved, policy);
    std::vector<uint32_t> rows(static_cast<size_t>(batch_->size()));
    std::iota(rows.begin(), rows.end(), 0u);
    const auto projected = ProjectedBatch::Make(batch_, projection, rows, nullptr);
    ASSERT_TRUE(projected.has_value()) << projected.error().ToString();
    out_.Clear();
    make(evolved, options)->Encode(**projected, &out_);
    ASSERT_EQ(out_.messages.size(), rows.size());
  }
  std::string Key(size_t i) const { return std::string(out_.key(out_.messages[i])); }
  std::string Value(size_t i) const { return std::string(out_.value(out_.messages[i])); }

  static constexpr int64_t kTime = 1767225600123;

  SourceTable table_;
  ChangeBatchBuilder builder_;
  ChangeBatchPtr batch_;
  EncodedMessages out_;

 private:
  Point Next() {
    point_.offset++;
    return point_;
  }
  Point point_;
};

TEST_F(EncodeTest, DebeziumJsonAsFlinkCdcWritesIt) {
  Insert(7, "a\"b", -1230);
  Update(7, "old", nullptr, 5);
  Delete(8);
  Encode(MakeDebeziumJsonEncoder);
  EXPECT_EQ(Key(0), R"({"TableId":"shop.orders","id":7})");
  EXPECT_EQ(
      Value(0),
      R"({"before":null,"after":{"id":7,"name":"a\"b","price":-12.30,"at":"2026-01-02 03:04:05.678",)"
      R"("seen":"2026-01-02 03:04:05.678Z","day":"2026-01-02","ok":true,"raw":"Af8="},)"
      R"("source":{"db":"shop","table":"orders","ts_ms":1767225600123},"op":"c",)"
      R"("ts_ms":1767225600123})");
  EXPECT_NE(Value(1).find(R"({"before":{"id":7,"name":"old","price":0.05,)"), std::string::npos);
  EXPECT_NE(Value(1).find(R"("after":{"id":7,"name":null,)"), std::string::npos);
  EXPECT_NE(Value(1).find(R"("op":"u")"), std::string::npos);
  EXPECT_EQ(Key(2), R"({"TableId":"shop.orders","id":8})");
  EXPECT_NE(Value(2).find(R"("after":null)"), std::string::npos);
  EXPECT_NE(Value(2).find(R"("op":"d")"), std::string::npos);
  EXPECT_FALSE(out_.messages[2].is_tombstone);
}

TEST_F(EncodeTest, DebeziumJsonWithSchemaSaysWhatItsSchemaDeclares) {
  Insert(7, "x", -1230);
  EncoderOptions options;
  options.include_schema = true;
  options.name = "shopsrv";
  Encode(MakeDebeziumJsonEncoder, options);
  const std::string value = Value(0);
  EXPECT_EQ(value.find(R"({"schema":{"type":"struct","optional":false,)"
                       R"("name":"shopsrv.shop.orders.Envelope","version":2,"fields":[)"),
            0u);
  EXPECT_NE(value.find(
                R"({"type":"bytes","optional":true,"name":"org.apache.kafka.connect.data.Decimal",)"
                R"("version":1,"parameters":{"scale":"2","connect.decimal.precision":"10"},)"
                R"("field":"price"})"),
            std::string::npos);
  // -1230 is 0xfb32; the day and the milliseconds are numbers; the moment is ISO text.
  EXPECT_NE(value.find(R"("after":{"id":7,"name":"x","price":"+zI=","at":1767323045678,)"
                       R"("seen":"2026-01-02T03:04:05.678Z","day":20455,"ok":true,"raw":"Af8="})"),
            std::string::npos);
  EXPECT_TRUE(value.ends_with(R"("op":"c","ts_ms":1767225600123}})"));
}

TEST_F(EncodeTest, CanalJsonHasTextAndChangedColumns) {
  Insert(7, "x", -1230);
  Update(7, "old", "new", 5);
  Delete(8);
  Encode(MakeCanalJsonEncoder);
  EXPECT_EQ(
      Value(0),
      "{\"id\":0,\"database\":\"shop\",\"table\":\"orders\",\"pkNames\":[\"id\"],\"isDdl\":false,"
      "\"type\":\"INSERT\",\"es\":1767225600123,\"ts\":1767225600123,\"gtid\":\"\",\"sql\":\"\","
      "\"sqlType\":{\"id\":-5,\"name\":12,\"price\":3,\"at\":93,\"seen\":93,\"day\":91,\"ok\":-7,"
      "\"raw\":2004},\"mysqlType\":{\"id\":\"bigint\",\"name\":\"longtext\","
      "\"price\":\"decimal(10,2)\",\"at\":\"datetime(3)\",\"seen\":\"timestamp(3)\","
      "\"day\":\"date\",\"ok\":\"tinyint(1)\",\"raw\":\"longblob\"},"
      "\"data\":[{\"id\":\"7\",\"name\":\"x\",\"price\":\"-12.30\","
      "\"at\":\"2026-01-02 03:04:05.678\",\"seen\":\"2026-01-02 03:04:05.678\","
      "\"day\":\"2026-01-02\",\"ok\":\"1\",\"raw\":\"\\u0001\xc3\xbf\"}],\"old\":null}");
  EXPECT_NE(Value(1).find(R"("type":"UPDATE")"), std::string::npos);
  EXPECT_TRUE(Value(1).ends_with(R"("old":[{"name":"old"}]})")) << Value(1);
  EXPECT_NE(Value(2).find(R"("type":"DELETE")"), std::string::npos);
  EXPECT_NE(Value(2).find(R"("data":[{"id":"8")"), std::string::npos);
}

TEST_F(EncodeTest, MaxwellJsonHasSecondsAndChangedColumns) {
  Update(7, "old", "new", 5);
  Delete(8);
  Encode(MakeMaxwellJsonEncoder);
  EXPECT_EQ(Key(0), R"({"database":"shop","table":"orders","pk.id":7})");
  EXPECT_EQ(Value(0),
            R"({"database":"shop","table":"orders","type":"update","ts":1767225600,)"
            R"("data":{"id":7,"name":"new","price":0.05,"at":"2026-01-02 03:04:05.678",)"
            R"("seen":"2026-01-02 03:04:05.678","day":"2026-01-02","ok":true,"raw":"Af8="},)"
            R"("old":{"name":"old"}})");
  EXPECT_NE(Value(1).find(R"("type":"delete")"), std::string::npos);
}

TEST_F(EncodeTest, PlainJsonIsRowsAndTombstones) {
  Insert(7, "x", 100);
  Delete(7);
  EncoderOptions options;
  options.key_has_table = false;
  Encode(MakeJsonEncoder, options);
  EXPECT_EQ(Key(0), R"({"id":7})");
  EXPECT_EQ(Value(0).find(R"({"id":7,"name":"x","price":1.00,)"), 0u);
  EXPECT_EQ(Key(1), Key(0));
  EXPECT_TRUE(out_.messages[1].is_tombstone);
}

TEST_F(EncodeTest, CsvKeysQuoteWhatTheyMust) {
  Insert(7, "x", 100);
  EncoderOptions options;
  options.key_format = KeyFormat::kCsv;
  Encode(MakeDebeziumJsonEncoder, options);
  EXPECT_EQ(Key(0), "shop.orders,7");
}

TEST_F(EncodeTest, AbsentValuesAreLeftOut) {
  builder_.BeginRow(Op::kUpdate, Point{0, 0, 1, 0, 0}, kTime);
  builder_.after(0).AppendInt(7);
  builder_.after(1).AppendBytes("x");
  builder_.EndRow();
  Encode(MakeDebeziumJsonEncoder);
  EXPECT_NE(Value(0).find(R"("after":{"id":7,"name":"x"},)"), std::string::npos) << Value(0);
}

TEST(EncodeStatementTest, AlterIsTheSourcesTextAndDropIsWrittenAnew) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = {"", "shop", "orders"};
  schema->AddColumn("id", LogicalType::BigInt().NotNull()).source.type_text = "bigint";
  schema->primary_key = {1};
  auto after = std::make_shared<TableSchema>(*schema);
  after->AddColumn("qty", LogicalType::Decimal(10, 2)).source.type_text = "decimal(10,2)";

  StatementChange alter;
  alter.table = schema->path;
  alter.commit_time_ms = 5;
  alter.statement = std::make_shared<std::string>("ALTER TABLE orders ADD qty DECIMAL(10,2)");
  alter.parts.push_back({0, AddColumns{{{after->columns[1], {}}}}, schema, after});
  std::string debezium, canal, maxwell;
  ASSERT_TRUE(EncodeDebeziumStatement(alter, {}, &debezium));
  ASSERT_TRUE(EncodeCanalStatement(alter, &canal));
  ASSERT_TRUE(EncodeMaxwellStatement(alter, &maxwell));
  EXPECT_NE(debezium.find("\"ddl\":\"ALTER TABLE orders ADD qty DECIMAL(10,2)\""),
            std::string::npos);
  EXPECT_NE(debezium.find(R"("type":"ALTER","id":"\"shop\".\"orders\"")"), std::string::npos);
  EXPECT_NE(debezium.find(R"("name":"qty","jdbcType":3,"nativeType":null,"typeName":"decimal",)"
                          R"("typeExpression":"decimal","charsetName":null,"length":10,"scale":2)"),
            std::string::npos);
  EXPECT_NE(canal.find(R"("isDdl":true,"type":"ALTER")"), std::string::npos);
  EXPECT_EQ(maxwell.find(R"({"type":"table-alter","database":"shop","table":"orders","old":{)"),
            0u);

  // DROP TABLE a, b comes as one change per table: its text must not name the other one.
  StatementChange drop;
  drop.table = schema->path;
  drop.statement = std::make_shared<std::string>("DROP TABLE orders, customers");
  drop.parts.push_back({0, DropTable{}, schema, nullptr});
  std::string dropped;
  ASSERT_TRUE(EncodeDebeziumStatement(drop, {}, &dropped));
  EXPECT_NE(dropped.find("\"ddl\":\"DROP TABLE `shop`.`orders`\""), std::string::npos);
  EXPECT_NE(dropped.find(R"("type":"DROP")"), std::string::npos);

  // Without the source's types there is nothing that a reader could follow.
  auto plain = std::make_shared<TableSchema>(*schema);
  plain->columns[0].source.type_text.clear();
  StatementChange untyped = alter;
  untyped.parts = {{0, CreateTable{}, nullptr, plain}};
  std::string none;
  EXPECT_FALSE(EncodeDebeziumStatement(untyped, {}, &none));
}

// The swap of an online schema change: its text is about tables that nobody told of.
TEST(StatementTextTest, AStatementAboutOtherTablesIsWrittenAnewForThisOne) {
  const auto column = [](ColumnId id, const char* name, const char* type, bool nullable) {
    Column made;
    made.id = id;
    made.name = name;
    made.type = std::string_view(type) == "int" ? LogicalType::Int() : LogicalType::VarChar(20);
    made.type = made.type.WithNullability(nullable);
    made.source.type_text = type;
    return made;
  };
  auto before = std::make_shared<TableSchema>();
  before->path = {"", "shop", "orders"};
  before->columns = {column(1, "id", "int", false), column(2, "a", "int", true),
                     column(3, "b", "int", true), column(4, "gone", "int", true)};
  before->primary_key = {1};
  before->next_column_id = 5;
  auto after = std::make_shared<TableSchema>(*before);
  after->columns = {column(5, "new", "varchar(20)", true), column(1, "id", "int", false),
                    column(3, "b", "int", false), column(2, "a`2", "int", true)};
  after->primary_key = {1, 3};
  StatementChange swap;
  swap.table = before->path;
  swap.statement =
      std::make_shared<std::string>("RENAME TABLE orders TO _orders_del, _orders_gho TO orders");
  swap.parts.push_back({0, KeyChange{{1}, {1, 3}}, before, after});
  EXPECT_EQ(StatementText(swap),
            "ALTER TABLE `shop`.`orders` DROP PRIMARY KEY, DROP COLUMN `gone`, "
            "ADD COLUMN `new` varchar(20) NULL FIRST, "
            "CHANGE COLUMN `b` `b` int NOT NULL AFTER `id`, CHANGE COLUMN `a` `a``2` int NULL, "
            "ADD PRIMARY KEY (`id`, `b`)");
  // The source's own words stay where they say it.
  swap.statement = std::make_shared<std::string>(
      "alter table orders drop gone, add new varchar(20) first, modify b int not null after id, "
      "change a `a``2` int, drop primary key, add primary key (id, b)");
  EXPECT_EQ(StatementText(swap), *swap.statement);
}

Column MadeColumn(ColumnId id, const char* name, const char* type, const LogicalType& logical) {
  Column made;
  made.id = id;
  made.name = name;
  made.type = logical;
  made.source.type_text = type;
  return made;
}

// MariaDB's UUID and addresses, in MySQL's words: as keys and with defaults, too.
TEST(StatementTextTest, TypesThatOnlyMariaDbHasAreWrittenAsTheTextThatHoldsThem) {
  auto before = std::make_shared<TableSchema>();
  before->path = {"", "shop", "visits"};
  before->columns = {MadeColumn(1, "id", "uuid", LogicalType::String().NotNull()),
                     MadeColumn(2, "from", "inet6", LogicalType::String())};
  before->primary_key = {1};
  before->next_column_id = 3;
  StatementChange create;
  create.table = before->path;
  create.parts.push_back({0, CreateTable{}, nullptr, before});
  EXPECT_EQ(StatementText(create),
            "CREATE TABLE `shop`.`visits` (`id` varchar(36) NOT NULL, `from` varchar(45) NULL, "
            "PRIMARY KEY (`id`))");
  auto after = std::make_shared<TableSchema>(*before);
  after->columns[1] = MadeColumn(2, "from", "varchar(50)", LogicalType::VarChar(50));
  after->columns.push_back(MadeColumn(3, "u", "uuid", LogicalType::String().NotNull()));
  after->columns.back().default_value = {DefaultValue::Kind::kLiteral, "1-2"};
  after->columns.push_back(MadeColumn(4, "note", "text", LogicalType::String()));
  after->columns.back().default_value = {DefaultValue::Kind::kLiteral, "a'b"};
  StatementChange alter;
  alter.table = before->path;
  alter.statement = std::make_shared<std::string>(
      "ALTER TABLE visits ADD COLUMN u UUID NOT NULL DEFAULT '1-2', MODIFY `from` VARCHAR(50), "
      "ADD note TEXT DEFAULT 'a''b'");
  alter.parts.push_back({0, AddColumns{{{after->columns[2], {}}}}, before, after});
  EXPECT_EQ(StatementText(alter),
            "ALTER TABLE `shop`.`visits` CHANGE COLUMN `from` `from` varchar(50) NULL, "
            "ADD COLUMN `u` varchar(36) NOT NULL DEFAULT '1-2' AFTER `from`, "
            "ADD COLUMN `note` text NULL DEFAULT ('a''b') AFTER `u`");
}

// Seen in rows, or of a table that has another name at the source.
TEST(StatementTextTest, AnAlterWithoutTextIsWrittenFromTheSchemas) {
  auto before = std::make_shared<TableSchema>();
  before->path = {"", "ods", "orders"};
  before->columns = {MadeColumn(1, "id", "int", LogicalType::Int().NotNull())};
  before->primary_key = {1};
  before->next_column_id = 2;
  auto after = std::make_shared<TableSchema>(*before);
  after->columns.push_back(MadeColumn(2, "sum", "", LogicalType::BigInt()));  // computed
  StatementChange alter;
  alter.table = before->path;
  alter.parts.push_back({0, AddColumns{{{after->columns[1], {}}}}, before, after});
  EXPECT_EQ(StatementText(alter),
            "ALTER TABLE `ods`.`orders` ADD COLUMN `sum` bigint NULL AFTER `id`");
}

}  // namespace
}  // namespace driftless
