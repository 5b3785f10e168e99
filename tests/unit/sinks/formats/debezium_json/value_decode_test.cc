#include <gtest/gtest.h>

#include "schema/types/value_text.h"
#include "sinks/formats/debezium_json/decode.h"

namespace driftless::debezium {
namespace {

// One column with one row: what a JSON value becomes. "!why" where it does not decode, "NULL",
// "ABSENT".
struct Case {
  LogicalType type;
  std::string json;
  std::string expected;
  std::string wire = "";         // JSON of the embedded schema node; empty: none
  std::string source_type = "";  // "bit(3)", as DDL gives it
  Format format = {};
};

std::string DecodeOne(const Case& test) {
  TableSchema schema;
  schema.path = {"", "db", "t"};
  Column& column = schema.AddColumn("c", test.type);
  column.source.type_text = test.source_type;
  column.source.is_unsigned = test.source_type.find("unsigned") != std::string::npos;
  ConnectField wire;
  if (!test.wire.empty()) {
    auto parsed = ParseConnectSchema(R"({"type":"struct","fields":[)" + test.wire + "]}");
    if (!parsed) return "schema: " + parsed.error().ToString();
    wire = *parsed;
    wire.children[0].field = "c";
  }
  const auto shared = std::make_shared<const TableSchema>(schema);
  const RowPlan plan(*shared, test.wire.empty() ? nullptr : &wire, test.format);
  std::string text = R"({"c":)" + test.json + "}";
  const size_t size = text.size();
  text.append(kJsonPadding, ' ');
  JsonIndex index;
  if (!index.Build({text.data(), size})) return std::string("index: ") + index.error();
  ChangeBatchBuilder builder(shared, 0);
  builder.BeginRow(Op::kInsert, Point{0, 1, 1}, 0);
  RowDecoder decoder(test.format);
  if (!decoder.Decode(plan, JsonCursor(index), RowDecoder::Image::kAfter, &builder)) {
    builder.AbandonRow();
    EXPECT_EQ(builder.Seal(), nullptr);
    return std::string("!") + decoder.fault().why;
  }
  builder.EndRow();
  const ChangeBatchPtr batch = builder.Seal();
  const ColumnView& view = batch->after()[0];
  if (view.IsAbsent(0)) return "ABSENT";
  if (view.IsNull(0)) return "NULL";
  std::string out;
  AppendText(test.type, view, 0, TextFormat{.bytes = BytesText::kHex}, &out);
  return out;
}

std::string Node(const std::string& type, const std::string& name,
                 const std::string& parameters = "{}") {
  return R"({"type":")" + type + R"(","optional":true,"name":")" + name + R"(","parameters":)" +
         parameters + R"(,"field":"c"})";
}

void Check(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const std::string got = DecodeOne(test);
    if (test.expected == "!") {
      EXPECT_TRUE(got.starts_with('!')) << test.type.ToString() << " " << test.json << ": " << got;
    } else {
      EXPECT_EQ(got, test.expected) << test.type.ToString() << " " << test.json << " " << test.wire
                                    << " " << test.source_type;
    }
  }
}

TEST(DebeziumValueTest, BooleansAndIntegers) {
  Check({
      {LogicalType::Boolean(), "true", "true"},
      {LogicalType::Boolean(), "false", "false"},
      {LogicalType::Boolean(), "0", "false"},
      {LogicalType::Boolean(), "-1", "true"},
      {LogicalType::Boolean(), "\"AQ==\"", "true"},
      {LogicalType::Boolean(), "\"x\"", "!"},
      {LogicalType::Boolean(), "null", "NULL"},
      {LogicalType::TinyInt(), "-128", "-128"},
      {LogicalType::TinyInt(), "128", "!the number does not fit the column's type"},
      {LogicalType::SmallInt(), "32767", "32767"},
      {LogicalType::Int(), "-2147483648", "-2147483648"},
      {LogicalType::Int(), "2147483648", "!"},
      {LogicalType::Int(), "1.5", "!"},
      {LogicalType::Int(), "\"1\"", "!a whole number was expected here"},
      {LogicalType::Int(), "[1]", "!"},
      {LogicalType::Int(), "nul", "!"},
      {LogicalType::BigInt(), "9223372036854775807", "9223372036854775807"},
      {LogicalType::BigInt(), "-9223372036854775808", "-9223372036854775808"},
      {LogicalType::BigInt(), "9223372036854775808", "!"},
      {LogicalType::Int(), "2024", "2024", Node("int32", "io.debezium.time.Year")},
      {LogicalType::BigInt(), "37091106789000", "37091106789000",
       Node("int64", "io.debezium.time.MicroDuration")},
  });
}

TEST(DebeziumValueTest, FloatingPoint) {
  Check({
      {LogicalType::Double(), "0.1", "0.1"},
      {LogicalType::Double(), "1.7976931348623157E308", "1.7976931348623157e+308"},
      {LogicalType::Double(), "\"NaN\"", "NaN"},
      {LogicalType::Double(), "\"-Infinity\"", "-Infinity"},
      {LogicalType::Float(), "3.4028235E38", "3.4028235e+38"},
      {LogicalType::Float(), "372.375", "372.375"},
      {LogicalType::Float(), "1e-50", "0"},
      {LogicalType::Double(), "\"1.5\"", "!"},
  });
}

TEST(DebeziumValueTest, Decimals) {
  const std::string precise = Node("bytes", "org.apache.kafka.connect.data.Decimal",
                                   R"({"scale":"2","connect.decimal.precision":"10"})");
  const Format strings{.decimal_mode = DecimalMode::kString};
  Check({
      {LogicalType::Decimal(10, 2), "\"BYwpeQ==\"", "930717.37", precise},
      {LogicalType::Decimal(10, 2), "\"/av0HAE=\"", "-99999999.99", precise},
      {LogicalType::Decimal(10, 2), "\"AA==\"", "0.00", precise},
      {LogicalType::Decimal(10, 2), "\"AA==\"", "0.00"},
      {LogicalType::Decimal(38, 18), "\"SztMqFqGxHoJiiI//////w==\"",
       "99999999999999999999.999999999999999999"},
      // The same digits are base64 in one mode and a number in the other; the schema decides.
      {LogicalType::Decimal(10, 2), "\"1234\"", "-26588.24", precise},
      {LogicalType::Decimal(10, 2), "\"12.34\"", "12.34", R"({"type":"string","field":"c"})"},
      {LogicalType::Decimal(10, 2), "\"12.34\"", "!"},
      {LogicalType::Decimal(10, 2), "\"12.34\"", "12.34", "", "", strings},
      {LogicalType::Decimal(10, 2), "\"12.345\"", "!", "", "", strings},
      {LogicalType::Decimal(10, 2), "12.34", "12.34"},
      {LogicalType::Decimal(10, 2), "1.0E2", "100.00"},
      {LogicalType::Decimal(10, 2), "1e9", "!"},
      {LogicalType::Decimal(38, 18), "1.0E20", "99999999999999999999.999999999999999999"},
      // More digits than fit, and another scale than the column's.
      {LogicalType::Decimal(4, 2), "\"BYwpeQ==\"", "!", precise},
      {LogicalType::Decimal(12, 4), "\"BYwpeQ==\"", "930717.3700", precise},
      {LogicalType::Decimal(10, 1), "\"BYwpeQ==\"", "!", precise},
      // BIGINT UNSIGNED: negative in mode long, base64 in mode precise.
      {LogicalType::Decimal(20, 0), "-1", "18446744073709551615", "", "bigint unsigned"},
      {LogicalType::Decimal(20, 0), "7", "7", "", "bigint unsigned"},
      {LogicalType::Decimal(20, 0), "\"AP//////////\"", "18446744073709551615", "",
       "bigint unsigned", strings},
      {LogicalType::Decimal(20, 0), "-1", "-1"},
      // Longer than DECIMAL holds: text.
      {LogicalType::String(), "\"APMWJxx/w5CKi+9GTjlF73olNgn//////////w==\"",
       "99999999999999999999999999999999999.999999999999999999999999999999", "", "decimal(65,30)"},
      {LogicalType::String(), R"({"scale":9,"value":"AUWr1JTdGyw="})", "91668296.949898028",
       Node("struct", "io.debezium.data.VariableScaleDecimal")},
      {LogicalType::String(), R"({"scale":36,"value":"/w=="})",
       "-0.000000000000000000000000000000000001",
       Node("struct", "io.debezium.data.VariableScaleDecimal")},
      {LogicalType::String(), R"({"scale":-3,"value":"Bw=="})", "7000",
       Node("struct", "io.debezium.data.VariableScaleDecimal")},
      {LogicalType::Decimal(10, 2), R"({"scale":1,"value":"Dw=="})", "1.50"},
      {LogicalType::Decimal(10, 2), "\"\"", "!"},
      {LogicalType::Decimal(10, 2), "\"A\"", "!"},
      {LogicalType::Decimal(10, 2), "\"__debezium_unavailable_value\"", "ABSENT", precise},
      {LogicalType::Decimal(10, 2), "\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\"", "ABSENT"},
  });
}

TEST(DebeziumValueTest, DatesAndTimes) {
  const Format connect{.time_mode = TimePrecisionMode::kConnect};
  const Format postgres{.time_is_micros = false};
  Check({
      {LogicalType::Date(), "19782", "2024-02-29"},
      {LogicalType::Date(), "-354285", "1000-01-01"},
      {LogicalType::Date(), "\"1000-01-01Z\"", "1000-01-01",
       Node("string", "io.debezium.time.IsoDate")},
      {LogicalType::Date(), "\"soon\"", "!"},
      {LogicalType::Date(), "4294967296", "!the date is out of range"},
      {LogicalType::Time(6), "14706789000", "04:05:06.789000",
       Node("int64", "io.debezium.time.MicroTime")},
      {LogicalType::Time(3), "45296000", "12:34:56.000", Node("int32", "io.debezium.time.Time")},
      {LogicalType::Time(3), "45296000", "12:34:56.000",
       Node("int32", "org.apache.kafka.connect.data.Time")},
      {LogicalType::Time(9), "45296000000001", "12:34:56.000000001",
       Node("int64", "io.debezium.time.NanoTime")},
      {LogicalType::Time(0), "45296000000", "12:34:56"},
      {LogicalType::Time(0), "45296000", "12:34:56", "", "", postgres},
      {LogicalType::Time(0), "45296000", "12:34:56", "", "", connect},
      {LogicalType::Time(6), "\"12:34:56.5Z\"", "12:34:56.500000",
       Node("string", "io.debezium.time.IsoTime")},
      {LogicalType::Timestamp(3), "1577836800125", "2020-01-01 00:00:00.125"},
      {LogicalType::Timestamp(6), "1709210096789012", "2024-02-29 12:34:56.789012"},
      {LogicalType::Timestamp(6), "1577836800125", "2020-01-01 00:00:00.125000", "", "", connect},
      {LogicalType::Timestamp(6), "1577836800125", "2020-01-01 00:00:00.125000",
       Node("int64", "org.apache.kafka.connect.data.Timestamp")},
      {LogicalType::Timestamp(9), "1577836800125000001", "2020-01-01 00:00:00.125000001",
       Node("int64", "io.debezium.time.NanoTimestamp")},
      {LogicalType::Timestamp(0), "-1000", "1969-12-31 23:59:59"},
      {LogicalType::Timestamp(6), "\"9999-12-31T23:59:59.999999Z\"", "9999-12-31 23:59:59.999999",
       Node("string", "io.debezium.time.IsoTimestamp")},
      {LogicalType::TimestampLtz(6), "\"2025-06-15T15:06:41.907Z\"", "2025-06-15 15:06:41.907000Z"},
      {LogicalType::TimestampLtz(0), "\"1970-01-01T00:00:01Z\"", "1970-01-01 00:00:01Z"},
      {LogicalType::TimestampLtz(3), "\"2024-03-31T01:30:00+02:00\"", "2024-03-30 23:30:00.000Z"},
      {LogicalType::TimestampLtz(6), "\"2024-02-30T00:00:00Z\"", "!"},
      {LogicalType::TimestampLtz(6), "\"-4712-01-01T00:00:00.000000Z\"",
       "-4712-01-01 00:00:00.000000Z"},
      // MySQL's TIME as text reaches beyond a day.
      {LogicalType::String(), "-3020399000000", "-838:59:59", "", "time"},
      {LogicalType::String(), "1500000", "00:00:01.500", "", "time(3)"},
      {LogicalType::String(), "\"12:00:00Z\"", "12:00:00Z",
       Node("string", "io.debezium.time.ZonedTime")},
  });
}

TEST(DebeziumValueTest, InfiniteTimesBecomeTheEdge) {
  const std::string last = DecodeOne({LogicalType::TimestampLtz(6), "\"infinity\"", ""});
  EXPECT_EQ(last,
            DecodeOne({LogicalType::TimestampLtz(6), "\"+294276-12-31T23:59:59.999999Z\"", ""}));
  EXPECT_EQ(last, DecodeOne({LogicalType::TimestampLtz(6), "9224318015999999", "",
                             Node("int64", "io.debezium.time.Timestamp")}));
  EXPECT_TRUE(last.starts_with("+294247-01-10")) << last;
}

TEST(DebeziumValueTest, TextAndJson) {
  Check({
      {LogicalType::String(), R"("lux dop")", "lux dop"},
      {LogicalType::String(), R"("")", ""},
      {LogicalType::VarChar(10), R"("a\"b\\c\/\b\f\n\r\t")", "a\"b\\c/\b\f\n\r\t"},
      {LogicalType::String(), R"("\u00e9 \ud83d\ude00")", "é 😀"},
      {LogicalType::String(), R"("\ud83d")", "!"},
      {LogicalType::String(), R"("\ude00x")", "!"},
      {LogicalType::String(), R"("\x")", "!"},
      {LogicalType::String(), R"("{\"v\": 1}")", R"({"v": 1})",
       Node("string", "io.debezium.data.Json")},
      {LogicalType::String(), "12.50", "12.50"},
      {LogicalType::String(), "true", "true"},
      {LogicalType::String(), R"({"a":[1,null,{"b":"c"}]})", R"({"a":[1,null,{"b":"c"}]})"},
      {LogicalType::String(), R"({"a" 1})", "!"},
      {LogicalType::String(), "01", "!"},
      {LogicalType::String(), "tru", "!"},
      {LogicalType::String(), "\"__debezium_unavailable_value\"", "ABSENT"},
      {LogicalType::String(), "\"gone\"", "ABSENT", "", "", {.unavailable_value = "gone"}},
      {LogicalType::String(), "\"draft\"", "draft", Node("string", "io.debezium.data.Enum")},
      {LogicalType::Array(LogicalType::String()), "\"x,z w,é\"", R"(["x","z w","é"])",
       Node("string", "io.debezium.data.EnumSet")},
      {LogicalType::Array(LogicalType::String()), "\"\"", "[]", "", "set('x')"},
  });
}

