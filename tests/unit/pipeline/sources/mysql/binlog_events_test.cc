#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"
#include "pipeline/sources/mysql/binlog/transaction_payload.h"
#include "schema/base/bytes_text.h"
#include "tests/unit/pipeline/sources/mysql/binlog_bytes.h"

// Events as MySQL 9.7.4 and MariaDB 10.11.19 wrote them, header and checksum included.
namespace driftless::mysql {
namespace {

using testing::ChecksummedReader;
using testing::Unhex;

constexpr std::string_view kPreviousGtids =
    "71a00c6b230100000075000000f400000080000102000000000001841cb016ec3611f1ac2c02fc00000001000100"
    "0000000000000100000000000000e94f060000000000841cb016ec3611f1ac2c02fc000000010874616778010000"
    "00000000000100000000000000020000000000000011787c34";
constexpr std::string_view kGtid =
    "00f1536521010000004f00000043010000000000841cb016ec3611f1ac2c02fc00000001e94f0600000000000200"
    "00000000000000010000000000000081c22c6b716106fc790150620100f0b6fb84";
constexpr std::string_view kBegin =
    "00f153650201000000490000008c01000008003201000071afb8050200001d000000000000012000a04500000000"
    "060373746404ff00ff00ff0012ff00677600424547494e5582ecbe";
constexpr std::string_view kTableMap =
    "00f15365130100000055000000e101000000006e010000000001000267760001740004030ffef5050a00f701040e"
    "010180020108040902696401730165016a0a03fcff00060502016101620801000c01f0bafa505a";
constexpr std::string_view kWriteRows =
    "00f153651e010000006d0000004e02000000006e01000000001100020004ff00010000000178023e000000000200"
    "3d0012000100130001000501000c14006b7a28303132333435363738393031323334353637383930313233343536"
    "3738393031323334353637383936db954d";
constexpr std::string_view kXid = "00f1536510010000001f0000006d020000000052b3080000000000943631d7";
constexpr std::string_view kPartialUpdate =
    "00f15365270100000085000000e803000000006e01000000001100020004ffff00010000000178023e0000000002"
    "003d0012000100130001000501000c14006b7a283031323334353637383930313233343536373839303132333435"
    "363738393031323334353637383901010001000000017802090000000003242e6b03050200c8c7484e";
constexpr std::string_view kGtidTagged =
    "00f153652a010000004f000000560400000000027000000002110238c1022cb1036c22c503b1025804f103000000"
    "02040806087461677808080a0c0c7fd8c82c6b71610610e5051283120bd4a0bcea";
constexpr std::string_view kPayload =
    "00f153652801000000cf0000009e06000000000201000301e10101ae0028b52ffd20e12d0500d288202d6055930e"
    "c3322841088220e8882e41d261e0eab6efc10d43962c6aa70b45230493f0c68cb9fe5f96ba19b15ba6ffc3906571"
    "6887fa13c6778e7834024ab810d34b539a8e0411a52956ad5726070f363d6de175604a12283044efad7359de375f"
    "516056376522a92273d931717cd7a645d36747677c4a0020ce1732bcfa9b98d51d0e00a004c44d15585cf1a01998"
    "482a18946907f24282ad9cf1a11a01441dc01c41121a94";
constexpr std::string_view kMariaGtidList =
    "71a00c6ba3020000002b0000002b0100000000010000000000000002000000db48020000000000dd664572";
constexpr std::string_view kMariaGtid =
    "00f15365a2020000002a0000009f0100000800dc48020000000000000000000c000000000000188dffce";
constexpr std::string_view kAnnotate =
    "00f15365a00200000036000000d50100000000696e7365727420696e746f20742076616c75657328312c2778272c27"
    "6227298a2baf1f";
constexpr std::string_view kMariaTableMap =
    "00f1536513020000004c00000021020000000050010000000001000267760001740003030ffe040a00f70106010180"
    "0201080407026964017301650a012d060502016101620801005cb7325c";
constexpr std::string_view kMariaWriteRows =
    "00f153651702000000290000004a020000000050010000000001000307f801000000017802afba1748";
constexpr std::string_view kMariaCompressed =
    "00f15365a6020000003b000000890300000000500100000000010003078133789cfbc1c4c0c0c05509078c3f98d105"
    "58d00400b4ee11413fa087e8";

constexpr std::string_view kUuid = "841cb016-ec36-11f1-ac2c-02fc00000001";

// Hex, and views that stay.
struct Fixture {
  explicit Fixture(std::string_view hex, bool mariadb = false)
      : bytes(Unhex(hex)), event(ChecksummedReader(mariadb).Read(bytes)) {}
  std::string bytes;
  Result<BinlogEvent> event;
};

TEST(BinlogEventsTest, Gtids) {
  const Fixture previous(kPreviousGtids);
  ASSERT_TRUE(previous.event) << previous.event.error().ToString();
  const auto set = ParsePreviousGtids(*previous.event);
  ASSERT_TRUE(set) << set.error().ToString();
  EXPECT_EQ(set->ToString(), std::string(kUuid) + ":1-413672:tagx:1");
  EXPECT_EQ(set->Encode(), previous.event->body);
  const Fixture gtid(kGtid);
  const auto plain = ParseGtid(*gtid.event);
  ASSERT_TRUE(plain) << plain.error().ToString();
  EXPECT_EQ(plain->gtid.ToString(), std::string(kUuid) + ":413673");
  EXPECT_EQ(plain->transaction_length, 0x179U);
  EXPECT_EQ(plain->commit_time_us, 0x0661716b2cc281);
  const Fixture tagged(kGtidTagged);
  const auto with_tag = ParseGtid(*tagged.event);
  ASSERT_TRUE(with_tag) << with_tag.error().ToString();
  EXPECT_EQ(with_tag->gtid.ToString(), std::string(kUuid) + ":tagx:2");
  EXPECT_EQ(with_tag->transaction_length, 0x179U);
  EXPECT_EQ(with_tag->commit_time_us, 0x0661716b2cc8d8);
}

TEST(BinlogEventsTest, MariaDbGtids) {
  const Fixture list(kMariaGtidList, true);
  ASSERT_TRUE(list.event) << list.event.error().ToString();
  EXPECT_EQ(ParseMariaGtidList(*list.event)->ToString(), "0-2-149723");
  const Fixture gtid(kMariaGtid, true);
  const auto parsed = ParseMariaGtid(*gtid.event);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->gtid.ToString(), "0-2-149724");
  EXPECT_TRUE(parsed->is_transactional);
  EXPECT_FALSE(parsed->is_standalone);
  const Fixture annotate(kAnnotate, true);
  EXPECT_EQ(*ParseRowsQuery(*annotate.event), "insert into t values(1,'x','b')");
}

TEST(BinlogEventsTest, QueryAndXid) {
  const Fixture begin(kBegin);
  std::string buffer;
  const auto query = ParseQuery(*begin.event, &buffer);
  ASSERT_TRUE(query);
  EXPECT_EQ(query->sql, "BEGIN");
  EXPECT_EQ(query->database, "gv");
  EXPECT_EQ(query->client_collation, 255);
  EXPECT_TRUE(query->sql_mode.has_value());
  const Fixture xid(kXid);
  EXPECT_EQ(*ParseXid(*xid.event), 0x8b352U);
}

TEST(BinlogEventsTest, ADamagedEventFailsItsChecksum) {
  std::string bytes = Unhex(kXid);
  bytes[20] ^= 1;
  const auto event = ChecksummedReader(false).Read(bytes);
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(event.error().position(), "end position 621");
}

// Every part of an event is an error, never a crash, and never a success.
TEST(BinlogEventsTest, CutOffEventsAreErrors) {
  for (const std::string_view hex : {kGtid, kBegin, kTableMap, kWriteRows, kPayload, kXid}) {
    const std::string whole = Unhex(hex);
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ChecksummedReader(false).Read(std::string_view(whole).substr(0, size)));
    }
  }
}

