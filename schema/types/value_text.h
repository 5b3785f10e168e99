#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/base/bytes_text.h"
#include "schema/events/change_batch.h"
#include "schema/types/logical_type.h"

namespace driftless {

enum class BytesText : uint8_t { kHex, kBase64 };
enum class DecimalJson : uint8_t { kString, kNumber };

struct TextFormat {
  BytesText bytes = BytesText::kBase64;
  // In JSON a decimal is a string, because most readers would round a number to a double.
  DecimalJson decimals = DecimalJson::kString;
  char date_time_separator = ' ';  // 'T' for the strict ISO 8601 form
};

// One value as text: "12.30", "2024-01-31 12:34:56.000001", "true", character data as it is,
// TIMESTAMP_LTZ and TIMESTAMP_TZ in UTC with a trailing "Z", nested values as JSON, bytes as the
// format says. NULL and absent values append nothing: ask the view first.
void AppendText(const LogicalType& type, const ColumnView& column, int64_t row,
                const TextFormat& format, std::string* out);

// One value as JSON. NULL and absent are null; numbers are numbers (NaN and infinities strings);
// ROW and MAP are objects, MULTISET an object of counts; VARIANT is embedded as the JSON it is.
void AppendJson(const LogicalType& type, const ColumnView& column, int64_t row,
                const TextFormat& format, std::string* out);

// "NaN", "Infinity", "-Infinity", else the shortest text that reads back as the same number.
void AppendDouble(double value, std::string* out);
void AppendFloat(float value, std::string* out);

}  // namespace driftless
