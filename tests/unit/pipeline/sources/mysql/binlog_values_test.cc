#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pipeline/sources/mysql/binlog_bytes.h"

// Values of each type as MySQL 9.7.4 and MariaDB 10.11.19 wrote them into rows events.
namespace driftless::mysql {
namespace {

using testing::DecodeRows;
using testing::EventBytes;
using testing::SchemaOf;
using testing::Unhex;

struct Golden {
  int type;
  std::string_view meta;  // hex
  std::string type_text;
  std::string_view value;  // hex
  std::string_view text;
  int collation = 0;
  bool mariadb = false;
};

std::string Decode(const Golden& golden) {
  std::string body = Unhex(
      "6e0100000000"
      "0100"
      "02677600"
      "017400"
      "01");
  body += static_cast<char>(golden.type);
  const std::string meta = Unhex(golden.meta);
  body += static_cast<char>(meta.size());
  body += meta + '\1';
  if (golden.collation > 0) {
    body += std::string("\2\3\xfc", 3) + static_cast<char>(golden.collation & 255) +
            static_cast<char>(golden.collation >> 8);
  }
  const std::string map_bytes = EventBytes(EventType::kTableMap, body);
  const TableMap map = ParseTableMap(EventReader::ReadInner(map_bytes).value()).value();
  const std::string rows = EventBytes(EventType::kWriteRows, Unhex("6e0100000000"
                                                                   "0100"
                                                                   "0200"
                                                                   "01"
                                                                   "ff"
                                                                   "00") +
                                                                 Unhex(golden.value));
  const auto lines = DecodeRows(map, SchemaOf(map, {golden.type_text}, golden.mariadb),
                                EventReader::ReadInner(rows).value());
  return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " rows";
}

void Check(const std::vector<Golden>& goldens) {
  for (const Golden& golden : goldens) {
    EXPECT_EQ(Decode(golden), "insert " + std::string(golden.text))
        << golden.type_text << " " << golden.value;
  }
}

TEST(BinlogValuesTest, Numbers) {
  Check({{2, "", "smallint unsigned", "ffff", "65535"},
         {9, "", "mediumint", "feffff", "-2"},
         {9, "", "mediumint", "ffff7f", "8388607"},
         {3, "", "int unsigned", "ffffffff", "4294967295"},
         {3, "", "int", "ffffffff", "-1"},
         {8, "", "bigint unsigned", "ffffffffffffffff", "18446744073709551615"},
         {8, "", "bigint", "ffffffffffffffff", "-1"},
         {1, "", "tinyint(1)", "01", "true"},
         {1, "", "tinyint", "80", "-128"},
         {246, "0e04", "decimal(14,4)", "810dfb38d204d2", "1234567890.1234"},
         {246, "0e04", "decimal(14,4)", "7ef204c72dfb2d", "-1234567890.1234"},
         {246, "0e04", "decimal(14,4)", "80000000000000", "0.0000"},
         {246, "0e04", "decimal(14,4)", "7ffffffffffffe", "-0.0001"},
         {246, "0502", "decimal(5,2)", "7f84d2", "-123.45"},
         {246, "0502", "decimal(5,2)", "800001", "0.01"},
         {246, "411e", "decimal(65,30)",
          "80bc614e35b7bf87350e34c02f075f79075bcd1500bc614e35b7bf87037a",
          "12345678901234567890123456789012345.123456789012345678901234567890"},
         {246, "0a00", "decimal(10,0)", "7ffffffffe", "-1"},
         {246, "0a00", "decimal(10,0)", "8208ca6bff", "2147483647"},
         {16, "0100", "bit(1)", "01", "true"},
         {16, "0401", "bit(12)", "0aaa", "0aaa"},
         {16, "0008", "bit(64)", "0000000000000001", "0000000000000001"},
         {13, "", "year", "00", "0"},
         {13, "", "year", "01", "1901"},
         {13, "", "year", "ff", "2155"}});
}

TEST(BinlogValuesTest, Times) {
  Check({{10, "", "date", "9fd10f", "2024-12-31"},
         {10, "", "date", "000000", "NULL"},
         {10, "", "date", "40d00f", "NULL"},
         {10, "", "date", "21d007", "1000-01-01"},
         {19, "00", "time", "80c8b8", "12:34:56"},
         {19, "00", "time", "7f3748", "-12:34:56"},
         {19, "00", "time", "b46efb", "838:59:59"},
         {19, "00", "time", "800000", "00:00:00"},
         {19, "01", "time(1)", "7ffffff6", "-00:00:00.1"},
         {19, "03", "time(3)", "7fef7cee30", "-01:02:03.456"},
         {19, "03", "time(3)", "80108311d0", "01:02:03.456"},
         {19, "06", "time(6)", "817efb0f423f", "23:59:59.999999"},
         {19, "06", "time(6)", "4b9104ffffff", "-838:59:59.000001"},
         {18, "00", "datetime", "99b53f7efa", "2024-12-31 23:59:58"},
         {18, "00", "datetime", "8000000000", "NULL"},
         {18, "00", "datetime", "fef3ff7efb", "9999-12-31 23:59:59"},
         {18, "01", "datetime(1)", "99b53f7efa46", "2024-12-31 23:59:58.7"},
         {18, "03", "datetime(3)", "99b53f7efa04ce", "2024-12-31 23:59:58.123"},
         {18, "06", "datetime(6)", "99b53f7efa01e240", "2024-12-31 23:59:58.123456"},
         {17, "00", "timestamp", "6774857e", "2024-12-31 23:59:58Z"},
         {17, "00", "timestamp", "00000000", "NULL"},
         {17, "03", "timestamp(3)", "7fffffff2706", "2038-01-19 03:14:07.999Z"},
         {17, "06", "timestamp(6)", "6774857e000001", "2024-12-31 23:59:58.000001Z"},
         // Before MySQL 5.6.4: digits of decimal numbers.
         {12, "", "datetime", "76cb65c768120000", "2024-12-31 23:59:58"},
         {7, "", "timestamp", "7e857467", "2024-12-31 23:59:58Z"},
         {11, "", "time", "c01dfe", "-12:34:56"}});
}

TEST(BinlogValuesTest, Strings) {
  Check({{254, "fe28", "char(10)", "026162", "ab", 255},
         {254, "fe28", "char(10)", "02c3a9", "é", 255},
         {254, "cefc", "char(255)", "02006162", "ab", 255},
         {254, "fec8", "char(200)", "02e980", "é€", 8},
         {254, "fe04", "binary(4)", "0161", "61000000"},
         {15, "fc00", "varchar(63)", "026162", "ab", 255},
         {15, "0001", "varchar(64)", "02006162", "ab", 255},
         {15, "2c01", "varbinary(300)", "02006100", "6100"},
         {252, "03", "mediumblob", "0200006162", "6162"},
         {15, "1400", "varchar(10)", "04d6d0b9fa", "中国", 28},
         {15, "1400", "varchar(10)", "0493fa967b", "日本", 13},
         {15, "1400", "varchar(10)", "02fe41",
          "\xEF\xBF\xBD"
          "A",
          255},
         {15, "2800", "varchar(10)", "044e2d56fd", "中国", 54},
         {254, "f701", "enum('a','b','c')", "02", "b"},
         {254, "f701", "enum('a','b','c')", "00", ""},
         {254, "f802", "set('a','b','c','d','e','f','g','h','i')", "0101", "[\"a\",\"i\"]"},
         {255, "04", "point", "19000000000000000101000000000000000000f03f0000000000000040",
          "{\"type\":\"Point\",\"coordinates\":[1,2],\"srid\":0}"},
         {242, "04", "vector(2)", "080000000000803f00000040", "[1,2]"}});
}

TEST(BinlogValuesTest, MariaDbStrings) {
  const std::string many_a(200, 'a');
  Check({{254, "fe10", "uuid", "0f00112233445566778899aabbccddee",
          "00112233-4455-6677-8899-aabbccddee00", 63, true},
         {254, "fe10", "inet6", "1020010db8000000000000000000000001", "2001:db8::1", 63, true},
         {254, "fe10", "inet6", "00", "::", 63, true},
         {254, "fe04", "inet4", "040a000001", "10.0.0.1", 63, true},
         {141, "6500", "varchar(100)", "03006162", "ab", 45, true},
         {141, "6500", "varchar(100)", "0889644b4ca43d0000",
          std::string_view(many_a).substr(0, 100), 45, true},
         {141, "6500", "varchar(100)", "00", "", 45, true},
         {140, "02", "text", "080089c84b4c1c1e0000", many_a, 45, true}});
}

TEST(BinlogValuesTest, Json) {
  const auto json = [](std::string_view value, std::string_view text) {
    return Golden{245, "04", "json", value, text};
  };
  Check({json("020000000400", "null"), json("020000000401", "true"), json("03000000050100", "1"),
         json("0500000007ff7fffff", "-32769"),
         json("090000000affffffffffffffff", "18446744073709551615"),
         json("090000000b000000000000f83f", "1.5"), json("040000000c026162", "\"ab\""),
         json("050000000200000400", "[]"), json("050000000000000400", "{}"),
         json("100000000203000f000501000c0d000400000161", "[1, \"a\", null]"),
         json("1d0000000002001c00120001001300020005010002150062616101000700050200",
              "{\"b\": 1, \"aa\": [2]}"),
         json("070000000ff60403028132", "1.50"),
         json("0b0000000f0a0800000000003eb519", "\"2024-12-31\""),
         json("0b0000000f0b08e05ef87cefffffff", "\"-01:02:03.500000\""),
         json("0b0000000f0c0820a107fa7e3fb519", "\"2024-12-31 23:59:58.500000\""),
         json("050000000f0f026162", "\"base64:type15:YWI=\""), json("00000000", "null")});
}

TEST(BinlogValuesTest, MalformedValuesAreErrorsWithTheirPlace) {
  EXPECT_THAT(Decode({3, "", "int", "ffff", ""}),
              ::testing::AllOf(::testing::HasSubstr("error:"), ::testing::HasSubstr("cut off"),
                               ::testing::HasSubstr("row 1"), ::testing::HasSubstr("'c1'")));
  for (const Golden& bad : std::vector<Golden>{{246, "0502", "decimal(5,2)", "ffffff", ""},
                                               {254, "f701", "enum('a','b')", "03", ""},
                                               {254, "f801", "set('a','b')", "04", ""},
                                               {245, "04", "json", "0200000004ff", ""},
                                               {245, "04", "json", "050000000200ffff00", ""},
                                               {255, "04", "point", "0200000000ff", ""},
                                               {254, "fe04", "binary(4)", "056162636465", ""},
                                               {15, "fc00", "varchar(63)", "ff6162", ""}}) {
    EXPECT_THAT(Decode(bad), ::testing::StartsWith("error:")) << bad.type_text;
  }
}

// A column of another type than the schema has is found before a row is read.
TEST(BinlogValuesTest, AMapThatDoesNotFitTheSchemaIsAConflict) {
  for (const Golden& other : std::vector<Golden>{{8, "", "int", "0000000000000000", ""},
                                                 {246, "0602", "decimal(5,2)", "00000000", ""},
                                                 {18, "03", "datetime(6)", "0000000000000000", ""},
                                                 {252, "02", "varchar(10)", "0000", ""},
                                                 {16, "0101", "bit(8)", "0000", ""}}) {
    EXPECT_THAT(Decode(other), ::testing::HasSubstr("in the binary log")) << other.type_text;
  }
}

}  // namespace
}  // namespace driftless::mysql