TEST(DebeziumValueTest, BytesBitsAndGeometry) {
  const Format hex{.binary_mode = BinaryMode::kHex};
  const std::string bits = Node("bytes", "io.debezium.data.Bits", R"({"length":"12"})");
  Check({
      {LogicalType::Bytes(), "\"n7o3z1Q=\"", "9fba37cf54"},
      {LogicalType::Bytes(), "\"__-_\"", "ffffbf"},
      {LogicalType::Bytes(), "\"//+/\"", "ffffbf"},
      {LogicalType::Bytes(), "\"n7o3z1Q\"", "9fba37cf54"},
      {LogicalType::Bytes(), "\"\"", ""},
      {LogicalType::Bytes(), "\"n!o3\"", "!"},
      {LogicalType::Bytes(), "\"9fBA37\"", "9fba37", "", "", hex},
      {LogicalType::Bytes(), "\"9f3\"", "!", "", "", hex},
      // The schema says bytes, so the mode is none of hex.
      {LogicalType::Bytes(), "\"AAEC\"", "000102", R"({"type":"bytes","field":"c"})", "", hex},
      {LogicalType::Bytes(), "\"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==\"", "ABSENT"},
      // Little-endian in the record, highest bit first in the column.
      {LogicalType::Binary(2), "\"BQE=\"", "0105", bits},
      {LogicalType::Binary(2), "\"BQ==\"", "0005", bits},
      {LogicalType::Binary(1), "\"BQ==\"", "05", "", "bit(3)"},
      {LogicalType::Binary(1), "\"BQE=\"", "!", "", "bit(3)"},
      {LogicalType::String(),
       R"({"x":1.0,"y":-2.5,"wkb":"AQEAAAAAAAAAAADwPwAAAAAAAATA","srid":4326})",
       R"({"type":"Point","coordinates":[1,-2.5],"srid":4326})",
       Node("struct", "io.debezium.data.geometry.Point")},
      {LogicalType::String(),
       R"({"wkb":"AQcAAAACAAAAAQEAAAAAAAAAAADwPwAAAAAAAPA/AQIAAAACAAAAAAAAAAAAAAAAAAAAAAAA)"
       R"(AAAAAAAAAPA/AAAAAAAA8D8=","srid":null})",
       R"({"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,1]},)"
       R"({"type":"LineString","coordinates":[[0,0],[1,1]]}],"srid":0})",
       "", "geometrycollection"},
      {LogicalType::Bytes(), R"({"wkb":"AQEAAAAAAAAAAADwPwAAAAAAAATA","srid":null})",
       "0101000000000000000000f03f00000000000004c0",
       Node("struct", "io.debezium.data.geometry.Geometry")},
      {LogicalType::String(), R"({"wkb":"AQEAAAA=","srid":null})", "!", "", "point"},
      // As text, as Flink CDC and our own sink write it.
      {LogicalType::String(), R"("{\"type\":\"Point\",\"coordinates\":[1,-2.5],\"srid\":0}")",
       R"({"type":"Point","coordinates":[1,-2.5],"srid":0})", "", "point"},
      {LogicalType::Bytes(), R"("AQEAAAA=")", "!", "", "point"},
  });
}

