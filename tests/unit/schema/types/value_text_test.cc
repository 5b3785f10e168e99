#include "schema/types/value_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "schema/events/change_batch_builder.h"
#include "schema/types/decimal.h"

namespace driftless {
namespace {

// One value in a batch of one column.
class OneValue {
 public:
  template <typename Append>
  OneValue(LogicalType type, Append append) : type_(type) {
    auto schema = std::make_shared<TableSchema>();
    schema->AddColumn("v", type);
    ChangeBatchBuilder builder(schema, 0);
    builder.BeginRow(Op::kInsert, Point{}, 0);
    append(builder.after(0));
    builder.EndRow();
    batch_ = builder.Seal();
  }
  std::string Text(TextFormat format = {}) const {
    std::string text;
    AppendText(type_, batch_->after()[0], 0, format, &text);
    return text;
  }
  std::string Json(TextFormat format = {}) const {
    std::string text;
    AppendJson(type_, batch_->after()[0], 0, format, &text);
    return text;
  }

 private:
  LogicalType type_;
  ChangeBatchPtr batch_;
};

OneValue Int(LogicalType type, int64_t value) {
  return {type, [&](ColumnBuilder& c) { c.AppendInt(value); }};
}
OneValue Bytes(LogicalType type, std::string_view value) {
  return {type, [&](ColumnBuilder& c) { c.AppendBytes(value); }};
}

TEST(ValueTextTest, PrintsNumbers) {
  EXPECT_EQ(Int(LogicalType::TinyInt(), -128).Text(), "-128");
  EXPECT_EQ(Int(LogicalType::SmallInt(), -2).Json(), "-2");
  EXPECT_EQ(Int(LogicalType::Int(), 7).Json(), "7");
  EXPECT_EQ(Int(LogicalType::BigInt(), INT64_MIN).Text(), "-9223372036854775808");
  const OneValue yes(LogicalType::Boolean(), [](ColumnBuilder& c) { c.AppendBit(true); });
  EXPECT_EQ(yes.Text(), "true");
  const OneValue decimal(LogicalType::Decimal(10, 2),
                         [](ColumnBuilder& c) { c.AppendInt128(-1230); });
  EXPECT_EQ(decimal.Text(), "-12.30");
  EXPECT_EQ(decimal.Json(), "\"-12.30\"");
  EXPECT_EQ(decimal.Json({.decimals = DecimalJson::kNumber}), "-12.30");
  const OneValue real(LogicalType::Double(), [](ColumnBuilder& c) { c.AppendDouble(0.1); });
  EXPECT_EQ(real.Json(), "0.1");
  const OneValue single(LogicalType::Float(), [](ColumnBuilder& c) { c.AppendFloat(0.1F); });
  EXPECT_EQ(single.Text(), "0.1");
  const OneValue nan(LogicalType::Double(), [](ColumnBuilder& c) {
    c.AppendDouble(std::numeric_limits<double>::quiet_NaN());
  });
  EXPECT_EQ(nan.Text(), "NaN");
  EXPECT_EQ(nan.Json(), "\"NaN\"");
}

TEST(ValueTextTest, PrintsTimes) {
  EXPECT_EQ(Int(LogicalType::Date(), -1).Json(), "\"1969-12-31\"");
  EXPECT_EQ(Int(LogicalType::Time(3), 3'661'000'500).Text(), "01:01:01.000");
  EXPECT_EQ(Int(LogicalType::Time(9), 1).Text(), "00:00:00.000000001");
  EXPECT_EQ(Int(LogicalType::Timestamp(6), -1).Text(), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(Int(LogicalType::Timestamp(0), 0).Text({.date_time_separator = 'T'}),
            "1970-01-01T00:00:00");
  EXPECT_EQ(Int(LogicalType::TimestampLtz(9), 5).Json(), "\"1970-01-01 00:00:00.000000005Z\"");
}

TEST(ValueTextTest, PrintsTextAndBytes) {
  EXPECT_EQ(Bytes(LogicalType::String(), "a\"b\n\x01").Json(), "\"a\\\"b\\n\\u0001\"");
  EXPECT_EQ(Bytes(LogicalType::String(), "a\xFFz\xC3\xA9").Json(), "\"a\xEF\xBF\xBDz\xC3\xA9\"");
  EXPECT_EQ(Bytes(LogicalType::Bytes(), "\x01\xFF").Text({.bytes = BytesText::kHex}), "01ff");
  EXPECT_EQ(Bytes(LogicalType::Bytes(), "any").Json(), "\"YW55\"");
  EXPECT_EQ(Bytes(LogicalType::Bytes(), "anyc").Text(), "YW55Yw==");
  EXPECT_EQ(Bytes(LogicalType::Variant(), "{\"a\": [1]}").Json(), "{\"a\": [1]}");
  const OneValue null(LogicalType::String(), [](ColumnBuilder& c) { c.AppendNull(); });
  EXPECT_EQ(null.Json(), "null");
  EXPECT_EQ(null.Text(), "");
}

TEST(ValueTextTest, PrintsNestedValuesAsJson) {
  const LogicalType type = LogicalType::Row(
      {{"list", LogicalType::Array(LogicalType::Int()), ""},
       {"map", LogicalType::Map(LogicalType::String().NotNull(), LogicalType::Double()), ""},
       {"bag", LogicalType::Multiset(LogicalType::Date()), ""}});
  const OneValue value(type, [](ColumnBuilder& row) {
    row.child(0).child(0).AppendInt(1);
    row.child(0).child(0).AppendNull();
    row.child(0).CloseList();
    ColumnBuilder& entry = row.child(1).child(0);
    entry.child(0).AppendBytes("k\"");
    entry.child(1).AppendDouble(1.5);
    entry.CloseStruct();
    row.child(1).CloseList();
    ColumnBuilder& count = row.child(2).child(0);
    count.child(0).AppendInt(0);
    count.child(1).AppendInt(3);
    count.CloseStruct();
    row.child(2).CloseList();
    row.CloseStruct();
  });
  EXPECT_EQ(value.Json(), R"({"list":[1,null],"map":{"k\"":1.5},"bag":{"1970-01-01":3}})");
  EXPECT_EQ(value.Text(), value.Json());
}

TEST(ValueTextTest, Base64ComesBack) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"),
                                   std::string("abc"), std::string("\0\xFF\x80z", 4)}) {
    std::string text;
    AppendBase64(bytes, &text);
    std::string back;
    ASSERT_TRUE(DecodeBase64(text, &back));
    EXPECT_EQ(back, bytes);
  }
  std::string out;
  EXPECT_FALSE(DecodeBase64("a", &out));
  EXPECT_FALSE(DecodeBase64("ab*=", &out));
}

}  // namespace
}  // namespace driftless
