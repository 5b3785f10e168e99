#pragma once

#include <cstdint>
#include <string>

#include "schema/types/decimal.h"

namespace driftless::mysql {

// MySQL's storage forms of decimals and times (MySQL Internals Manual, "Date and Time Data Type
// Representation"; strings/decimal.cc's decimal2bin for decimals). Bounds are the caller's.

int PackedDecimalSize(int precision, int scale);
// The unscaled value; precision at most 38. False where a group has more digits than fit.
bool ReadPackedDecimal(const uint8_t* at, int precision, int scale, Int128* value);
// As text with all digits of the scale; any precision.
bool AppendPackedDecimal(const uint8_t* at, int precision, int scale, std::string* out);

inline int FractionBytes(int digits) { return (digits + 1) / 2; }

// What is stored is a moment, or a zero date (or a day of zero, or one that no month has).
enum class Stored : uint8_t { kMoment, kZeroDate };

Stored ReadDate(const uint8_t* at, int64_t* days);                     // 3 bytes
Stored ReadDateTime(const uint8_t* at, int digits, int64_t* micros);   // 5 bytes and fraction
Stored ReadTimestamp(const uint8_t* at, int digits, int64_t* micros);  // 4 bytes and fraction
int64_t ReadTime(const uint8_t* at, int digits);                       // 3 bytes and fraction
// Before MySQL 5.6.4: decimal digits in an integer.
Stored ReadOldDateTime(const uint8_t* at, int64_t* micros);  // 8 bytes
int64_t ReadOldTime(const uint8_t* at);                      // 3 bytes
// MariaDB's times with a fraction where mysql56_temporal_format is off: big-endian counts.
int HiresDateTimeSize(int digits);
int HiresTimeSize(int digits);
Stored ReadHiresDateTime(const uint8_t* at, int digits, int64_t* micros);
int64_t ReadHiresTime(const uint8_t* at, int digits);

// A date and time of the integers in JSON documents and DATETIME: years * 13 + months, days, ...
struct PackedMoment {
  int64_t year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};
PackedMoment Unpack(uint64_t packed);

}  // namespace driftless::mysql
