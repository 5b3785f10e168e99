#include "schema/types/time.h"

#include <gtest/gtest.h>

#include <random>

namespace driftless {
namespace {

std::string DateText(int64_t days) {
  std::string text;
  AppendDate(days, &text);
  return text;
}

// What ParseTimestamp makes of a text, printed again: local time and offset.
std::string Read(std::string_view text) {
  ParsedTimestamp parsed;
  switch (ParseTimestamp(text, &parsed)) {
    case TimeText::kInvalid: return "invalid";
    case TimeText::kZero: return "zero";
    case TimeText::kInfinity: return "inf";
    case TimeText::kMinusInfinity: return "-inf";
    case TimeText::kOk: break;
  }
  std::string printed = DateText(parsed.days) + " ";
  AppendTimeOfDay(parsed.nanos_of_day, 9, &printed);
  if (parsed.has_zone) printed += " @" + std::to_string(parsed.offset_seconds);
  if (parsed.inexact) printed += " inexact";
  return printed;
}

std::string ReadDate(std::string_view text) {
  int64_t days = 0;
  const TimeText result = ParseDate(text, &days);
  if (result == TimeText::kOk) return DateText(days);
  return result == TimeText::kZero ? "zero" : result == TimeText::kInvalid ? "invalid" : "inf";
}

std::string ReadTime(std::string_view text) {
  int64_t nanos = 0;
  bool inexact = false;
  if (ParseTime(text, &nanos, &inexact) != TimeText::kOk) return "invalid";
  std::string printed;
  AppendTimeOfDay(nanos, 6, &printed);
  return printed;
}

TEST(TimeTest, CivilDatesCountAndComeBack) {
  EXPECT_EQ(DaysFromCivil({1970, 1, 1}), 0);
  EXPECT_EQ(DaysFromCivil({2000, 3, 1}), 11017);
  EXPECT_EQ(DaysFromCivil({1969, 12, 31}), -1);
  EXPECT_EQ(DaysFromCivil({1, 1, 1}), -719162);
  int64_t expected = DaysFromCivil({-4, 1, 1});
  for (int64_t year = -4; year <= 2404; ++year) {
    for (int32_t month = 1; month <= 12; ++month) {
      for (int32_t day = 1; day <= DaysInMonth(year, month); ++day) {
        const CivilDate date{year, month, day};
        ASSERT_EQ(DaysFromCivil(date), expected) << year << "-" << month << "-" << day;
        ASSERT_EQ(CivilFromDays(expected), date);
        ++expected;
      }
    }
  }
}

TEST(TimeTest, ReadsEveryDateSpelling) {
  EXPECT_EQ(ReadDate("2024-01-31"), "2024-01-31");
  EXPECT_EQ(ReadDate(" 2024-1-5 "), "2024-01-05");
  EXPECT_EQ(ReadDate("2024/02/29"), "2024-02-29");
  EXPECT_EQ(ReadDate("2024^02.29"), "2024-02-29");
  EXPECT_EQ(ReadDate("20240229"), "2024-02-29");
  EXPECT_EQ(ReadDate("240229"), "2024-02-29");
  EXPECT_EQ(ReadDate("70-1-1"), "1970-01-01");
  EXPECT_EQ(ReadDate("69-1-1"), "2069-01-01");
  EXPECT_EQ(ReadDate("0001-01-01"), "0001-01-01");
  EXPECT_EQ(ReadDate("+12345-06-07"), "+12345-06-07");
  EXPECT_EQ(ReadDate("12345-06-07"), "+12345-06-07");
  EXPECT_EQ(ReadDate("-0044-03-15"), "-0044-03-15");
  EXPECT_EQ(ReadDate("0044-03-15 BC"), "-0043-03-15");
  EXPECT_EQ(ReadDate("0000-00-00"), "zero");
  EXPECT_EQ(ReadDate("2024-00-10"), "zero");
  EXPECT_EQ(ReadDate("infinity"), "inf");
  EXPECT_EQ(ReadDate("-Infinity"), "inf");
  for (const char* bad : {"", "2024", "2024-13-01", "2023-02-29", "2024-02-30", "2024-02", "abc",
                          "2024-02-29x", "2024-02-29 10:00", "99999999-01-01", "20240229123456"}) {
    EXPECT_EQ(ReadDate(bad), "invalid") << bad;
  }
}

TEST(TimeTest, ReadsEveryTimestampSpelling) {
  EXPECT_EQ(Read("2024-01-31 12:34:56"), "2024-01-31 12:34:56.000000000");
  EXPECT_EQ(Read("2024-01-31T12:34:56.789Z"), "2024-01-31 12:34:56.789000000 @0");
  EXPECT_EQ(Read("2024-01-31t12:34:56.123456789+02:00"), "2024-01-31 12:34:56.123456789 @7200");
  EXPECT_EQ(Read("2024-01-31 12:34-0330"), "2024-01-31 12:34:00.000000000 @-12600");
  EXPECT_EQ(Read("2024-01-31 12:34:56+05"), "2024-01-31 12:34:56.000000000 @18000");
  EXPECT_EQ(Read("0001-01-01 00:00:00-00:53:28"), "0001-01-01 00:00:00.000000000 @-3208");
  EXPECT_EQ(Read("2024-01-31 12:34:56 UTC"), "2024-01-31 12:34:56.000000000 @0");
  EXPECT_EQ(Read("2024-01-31"), "2024-01-31 00:00:00.000000000");
  EXPECT_EQ(Read("20240131123456.5"), "2024-01-31 12:34:56.500000000");
  EXPECT_EQ(Read("240131123456"), "2024-01-31 12:34:56.000000000");
  EXPECT_EQ(Read("20240131T123456Z"), "2024-01-31 12:34:56.000000000 @0");
  EXPECT_EQ(Read("2024-01-31 1:2:3"), "2024-01-31 01:02:03.000000000");
  EXPECT_EQ(Read("2024-01-31 10*11*12"), "2024-01-31 10:11:12.000000000");
  EXPECT_EQ(Read("2024-01-31 12:34:56.1234567891"), "2024-01-31 12:34:56.123456789 inexact");
  EXPECT_EQ(Read("2024-01-31 12:34:56.1234567890"), "2024-01-31 12:34:56.123456789");
  EXPECT_EQ(Read("0044-03-15 10:00:00 BC"), "-0043-03-15 10:00:00.000000000");
  EXPECT_EQ(Read("0000-00-00 00:00:00"), "zero");
  EXPECT_EQ(Read("infinity"), "inf");
  EXPECT_EQ(Read("-infinity"), "-inf");
  for (const char* bad : {"", "12:34:56", "2024-01-31 25:00:00", "2024-01-31 12:60:00",
                          "2024-01-31 12:34:56 CET?", "2024-01-31T", "2024-01-31 12:34:56+1:2"}) {
    EXPECT_EQ(Read(bad), "invalid") << bad;
  }
}

TEST(TimeTest, ReadsTimesAndDurations) {
  EXPECT_EQ(ReadTime("12:34:56.789"), "12:34:56.789000");
  EXPECT_EQ(ReadTime("12:34"), "12:34:00.000000");
  EXPECT_EQ(ReadTime("123456"), "12:34:56.000000");
  EXPECT_EQ(ReadTime("56"), "00:00:56.000000");
  EXPECT_EQ(ReadTime("-838:59:59"), "-838:59:59.000000");
  EXPECT_EQ(ReadTime("2 03:04:05"), "51:04:05.000000");
  EXPECT_EQ(ReadTime("24:00:00"), "24:00:00.000000");
  EXPECT_EQ(ReadTime("12:34:56Z"), "12:34:56.000000");
  EXPECT_EQ(ReadTime("12:34:56+02:00"), "12:34:56.000000");
  for (const char* bad : {"", "12:60", "12:34:61", "x", "12:34:56 x", "1 2"}) {
    EXPECT_EQ(ReadTime(bad), "invalid") << bad;
  }
}

TEST(TimeTest, TimestampsPrintAndComeBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto micros =
        static_cast<int64_t>(random() % 200'000'000'000'000'000ULL) - 100'000'000'000'000'000LL;
    std::string text;
    AppendTimestamp(micros, TimestampUnit::kMicros, 6, i % 2 == 0 ? ' ' : 'T', &text);
    ParsedTimestamp parsed;
    ASSERT_EQ(ParseTimestamp(text, &parsed), TimeText::kOk) << text;
    int64_t back = 0;
    ASSERT_TRUE(ToMicros(parsed, &back));
    ASSERT_EQ(back, micros) << text;
  }
  ParsedTimestamp far;
  ASSERT_EQ(ParseTimestamp("9999-12-31 00:00:00", &far), TimeText::kOk);
  int64_t value = 0;
  EXPECT_TRUE(ToMicros(far, &value));
  EXPECT_FALSE(ToNanos(far, &value));
}

TEST(TimeTest, ZonesShiftBothWays) {
  const auto berlin = TimeZone::Load("Europe/Berlin");
  ASSERT_TRUE(berlin.has_value());
  // 2024-01-31 12:00 UTC is 13:00 in Berlin, 2024-07-31 12:00 UTC is 14:00.
  EXPECT_EQ(berlin->OffsetAtUtc(1706702400), 3600);
  EXPECT_EQ(berlin->OffsetAtUtc(1722427200), 7200);
  // 2024-03-31 02:30 does not exist there: the clock without the jump is UTC+1.
  const int64_t gap = DaysFromCivil({2024, 3, 31}) * kSecondsPerDay + 2 * 3600 + 1800;
  EXPECT_EQ(berlin->ToUtc(gap), gap - 3600);
  // 2024-10-27 02:30 comes twice: the first one is summer time.
  const int64_t twice = DaysFromCivil({2024, 10, 27}) * kSecondsPerDay + 2 * 3600 + 1800;
  EXPECT_EQ(berlin->ToUtc(twice), twice - 7200);
  EXPECT_EQ(LocalToUtc(-1, TimestampUnit::kMicros, *TimeZone::Load("+08:00")),
            -1 - 8 * 3600 * kMicrosPerSecond);
  EXPECT_EQ(UtcToLocal(-1, TimestampUnit::kNanos, *TimeZone::Load("-03:30")),
            -1 - 12600 * kNanosPerSecond);
  EXPECT_EQ(TimeZone::Load("UTC")->OffsetAtUtc(0), 0);
  EXPECT_FALSE(TimeZone::Load("Europe/Atlantis").has_value());
  EXPECT_FALSE(TimeZone::Load("").has_value());
  EXPECT_FALSE(TimeZone::Load("+8x").has_value());
}

}  // namespace
}  // namespace driftless
