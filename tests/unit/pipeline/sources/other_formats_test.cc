#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/sources/debezium/debezium_stream.h"
#include "tests/doubles/replayed_tables.h"

// Canal's, Maxwell's and plain JSON through the stream that files and Kafka share.
namespace driftless {
namespace {

using debezium::DebeziumStream;
using debezium::RecordFormat;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemoryHistory;
using testing::ReplayedTables;

class OtherFormatsTest : public ::testing::Test {
 protected:
  void Open(RecordFormat format) {
    options_.records = format;
    options_.format.wire =
        format == RecordFormat::kCanalJson ? debezium::Wire::kCanal : debezium::Wire::kTyped;
    Reopen();
  }
  void Reopen() {
    SourceContext context;
    context.history = &history_;
    context.local_time_zone = "UTC";
    context.wants_before_images = true;
    stream_ = std::make_unique<DebeziumStream>(options_, context, 0, &out_);
  }
  Result<bool> Line(const std::string& text) { return Message("", "", text); }
  Result<bool> Message(const std::string& topic, const std::string& key, const std::string& text) {
    Point point;
    point.offset = ++offset_;
    point.row = DebeziumStream::kChangeRow;
    std::string padded = text;
    padded.append(kJsonPadding, '\0');
    return stream_->Message(topic, key, std::string_view(padded).substr(0, text.size()), point,
                            "topic/0");
  }
  // Every line must be taken.
  void Take(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      const auto taken = Line(line);
      ASSERT_TRUE(taken) << line << "\n" << taken.error().ToString();
    }
    ASSERT_TRUE(stream_->Flush());
    EXPECT_THAT(out_.faults, IsEmpty());
  }
  // "column=value,..." of each row, in the order of the key.
  std::vector<std::string> Rows(const std::string& database, const std::string& table) const {
    std::vector<std::string> rows;
    const auto found = out_.tables.find(TablePath{"", database, table});
    if (found == out_.tables.end()) return rows;
    for (const auto& [key, row] : found->second.rows) {
      std::string text;
      for (const Column& column : found->second.schema->columns) {
        const auto value = row.find(column.id);
        text += (text.empty() ? "" : ",") + column.name + "=";
        text += value == row.end() ? "(absent)" : value->second.value_or("NULL");
      }
      rows.push_back(text);
    }
    return rows;
  }
  std::string Type(const std::string& database, const std::string& table,
                   const std::string& column) const {
    const auto found = out_.tables.find(TablePath{"", database, table});
    if (found == out_.tables.end()) return "no table";
    const Column* named = found->second.schema->FindName(column);
    return named == nullptr ? "no column" : named->type.ToString();
  }

  debezium::StreamOptions options_;
  MemoryHistory history_;
  ReplayedTables out_;
  std::unique_ptr<DebeziumStream> stream_;
  uint64_t offset_ = 0;
};

// A message of Canal; `types` and `codes` are the insides of mysqlType and sqlType.
std::string Canal(const std::string& type, const std::string& types, const std::string& codes,
                  const std::string& data, const std::string& old = "null",
                  const std::string& keys = R"x(["id"])x") {
  return R"x({"data":)x" + data + R"x(,"database":"d","es":5,"gtid":"","id":3,"isDdl":false,)x" +
         R"x("mysqlType":{)x" + types + R"x(},"old":)x" + old + R"x(,"pkNames":)x" + keys +
         R"x(,"sql":"","sqlType":{)x" + codes + R"x(},"table":"t","ts":6,"type":")x" + type + "\"}";
}
std::string CanalDdl(const std::string& sql, const std::string& database = "d",
                     const std::string& type = "ALTER") {
  return R"x({"data":null,"database":")x" + database +
         R"x(","es":5,"gtid":"","id":3,"isDdl":true,)x" +
         R"x("mysqlType":null,"old":null,"pkNames":null,"sql":")x" + sql +
         R"x(","sqlType":null,"table":"","ts":6,"type":")x" + type + "\"}";
}
const std::string kTypes = R"x("id":"bigint","n":"int")x";
const std::string kCodes = R"x("id":-5,"n":4)x";

