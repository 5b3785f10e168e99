#include "schema/types/casts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "schema/events/change_batch_builder.h"
#include "schema/types/value_text.h"
#include "tests/doubles/random_values.h"

namespace driftless {
namespace {

LogicalType Type(std::string_view text) { return ParseLogicalType(text).value(); }

std::string_view Name(CastVerdict verdict) {
  switch (verdict) {
    case CastVerdict::kFits: return "fits";
    case CastVerdict::kWidens: return "widens";
    case CastVerdict::kLoses: return "loses";
    case CastVerdict::kImpossible: return "impossible";
  }
  return "";
}

std::string Verdict(std::string_view from, std::string_view to) {
  return std::string(Name(VerdictOfCast(Type(from), Type(to))));
}

TEST(CastVerdictTest, NumbersFollowTheirRanges) {
  EXPECT_EQ(Verdict("INT", "INT NOT NULL"), "fits");
  EXPECT_EQ(Verdict("INT", "BIGINT"), "widens");
  EXPECT_EQ(Verdict("BIGINT", "INT"), "loses");
  EXPECT_EQ(Verdict("BOOLEAN", "TINYINT"), "widens");
  EXPECT_EQ(Verdict("TINYINT", "BOOLEAN"), "loses");
  EXPECT_EQ(Verdict("INT", "DECIMAL(10, 0)"), "widens");
  EXPECT_EQ(Verdict("INT", "DECIMAL(10, 2)"), "loses");
  EXPECT_EQ(Verdict("DECIMAL(9, 0)", "INT"), "widens");
  EXPECT_EQ(Verdict("DECIMAL(10, 0)", "INT"), "loses");
  EXPECT_EQ(Verdict("DECIMAL(10, 2)", "DECIMAL(12, 2)"), "fits");
  EXPECT_EQ(Verdict("DECIMAL(10, 2)", "DECIMAL(12, 4)"), "widens");
  EXPECT_EQ(Verdict("DECIMAL(10, 2)", "DECIMAL(11, 4)"), "loses");
  EXPECT_EQ(Verdict("FLOAT", "DOUBLE"), "widens");
  EXPECT_EQ(Verdict("DOUBLE", "FLOAT"), "loses");
  EXPECT_EQ(Verdict("INT", "DOUBLE"), "widens");
  EXPECT_EQ(Verdict("BIGINT", "DOUBLE"), "loses");
  EXPECT_EQ(Verdict("SMALLINT", "FLOAT"), "widens");
  EXPECT_EQ(Verdict("DECIMAL(15, 3)", "DOUBLE"), "widens");
  EXPECT_EQ(Verdict("DECIMAL(16, 3)", "DOUBLE"), "loses");
  EXPECT_EQ(Verdict("DATE", "INT"), "impossible");
}

TEST(CastVerdictTest, TextAndBytesFollowTheirLengths) {
  EXPECT_EQ(Verdict("VARCHAR(10)", "VARCHAR(20)"), "fits");
  EXPECT_EQ(Verdict("CHAR(10)", "STRING"), "fits");
  EXPECT_EQ(Verdict("VARCHAR(20)", "VARCHAR(10)"), "loses");
  EXPECT_EQ(Verdict("STRING", "BYTES"), "fits");
  EXPECT_EQ(Verdict("BYTES", "STRING"), "widens");
  EXPECT_EQ(Verdict("INT", "VARCHAR(11)"), "widens");
  EXPECT_EQ(Verdict("INT", "VARCHAR(10)"), "loses");
  EXPECT_EQ(Verdict("DECIMAL(10, 10)", "VARCHAR(13)"), "widens");
  EXPECT_EQ(Verdict("DECIMAL(10, 10)", "VARCHAR(12)"), "loses");
  EXPECT_EQ(Verdict("STRING", "INT"), "loses");
  EXPECT_EQ(Verdict("BINARY(4)", "VARBINARY(4)"), "fits");
  EXPECT_EQ(Verdict("ROW<a INT>", "STRING"), "widens");
  EXPECT_EQ(Verdict("STRING", "ROW<a INT>"), "impossible");
  EXPECT_EQ(Verdict("STRING", "VARIANT"), "loses");
  EXPECT_EQ(Verdict("VARIANT", "STRING"), "fits");
}

TEST(CastVerdictTest, TimesFollowTheirPrecision) {
  EXPECT_EQ(Verdict("TIMESTAMP(3)", "TIMESTAMP(6)"), "fits");
  EXPECT_EQ(Verdict("TIMESTAMP(6)", "TIMESTAMP(9)"), "widens");
  EXPECT_EQ(Verdict("TIMESTAMP(6)", "TIMESTAMP(3)"), "loses");
  EXPECT_EQ(Verdict("TIMESTAMP_LTZ(3)", "TIMESTAMP_TZ(3)"), "fits");
  EXPECT_EQ(Verdict("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)"), "widens");
  EXPECT_EQ(Verdict("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"), "loses");
  EXPECT_EQ(Verdict("DATE", "TIMESTAMP(0)"), "widens");
  EXPECT_EQ(Verdict("TIMESTAMP(0)", "DATE"), "loses");
  EXPECT_EQ(Verdict("TIME(0)", "TIMESTAMP(0)"), "impossible");
  EXPECT_EQ(Verdict("TIME(3)", "TIME(0)"), "loses");
}

TEST(CastVerdictTest, NestedTypesFollowTheirChildren) {
  EXPECT_EQ(Verdict("ARRAY<INT>", "ARRAY<BIGINT>"), "widens");
  EXPECT_EQ(Verdict("ROW<a INT, b STRING>", "ROW<a INT, b VARCHAR(2)>"), "loses");
  EXPECT_EQ(Verdict("ROW<a INT>", "ROW<b INT>"), "impossible");
  EXPECT_EQ(Verdict("MAP<INT, INT>", "MAP<BIGINT, INT>"), "widens");
  EXPECT_EQ(Verdict("MULTISET<INT>", "MAP<INT, INT>"), "impossible");
}

// Casts one value that `append` makes; gives its text in the new type, or "misfit".
std::string CastOne(const LogicalType& from, std::string_view to_text,
                    const std::function<void(ColumnBuilder&)>& append,
                    std::string_view zone = "UTC") {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("v", from);
  ChangeBatchBuilder builder(schema, 0);
  builder.BeginRow(Op::kInsert, Point{}, 0);
  append(builder.after(0));
  builder.EndRow();
  const ChangeBatchPtr batch = builder.Seal();
  const LogicalType to = Type(to_text);
  OwnedColumn out;
  ColumnCast(from, to, TimeZone::Load(zone).value()).Run(batch->after()[0], &out);
  const ColumnView view = out.view();
  if (out.IsMisfit(0)) {
    EXPECT_TRUE(view.IsNull(0));
    EXPECT_EQ(out.misfit_count, 1);
    return "misfit";
  }
  EXPECT_EQ(out.misfit_count, 0);
  if (view.IsNull(0)) return "null";
  std::string text;
  AppendText(to, view, 0, {.bytes = BytesText::kHex}, &text);
  return text;
}

std::string FromText(std::string_view value, std::string_view to, std::string_view zone = "UTC") {
  return CastOne(LogicalType::String(), to, [&](ColumnBuilder& c) { c.AppendBytes(value); }, zone);
}
std::string FromInt(std::string_view from, int64_t value, std::string_view to,
                    std::string_view zone = "UTC") {
  return CastOne(Type(from), to, [&](ColumnBuilder& c) { c.AppendInt(value); }, zone);
}
std::string FromDouble(double value, std::string_view to) {
  return CastOne(LogicalType::Double(), to, [&](ColumnBuilder& c) { c.AppendDouble(value); });
}
std::string FromDecimal(std::string_view from, Int128 value, std::string_view to) {
  return CastOne(Type(from), to, [&](ColumnBuilder& c) { c.AppendInt128(value); });
}

TEST(CastTest, NumbersThatFitKeepTheirValue) {
  EXPECT_EQ(FromInt("BIGINT", 127, "TINYINT"), "127");
  EXPECT_EQ(FromInt("BIGINT", 128, "TINYINT"), "misfit");
  EXPECT_EQ(FromInt("BIGINT", INT64_MIN, "INT"), "misfit");
  EXPECT_EQ(FromInt("BIGINT", 1LL << 53, "DOUBLE"), "9007199254740992");
  EXPECT_EQ(FromInt("BIGINT", (1LL << 53) + 1, "DOUBLE"), "misfit");
  EXPECT_EQ(FromInt("BIGINT", INT64_MAX, "DOUBLE"), "misfit");
  EXPECT_EQ(FromInt("BIGINT", INT64_MIN, "DOUBLE"), "-9223372036854775808");
  EXPECT_EQ(FromInt("INT", 16777217, "FLOAT"), "misfit");
  EXPECT_EQ(FromInt("INT", 99, "DECIMAL(4, 2)"), "99.00");
  EXPECT_EQ(FromInt("INT", 100, "DECIMAL(4, 2)"), "misfit");
  EXPECT_EQ(FromInt("BIGINT", INT64_MIN, "DECIMAL(38, 19)"),
            "-9223372036854775808." + std::string(19, '0'));
  EXPECT_EQ(FromInt("INT", 1, "BOOLEAN"), "true");
  EXPECT_EQ(FromInt("INT", 2, "BOOLEAN"), "misfit");
  EXPECT_EQ(FromDouble(7, "INT"), "7");
  EXPECT_EQ(FromDouble(7.5, "INT"), "misfit");
  EXPECT_EQ(FromDouble(9223372036854775808.0, "BIGINT"), "misfit");
  EXPECT_EQ(FromDouble(std::numeric_limits<double>::quiet_NaN(), "INT"), "misfit");
  EXPECT_EQ(FromDouble(std::numeric_limits<double>::quiet_NaN(), "DECIMAL(5, 2)"), "misfit");
  EXPECT_EQ(FromDouble(std::numeric_limits<double>::quiet_NaN(), "FLOAT"), "NaN");
  EXPECT_EQ(FromDouble(0.5, "FLOAT"), "0.5");
  EXPECT_EQ(FromDouble(0.1, "FLOAT"), "misfit");
  EXPECT_EQ(FromDouble(1e300, "FLOAT"), "misfit");
  EXPECT_EQ(FromDouble(12.3, "DECIMAL(5, 2)"), "12.30");
  EXPECT_EQ(FromDouble(12.345, "DECIMAL(5, 2)"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(10, 2)", 1200, "INT"), "12");
  EXPECT_EQ(FromDecimal("DECIMAL(10, 2)", 1201, "INT"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(38, 0)", PowerOfTen(37), "BIGINT"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(38, 0)", Int128{1} << 64, "BIGINT"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(10, 2)", 1230, "DECIMAL(3, 1)"), "12.3");
  EXPECT_EQ(FromDecimal("DECIMAL(10, 2)", 1234, "DECIMAL(3, 1)"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(10, 2)", 12300, "DECIMAL(3, 1)"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(38, 1)", 1, "DOUBLE"), "0.1");
  EXPECT_EQ(FromDecimal("DECIMAL(38, 0)", PowerOfTen(20) + 1, "DOUBLE"), "misfit");
  EXPECT_EQ(FromDecimal("DECIMAL(38, 0)", PowerOfTen(20), "DOUBLE"), "1e+20");
}

TEST(CastTest, TextIsRead) {
  EXPECT_EQ(FromText(" +12 ", "INT"), "12");
  EXPECT_EQ(FromText("12.0", "INT"), "12");
  EXPECT_EQ(FromText("12.5", "INT"), "misfit");
  EXPECT_EQ(FromText("1e3", "SMALLINT"), "1000");
  EXPECT_EQ(FromText("99999999999", "INT"), "misfit");
  EXPECT_EQ(FromText("", "INT"), "misfit");
  EXPECT_EQ(FromText("+-1", "INT"), "misfit");
  EXPECT_EQ(FromText("0.1", "DOUBLE"), "0.1");
  EXPECT_EQ(FromText("0.10000000000000000", "DOUBLE"), "0.1");
  EXPECT_EQ(FromText("0.10000000000000000001", "DOUBLE"), "misfit");
  EXPECT_EQ(FromText("12345678901234567890", "DOUBLE"), "misfit");
  EXPECT_EQ(FromText("NaN", "DOUBLE"), "NaN");
  EXPECT_EQ(FromText("1e999", "DOUBLE"), "misfit");
  EXPECT_EQ(FromText("16777217", "FLOAT"), "misfit");
  EXPECT_EQ(FromText("0", "DOUBLE"), "0");
  EXPECT_EQ(FromText("-12.30", "DECIMAL(4, 2)"), "-12.30");
  EXPECT_EQ(FromText("TRUE", "BOOLEAN"), "true");
  EXPECT_EQ(FromText("0", "BOOLEAN"), "false");
  EXPECT_EQ(FromText("maybe", "BOOLEAN"), "misfit");
  EXPECT_EQ(FromText("2024-01-31", "DATE"), "2024-01-31");
  EXPECT_EQ(FromText("2024-01-31 00:00:00", "DATE"), "2024-01-31");
  EXPECT_EQ(FromText("2024-01-31 00:00:01", "DATE"), "misfit");
  EXPECT_EQ(FromText("0000-00-00", "DATE"), "misfit");
  EXPECT_EQ(FromText("infinity", "TIMESTAMP(6)"), "misfit");
  EXPECT_EQ(FromText("12:34:56.5", "TIME(3)"), "12:34:56.500");
  EXPECT_EQ(FromText("12:34:56.5", "TIME(0)"), "misfit");
  EXPECT_EQ(FromText("24:00:00", "TIME(0)"), "misfit");
  EXPECT_EQ(FromText("2024-01-31 12:00:00.123456", "TIMESTAMP(6)"), "2024-01-31 12:00:00.123456");
  EXPECT_EQ(FromText("2024-01-31 12:00:00.1234567", "TIMESTAMP(6)"), "misfit");
  EXPECT_EQ(FromText("9999-12-31", "TIMESTAMP(9)"), "misfit");
  EXPECT_EQ(FromText("{\"a\":[1]}", "VARIANT"), "{\"a\":[1]}");
  EXPECT_EQ(FromText("{a}", "VARIANT"), "misfit");
  EXPECT_EQ(FromText("zw\xC3\xB6lf", "VARCHAR(5)"), "zw\xC3\xB6lf");
  EXPECT_EQ(FromText("zw\xC3\xB6lf", "VARCHAR(4)"), "misfit");
  EXPECT_EQ(FromText("zw\xC3\xB6lf", "VARBINARY(6)"), "7a77c3b66c66");
  EXPECT_EQ(FromText("zw\xC3\xB6lf", "VARBINARY(5)"), "misfit");
  EXPECT_EQ(FromText("a", "ARRAY<INT>"), "misfit");
}

TEST(CastTest, MomentsAndLocalTimesAreRelatedByTheZone) {
  constexpr std::string_view kZone = "Europe/Berlin";
  EXPECT_EQ(FromText("2024-01-31 12:00:00", "TIMESTAMP_LTZ(0)", kZone), "2024-01-31 11:00:00Z");
  EXPECT_EQ(FromText("2024-01-31 12:00:00+05", "TIMESTAMP_LTZ(0)", kZone), "2024-01-31 07:00:00Z");
  EXPECT_EQ(FromText("2024-01-31 11:00:00Z", "TIMESTAMP(0)", kZone), "2024-01-31 12:00:00");
  EXPECT_EQ(FromText("2024-03-31 02:30:00", "TIMESTAMP_LTZ(0)", kZone), "misfit");
  EXPECT_EQ(FromText("2024-03-31 02:30:00", "TIMESTAMP(0)", kZone), "2024-03-31 02:30:00");
  const int64_t noon = 1706702400LL * kMicrosPerSecond;  // 2024-01-31 12:00 UTC
  EXPECT_EQ(FromInt("TIMESTAMP(3)", noon, "TIMESTAMP_LTZ(9)", kZone),
            "2024-01-31 11:00:00.000000000Z");
  EXPECT_EQ(FromInt("TIMESTAMP_LTZ(3)", noon, "TIMESTAMP(0)", kZone), "2024-01-31 13:00:00");
  EXPECT_EQ(FromInt("TIMESTAMP_LTZ(3)", noon + 500000, "TIMESTAMP(0)", kZone), "misfit");
  // 2024-10-27 01:30 UTC is the second 02:30 in Berlin: the local time alone would mean the first.
  const int64_t second = 1729992600LL * kMicrosPerSecond;
  EXPECT_EQ(FromInt("TIMESTAMP_LTZ(0)", second, "TIMESTAMP(0)", kZone), "misfit");
  EXPECT_EQ(FromInt("TIMESTAMP_LTZ(0)", second - 3600 * kMicrosPerSecond, "TIMESTAMP(0)", kZone),
            "2024-10-27 02:30:00");
  EXPECT_EQ(FromInt("TIMESTAMP_LTZ(0)", noon - 13 * 3600 * kMicrosPerSecond, "DATE", kZone),
            "2024-01-31");
  EXPECT_EQ(FromInt("DATE", 0, "TIMESTAMP_LTZ(0)", kZone), "1969-12-31 23:00:00Z");
}

TEST(CastTest, AListWithAMisfitInsideIsAMisfit) {
  const auto list = [](std::initializer_list<int64_t> items) {
    return [items](ColumnBuilder& c) {
      for (const int64_t item : items) c.child(0).AppendInt(item);
      c.CloseList();
    };
  };
  EXPECT_EQ(CastOne(Type("ARRAY<INT>"), "ARRAY<TINYINT>", list({1, 2})), "[1,2]");
  EXPECT_EQ(CastOne(Type("ARRAY<INT>"), "ARRAY<TINYINT>", list({1, 200})), "misfit");
  EXPECT_EQ(CastOne(Type("ARRAY<INT>"), "STRING", list({1, 2})), "[1,2]");
  EXPECT_EQ(CastOne(Type("ARRAY<INT>"), "VARCHAR(3)", list({1, 2})), "misfit");
}

TEST(CastTest, NullAndAbsentStay) {
  auto schema = std::make_shared<TableSchema>();
  schema->AddColumn("v", LogicalType::Int());
  ChangeBatchBuilder builder(schema, 0);
  for (int i = 0; i < 3; ++i) {
    builder.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(i), 0, 0}, 0);
    if (i == 0) builder.after(0).AppendNull();
    if (i == 1) builder.after(0).AppendAbsent();
    if (i == 2) builder.after(0).AppendInt(5);
    builder.EndRow();
  }
  const ChangeBatchPtr batch = builder.Seal();
  OwnedColumn out;
  for (const char* to : {"BIGINT", "STRING", "BOOLEAN", "DATE", "DOUBLE"}) {
    ColumnCast(LogicalType::Int(), Type(to), TimeZone()).Run(batch->after()[0], &out);
    EXPECT_TRUE(out.view().IsNull(0) && !out.view().IsAbsent(0)) << to;
    EXPECT_TRUE(out.view().IsNull(1) && out.view().IsAbsent(1)) << to;
    EXPECT_FALSE(out.view().IsAbsent(2)) << to;
    EXPECT_FALSE(out.IsMisfit(0) || out.IsMisfit(1)) << to;
  }
}

// The contract of the verdicts, on random types and values: what fits or widens has no misfit, and
// whatever the cast lets through comes back as it was.
TEST(CastTest, WhatIsLetThroughComesBack) {
  testing::RandomSchemas random(31);
  const TimeZone zone = TimeZone::Load("America/New_York").value();
  for (int round = 0; round < 4000; ++round) {
    const LogicalType from = random.Type(1);
    const LogicalType to = random.Type(1);
    // Text is read in many spellings, and bytes become text in a form of their own.
    const bool spelled_anew = from.IsCharacter() || from.IsBytes() || from.IsNested() ||
                              from.kind() == TypeKind::kVariant || to.IsBytes() ||
                              to.kind() == TypeKind::kVariant;
    auto schema = std::make_shared<TableSchema>();
    schema->AddColumn("v", from);
    const ChangeBatchPtr batch = testing::RandomBatch(schema, 20, &random);
    const ColumnView in = batch->after()[0];
    const ColumnCast there(from, to, zone);
    OwnedColumn out;
    there.Run(in, &out);
    const ColumnView cast = out.view();
    const bool nanos_limit = to.IsTimestamp() && to.IsNanos();
    const bool zone_gap = to.IsTimestamp() && to.kind() != TypeKind::kTimestamp;
    if (there.verdict() <= CastVerdict::kWidens && !nanos_limit && !zone_gap && !to.IsNested()) {
      ASSERT_EQ(out.misfit_count, 0) << from.ToString() << " to " << to.ToString();
    }
    ASSERT_EQ(cast.length, in.length);
    if (spelled_anew) continue;
    OwnedColumn back;
    ColumnCast(to, from, zone).Run(cast, &back);
    for (int64_t row = 0; row < in.length; ++row) {
      if (out.IsMisfit(row)) continue;
      std::string before, after, as_text;
      AppendJson(from, in, row, {}, &before);
      AppendJson(from, back.view(), row, {}, &after);
      AppendJson(to, cast, row, {}, &as_text);
      ASSERT_EQ(before, after) << from.ToString() << " to " << to.ToString() << ": " << as_text;
    }
  }
}

// ---- the lattice -----------------------------------------------------------------------------

std::string Common(std::string_view a, std::string_view b,
                   LatticeStyle style = LatticeStyle::kMatrix) {
  const std::string text = LeastCommonType(Type(a), Type(b), style).ToString();
  EXPECT_EQ(LeastCommonType(Type(b), Type(a), style).ToString(), text);
  return text;
}

TEST(TypeLatticeTest, IsFlinkCdcsTable) {
  for (const LatticeStyle style : {LatticeStyle::kMatrix, LatticeStyle::kFlinkCdc}) {
    const auto common = [style](std::string_view a, std::string_view b) {
      return Common(a, b, style);
    };
    EXPECT_EQ(common("TINYINT", "SMALLINT"), "SMALLINT");
    EXPECT_EQ(common("SMALLINT", "INT"), "INT");
    EXPECT_EQ(common("INT", "BIGINT"), "BIGINT");
    EXPECT_EQ(common("TINYINT", "FLOAT"), "FLOAT");
    EXPECT_EQ(common("SMALLINT", "FLOAT"), "FLOAT");
    EXPECT_EQ(common("INT", "FLOAT"), "DOUBLE");
    EXPECT_EQ(common("BIGINT", "FLOAT"), "DOUBLE");
    EXPECT_EQ(common("BIGINT", "DOUBLE"), "DOUBLE");
    EXPECT_EQ(common("FLOAT", "DOUBLE"), "DOUBLE");
    EXPECT_EQ(common("TINYINT", "DECIMAL(4, 2)"), "DECIMAL(5, 2)");
    EXPECT_EQ(common("SMALLINT", "DECIMAL(4, 2)"), "DECIMAL(7, 2)");
    EXPECT_EQ(common("INT", "DECIMAL(4, 2)"), "DECIMAL(12, 2)");
    EXPECT_EQ(common("BIGINT", "DECIMAL(30, 2)"), "DECIMAL(30, 2)");
    EXPECT_EQ(common("BIGINT", "DECIMAL(38, 30)"), "DECIMAL(38, 19)");
    EXPECT_EQ(common("FLOAT", "DECIMAL(4, 2)"), "STRING");
    EXPECT_EQ(common("DECIMAL(10, 2)", "DECIMAL(8, 4)"), "DECIMAL(12, 4)");
    EXPECT_EQ(common("DECIMAL(38, 2)", "DECIMAL(38, 10)"), "DECIMAL(38, 2)");
    EXPECT_EQ(common("TIMESTAMP(3)", "TIMESTAMP(6)"), "TIMESTAMP(6)");
    EXPECT_EQ(common("TIMESTAMP(6)", "TIMESTAMP_LTZ(3)"), "TIMESTAMP_LTZ(6)");
    EXPECT_EQ(common("TIMESTAMP_TZ(1)", "TIMESTAMP_LTZ(3)"), "TIMESTAMP_TZ(3)");
    EXPECT_EQ(common("DATE", "TIMESTAMP_LTZ(3)"), "TIMESTAMP_LTZ(9)");
    EXPECT_EQ(common("DATE", "TIME(0)"), "STRING");
    EXPECT_EQ(common("TIME(0)", "TIME(3)"), "STRING");
    EXPECT_EQ(common("BOOLEAN", "DECIMAL(4, 2)"), "STRING");
    EXPECT_EQ(common("ARRAY<INT>", "ARRAY<BIGINT>"), "STRING");
    EXPECT_EQ(common("ARRAY<INT>", "ARRAY<INT>"), "ARRAY<INT>");
    EXPECT_EQ(common("INT NOT NULL", "INT"), "INT");
    EXPECT_EQ(common("INT NOT NULL", "BIGINT NOT NULL"), "BIGINT NOT NULL");
    EXPECT_EQ(common("INT", "STRING"), "STRING");
  }
}

TEST(TypeLatticeTest, ThePolicyKeepsTextBytesAndBooleans) {
  EXPECT_EQ(Common("VARCHAR(10)", "VARCHAR(20)"), "VARCHAR(20)");
  EXPECT_EQ(Common("CHAR(10)", "CHAR(20)"), "CHAR(20)");
  EXPECT_EQ(Common("CHAR(10)", "VARCHAR(5)"), "VARCHAR(10)");
  EXPECT_EQ(Common("BINARY(1)", "VARBINARY(3)"), "VARBINARY(3)");
  EXPECT_EQ(Common("BOOLEAN", "SMALLINT"), "SMALLINT");
  EXPECT_EQ(Common("VARCHAR(10)", "VARCHAR(20)", LatticeStyle::kFlinkCdc), "STRING");
  EXPECT_EQ(Common("BINARY(1)", "BINARY(3)", LatticeStyle::kFlinkCdc), "STRING");
  EXPECT_EQ(Common("BOOLEAN", "SMALLINT", LatticeStyle::kFlinkCdc), "STRING");
}

TEST(TypeLatticeTest, TheOrderOfShardsDoesNotMatter) {
  testing::RandomSchemas random(33);
  for (int round = 0; round < 20000; ++round) {
    std::vector<LogicalType> types;
    for (uint64_t i = 1 + random.Below(5); i > 0; --i) types.push_back(random.Type(1));
    const LatticeStyle style = random.Coin() ? LatticeStyle::kMatrix : LatticeStyle::kFlinkCdc;
    const LogicalType common = LeastCommonType(types, style);
    std::shuffle(types.begin(), types.end(), random.engine());
    ASSERT_EQ(LeastCommonType(types, style), common);
    for (const LogicalType& type : types) {
      // "Nothing else fits" never means that nothing fits.
      ASSERT_NE(VerdictOfCast(type, common), CastVerdict::kImpossible)
          << type.ToString() << " in " << common.ToString();
    }
  }
}

}  // namespace
}  // namespace driftless
