#pragma once

#include <limits>
#include <string>

#include "schema/events/change_batch_builder.h"
#include "schema/types/decimal.h"
#include "schema/types/time.h"
#include "tests/doubles/random_schema.h"

namespace driftless::testing {

// Appends one random value of `type`: now and then NULL (where `nulls`), often a small one, often
// one at an edge of the type.
inline void AppendRandomValue(const LogicalType& type, RandomSchemas* random, ColumnBuilder* out,
                              bool nulls = true) {
  if (nulls && type.nullable() && random->Below(6) == 0) return out->AppendNull();
  const auto integer = [&](int64_t min, int64_t max) {
    switch (random->Below(5)) {
      case 0: return min;
      case 1: return max;
      case 2: return static_cast<int64_t>(random->Below(2));
      case 3: return std::min(max, static_cast<int64_t>(random->Below(200)));
      default: {
        const auto span = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
        return static_cast<int64_t>(static_cast<uint64_t>(min) + (span == UINT64_MAX
                                                                      ? random->engine()()
                                                                      : random->Below(span + 1)));
      }
    }
  };
  const auto power = [](int n) { return static_cast<int64_t>(PowerOfTen(n)); };
  switch (type.kind()) {
    case TypeKind::kBoolean: return out->AppendBit(random->Coin());
    case TypeKind::kTinyInt: return out->AppendInt(integer(INT8_MIN, INT8_MAX));
    case TypeKind::kSmallInt: return out->AppendInt(integer(INT16_MIN, INT16_MAX));
    case TypeKind::kInt: return out->AppendInt(integer(INT32_MIN, INT32_MAX));
    case TypeKind::kBigInt: return out->AppendInt(integer(INT64_MIN, INT64_MAX));
    case TypeKind::kFloat:
      return out->AppendFloat(random->Coin() ? static_cast<float>(integer(-1000, 1000)) / 8
                                             : static_cast<float>(random->engine()()) * 1e-7F);
    case TypeKind::kDouble:
      return out->AppendDouble(random->Coin() ? static_cast<double>(integer(-1000, 1000)) / 8
                                              : static_cast<double>(random->engine()()) * 1e-7);
    case TypeKind::kDecimal: {
      const UInt128 wide = static_cast<UInt128>(random->engine()()) << 64 | random->engine()();
      const int digits =
          1 + static_cast<int>(random->Below(static_cast<uint64_t>(type.precision())));
      auto value = static_cast<Int128>(wide % static_cast<UInt128>(PowerOfTen(digits)));
      if (random->Below(4) == 0) value -= value % PowerOfTen(type.scale());
      return out->AppendInt128(random->Coin() ? value : -value);
    }
    case TypeKind::kChar:
    case TypeKind::kVarChar: {
      static const std::vector<std::string> kTexts = {
          "",         "a",          "7",
          "-1.5",     "true",       "ü",
          "订单",     "2024-01-31", "2024-01-31 12:00:00.5",
          "12:34:56", "{\"a\":1}",  "1e3"};
      std::string text = kTexts[random->Below(kTexts.size())];
      if (static_cast<int32_t>(text.size()) > type.length()) text = "";
      return out->AppendBytes(text);
    }
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      const uint64_t limit = std::min<uint64_t>(20, static_cast<uint64_t>(type.length()));
      std::string bytes;
      for (uint64_t i = random->Below(limit + 1); i > 0; --i) {
        bytes += static_cast<char>(random->Below(256));
      }
      return out->AppendBytes(bytes);
    }
    case TypeKind::kDate:
      return out->AppendInt(integer(DaysFromCivil({1, 1, 1}), DaysFromCivil({9999, 12, 31})));
    case TypeKind::kTime: {
      const int digits = type.IsNanos() ? 9 : 6;
      const int64_t unit = power(digits - type.precision());
      return out->AppendInt(integer(0, kSecondsPerDay * power(digits) - 1) / unit * unit);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kTimestampTz: {
      // 1900 to 2200, so that nanoseconds hold it too.
      const int digits = type.IsNanos() ? 9 : 6;
      const int64_t unit = power(digits - type.precision());
      const int64_t value = integer(DaysFromCivil({1900, 1, 1}) * kSecondsPerDay,
                                    DaysFromCivil({2200, 1, 1}) * kSecondsPerDay) *
                                power(digits) +
                            (random->Coin() ? 0 : integer(0, power(digits) - 1));
      return out->AppendInt(value / unit * unit);
    }
    case TypeKind::kVariant: return out->AppendBytes(random->Coin() ? "{\"a\": 1}" : "7");
    case TypeKind::kArray:
      for (uint64_t i = random->Below(4); i > 0; --i) {
        AppendRandomValue(type.children()[0].type, random, &out->child(0), nulls);
      }
      return out->CloseList();
    case TypeKind::kMap:
    case TypeKind::kMultiset: {
      const LogicalType entries = EntriesType(type);
      for (uint64_t i = random->Below(4); i > 0; --i) {
        ColumnBuilder& entry = out->child(0);
        AppendRandomValue(entries.children()[0].type.NotNull(), random, &entry.child(0), false);
        AppendRandomValue(entries.children()[1].type, random, &entry.child(1), nulls);
        entry.CloseStruct();
      }
      return out->CloseList();
    }
    case TypeKind::kRow:
      for (size_t i = 0; i < type.children().size(); ++i) {
        AppendRandomValue(type.children()[i].type, random, &out->child(static_cast<int>(i)), nulls);
      }
      return out->CloseStruct();
  }
}

// A batch of `rows` inserts with random values for every column.
inline ChangeBatchPtr RandomBatch(const TableSchemaPtr& schema, int64_t rows,
                                  RandomSchemas* random) {
  ChangeBatchBuilder builder(schema, 0);
  for (int64_t row = 0; row < rows; ++row) {
    builder.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(row + 1), 0, 0}, 0);
    for (size_t i = 0; i < schema->columns.size(); ++i) {
      AppendRandomValue(schema->columns[i].type, random, &builder.after(static_cast<int>(i)));
    }
    builder.EndRow();
  }
  return builder.Seal();
}

}  // namespace driftless::testing