TEST_F(OtherFormatsTest, CanalRowsAloneMakeTheTableAndFollowIt) {
  Open(RecordFormat::kCanalJson);
  Take({
      Canal("INSERT", kTypes, kCodes, R"x([{"id":"1","n":"5"},{"id":"2","n":null}])x"),
      Canal("UPDATE", kTypes, kCodes, R"x([{"id":"1","n":"6"}])x", R"x([{"n":"5"}])x"),
      // A new field is an added column, another type a changed one.
      Canal("INSERT", R"x("id":"bigint","n":"bigint","s":"varchar(9)")x",
            R"x("id":-5,"n":-5,"s":12)x", R"x([{"id":"3","n":"5000000000","s":"x"}])x"),
      // A field that is missing is not gone (binlog_row_image=MINIMAL has none of the others).
      Canal("UPDATE", R"x("id":"bigint","s":"varchar(9)")x", R"x("id":-5,"s":12)x",
            R"x([{"id":"3","s":"y"}])x", R"x([{"s":"x"}])x"),
      // The key itself: `old` has it.
      Canal("UPDATE", kTypes, kCodes, R"x([{"id":"9","n":"6"}])x", R"x([{"id":"1"}])x"),
      Canal("DELETE", kTypes, kCodes, R"x([{"id":"2","n":null}])x"),
  });
  EXPECT_THAT(Rows("d", "t"), ElementsAre("id=3,n=5000000000,s=y", "id=9,n=6,s=(absent)"));
  EXPECT_EQ(Type("d", "t", "id"), "BIGINT NOT NULL");
  EXPECT_EQ(Type("d", "t", "n"), "BIGINT");
  EXPECT_EQ(stream_->counters().schema_changes, 2);
}

TEST_F(OtherFormatsTest, CanalValuesKeepTheirMeaning) {
  Open(RecordFormat::kCanalJson);
  const std::string types =
      R"x("id":"bigint unsigned","e":"enum('a','b,c')","s":"set('x','y','z')","b":"bit(12)",)x"
      R"x("y":"blob","dt":"date","ts":"timestamp(3)","tm":"time(1)","d":"decimal(10,2)","f":"double")x";
  const std::string codes =
      R"x("id":-5,"e":4,"s":-7,"b":-7,"y":2004,"dt":91,"ts":93,"tm":92,"d":3,"f":8)x";
  options_.time_zone = "+02:00";
  Open(RecordFormat::kCanalJson);
  Take({Canal(
      "INSERT", types, codes,
      R"x([{"id":"18446744073709551615","e":"2","s":"5","b":"2049","y":"\u0000\u00ffA",)x"
      R"x("dt":"0000-00-00","ts":"2024-01-31 12:00:00.123","tm":"-838:59:59.5","d":"-0.10",)x"
      R"x("f":"1.5E10"}])x")});
  EXPECT_THAT(Rows("d", "t"),
              ElementsAre("id=18446744073709551615,e=b,c,s=[\"x\",\"z\"],b=0801,y=00ff41,dt=NULL,"
                          "ts=2024-01-31 10:00:00.123Z,tm=-838:59:59.5,d=-0.10,f=1.5e+10"));
}

// Without its store for table metadata Canal gives rows the columns that the server has when it
// asks: values under the names of a later time.
TEST_F(OtherFormatsTest, CanalRowsUnderNamesOfALaterTimeAreReadByTheirPlaces) {
  Open(RecordFormat::kCanalJson);
  Take({
      CanalDdl("CREATE TABLE t (id BIGINT PRIMARY KEY, name VARCHAR(9), n INT)", "d", "CREATE"),
      // The server had `ALTER TABLE t ADD tenant INT FIRST` already.
      Canal("INSERT", R"x("tenant":"int","id":"bigint","name":"varchar(9)")x",
            R"x("tenant":-5,"id":12,"name":4)x", R"x([{"tenant":"7","id":"seven","name":"70"}])x"),
      CanalDdl("ALTER TABLE t ADD tenant INT FIRST"),
      Canal("UPDATE", R"x("tenant":"int","id":"bigint","name":"varchar(9)","n":"int")x",
            R"x("tenant":4,"id":-5,"name":12,"n":4)x",
            R"x([{"tenant":"1","id":"7","name":"seven","n":"71"}])x", R"x([{"n":"70"}])x"),
      // A rename of a column and a wider type, read ahead: the types agree with both names.
      Canal("UPDATE", R"x("tenant":"int","id":"bigint","title":"varchar(9)","n":"bigint")x",
            R"x("tenant":4,"id":-5,"title":12,"n":-5)x",
            R"x([{"tenant":"1","id":"7","title":"eight","n":"71"}])x", R"x([{"title":"seven"}])x"),
      CanalDdl("ALTER TABLE t RENAME COLUMN name TO title, MODIFY n BIGINT"),
  });
  EXPECT_THAT(Rows("d", "t"), ElementsAre("tenant=1,id=7,title=eight,n=71"));
  EXPECT_EQ(stream_->counters().relabelled, 2);
  EXPECT_EQ(stream_->counters().schema_changes, 3) << "nothing was inferred";
}

