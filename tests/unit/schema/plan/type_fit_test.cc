#include "schema/plan/type_fit.h"

#include <gtest/gtest.h>

#include "schema/types/casts.h"
#include "tests/doubles/random_schema.h"

namespace driftless {
namespace {

bool Holds(const char* column, const char* wanted) {
  return HoldsEveryValue(*ParseLogicalType(column), *ParseLogicalType(wanted));
}

TEST(TypeFitTest, IntegersWiden) {
  EXPECT_TRUE(Holds("BIGINT", "INT"));
  EXPECT_FALSE(Holds("INT", "BIGINT"));
  EXPECT_TRUE(Holds("DOUBLE", "INT"));
  EXPECT_FALSE(Holds("DOUBLE", "BIGINT"));
  EXPECT_FALSE(Holds("FLOAT", "INT"));
  EXPECT_TRUE(Holds("DECIMAL(19, 0)", "BIGINT"));
  EXPECT_FALSE(Holds("DECIMAL(18, 0)", "BIGINT"));
  EXPECT_TRUE(Holds("DECIMAL(12, 4)", "DECIMAL(10, 2)"));
  EXPECT_FALSE(Holds("DECIMAL(12, 4)", "DECIMAL(10, 0)"));
}

TEST(TypeFitTest, TextsGrow) {
  EXPECT_TRUE(Holds("STRING", "VARCHAR(20)"));
  EXPECT_TRUE(Holds("VARCHAR(20)", "CHAR(20)"));
  EXPECT_FALSE(Holds("VARCHAR(19)", "VARCHAR(20)"));
  EXPECT_TRUE(Holds("STRING", "TIMESTAMP(6)"));
  EXPECT_FALSE(Holds("VARCHAR(10)", "INT"));
  EXPECT_TRUE(Holds("VARCHAR(11)", "INT"));
  EXPECT_FALSE(Holds("STRING", "BYTES"));
}

TEST(TypeFitTest, MisfitsSayFromWhichValueOn) {
  const auto misfits = [](const char* column, const char* wanted) {
    return Misfits(*ParseLogicalType(column), *ParseLogicalType(wanted));
  };
  EXPECT_EQ(misfits("BIGINT", "INT"), "");
  EXPECT_EQ(misfits("INT", "BIGINT"), "values above 2147483647 or below -2147483648");
  EXPECT_EQ(misfits("VARCHAR(20)", "VARCHAR(40)"), "texts longer than 20 characters");
  EXPECT_EQ(misfits("DECIMAL(10, 2)", "DECIMAL(12, 2)"),
            "numbers with more than 8 digits before or 2 behind the point");
  EXPECT_EQ(misfits("TIMESTAMP(3)", "TIMESTAMP(6)"), "times with more than 3 fractional digits");
}

// What the policy calls "already satisfied" must be what writers can carry out without a misfit.
TEST(TypeFitTest, WhatHoldsIsCastWithoutLoss) {
  testing::RandomSchemas random(41);
  for (int i = 0; i < 200000; ++i) {
    const LogicalType column = random.Type(1);
    const LogicalType wanted = random.Type(1);
    if (!HoldsEveryValue(column, wanted)) continue;
    ASSERT_LE(VerdictOfCast(wanted, column), CastVerdict::kWidens)
        << wanted.ToString() << " in " << column.ToString();
  }
}

}  // namespace
}  // namespace driftless