std::vector<std::string> Rows(std::string_view map_hex, std::string_view rows_hex, bool mariadb,
                              const std::vector<std::string>& types) {
  const Fixture map_event(map_hex, mariadb);
  const Fixture rows_event(rows_hex, mariadb);
  const TableMap map = ParseTableMap(*map_event.event).value();
  EXPECT_TRUE(map.has_names);
  EXPECT_THAT(map.primary_key, ::testing::ElementsAre(0U));
  return testing::DecodeRows(map, testing::SchemaOf(map, types, mariadb), *rows_event.event);
}

TEST(BinlogEventsTest, RowsOfMySql) {
  const std::vector<std::string> types = {"int unsigned", "varchar(10)", "enum('a','b')", "json"};
  EXPECT_THAT(Rows(kTableMap, kWriteRows, false, types),
              ::testing::ElementsAre("insert 1, x, b, {\"k\": 1, \"z\": "
                                     "\"0123456789012345678901234567890123456789\"}"));
  EXPECT_THAT(Rows(kTableMap, kPartialUpdate, false, types),
              ::testing::ElementsAre("update 1, x, b, {\"k\": 2, \"z\": "
                                     "\"0123456789012345678901234567890123456789\"}"));
}

TEST(BinlogEventsTest, RowsOfMariaDb) {
  const std::vector<std::string> types = {"int unsigned", "varchar(10)", "enum('a','b')"};
  EXPECT_THAT(Rows(kMariaTableMap, kMariaWriteRows, true, types),
              ::testing::ElementsAre("insert 1, x, b"));
  EXPECT_THAT(Rows(kMariaTableMap, kMariaCompressed, true, types),
              ::testing::ElementsAre("insert 2, yyyyyyyyyy, a", "insert 3, yyyyyyyyyy, a",
                                     "insert 4, yyyyyyyyyy, a"));
}