TEST(DebeziumValueTest, NestedValues) {
  const LogicalType row =
      LogicalType::Row({{"a", LogicalType::Int(), ""}, {"b", LogicalType::String(), ""}});
  Check({
      {LogicalType::Array(LogicalType::Int()), "[1,null,-3]", "[1,null,-3]"},
      {LogicalType::Array(LogicalType::Int()), "[]", "[]"},
      {LogicalType::Array(LogicalType::Int()), "[1,", "!"},
      {LogicalType::Array(LogicalType::Int()), R"([1,"x"])", "!"},
      {LogicalType::Array(LogicalType::Decimal(10, 2)), R"(["AJY=",null])", R"(["1.50",null])",
       R"({"type":"array","items":{"type":"bytes","name":)"
       R"("org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}},"field":"c"})"},
      {LogicalType::Array(LogicalType::Float()), "[1.0,-2.5]", "[1,-2.5]",
       R"({"type":"array","items":{"type":"float"},"name":"io.debezium.data.FloatVector",)"
       R"("field":"c"})"},
      {LogicalType::Array(LogicalType::String()), R"(["__debezium_unavailable_value"])", "ABSENT"},
      {LogicalType::Array(LogicalType::String()), R"(["__debezium_unavailable_value","x"])",
       R"([null,"x"])"},
      {LogicalType::Map(LogicalType::String().NotNull(), LogicalType::String()),
       R"({"a":"1","b\"":null})", R"({"a":"1","b\"":null})"},
      {LogicalType::Map(LogicalType::Int().NotNull(), LogicalType::String()),
       R"([[1,"x"],[2,null]])", R"({"1":"x","2":null})"},
      {row, R"({"b":"x","a":1})", R"({"a":1,"b":"x"})"},
      {row, R"({"a":1})", R"({"a":1,"b":null})"},
      {row, R"({"a":1,"a":2})", "!"},
      {row, R"({"c":1})", "!"},
  });
}

