#include <gtest/gtest.h>

#include "tests/unit/config/expr/evaluated.h"

namespace driftless::flink {
namespace {

TEST(OperatorsTest, IntegersWrapAndCutOff) {
  EXPECT_EQ(Evaluated("a + 1"), "8");
  EXPECT_EQ(Evaluated("a + 1", 1), "NULL");
  EXPECT_EQ(Evaluated("a / 2"), "3");
  EXPECT_EQ(Evaluated("a / 2", 2), "-3");
  EXPECT_EQ(Evaluated("a % 4", 2), "-3");
  EXPECT_EQ(Evaluated("MOD(a, 4)"), "3");
  EXPECT_EQ(Evaluated("ti + ti"), "-2");
  EXPECT_EQ(Evaluated("2147483647 + id"), "-2147483648");
  EXPECT_EQ(Evaluated("-a"), "-7");
  EXPECT_EQ(Evaluated("b * a"), "21");
  EXPECT_EQ(Evaluated("9223372036854775807 + b"), "-9223372036854775806");
  EXPECT_EQ(Evaluated("1 + 2 * 3"), "7");
}

TEST(OperatorsTest, DivisionByZeroFailsOnlyWhereItCounts) {
  EXPECT_EQ(Evaluated("a / b", 2), "! division by zero");
  EXPECT_EQ(Evaluated("a % b", 2), "! division by zero");
  EXPECT_EQ(Evaluated("a / b", 0), "2");
  EXPECT_EQ(Evaluated("CASE WHEN b <> 0 THEN a / b ELSE -1 END", 2), "-1");
  EXPECT_EQ(Evaluated("b <> 0 AND a / b > 0", 2), "false");
  EXPECT_EQ(Evaluated("a / b > 0 AND b <> 0", 2), "false");
  EXPECT_EQ(Evaluated("b = 0 OR a / b > 0", 2), "true");
  EXPECT_EQ(Evaluated("1 / 0 > 0"), "! division by zero");
  EXPECT_EQ(Evaluated("x / 0"), "Infinity");
}

TEST(OperatorsTest, DecimalsAreExact) {
  EXPECT_EQ(Evaluated("d + 0.05"), "12.40");
  EXPECT_EQ(Evaluated("d - d"), "0.00");
  EXPECT_EQ(Evaluated("d * d"), "152.5225");
  EXPECT_EQ(Evaluated("d / 3"), "4.1166666666667");
  EXPECT_EQ(TypeText("d / 3"), "DECIMAL(21, 13)");
  EXPECT_EQ(Evaluated("d / 0"), "! division by zero");
  EXPECT_EQ(Evaluated("d % 5"), "2.35");
  EXPECT_EQ(Evaluated("-d"), "-12.35");
  EXPECT_EQ(Evaluated("CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)) * 10"),
            "NULL");
  EXPECT_EQ(Evaluated("CAST('12345678901234567890.123456789' AS DECIMAL(38, 9)) * "
                      "CAST('1000000000.5' AS DECIMAL(20, 1))"),
            "12345678907407407340740740734.061728");
  EXPECT_EQ(Evaluated("CAST('1' AS DECIMAL(38, 18)) / CAST('3' AS DECIMAL(38, 18))"), "0.333333");
}

TEST(OperatorsTest, ComparisonsAreByValueAndThreeValued) {
  EXPECT_EQ(Evaluated("a = 7.00"), "true");
  EXPECT_EQ(Evaluated("a = b", 1), "NULL");
  EXPECT_EQ(Evaluated("a <> 7", 1), "NULL");
  EXPECT_EQ(Evaluated("d > 12.3"), "true");
  EXPECT_EQ(Evaluated("s = 'Hello, Wörld'"), "true");
  EXPECT_EQ(Evaluated("c = 'abc'"), "true");
  EXPECT_EQ(Evaluated("c < 'abd'"), "true");
  EXPECT_EQ(Evaluated("dt < ts"), "true");
  EXPECT_EQ(Evaluated("dt = '2024-02-29'"), "true");
  EXPECT_EQ(Evaluated("ts >= TIMESTAMP '2024-02-29 12:34:56.789'"), "true");
  EXPECT_EQ(Evaluated("a = '7'"), "true");
  EXPECT_EQ(Evaluated("a = 'x'"), "! CAST('x' AS DECIMAL(38, 18)) says no value");
  EXPECT_EQ(Evaluated("x > a"), "false");
  EXPECT_EQ(Evaluated("a IS DISTINCT FROM b", 1), "false");
  EXPECT_EQ(Evaluated("a IS NOT DISTINCT FROM 7"), "true");
  EXPECT_EQ(Evaluated("a IS DISTINCT FROM NULL"), "true");
  EXPECT_EQ(Evaluated("a BETWEEN 7 AND 8"), "true");
  EXPECT_EQ(Evaluated("a NOT BETWEEN 7 AND 8", 1), "NULL");
  EXPECT_EQ(Evaluated("a IN (1, 7)"), "true");
  EXPECT_EQ(Evaluated("a NOT IN (1, NULL)"), "NULL");
  EXPECT_EQ(Evaluated("a IN (1, NULL)", 2), "NULL");
  EXPECT_EQ(Evaluated("s IN ('', 'q')", 2), "true");
}

TEST(OperatorsTest, LogicIsKleenes) {
  EXPECT_EQ(Evaluated("t AND FALSE", 1), "false");
  EXPECT_EQ(Evaluated("t AND TRUE", 1), "NULL");
  EXPECT_EQ(Evaluated("t OR TRUE", 1), "true");
  EXPECT_EQ(Evaluated("NOT t", 1), "NULL");
  EXPECT_EQ(Evaluated("NOT t"), "false");
  EXPECT_EQ(Evaluated("t IS TRUE", 1), "false");
  EXPECT_EQ(Evaluated("t IS NOT TRUE", 1), "true");
  EXPECT_EQ(Evaluated("t IS UNKNOWN", 1), "true");
  EXPECT_EQ(Evaluated("t IS NOT FALSE"), "true");
  EXPECT_EQ(Evaluated("a IS NULL", 1), "true");
  EXPECT_EQ(Evaluated("a IS NOT NULL", 1), "false");
}

TEST(OperatorsTest, LikeIsSqls) {
  EXPECT_EQ(Evaluated("s LIKE 'Hello%'"), "true");
  EXPECT_EQ(Evaluated("s LIKE 'ello'"), "false");
  EXPECT_EQ(Evaluated("s LIKE '%W_rld'"), "true");
  EXPECT_EQ(Evaluated("s NOT LIKE 'H.*'"), "true");
  EXPECT_EQ(Evaluated("'10%' LIKE '10!%' ESCAPE '!'"), "true");
  EXPECT_EQ(Evaluated("'10x' LIKE '10!%' ESCAPE '!'"), "false");
  EXPECT_EQ(Evaluated("s LIKE 'x'", 1), "NULL");
  EXPECT_EQ(Evaluated("'abab' SIMILAR TO '(ab)+'"), "true");
}

TEST(OperatorsTest, CasesChooseByRow) {
  EXPECT_EQ(Evaluated("CASE WHEN a > 0 THEN 'plus' WHEN a < 0 THEN 'minus' ELSE 'none' END"),
            "plus");
  EXPECT_EQ(Evaluated("CASE WHEN a > 0 THEN 'plus' WHEN a < 0 THEN 'minus' ELSE 'none' END", 1),
            "none");
  EXPECT_EQ(Evaluated("CASE a WHEN 7 THEN 'seven' END", 2), "NULL");
  EXPECT_EQ(Evaluated("IF(a > 0, a, 0)", 2), "0");
  EXPECT_EQ(Evaluated("COALESCE(a, b, 5)", 1), "5");
  EXPECT_EQ(Evaluated("IFNULL(s, '-')", 1), "-");
  EXPECT_EQ(Evaluated("NULLIF(a, 7)"), "NULL");
  EXPECT_EQ(Evaluated("NULLIF(a, 8)"), "7");
  EXPECT_EQ(Evaluated("COALESCE(a / b, 1)", 2), "! division by zero");
}

TEST(OperatorsTest, CastsAreFlinks) {
  EXPECT_EQ(Evaluated("CAST(x AS INT)", 2), "-2");
  EXPECT_EQ(Evaluated("CAST(300 AS TINYINT)"), "44");
  EXPECT_EQ(Evaluated("CAST(1e20 AS INT)"), "2147483647");
  EXPECT_EQ(Evaluated("CAST(d AS INT)"), "12");
  EXPECT_EQ(Evaluated("CAST(d AS DECIMAL(4, 1))"), "12.4");
  EXPECT_EQ(Evaluated("CAST(d AS DECIMAL(3, 2))"), "NULL");
  EXPECT_EQ(Evaluated("CAST(x AS STRING)"), "2.5");
  EXPECT_EQ(Evaluated("CAST(1e10 AS STRING)"), "1.0E10");
  EXPECT_EQ(Evaluated("CAST(3 AS DOUBLE)"), "3");
  EXPECT_EQ(Evaluated("CAST(t AS STRING)"), "TRUE");
  EXPECT_EQ(Evaluated("CAST('yes' AS BOOLEAN)"), "true");
  EXPECT_EQ(Evaluated("CAST(' 12 ' AS INT)"), "12");
  EXPECT_EQ(Evaluated("CAST('12.9' AS INT)"), "12");
  EXPECT_EQ(Evaluated("CAST('x' AS INT)"), "! CAST('x' AS INT) says no value");
  EXPECT_EQ(Evaluated("TRY_CAST('x' AS INT)"), "NULL");
  EXPECT_EQ(Evaluated("TRY_CAST('x' AS INT) IS NULL"), "true");
  EXPECT_EQ(Evaluated("CAST('1.005' AS DECIMAL(4, 2))"), "1.01");
  EXPECT_EQ(Evaluated("CAST(s AS VARCHAR(3))"), "Hel");
  EXPECT_EQ(Evaluated("CAST('2024-1-5' AS DATE)"), "2024-01-05");
  EXPECT_EQ(Evaluated("CAST(ts AS DATE)", 2), "1969-12-31");
  EXPECT_EQ(Evaluated("CAST(ts AS TIMESTAMP(3))"), "2024-02-29 12:34:56.789");
  EXPECT_EQ(Evaluated("CAST(ts AS TIME(0))"), "12:34:56");
  EXPECT_EQ(Evaluated("CAST(ltz AS TIMESTAMP(0))"), "2024-02-29 13:00:00");
  EXPECT_EQ(Evaluated("CAST(ltz AS STRING)"), "2024-02-29 13:00:00.000");
  EXPECT_EQ(Evaluated("CAST(dt AS TIMESTAMP_LTZ(0))"), "2024-02-28 23:00:00Z");
  EXPECT_EQ(Evaluated("CAST(bin AS STRING)"), "hello");
  EXPECT_EQ(Evaluated("CAST(a AS BOOLEAN)"), "true");
}

TEST(OperatorsTest, IntervalsKnowTheCalendar) {
  EXPECT_EQ(Evaluated("dt + INTERVAL '1' YEAR"), "2025-02-28");
  EXPECT_EQ(Evaluated("dt + INTERVAL '1' DAY"), "2024-03-01");
  EXPECT_EQ(Evaluated("ts - INTERVAL '1 12' DAY TO HOUR"), "2024-02-28 00:34:56.789012");
  EXPECT_EQ(Evaluated("ts + INTERVAL '1-1' YEAR TO MONTH"), "2025-03-29 12:34:56.789012");
  EXPECT_EQ(Evaluated("INTERVAL '1.5' SECOND + ts"), "2024-02-29 12:34:58.289012");
  EXPECT_EQ(Evaluated("tm + INTERVAL '12' HOUR"), "00:34:56.789");
}

TEST(OperatorsTest, NestedValues) {
  EXPECT_EQ(Evaluated("r.n"), "11");
  EXPECT_EQ(Evaluated("r.m", 2), "out");
  EXPECT_EQ(Evaluated("arr[1]"), "1");
  EXPECT_EQ(Evaluated("arr[2]"), "NULL");
  EXPECT_EQ(Evaluated("arr[4]"), "NULL");
  EXPECT_EQ(Evaluated("arr[1]", 1), "NULL");
  EXPECT_EQ(Evaluated("ARRAY[a, 2]"), "[7,2]");
  EXPECT_EQ(Evaluated("CARDINALITY(arr)"), "3");
  EXPECT_EQ(Evaluated("ARRAY_CONTAINS(arr, 3)"), "true");
  EXPECT_EQ(Evaluated("ARRAY_CONTAINS(arr, NULL)"), "true");
  EXPECT_EQ(Evaluated("ARRAY_POSITION(arr, 3)"), "3");
  EXPECT_EQ(Evaluated("ELEMENT(arr)"), "1");
}

TEST(OperatorsTest, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_NE(Evaluated("1 + nosuch").find("line 1, column 5"), std::string::npos);
  EXPECT_NE(Evaluated("a +\n uper(s)").find("line 2, column 2"), std::string::npos);
  EXPECT_NE(Evaluated("a +\n uper(s)").find("Did you mean UPPER?"), std::string::npos);
  EXPECT_NE(Evaluated("a = arr").find("line 1, column 1"), std::string::npos);
  EXPECT_NE(Evaluated("REGEXP(s, 'a(?=b)')").find("lookaround"), std::string::npos);
  EXPECT_NE(Evaluated("SUM(a)").find("row by row"), std::string::npos);
  EXPECT_NE(Evaluated("EXTRACT(CENTURY FROM ts)").find("needs one of"), std::string::npos);
}

}  // namespace
}  // namespace driftless::flink
