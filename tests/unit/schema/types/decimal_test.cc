#include "schema/types/decimal.h"

#include <gtest/gtest.h>

#include <random>

namespace driftless {
namespace {

std::string Text(Int128 value, int scale) {
  std::string text;
  AppendDecimal(value, scale, &text);
  return text;
}

std::string Read(std::string_view text, int precision, int scale) {
  Int128 value = 0;
  switch (ParseDecimal(text, precision, scale, &value)) {
    case DecimalText::kInvalid: return "invalid";
    case DecimalText::kOutOfRange: return "range";
    case DecimalText::kRounded: return "~" + Text(value, scale);
    case DecimalText::kOk: return Text(value, scale);
  }
  return "";
}

TEST(DecimalTest, PrintsAllDigits) {
  EXPECT_EQ(Text(0, 0), "0");
  EXPECT_EQ(Text(0, 2), "0.00");
  EXPECT_EQ(Text(-5, 2), "-0.05");
  EXPECT_EQ(Text(1230, 2), "12.30");
  EXPECT_EQ(Text(PowerOfTen(38) - 1, 38), "0." + std::string(38, '9'));
  EXPECT_EQ(Text(-(PowerOfTen(38) - 1), 10),
            "-" + std::string(28, '9') + "." + std::string(10, '9'));
}

TEST(DecimalTest, ReadsAndRoundsHalfAwayFromZero) {
  EXPECT_EQ(Read("12.3", 10, 2), "12.30");
  EXPECT_EQ(Read(" -12.30 ", 10, 2), "-12.30");
  EXPECT_EQ(Read("+.5", 10, 2), "0.50");
  EXPECT_EQ(Read("5.", 10, 2), "5.00");
  EXPECT_EQ(Read("1e3", 10, 2), "1000.00");
  EXPECT_EQ(Read("12.5E-1", 10, 2), "1.25");
  EXPECT_EQ(Read("12.345", 10, 2), "~12.35");
  EXPECT_EQ(Read("-12.345", 10, 2), "~-12.35");
  EXPECT_EQ(Read("12.344", 10, 2), "~12.34");
  EXPECT_EQ(Read("12.340", 10, 2), "12.34");
  EXPECT_EQ(Read("0.05", 10, 0), "~0");
  EXPECT_EQ(Read("99.995", 4, 2), "range");
  EXPECT_EQ(Read("100", 4, 2), "range");
  EXPECT_EQ(Read("1e50", 38, 0), "range");
  EXPECT_EQ(Read("0e50", 38, 0), "0");
  EXPECT_EQ(Read("1e-50", 38, 2), "~0.00");
  EXPECT_EQ(Read("00000000000000000000000000000000000000000000001", 38, 0), "1");
  for (const char* bad : {"", " ", "-", ".", "1.2.3", "1e", "e5", "NaN", "1,5", "0x10", "1 2"}) {
    EXPECT_EQ(Read(bad, 10, 2), "invalid") << bad;
  }
}

TEST(DecimalTest, TextComesBackForAnyValue) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const int precision = 1 + static_cast<int>(random() % 38);
    const int scale = static_cast<int>(random() % (static_cast<uint64_t>(precision) + 1));
    const auto wide = static_cast<UInt128>(random()) << 64 | random();
    Int128 value = static_cast<Int128>(wide % static_cast<UInt128>(PowerOfTen(precision)));
    if (random() % 2 == 0) value = -value;
    Int128 back = 0;
    ASSERT_EQ(ParseDecimal(Text(value, scale), precision, scale, &back), DecimalText::kOk);
    ASSERT_TRUE(back == value) << Text(value, scale);
  }
}

TEST(DecimalTest, Rescales) {
  Int128 value = 0;
  bool exact = false;
  ASSERT_TRUE(Rescale(1234, 2, 4, &value, &exact));
  EXPECT_TRUE(exact && value == 123400);
  ASSERT_TRUE(Rescale(-1235, 2, 1, &value, &exact));
  EXPECT_TRUE(!exact && value == -124);
  EXPECT_FALSE(Rescale(PowerOfTen(37), 0, 2, &value, &exact));
  ASSERT_TRUE(Rescale(0, 0, 38, &value, &exact));
  EXPECT_TRUE(value == 0);
}

TEST(DecimalTest, BecomesTheNearestDouble) {
  EXPECT_EQ(DecimalToDouble(1, 1), 0.1);
  EXPECT_EQ(DecimalToDouble(-12345678901234567LL, 5), -123456789012.34567);
  EXPECT_EQ(DecimalToDouble(PowerOfTen(38) - 1, 0), 1e38);
  EXPECT_EQ(DecimalToDouble(0, 38), 0);
  EXPECT_EQ(DecimalToDouble(PowerOfTen(37), 38), 0.1);
}

}  // namespace
}  // namespace driftless
