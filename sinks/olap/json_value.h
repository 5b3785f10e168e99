#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"
#include "sinks/olap/load_body.h"

namespace driftless::olap {

// Writes the values of one column as JSON, without an allocation and without a look at the type for
// every value. The texts are those of AppendJson: decimals, dates and moments are strings, bytes
// are Base64. One thread.
class JsonValueWriter {
 public:
  explicit JsonValueWriter(const LogicalType& type);

  // How many bytes a value takes at most, without those of a text.
  size_t bytes_max() const { return bytes_max_; }
  // Writes the value, which is not NULL, to `at`, where `body` has bytes_max() of room; the result
  // is the end. A text makes its own room, and leaves `room` more behind itself.
  char* Write(const ColumnView& values, int64_t row, size_t room, LoadBody* body, char* at);

 private:
  enum class Form : uint8_t {
    kBit,
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kFloat,
    kDouble,
    kDecimal,
    kText,
    kDate,
    kMicros,
    kOther,
  };
  char* WriteDay(int64_t day, char* at);
  char* WriteMoment(int64_t micros, char* at);

  const LogicalType type_;
  Form form_ = Form::kOther;
  size_t bytes_max_ = 0;
  // Of neighbouring rows most have the same day.
  int64_t last_day_ = INT64_MIN;
  std::string last_day_text_;
  std::string scratch_;
};

}  // namespace driftless::olap