TEST_F(OtherFormatsTest, ACanalRowThatContradictsItselfIsNeverTaken) {
  Open(RecordFormat::kCanalJson);
  const auto taken = Line(Canal("INSERT", R"x("tenant":"int","id":"bigint","name":"varchar(9)")x",
                                R"x("tenant":-5,"id":12,"name":4)x",
                                R"x([{"tenant":"7","id":"seven","name":"70"}])x"));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().ToString(), HasSubstr("columns of another time"));
  EXPECT_THAT(taken.error().ToString(), HasSubstr("topic/0:1"));
  EXPECT_THAT(taken.error().ToString(), HasSubstr("canal.instance.tsdb.enable"));
  EXPECT_THAT(out_.events, IsEmpty());
}

// Canal gives no database where it does not understand a statement: the next row tells.
TEST_F(OtherFormatsTest, ACanalStatementWithoutADatabaseLeavesItToTheRows) {
  Open(RecordFormat::kCanalJson);
  Take({
      CanalDdl("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)", "d", "CREATE"),
      CanalDdl("ALTER TABLE t ADD COLUMN inv INT DEFAULT 6 INVISIBLE", "", "QUERY"),
      Canal("INSERT", R"x("id":"bigint","n":"int","inv":"int")x", R"x("id":-5,"n":4,"inv":4)x",
            R"x([{"id":"1","n":"2","inv":"6"}])x"),
      CanalDdl("ALTER TABLE d.t DROP COLUMN n", "", "QUERY"),
      CanalDdl("TRUNCATE TABLE t", "d", "TRUNCATE"),
      Canal("INSERT", R"x("id":"bigint","inv":"int")x", R"x("id":-5,"inv":4)x",
            R"x([{"id":"2","inv":"6"}])x"),
  });
  EXPECT_THAT(Rows("d", "t"), ElementsAre("id=2,inv=6"));
}

TEST_F(OtherFormatsTest, CanalMessagesThatAreNone) {
  Open(RecordFormat::kCanalJson);
  EXPECT_THAT(Line("\x0a\x05proto").error().ToString(), HasSubstr("canal.mq.flatMessage"));
  EXPECT_THAT(Line(R"x({"data":[],"type":"INSERT","table":"t"})x").error().ToString(),
              HasSubstr("no rows"));
  EXPECT_THAT(Line(R"x({"data":[{"id":"1"},5],"database":"d","table":"t","type":"INSERT"})x")
                  .error()
                  .ToString(),
              HasSubstr("no object"));
  EXPECT_THAT(Line(R"x({"database":"d"})x").error().ToString(), HasSubstr("no type"));
  EXPECT_TRUE(Line(""));
  EXPECT_EQ(stream_->counters().tombstones, 1);
}

// What Flink CDC writes in Canal's form: no types, the whole old row, typed values.
TEST_F(OtherFormatsTest, CanalsFormWithoutTypesIsInferred) {
  Open(RecordFormat::kCanalJson);
  Take({
      R"x({"old":null,"data":[{"id":1,"name":"a"}],"type":"INSERT","database":"d","table":"t","pkNames":["id"]})x",
      R"x({"old":[{"id":1,"name":"a"}],"data":[{"id":1,"name":"b","p":1.5}],"type":"UPDATE","database":"d","table":"t","pkNames":["id"]})x",
  });
  EXPECT_THAT(Rows("d", "t"), ElementsAre("id=1,name=b,p=1.5"));
  EXPECT_EQ(Type("d", "t", "id"), "BIGINT NOT NULL");
}

