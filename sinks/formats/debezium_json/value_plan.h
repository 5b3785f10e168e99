#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/change_batch_builder.h"
#include "schema/model/table.h"
#include "schema/types/time.h"
#include "sinks/formats/debezium_json/connect_schema.h"
#include "sinks/formats/json/json_index.h"

namespace driftless::debezium {

// How the connector was configured, for what the text of a value does not show. An embedded schema
// says it all and wins.
enum class DecimalMode : uint8_t { kPrecise, kString };
enum class BinaryMode : uint8_t { kBase64, kHex };
enum class TimePrecisionMode : uint8_t { kAdaptive, kConnect, kMicroseconds, kNanoseconds };

// Who wrote the values.
enum class Wire : uint8_t {
  kDebezium,
  kCanal,  // every value in quotes, bytes as ISO-8859-1, ENUM, SET and BIT as numbers
  kTyped,  // Maxwell and plain JSON: numbers are numbers, dates and times text, bytes base64
};

struct Format {
  Wire wire = Wire::kDebezium;
  // kCanal: ENUM, SET and BIT come as numbers. (Other programs that write Canal's form write the
  // members, and the bytes.)
  bool members_are_numbers = false;
  TimeZone zone;  // kCanal: of the texts of moments, which name none
  DecimalMode decimal_mode = DecimalMode::kPrecise;  // decimal.handling.mode; JSON numbers are seen
  BinaryMode binary_mode = BinaryMode::kBase64;      // both alphabets of base64 are understood
  TimePrecisionMode time_mode = TimePrecisionMode::kAdaptive;  // ISO text is seen
  // MySQL's and MariaDB's connectors write TIME in microseconds whatever its precision
  // (adaptive_time_microseconds).
  bool time_is_micros = true;
  std::string unavailable_value = "__debezium_unavailable_value";
};

enum class ValueKind : uint8_t {
  kBoolean,
  kInteger,
  kFloat,
  kDouble,
  kDecimal,
  kDecimalText,  // a decimal too long for DECIMAL, as text
  kText,         // a JSON string, or any other JSON as its text
  kBytes,
  kBits,  // little-endian bits to big-endian bytes
  kDate,
  kTime,
  kTimeText,
  kTimestamp,  // with and without zone
  kGeometryText,
  kGeometryBytes,
  kSet,  // "a,b" to a list
  kList,
  kMap,
  kRow,
};

enum class TimeUnit : uint8_t { kMillis, kMicros, kNanos };

// How the JSON values of one column are read. Made once per column and schema version.
struct ValuePlan {
  ValueKind kind = ValueKind::kText;
  uint8_t width = 0;              // kInteger: bytes
  bool is_unsigned_long = false;  // kDecimal: a negative number is a BIGINT UNSIGNED above 2^63
  bool reads_bits = false;        // kInteger, kBoolean: base64 of little-endian bits
  bool fixed_length = false;      // kBits: `length` bytes exactly
  bool nanos = false;             // kTime, kTimestamp: the column's unit
  bool nullable = true;
  bool is_moment = false;            // kTimestamp: text without a zone is local time
  bool members_are_numbers = false;  // kText of an ENUM, kSet, kBits
  Wire wire = Wire::kDebezium;
  TimeUnit unit = TimeUnit::kMicros;  // of numbers in the record
  DecimalMode decimal_mode = DecimalMode::kPrecise;
  BinaryMode binary_mode = BinaryMode::kBase64;
  int32_t precision = 0;           // kDecimal; kTimeText: digits of the fraction
  int32_t scale = 0;               // kDecimal, kDecimalText: the column's
  int32_t wire_scale = 0;          // of the unscaled bytes in the record
  int32_t length = 0;              // kBits: bytes of the column
  __int128 limit = 0;              // kDecimal: 10^precision
  std::vector<std::string> names;  // kRow: JSON keys of the children
  // kText: members of an ENUM, where one has a comma: Debezium writes the "b,c" of a statement as
  // "b\,c". Canal: of every ENUM and SET.
  std::vector<std::string> members;
  std::vector<ValuePlan> children;  // kList: element; kMap: key, value; kRow: fields
};

// The plan for a column. `wire` is the column's node of the embedded schema, or null.
ValuePlan PlanValue(const Column& column, const ConnectField* wire, const Format& format);

// What a decoder keeps between values: no allocation once the buffers have their size.
class ValueDecoder {
 public:
  explicit ValueDecoder(const Format& format);

  // Appends the value at the cursor to `column` and goes past it. False where the value does not
  // fit the plan: fault() says why, and the column holds nothing of it (an open child list may:
  // abandon the row).
  bool Decode(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  const char* fault() const { return fault_; }
  // Values that were outside of what the column's type holds and became its nearest edge:
  // PostgreSQL's infinite and far timestamps, which Debezium itself prints as edge numbers.
  int64_t clamped() const { return clamped_; }

 private:
  bool Fail(const char* fault) {
    fault_ = fault;
    return false;
  }
  bool DecodeBoolean(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeInteger(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeFloating(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeDecimal(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeDecimalText(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeVariableScale(JsonCursor* cursor, std::string* text);
  bool DecodeText(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeBytes(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeDate(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeTime(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeTimestamp(const ValuePlan& plan, std::string_view token, ColumnBuilder* column);
  bool DecodeGeometry(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeSet(std::string_view token, ColumnBuilder* column);
  bool DecodeSetList(JsonCursor* cursor, ColumnBuilder* column);
  bool AppendZeroDate(const ValuePlan& plan, ColumnBuilder* column);
  // A value of Canal's, which is always a string (canal_values.cc).
  bool DecodeQuoted(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeQuotedTime(const ValuePlan& plan, std::string_view text, ColumnBuilder* column);
  bool DecodeLatin1(const ValuePlan& plan, std::string_view text, ColumnBuilder* column);
  bool DecodeMembers(const ValuePlan& plan, std::string_view text, ColumnBuilder* column);
  bool DecodeList(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeMap(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool DecodeRow(const ValuePlan& plan, JsonCursor* cursor, ColumnBuilder* column);
  bool IsUnavailable(std::string_view text) const {
    return text.size() == unavailable_.size() && text == unavailable_;
  }
  bool TimeNanos(const ValuePlan& plan, std::string_view token, int64_t* nanos);
  std::string_view MemberOf(const std::vector<std::string>& members);
  // Unscaled bytes of a base64 decimal as text.
  bool AppendUnscaled(std::string_view base64, int32_t scale, std::string* text);

  std::string unavailable_;         // as text
  std::string unavailable_base64_;  // as a value of a bytes field
  std::string unavailable_hex_;
  std::string scratch_;
  std::string bytes_;
  const TimeZone zone_;
  const char* fault_ = "";
  int64_t clamped_ = 0;
};

}  // namespace driftless::debezium
