#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

// The logical types are Flink SQL's; the values that a column of each has in memory are Apache
// Arrow's layout, as the comment of each kind says ("Arrow Columnar Format", arrow.apache.org).
enum class TypeKind : uint8_t {
  kBoolean,       // bit-packed
  kTinyInt,       // int8
  kSmallInt,      // int16
  kInt,           // int32
  kBigInt,        // int64
  kFloat,         // float
  kDouble,        // double
  kDecimal,       // decimal128, precision 1..38
  kChar,          // utf8, int32 offsets; length in characters; STRING is VARCHAR(kMaxLength)
  kVarChar,       // utf8
  kBinary,        // binary; length in bytes; BYTES is VARBINARY(kMaxLength)
  kVarBinary,     // binary
  kDate,          // date32: days since 1970-01-01
  kTime,          // time64: microseconds of the day (precision 0..6), nanoseconds (7..9)
  kTimestamp,     // timestamp without zone: microseconds (precision 0..6), nanoseconds (7..9)
  kTimestampLtz,  // timestamp UTC, the same units
  kTimestampTz,   // as kTimestampLtz; the zone itself is not kept
  kArray,         // list, one child
  kMap,           // map, two children: key, value
  kMultiset,      // map of element to INT NOT NULL, one child
  kRow,           // struct, children with names
  kVariant,       // utf8 JSON text in memory
};

// How one value of a type lies in memory. Many logical types share one.
enum class PhysicalKind : uint8_t {
  kBit,     // 1 bit
  kFixed8,  // 1, 2, 4, 8 or 16 bytes a value
  kFixed16,
  kFixed32,
  kFixed64,
  kFixed128,
  kVariable,  // int32 offsets and bytes
  kList,      // int32 offsets and one child (kMap: a child with two children)
  kStruct,    // children only
};

struct RowField;

// A value type, cheap to copy (24 bytes; children are shared). Equality is deep and includes
// nullability; use EqualsIgnoringNullability where that is not wanted.
class LogicalType {
 public:
  static constexpr int32_t kMaxLength = 2147483647;
  static constexpr int32_t kMaxDecimalPrecision = 38;

  LogicalType() = default;  // STRING, nullable

  static LogicalType Boolean() { return LogicalType(TypeKind::kBoolean, 0, 0); }
  static LogicalType TinyInt() { return LogicalType(TypeKind::kTinyInt, 0, 0); }
  static LogicalType SmallInt() { return LogicalType(TypeKind::kSmallInt, 0, 0); }
  static LogicalType Int() { return LogicalType(TypeKind::kInt, 0, 0); }
  static LogicalType BigInt() { return LogicalType(TypeKind::kBigInt, 0, 0); }
  static LogicalType Float() { return LogicalType(TypeKind::kFloat, 0, 0); }
  static LogicalType Double() { return LogicalType(TypeKind::kDouble, 0, 0); }
  static LogicalType Decimal(int32_t precision, int32_t scale) {
    return LogicalType(TypeKind::kDecimal, precision, scale);
  }
  static LogicalType Char(int32_t length) { return LogicalType(TypeKind::kChar, length, 0); }
  static LogicalType VarChar(int32_t length) { return LogicalType(TypeKind::kVarChar, length, 0); }
  static LogicalType String() { return VarChar(kMaxLength); }
  static LogicalType Binary(int32_t length) { return LogicalType(TypeKind::kBinary, length, 0); }
  static LogicalType VarBinary(int32_t length) {
    return LogicalType(TypeKind::kVarBinary, length, 0);
  }
  static LogicalType Bytes() { return VarBinary(kMaxLength); }
  static LogicalType Date() { return LogicalType(TypeKind::kDate, 0, 0); }
  static LogicalType Time(int32_t precision) { return LogicalType(TypeKind::kTime, precision, 0); }
  static LogicalType Timestamp(int32_t precision) {
    return LogicalType(TypeKind::kTimestamp, precision, 0);
  }
  static LogicalType TimestampLtz(int32_t precision) {
    return LogicalType(TypeKind::kTimestampLtz, precision, 0);
  }
  static LogicalType TimestampTz(int32_t precision) {
    return LogicalType(TypeKind::kTimestampTz, precision, 0);
  }
  static LogicalType Array(LogicalType element);
  static LogicalType Map(LogicalType key, LogicalType value);
  static LogicalType Multiset(LogicalType element);
  static LogicalType Row(std::vector<RowField> fields);
  static LogicalType Variant() { return LogicalType(TypeKind::kVariant, 0, 0); }

  TypeKind kind() const { return kind_; }
  bool nullable() const { return nullable_; }
  int32_t length() const { return precision_; }     // CHAR, VARCHAR, BINARY, VARBINARY
  int32_t precision() const { return precision_; }  // DECIMAL, TIME, TIMESTAMP*
  int32_t scale() const { return scale_; }          // DECIMAL
  const std::vector<RowField>& children() const;    // ARRAY, MAP, MULTISET, ROW

  LogicalType Nullable() const { return WithNullability(true); }
  LogicalType NotNull() const { return WithNullability(false); }
  LogicalType WithNullability(bool nullable) const {
    LogicalType copy = *this;
    copy.nullable_ = nullable;
    return copy;
  }

  PhysicalKind physical() const;
  bool IsInteger() const { return kind_ >= TypeKind::kTinyInt && kind_ <= TypeKind::kBigInt; }
  bool IsCharacter() const { return kind_ == TypeKind::kChar || kind_ == TypeKind::kVarChar; }
  bool IsBytes() const { return kind_ == TypeKind::kBinary || kind_ == TypeKind::kVarBinary; }
  bool IsTimestamp() const {
    return kind_ >= TypeKind::kTimestamp && kind_ <= TypeKind::kTimestampTz;
  }
  bool IsNested() const {
    return kind_ == TypeKind::kArray || kind_ == TypeKind::kMap || kind_ == TypeKind::kMultiset ||
           kind_ == TypeKind::kRow;
  }
  // TIME and TIMESTAMP*: true when values in memory are nanoseconds (precision 7 to 9).
  bool IsNanos() const { return precision_ > 6; }

  // Flink SQL's text, as in "DECIMAL(10, 2) NOT NULL", "STRING", "ARRAY<INT>", "ROW<`a` INT>".
  std::string ToString() const;
  // The same without the trailing NOT NULL.
  std::string ToStringIgnoringNullability() const;

  friend bool operator==(const LogicalType& a, const LogicalType& b);
  bool EqualsIgnoringNullability(const LogicalType& other) const;

 private:
  LogicalType(TypeKind kind, int32_t precision, int32_t scale)
      : kind_(kind), precision_(precision), scale_(scale) {}

  TypeKind kind_ = TypeKind::kVarChar;
  bool nullable_ = true;
  int32_t precision_ = kMaxLength;
  int32_t scale_ = 0;
  std::shared_ptr<const std::vector<RowField>> children_;
};

// A field of a ROW; for ARRAY, MAP and MULTISET the names are "element", "key", "value".
struct RowField {
  std::string name;
  LogicalType type;
  std::string comment;
  friend bool operator==(const RowField&, const RowField&) = default;
};

// The struct that a MAP or MULTISET has as its one child in memory: ROW<key, value> (a multiset's
// value is INT NOT NULL, the count).
LogicalType EntriesType(const LogicalType& map_or_multiset);

// Parses Flink SQL type text ("DECIMAL(10, 2) NOT NULL"). Errors: kParse with column, on unknown
// names and parameters out of range.
Result<LogicalType> ParseLogicalType(std::string_view text);

}  // namespace driftless
