#pragma once

#include <random>
#include <string>
#include <vector>

#include "schema/model/table.h"

namespace driftless::testing {

// Random types and tables for property tests; the same seed gives the same ones.
class RandomSchemas {
 public:
  explicit RandomSchemas(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Coin() { return Below(2) == 0; }
  std::mt19937_64& engine() { return random_; }

  // A name that is now and then hostile: quotes, dots, blanks, other scripts, letter case.
  std::string Name() {
    static const std::vector<std::string> kOdd = {"a`b",  "x.y",  "q\"s", "two words", "订单",
                                                  "ÜBER", "sel'", "\\n",  "-",         "id"};
    if (Below(4) == 0) return kOdd[Below(kOdd.size())] + std::to_string(Below(100));
    return std::string(1, static_cast<char>('a' + Below(26))) + std::to_string(Below(1000));
  }

  LogicalType Type(int depth = 2) {
    const LogicalType type = Bare(depth);
    return Below(3) == 0 ? type.NotNull() : type;
  }

  LogicalType Scalar() { return Bare(0); }

  TableSchema Table() {
    TableSchema schema;
    schema.path = {Coin() ? "" : Name(), Name(), Name()};
    schema.incarnation = random_();
    schema.version = static_cast<uint32_t>(random_());
    const uint64_t count = 1 + Below(8);
    while (schema.columns.size() < count) {
      const std::string name = Name();
      if (schema.IndexOfNameIgnoringCase(name) >= 0) continue;
      if (Below(5) == 0) ++schema.next_column_id;  // gaps that drops leave
      Column& column = schema.AddColumn(name, Type());
      if (Coin()) column.comment = Name() + "\n\xFF";
      if (Coin()) {
        column.default_value.kind = static_cast<DefaultValue::Kind>(Below(4));
        if (column.default_value.kind >= DefaultValue::Kind::kLiteral) {
          column.default_value.text = Coin() ? "" : Name();
        }
      }
      if (Coin()) column.source = Attributes();
    }
    if (Coin()) schema.primary_key.push_back(schema.columns[0].id);
    if (Coin()) schema.partition_keys.push_back(schema.columns.back().id);
    if (Coin()) schema.options[Name()] = Name();
    if (Coin()) schema.comment = Name();
    if (Coin()) schema.charset = "utf8mb4";
    return schema;
  }

 private:
  SourceAttributes Attributes() {
    SourceAttributes source;
    source.type_text = Name();
    source.is_unsigned = Coin();
    source.is_auto_increment = Coin();
    source.is_generated = Coin();
    source.is_invisible = Coin();
    if (Coin()) source.charset = "latin1";
    if (Coin()) source.collation = "latin1_swedish_ci";
    if (Coin()) source.enum_values = {Name(), "", Name()};
    if (Coin()) source.on_update = "CURRENT_TIMESTAMP(6)";
    return source;
  }

  LogicalType Bare(int depth) {
    const auto length = static_cast<int32_t>(1 + Below(300));
    const auto digits = static_cast<int32_t>(Below(10));
    switch (Below(depth > 0 ? 22 : 18)) {
      case 0: return LogicalType::Boolean();
      case 1: return LogicalType::TinyInt();
      case 2: return LogicalType::SmallInt();
      case 3: return LogicalType::Int();
      case 4: return LogicalType::BigInt();
      case 5: return LogicalType::Float();
      case 6: return LogicalType::Double();
      case 7: {
        const auto precision = static_cast<int32_t>(1 + Below(38));
        return LogicalType::Decimal(
            precision, static_cast<int32_t>(Below(static_cast<uint64_t>(precision) + 1)));
      }
      case 8: return LogicalType::Char(length);
      case 9: return LogicalType::VarChar(length);
      case 10: return LogicalType::String();
      case 11: return LogicalType::Binary(length);
      case 12: return Coin() ? LogicalType::Bytes() : LogicalType::VarBinary(length);
      case 13: return LogicalType::Date();
      case 14: return LogicalType::Time(digits);
      case 15: return LogicalType::Timestamp(digits);
      case 16: return LogicalType::TimestampLtz(digits);
      case 17: return Coin() ? LogicalType::TimestampTz(digits) : LogicalType::Variant();
      case 18: return LogicalType::Array(Type(depth - 1));
      case 19: return LogicalType::Map(Type(depth - 1), Type(depth - 1));
      case 20: return LogicalType::Multiset(Type(depth - 1));
      default: {
        std::vector<RowField> fields;
        for (uint64_t i = Below(3) + 1; i > 0; --i) {
          fields.push_back({Name(), Type(depth - 1), Coin() ? "" : "it's"});
        }
        return LogicalType::Row(std::move(fields));
      }
    }
  }

  std::mt19937_64 random_;
};

}  // namespace driftless::testing
