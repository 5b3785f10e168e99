#include <gtest/gtest.h>

#include "tests/unit/config/expr/evaluated.h"

namespace driftless::flink {
namespace {

TEST(FunctionsTest, Letters) {
  EXPECT_EQ(Evaluated("UPPER(s)"), "HELLO, WÖRLD");
  EXPECT_EQ(Evaluated("LOWER('ÄÖÜ Straße ДА')"), "äöü straße да");
  EXPECT_EQ(Evaluated("UPPER('straße')"), "STRASSE");
  EXPECT_EQ(Evaluated("UPPER(s)", 1), "NULL");
  EXPECT_EQ(Evaluated("INITCAP('hello wide WORLD')"), "Hello Wide World");
  EXPECT_EQ(Evaluated("CHAR_LENGTH(s)"), "12");
  EXPECT_EQ(Evaluated("CHARACTER_LENGTH('')"), "0");
  EXPECT_EQ(Evaluated("ASCII('A')"), "65");
  EXPECT_EQ(Evaluated("CHR(65)"), "A");
}

TEST(FunctionsTest, TrimmingAndPadding) {
  EXPECT_EQ(Evaluated("'[' || TRIM('  x ') || ']'"), "[x]");
  EXPECT_EQ(Evaluated("TRIM(LEADING 'x' FROM 'xxaxx')"), "axx");
  EXPECT_EQ(Evaluated("TRIM(TRAILING 'x' FROM 'xxaxx')"), "xxa");
  EXPECT_EQ(Evaluated("TRIM(BOTH 'ö' FROM 'öaö')"), "a");
  EXPECT_EQ(Evaluated("'[' || LTRIM('  x ') || ']'"), "[x ]");
  EXPECT_EQ(Evaluated("'[' || RTRIM('  x ') || ']'"), "[  x]");
  EXPECT_EQ(Evaluated("LTRIM('yxaxy', 'xy')"), "axy");
  EXPECT_EQ(Evaluated("RTRIM('yxaxy', 'xy')"), "yxa");
  EXPECT_EQ(Evaluated("BTRIM('yxaxy', 'xy')"), "a");
  EXPECT_EQ(Evaluated("LPAD('hi', 5, 'ab')"), "abahi");
  EXPECT_EQ(Evaluated("RPAD('hi', 5, 'ab')"), "hiaba");
  EXPECT_EQ(Evaluated("LPAD('hello', 2, 'x')"), "he");
  EXPECT_EQ(Evaluated("LPAD('hi', -1, 'x')"), "NULL");
  EXPECT_EQ(Evaluated("REPEAT('ab', 3)"), "ababab");
  EXPECT_EQ(Evaluated("'[' || REPEAT('ab', 0) || ']'"), "[]");
}

TEST(FunctionsTest, Parts) {
  EXPECT_EQ(Evaluated("SUBSTRING(s, 8)"), "Wörld");
  EXPECT_EQ(Evaluated("SUBSTRING(s FROM 8 FOR 2)"), "Wö");
  EXPECT_EQ(Evaluated("SUBSTR(s, -5, 3)"), "Wör");
  EXPECT_EQ(Evaluated("SUBSTR('abc', 0, 2)"), "ab");
  EXPECT_EQ(Evaluated("LEFT(s, 5)"), "Hello");
  EXPECT_EQ(Evaluated("RIGHT(s, 4)"), "örld");
  EXPECT_EQ(Evaluated("'[' || LEFT(s, -1) || ']'"), "[]");
  EXPECT_EQ(Evaluated("REVERSE('aöb')"), "böa");
  EXPECT_EQ(Evaluated("REPLACE('banana', 'an', 'x')"), "bxxa");
  EXPECT_EQ(Evaluated("REPLACE('banana', '', 'x')"), "banana");
  EXPECT_EQ(Evaluated("OVERLAY('abcdef' PLACING 'XY' FROM 3)"), "abXYef");
  EXPECT_EQ(Evaluated("OVERLAY('abcdef' PLACING 'XY' FROM 3 FOR 1)"), "abXYdef");
  EXPECT_EQ(Evaluated("SPLIT_INDEX('a,b,c', ',', 1)"), "b");
  EXPECT_EQ(Evaluated("SPLIT_INDEX('a,b,c', ',', 3)"), "NULL");
  EXPECT_EQ(Evaluated("POSITION('W' IN s)"), "8");
  EXPECT_EQ(Evaluated("INSTR(s, 'r')"), "10");
  EXPECT_EQ(Evaluated("LOCATE('l', s, 5)"), "11");
  EXPECT_EQ(Evaluated("LOCATE('q', s)"), "0");
  EXPECT_EQ(Evaluated("STARTSWITH(s, 'Hel')"), "true");
  EXPECT_EQ(Evaluated("ENDSWITH(s, 'Hel')"), "false");
  EXPECT_EQ(Evaluated("STARTSWITH(bin, 'hel')"), "true");
}

TEST(FunctionsTest, Joining) {
  EXPECT_EQ(Evaluated("CONCAT(c, '-', s)"), "abc-Hello, Wörld");
  EXPECT_EQ(Evaluated("CONCAT(c, s)", 1), "NULL");
  EXPECT_EQ(Evaluated("c || '!'"), "abc!");
  EXPECT_EQ(Evaluated("c || NULL"), "NULL");
  EXPECT_EQ(Evaluated("CONCAT(id, '-', a)"), "1-7");
  EXPECT_EQ(Evaluated("CONCAT_WS('-', c, s, 'z')", 1), "z");
  EXPECT_EQ(Evaluated("CONCAT_WS('-', c, 'z')"), "abc-z");
  EXPECT_EQ(Evaluated("CONCAT_WS(s, 'y', 'z')", 1), "NULL");
}

TEST(FunctionsTest, Patterns) {
  EXPECT_EQ(Evaluated("REGEXP_REPLACE('a1b22', '[0-9]+', '#')"), "a#b#");
  EXPECT_EQ(Evaluated("REGEXP_REPLACE('ab', '(a)', '$1$1')"), "$1$1b");
  EXPECT_EQ(Evaluated("REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)"), "bar");
  EXPECT_EQ(Evaluated("REGEXP_EXTRACT('foothebar', 'the')"), "the");
  EXPECT_EQ(Evaluated("REGEXP_EXTRACT('foothebar', 'x')"), "NULL");
  EXPECT_EQ(Evaluated("REGEXP_EXTRACT_ALL('a1b22', '[a-z]([0-9]+)')"), "[\"1\",\"22\"]");
  EXPECT_EQ(Evaluated("REGEXP_COUNT('a1b22', '[0-9]')"), "3");
  EXPECT_EQ(Evaluated("REGEXP_INSTR('öb22', '[0-9]')"), "3");
  EXPECT_EQ(Evaluated("REGEXP_SUBSTR('a1b22', '[0-9]{2}')"), "22");
  EXPECT_EQ(Evaluated("REGEXP(s, 'W.r')"), "true");
}

TEST(FunctionsTest, Codes) {
  EXPECT_EQ(Evaluated("TO_BASE64('hello')"), "aGVsbG8=");
  EXPECT_EQ(Evaluated("TO_BASE64(bin)"), "aGVsbG8=");
  EXPECT_EQ(Evaluated("FROM_BASE64('aGVsbG8=')"), "hello");
  EXPECT_EQ(Evaluated("FROM_BASE64('?')"), "! FROM_BASE64: no base64 text");
  EXPECT_EQ(TypeText("FROM_BASE64_BINARY('aGVsbG8=')"), "BYTES NOT NULL");
  EXPECT_EQ(Evaluated("MD5('')"), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Evaluated("SHA256('abc')"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Evaluated("HEX(255)"), "FF");
  EXPECT_EQ(Evaluated("HEX('hi')"), "6869");
  EXPECT_EQ(Evaluated("BIN(5)"), "101");
  EXPECT_EQ(Evaluated("URL_ENCODE('a b&ö')"), "a+b%26%C3%B6");
  EXPECT_EQ(Evaluated("URL_DECODE('a+b%26%C3%B6')"), "a b&ö");
  EXPECT_EQ(Evaluated("URL_DECODE('%4')"), "NULL");
  EXPECT_EQ(Evaluated("CHAR_LENGTH(UUID())"), "36");
  EXPECT_EQ(Evaluated("UUID() = UUID()"), "false");
}

TEST(FunctionsTest, Numbers) {
  EXPECT_EQ(Evaluated("ABS(a)", 2), "7");
  EXPECT_EQ(Evaluated("ABS(d)", 2), "12.35");
  EXPECT_EQ(Evaluated("FLOOR(d)", 2), "-13.00");
  EXPECT_EQ(Evaluated("CEIL(d)"), "13.00");
  EXPECT_EQ(Evaluated("CEILING(x)", 2), "-2");
  EXPECT_EQ(Evaluated("FLOOR(x)"), "2");
  EXPECT_EQ(Evaluated("ROUND(d, 1)"), "12.40");
  EXPECT_EQ(Evaluated("ROUND(d, 1)", 2), "-12.40");
  EXPECT_EQ(Evaluated("ROUND(1.005e0, 2)"), "1.01");
  EXPECT_EQ(Evaluated("ROUND(x)", 2), "-3");
  EXPECT_EQ(Evaluated("ROUND(1250, -2)"), "1300");
  EXPECT_EQ(Evaluated("TRUNCATE(d, 1)", 2), "-12.30");
  EXPECT_EQ(Evaluated("SIGN(d)", 2), "-1.00");
  EXPECT_EQ(Evaluated("POWER(2, 10)"), "1024");
  EXPECT_EQ(Evaluated("SQRT(16)"), "4");
  EXPECT_EQ(Evaluated("LOG2(8)"), "3");
  EXPECT_EQ(Evaluated("LOG(2, 8)"), "3");
  EXPECT_EQ(Evaluated("ROUND(DEGREES(PI()), 3)"), "180");
  EXPECT_EQ(Evaluated("RAND() < 1"), "true");
}

TEST(FunctionsTest, FieldsOfTimes) {
  EXPECT_EQ(Evaluated("YEAR(dt)"), "2024");
  EXPECT_EQ(Evaluated("QUARTER(ts)"), "1");
  EXPECT_EQ(Evaluated("MONTH(ts)"), "2");
  EXPECT_EQ(Evaluated("WEEK(dt)"), "9");
  EXPECT_EQ(Evaluated("WEEK(DATE '2021-01-03')"), "53");
  EXPECT_EQ(Evaluated("DAYOFYEAR(dt)"), "60");
  EXPECT_EQ(Evaluated("DAYOFMONTH(ts)", 2), "31");
  EXPECT_EQ(Evaluated("DAYOFWEEK(dt)"), "5");
  EXPECT_EQ(Evaluated("HOUR(ts)"), "12");
  EXPECT_EQ(Evaluated("HOUR(ltz)"), "13");
  EXPECT_EQ(Evaluated("HOUR(dt)"), "0");
  EXPECT_EQ(Evaluated("MINUTE(tm)"), "34");
  EXPECT_EQ(Evaluated("SECOND(ts)", 2), "59");
  EXPECT_EQ(Evaluated("EXTRACT(DAY FROM ts)"), "29");
  EXPECT_EQ(Evaluated("EXTRACT(DOY FROM ts)"), "60");
  EXPECT_EQ(Evaluated("YEAR(ts)", 1), "NULL");
  EXPECT_EQ(Evaluated("FLOOR(ts TO HOUR)"), "2024-02-29 12:00:00.000000");
  EXPECT_EQ(Evaluated("CEIL(ts TO MONTH)"), "2024-03-01 00:00:00.000000");
}

TEST(FunctionsTest, DistancesOfTimes) {
  EXPECT_EQ(Evaluated("TIMESTAMPADD(MONTH, 1, dt)"), "2024-03-29");
  EXPECT_EQ(Evaluated("TIMESTAMPADD(MINUTE, -35, ts)"), "2024-02-29 11:59:56.789012");
  EXPECT_EQ(Evaluated("TIMESTAMPADD(DAY, b, ts)", 1), "NULL");
  EXPECT_EQ(Evaluated("TIMESTAMPDIFF(DAY, DATE '2024-02-01', dt)"), "28");
  EXPECT_EQ(Evaluated("TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-01-31 00:00:00', ts)"), "1");
  EXPECT_EQ(Evaluated("TIMESTAMPDIFF(MONTH, TIMESTAMP '2024-01-31 13:00:00', ts)"), "0");
  EXPECT_EQ(Evaluated("TIMESTAMP_DIFF(SECOND, ts, ts + INTERVAL '1' MINUTE)"), "60");
  EXPECT_EQ(Evaluated("DATE_ADD(dt, 1)"), "2024-03-01");
  EXPECT_EQ(Evaluated("DATE_ADD('2024-02-28 11:00:00', 2)"), "2024-03-01");
}

TEST(FunctionsTest, TextOfTimes) {
  EXPECT_EQ(Evaluated("DATE_FORMAT(ts, 'yyyy/MM/dd HH:mm:ss.SSS')"), "2024/02/29 12:34:56.789");
  EXPECT_EQ(Evaluated("DATE_FORMAT(ts, 'EEE d MMM yy, h a')"), "Thu 29 Feb 24, 12 PM");
  EXPECT_EQ(Evaluated("DATE_FORMAT(ltz, 'yyyyMMdd''T''HH')"), "20240229T13");
  EXPECT_EQ(Evaluated("DATE_FORMAT_TZ(ltz, 'Asia/Tokyo')"), "2024-02-29 21:00:00");
  EXPECT_EQ(Evaluated("DATE_FORMAT_TZ(ltz, 'HH:mm', 'UTC')"), "12:00");
  EXPECT_EQ(Evaluated("DATE_FORMAT_TZ(ltz, 'HH:mm', 'Nowhere')"),
            "! there is no time zone of that name");
  EXPECT_EQ(Evaluated("TO_DATE('2024-02-29')"), "2024-02-29");
  EXPECT_EQ(Evaluated("TO_DATE('29.02.2024', 'dd.MM.yyyy')"), "2024-02-29");
  EXPECT_EQ(Evaluated("TO_DATE('x')"), "NULL");
  EXPECT_EQ(Evaluated("TO_DATE(ltz)"), "2024-02-29");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP('2024-02-29 01:02:03')"), "2024-02-29 01:02:03.000");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP('20240229 010203', 'yyyyMMdd HHmmss')"),
            "2024-02-29 01:02:03.000");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP('x')"), "! 'x' is no timestamp of this pattern");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP_LTZ(1709208000000, 3)"), "2024-02-29 12:00:00.000Z");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP_LTZ(1709208000, 0)"), "2024-02-29 12:00:00.000Z");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP_LTZ('2024-02-29 12:00:00')"), "2024-02-29 12:00:00.000Z");
  EXPECT_EQ(Evaluated("TO_TIMESTAMP_LTZ('2024-02-29 12', 'yyyy-MM-dd HH', 'Asia/Tokyo')"),
            "2024-02-29 03:00:00.000Z");
  EXPECT_EQ(Evaluated("FROM_UNIXTIME(1709208000)"), "2024-02-29 13:00:00");
  EXPECT_EQ(Evaluated("FROM_UNIXTIME(0, 'yyyy')"), "1970");
  EXPECT_EQ(Evaluated("UNIX_TIMESTAMP('2024-02-29 13:00:00')"), "1709208000");
  EXPECT_EQ(Evaluated("UNIX_TIMESTAMP('x')"), "-9223372036854775808");
  EXPECT_EQ(Evaluated("CONVERT_TZ('2024-02-29 12:00:00', 'UTC', 'Asia/Tokyo')"),
            "2024-02-29 21:00:00");
}