// A row that fails leaves nothing behind, whatever was decoded of it.
TEST(DebeziumRowTest, AbandonedRowsLeaveNoTrace) {
  TableSchema schema;
  schema.path = {"", "db", "t"};
  schema.AddColumn("id", LogicalType::Int());
  schema.AddColumn("tags", LogicalType::Array(LogicalType::Int()));
  schema.AddColumn("s", LogicalType::String());
  const auto shared = std::make_shared<const TableSchema>(schema);
  const Format format;
  const RowPlan plan(*shared, nullptr, format);
  ChangeBatchBuilder builder(shared, 0);
  RowDecoder decoder(format);
  JsonIndex index;
  uint64_t line = 0;
  for (std::string text :
       {R"({"id":1,"tags":[1,2],"s":"a"})", R"({"id":2,"tags":[7,8,"x"],"s":"b"})",
        R"({"id":3,"tags":[3],"s":"c"})", R"({"id":4,"s":"d","zz":1})", R"({"id":5,"id":5})",
        R"({"s":"e","id":6})"}) {
    const size_t size = text.size();
    text.append(kJsonPadding, ' ');
    ASSERT_TRUE(index.Build({text.data(), size}));
    builder.BeginRow(Op::kInsert, Point{0, 1, ++line}, 0);
    if (decoder.Decode(plan, JsonCursor(index), RowDecoder::Image::kAfter, &builder)) {
      builder.EndRow();
    } else {
      builder.AbandonRow();
    }
  }
  const ChangeBatchPtr batch = builder.Seal();
  ASSERT_EQ(batch->size(), 3);
  std::string text;
  for (int64_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      const ColumnView& view = batch->after()[column];
      if (view.IsAbsent(row)) {
        text += "ABSENT";
      } else {
        AppendText(schema.columns[column].type, view, row, {}, &text);
      }
      text += ' ';
    }
  }
  EXPECT_EQ(text, "1 [1,2] a 3 [3] c 6 ABSENT e ");
}

}  // namespace
}  // namespace driftless::debezium