TEST_F(OtherFormatsTest, CanalGoesOnBehindAMessageOfSeveralRows) {
  Open(RecordFormat::kCanalJson);
  Take({CanalDdl("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)", "d", "CREATE"),
        Canal("INSERT", kTypes, kCodes, R"x([{"id":"1","n":"5"},{"id":"2","n":"6"}])x")});
  EXPECT_EQ(stream_->last_row(), DebeziumStream::kChangeRow + 1);
  Point last;
  last.offset = offset_;
  last.row = stream_->last_row();
  Reopen();
  ASSERT_TRUE(stream_->Restore(last));
  // The table is certain still: a contradicting row is read by its places.
  Take({Canal("UPDATE", R"x("tenant":"int","id":"bigint")x", R"x("tenant":-5,"id":4)x",
              R"x([{"tenant":"2","id":"7"}])x", R"x([{"id":"6"}])x")});
  EXPECT_THAT(Rows("d", "t"), ElementsAre("id=1,n=5", "id=2,n=7"));
}

TEST_F(OtherFormatsTest, MaxwellRowsAndStatements) {
  Open(RecordFormat::kMaxwellJson);
  Take({
      R"x({"type":"table-create","database":"shop","table":"orders","def":{"database":"shop","charset":"utf8mb4","table":"orders","columns":[{"type":"int","name":"id","signed":true},{"type":"varchar","name":"name","charset":"utf8mb4"},{"type":"decimal","name":"price"},{"type":"blob","name":"raw"},{"type":"set","name":"tags","enum-values":["a","b"]},{"type":"bit","name":"flags"},{"type":"datetime","name":"at","column-length":3}],"primary-key":["id"]},"ts":1767225600000,"sql":"CREATE TABLE orders (id INT PRIMARY KEY, name VARCHAR(20), price DECIMAL(10,2), raw BLOB, tags SET('a','b'), flags BIT(9), at DATETIME(3))"})x",
      R"x({"database":"shop","table":"orders","type":"bootstrap-start","ts":1767225600,"data":{}})x",
      R"x({"database":"shop","table":"orders","type":"bootstrap-insert","ts":1767225600,"data":{"id":6,"name":"six","price":6.00,"raw":"AQI=","tags":["a","b"],"flags":257,"at":"2026-01-02 03:04:05.678"}})x",
      R"x({"database":"shop","table":"orders","type":"insert","ts":1767225600,"xid":940,"commit":true,"data":{"id":7,"name":"old","price":1.50,"raw":null,"tags":[],"flags":0,"at":"0000-00-00 00:00:00"}})x",
      R"x({"database":"shop","table":"orders","type":"update","ts":1767225600,"xid":941,"xoffset":0,"data":{"id":8,"name":"new","price":1.50,"raw":null,"tags":[],"flags":0,"at":null},"old":{"id":7,"name":"old"}})x",
      R"x({"type":"table-alter","database":"shop","table":"orders","old":{"database":"shop","table":"orders","columns":[{"type":"int","name":"id","signed":true}],"primary-key":["id"]},"def":{"database":"shop","charset":"utf8mb4","table":"orders","columns":[{"type":"int","name":"id","signed":true},{"type":"varchar","name":"title","charset":"utf8mb4"},{"type":"decimal","name":"price"}],"primary-key":["id"]},"ts":1767225601000,"sql":"ALTER TABLE orders RENAME COLUMN name TO title, DROP raw, DROP tags, DROP flags, DROP at"})x",
      R"x({"database":"shop","table":"orders","type":"delete","ts":1767225602,"data":{"id":6,"title":"six","price":6.00}})x",
  });
  EXPECT_THAT(Rows("shop", "orders"), ElementsAre("id=8,title=new,price=1.50"));
  EXPECT_EQ(Type("shop", "orders", "title"), "VARCHAR(20)");
  EXPECT_EQ(stream_->last_event_time_ms(), 1767225602000);
  Take(
      {R"x({"type":"table-drop","database":"shop","table":"orders","ts":1767225603000,"sql":"DROP TABLE orders"})x"});
  EXPECT_THAT(out_.tables, IsEmpty());
}