TEST(BinlogEventsTest, CompressedTransaction) {
  const Fixture packed(kPayload);
  auto payload = TransactionPayload::Open(*packed.event);
  ASSERT_TRUE(payload) << payload.error().ToString();
  std::vector<std::string> types;
  BinlogEvent inner;
  for (;;) {
    const auto more = payload->Next(&inner);
    ASSERT_TRUE(more) << more.error().ToString();
    if (!*more) break;
    types.push_back(ToString(inner.type));
  }
  EXPECT_THAT(types, ::testing::ElementsAre("QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"));
}

TEST(GtidSetTest, Algebra) {
  const std::string uuid = "3E11FA47-71CA-11E1-9E33-C80AA9429562";
  const auto parse = [](const std::string& text) { return GtidSet::Parse(text).value(); };
  const GtidSet set = parse(uuid + ":1-3:5 :\n7-9, " + uuid + ":4:a_tag:1");
  EXPECT_EQ(set.ToString(), "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5:7-9:a_tag:1");
  EXPECT_TRUE(set.Contains(parse(uuid + ":2-4:8")));
  EXPECT_FALSE(set.Contains(parse(uuid + ":5-7")));
  EXPECT_FALSE(set.Contains(parse(uuid + ":other:1")));
  GtidSet left = set;
  left.Subtract(parse(uuid + ":3:8"));
  EXPECT_EQ(left.ToString(), "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-2:4-5:7:9:a_tag:1");
  left.Union(parse(uuid + ":3:8"));
  EXPECT_EQ(left, set);
  EXPECT_EQ(GtidSet::Decode(set.Encode()).value(), set);
  const GtidSet untagged = parse(uuid + ":1-3");
  EXPECT_EQ(untagged.Encode().size(), 8 + 16 + 8 + 16U);
  EXPECT_EQ(GtidSet::Decode(untagged.Encode()).value(), untagged);
  EXPECT_TRUE(parse("").empty());
  for (const std::string bad : {"x", ":1", "3E11FA47:1", "3e11fa47-71ca-11e1-9e33-c80aa9429562",
                                "3e11fa47-71ca-11e1-9e33-c80aa9429562:0"}) {
    EXPECT_FALSE(GtidSet::Parse(bad)) << bad;
  }
}

TEST(GtidSetTest, MariaDbLists) {
  const MariaGtidList list = MariaGtidList::Parse("0-1-42, 1-2-7").value();
  EXPECT_EQ(list.ToString(), "0-1-42,1-2-7");
  EXPECT_TRUE(list.Contains(MariaGtid{0, 3, 42}));
  EXPECT_FALSE(list.Contains(MariaGtid{2, 1, 1}));
  EXPECT_FALSE(MariaGtidList::Parse("0-1"));
  MariaGtidList other = MariaGtidList::Parse("0-1-40,5-5-5").value();
  EXPECT_FALSE(list.Contains(other));
  other.Union(list);
  EXPECT_EQ(other.ToString(), "0-1-42,1-2-7,5-5-5");
}

}  // namespace
}  // namespace driftless::mysql