TEST(FunctionsTest, Now) {
  EXPECT_EQ(Evaluated("CURRENT_TIMESTAMP"), "2024-03-01 10:20:30.456Z");
  EXPECT_EQ(Evaluated("NOW()"), "2024-03-01 10:20:30.456Z");
  EXPECT_EQ(Evaluated("LOCALTIMESTAMP"), "2024-03-01 11:20:30.456");
  EXPECT_EQ(Evaluated("CURRENT_DATE"), "2024-03-01");
  EXPECT_EQ(Evaluated("LOCALTIME"), "11:20:30");
  EXPECT_EQ(Evaluated("CURRENT_TIME"), "11:20:30");
  EXPECT_EQ(Evaluated("UNIX_TIMESTAMP()"), "1709288430");
}

TEST(FunctionsTest, Json) {
  EXPECT_EQ(Evaluated("JSON_VALUE(js, '$.a.b[1]')"), "two");
  EXPECT_EQ(Evaluated("JSON_VALUE(js, '$.n')"), "1.5");
  EXPECT_EQ(Evaluated("JSON_VALUE(js, '$.z')"), "NULL");
  EXPECT_EQ(Evaluated("JSON_VALUE(js, '$.a')"), "NULL");
  EXPECT_EQ(Evaluated("JSON_QUERY(js, '$.a.b')"), "[1,\"two\"]");
  EXPECT_EQ(Evaluated("JSON_EXISTS(js, '$.a.c')"), "false");
  EXPECT_EQ(Evaluated("IS_JSON(js)"), "true");
  EXPECT_EQ(Evaluated("IS_JSON(js)", 2), "false");
  EXPECT_EQ(Evaluated("PARSE_JSON(js)['a']['b'][1]"), "1");
  EXPECT_EQ(Evaluated("CAST(PARSE_JSON(js)['a']['b'][2] AS STRING)"), "two");
  EXPECT_EQ(Evaluated("CAST(PARSE_JSON(js)['n'] AS DOUBLE)"), "1.5");
  EXPECT_EQ(Evaluated("PARSE_JSON(js)", 2), "! PARSE_JSON: the text is no JSON document");
  EXPECT_EQ(Evaluated("TRY_PARSE_JSON(js)", 2), "NULL");
  EXPECT_EQ(Evaluated("PARSE_JSON(js)", 1), "NULL");
  EXPECT_EQ(Evaluated("JSON_STRING(s)"), "\"Hello, Wörld\"");
}

TEST(FunctionsTest, WhatIsConstantIsOneValueForAllRows) {
  EXPECT_EQ(Evaluated("UPPER('a') || LOWER('B')", 2), "Ab");
  EXPECT_EQ(Evaluated("1 = 1", 1), "true");
  EXPECT_EQ(Evaluated("NULL", 1), "NULL");
}

}  // namespace
}  // namespace driftless::flink