TEST_F(OtherFormatsTest, MaxwellValuesAreReadByTheStatementsTypes) {
  Open(RecordFormat::kMaxwellJson);
  Take({
      R"x({"type":"table-create","database":"shop","table":"o","def":{"database":"shop","table":"o","columns":[{"type":"bigint","name":"id","signed":false},{"type":"blob","name":"raw"},{"type":"set","name":"tags","enum-values":["a","b"]},{"type":"bit","name":"flags"},{"type":"datetime","name":"at","column-length":3},{"type":"time","name":"tm","column-length":0}],"primary-key":["id"]},"ts":1,"sql":"CREATE TABLE o (id BIGINT UNSIGNED PRIMARY KEY, raw BLOB, tags SET('a','b'), flags BIT(9), at DATETIME(3), tm TIME)"})x",
      R"x({"database":"shop","table":"o","type":"insert","ts":1,"data":{"id":18446744073709551615,"raw":"AQI=","tags":["a","b"],"flags":257,"at":"2026-01-02 03:04:05.678","tm":"-12:00:01"}})x",
  });
  EXPECT_THAT(Rows("shop", "o"),
              ElementsAre("id=18446744073709551615,raw=0102,tags=[\"a\",\"b\"],flags=0101,"
                          "at=2026-01-02 03:04:05.678,tm=-12:00:01"));
}

// The stream began behind the CREATE: the statement's own columns are taken, in types that hold
// all.
TEST_F(OtherFormatsTest, AMaxwellStatementOnAnUnknownTableGivesItsColumns) {
  Open(RecordFormat::kMaxwellJson);
  Take({
      R"x({"type":"table-alter","database":"shop","table":"o","old":{},"def":{"database":"shop","table":"o","columns":[{"type":"int","name":"id","signed":false},{"type":"varchar","name":"v"},{"type":"decimal","name":"d"},{"type":"enum","name":"e","enum-values":["it's"]}],"primary-key":["id"]},"ts":1,"sql":"ALTER TABLE o ADD d DECIMAL(5,1)"})x",
      R"x({"database":"shop","table":"o","type":"insert","ts":1,"data":{"id":4294967295,"v":"x","d":1.5,"e":"it's"}})x",
  });
  EXPECT_THAT(Rows("shop", "o"), ElementsAre("id=4294967295,v=x,d=1.5,e=it's"));
}

TEST_F(OtherFormatsTest, MaxwellWithoutStatementsIsInferred) {
  Open(RecordFormat::kMaxwellJson);
  const std::string key = R"x({"database":"shop","table":"o","pk.id":7})x";
  const auto row = [&](const std::string& data) {
    return Message(
        "t", key,
        R"x({"database":"shop","table":"o","type":"insert","ts":1,"data":)x" + data + "}");
  };
  ASSERT_TRUE(row(R"x({"id":7,"n":1})x"));
  ASSERT_TRUE(row(R"x({"id":8,"n":12345678901234567890,"x":true})x"));
  ASSERT_TRUE(row(R"x({"id":9})x"));
  ASSERT_TRUE(stream_->Flush());
  EXPECT_EQ(Type("shop", "o", "id"), "BIGINT NOT NULL");
  EXPECT_EQ(Type("shop", "o", "n"), "DECIMAL(38, 0)");
  EXPECT_THAT(Rows("shop", "o"),
              ElementsAre("id=7,n=1,x=(absent)", "id=8,n=12345678901234567890,x=true",
                          "id=9,n=(absent),x=(absent)"));
  EXPECT_THAT(Line(R"x({"type":"what","ts":1})x").error().ToString(), HasSubstr("Maxwell's types"));
}

TEST_F(OtherFormatsTest, PlainRowsWidenByTheLatticeAndNeverDrop) {
  Open(RecordFormat::kJson);
  const auto row = [&](int id, const std::string& fields) {
    const std::string number = std::to_string(id);
    const auto taken =
        Message("shop.o", R"x({"id":)x" + number + "}", R"x({"id":)x" + number + fields + "}");
    ASSERT_TRUE(taken) << taken.error().ToString();
  };
  row(1, R"x(,"a":1,"b":1,"c":true,"d":1.5,"e":null)x");
  row(2, R"x(,"a":1.5,"b":99999999999999999999,"c":1,"d":"x","e":[1])x");
  row(3, "");
  ASSERT_TRUE(stream_->Flush());
  EXPECT_EQ(Type("shop", "o", "a"), "DOUBLE");
  EXPECT_EQ(Type("shop", "o", "b"), "DECIMAL(38, 0)");
  EXPECT_EQ(Type("shop", "o", "c"), "STRING");
  EXPECT_EQ(Type("shop", "o", "d"), "STRING");
  EXPECT_EQ(Type("shop", "o", "e"), "STRING");
  ASSERT_TRUE(Message("shop.o", R"x({"id":1})x", ""));
  ASSERT_TRUE(Message("shop.o", "", ""));
  ASSERT_TRUE(stream_->Flush());
  EXPECT_EQ(stream_->counters().tombstones, 1);
  EXPECT_THAT(Rows("shop", "o"),
              ElementsAre("id=2,a=1.5,b=99999999999999999999,c=1,d=x,e=[1]",
                          "id=3,a=(absent),b=(absent),c=(absent),d=(absent),e=(absent)"));
  EXPECT_THAT(out_.faults, IsEmpty());
}

