#include <gtest/gtest.h>

#include <string>

#include "config/expr/expr_parser.h"
#include "config/expr/expr_print.h"
#include "config/expr/typing.h"

namespace driftless::flink {
namespace {

Scope Columns() {
  Scope scope;
  scope.columns = {{"a", LogicalType::Int()},    {"n", LogicalType::BigInt().NotNull()},
                   {"s", LogicalType::String()}, {"d", LogicalType::Decimal(10, 2)},
                   {"x", LogicalType::Double()}, {"t", LogicalType::Timestamp(3)}};
  return scope;
}

std::string TypeOf(const std::string& text) {
  auto expr = ParseExpr(text);
  if (!expr) return expr.error().message();
  const auto type = InferType(&*expr, Columns());
  return type ? type->ToString() : type.error().message();
}

std::string Printed(const std::string& text, PrintStyle style = PrintStyle::kAsWritten) {
  const auto expr = ParseExpr(text);
  return expr ? PrintExpr(*expr, style) : expr.error().message();
}

TEST(ExprTest, TypesFollowFlink) {
  EXPECT_EQ(TypeOf("a + 1"), "INT");
  EXPECT_EQ(TypeOf("a * n"), "BIGINT");
  EXPECT_EQ(TypeOf("a * 0.62"), "DECIMAL(14, 2)");
  EXPECT_EQ(TypeOf("d + d"), "DECIMAL(11, 2)");
  EXPECT_EQ(TypeOf("x / a"), "DOUBLE");
  EXPECT_EQ(TypeOf("n > 3"), "BOOLEAN NOT NULL");
  EXPECT_EQ(TypeOf("a IS NULL"), "BOOLEAN NOT NULL");
  EXPECT_EQ(TypeOf("COALESCE(s, 'x')"), "STRING NOT NULL");
  EXPECT_EQ(TypeOf("CASE WHEN a = 1 THEN 'one' ELSE 'many' END"), "VARCHAR(4) NOT NULL");
  EXPECT_EQ(TypeOf("t - INTERVAL '5' SECOND"), "TIMESTAMP(3)");
  EXPECT_EQ(TypeOf("CAST(s AS DECIMAL(10, 2))"), "DECIMAL(10, 2)");
}

TEST(ExprTest, WhatDoesNotFitIsSaidInFlinksWords) {
  EXPECT_EQ(TypeOf("zz + 1"),
            "org.apache.calcite.sql.validate.SqlValidatorException: Unknown identifier 'zz'");
  EXPECT_EQ(TypeOf("nofn(a)"),
            "org.apache.calcite.sql.validate.SqlValidatorException: No match found for function "
            "signature nofn(<NUMERIC>)");
  auto expr = ParseExpr("uper(s)");
  ASSERT_TRUE(expr);
  const auto type = InferType(&*expr, Columns());
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().hint(), "Did you mean UPPER?");
}

TEST(ExprTest, PrintsAsCalcite) {
  EXPECT_EQ(Printed("(a+1)*(a-2)/3"), "(`a` + 1) * (`a` - 2) / 3");
  EXPECT_EQ(Printed("a - (n - 1)"), "`a` - (`n` - 1)");
  EXPECT_EQ(Printed("not (a = 1)"), "NOT `a` = 1");
  EXPECT_EQ(Printed("a or (n and a)"), "`a` OR `n` AND `a`");
  EXPECT_EQ(Printed("(a or n) and a"), "(`a` OR `n`) AND `a`");
  EXPECT_EQ(Printed("cast(s as int)"), "CAST(`s` AS INTEGER)");
  EXPECT_EQ(Printed("trim(s)"), "TRIM(BOTH ' ' FROM `s`)");
  EXPECT_EQ(Printed("substring(s from 2)"), "SUBSTRING(`s`, 2)");
  EXPECT_EQ(Printed("to_timestamp(s)"), "`to_timestamp`(`s`)");
  EXPECT_EQ(Printed("to_timestamp(s)", PrintStyle::kValidated), "TO_TIMESTAMP(`s`)");
  EXPECT_EQ(Printed("a between 1 and 2"), "`a` BETWEEN ASYMMETRIC 1 AND 2");
}

TEST(ExprTest, ErrorsPointAtTheirToken) {
  for (const auto& [text, column] : {std::pair<const char*, int>{"a +", 4},
                                     {"a + * 2", 7},
                                     {"(a", 3},
                                     {"CASE a END", 8},
                                     {"CAST(a INT)", 8},
                                     {"a IS 3", 6},
                                     {"a b", 3},
                                     {"INTERVAL 5 SECOND", 10}}) {
    const auto expr = ParseExpr(text);
    ASSERT_FALSE(expr) << text;
    EXPECT_EQ(expr.error().line(), 1) << text;
    EXPECT_EQ(expr.error().column(), column) << text << ": " << expr.error().message();
  }
}

TEST(ExprTest, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_FALSE(ParseExpr(std::string(100000, '(')));
  EXPECT_FALSE(ParseExpr(std::string(100000, '-')));
}

}  // namespace
}  // namespace driftless::flink