TEST_F(OtherFormatsTest, PlainRowsNameTheirTableAndHaveFixedTypes) {
  options_.plain.table_fields = {"db", "tab"};
  options_.inference.fixed_types.emplace("at", ParseLogicalType("TIMESTAMP(3)").value());
  options_.inference.primitives_are_text = true;
  Open(RecordFormat::kJson);
  Take({R"x({"db":"d","tab":"t","n":1,"at":"2026-01-02T03:04:05.678"})x"});
  EXPECT_EQ(Type("d", "t", "n"), "STRING");
  EXPECT_EQ(Type("d", "t", "at"), "TIMESTAMP(3)");
  EXPECT_THAT(Rows("d", "t"), ElementsAre("db=d,tab=t,n=1,at=2026-01-02 03:04:05.678"));
  EXPECT_THAT(Line(R"x({"db":"d"})x").error().ToString(), HasSubstr("parser-table-id.fields"));
  EXPECT_THAT(Line(R"x({"db":"d","tab":"t","at":"never"})x").error().ToString(),
              HasSubstr("a timestamp was expected"));
  EXPECT_FALSE(Line(R"x({"db":"d","tab":"t",})x"));
  EXPECT_FALSE(Line(R"x([1])x"));
}

// Programs that write Canal's form may list the columns in an order of their own, and give codes of
// their own: names decide.
TEST_F(OtherFormatsTest, CanalsFormOfOtherProgramsGoesByNames) {
  Open(RecordFormat::kCanalJson);
  const auto others = [](std::string message) {
    message.replace(message.find("\"id\":3,\"isDdl\""), 7, "\"id\":0,");
    return message;
  };
  Take({
      CanalDdl("CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, b BIT(9))", "d", "CREATE"),
      CanalDdl("ALTER TABLE t ADD COLUMN e ENUM('5','x') FIRST"),
      others(Canal("INSERT", R"x("id":"bigint","n":"int","b":"bit(9)","e":"enum('5','x')")x",
                   R"x("id":-5,"n":4,"b":2004,"e":12)x",
                   R"x([{"id":"1","n":"2","b":"\u0001\u0002","e":"5"}])x")),
  });
  EXPECT_THAT(Rows("d", "t"), ElementsAre("e=5,id=1,n=2,b=0102"));
  EXPECT_EQ(stream_->counters().schema_changes, 2);
  EXPECT_EQ(stream_->counters().relabelled, 0);
}

// Damaged messages end in an error or are taken; nothing crashes, and nothing is half taken.
TEST_F(OtherFormatsTest, EveryCutIsAnErrorOrARecord) {
  for (const RecordFormat format :
       {RecordFormat::kCanalJson, RecordFormat::kMaxwellJson, RecordFormat::kJson}) {
    Open(format);
    const std::string good =
        format == RecordFormat::kCanalJson
            ? Canal("UPDATE", kTypes, kCodes, R"x([{"id":"1","n":"6"}])x", R"x([{"n":"5"}])x")
            : R"x({"database":"d","table":"t","type":"update","ts":1,"data":{"id":1},"old":{"id":2}})x";
    for (size_t size = 1; size < good.size(); ++size) {
      EXPECT_FALSE(Message("d.t", "", good.substr(0, size))) << good.substr(0, size);
      std::string changed = good;
      changed[size] = '"';
      (void)Message("d.t", "", changed);
    }
  }
}

}  // namespace
}  // namespace driftless
