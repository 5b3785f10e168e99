#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// Civil dates in the proleptic Gregorian calendar, as days since 1970-01-01 (Arrow's date32), and
// times of the day and timestamps as counts of a unit (Arrow's time64 and timestamp).

struct CivilDate {
  int64_t year = 1970;  // astronomical: 0 is 1 BC
  int32_t month = 1;    // 1..12
  int32_t day = 1;      // 1..31
  friend bool operator==(const CivilDate&, const CivilDate&) = default;
};

int64_t DaysFromCivil(const CivilDate& date);
CivilDate CivilFromDays(int64_t days);
bool IsLeapYear(int64_t year);
int32_t DaysInMonth(int64_t year, int32_t month);

inline constexpr int64_t kSecondsPerDay = 86400;
inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr int64_t kMicrosPerDay = kSecondsPerDay * kMicrosPerSecond;
inline constexpr int64_t kNanosPerDay = kSecondsPerDay * kNanosPerSecond;

// What a text turned out to be. Zero dates and infinities are states of their own, because sources
// have them and no Arrow value says the same: the caller decides, nothing is flattened here.
enum class TimeText : uint8_t {
  kOk,
  kInvalid,        // not of this kind, or a field out of its range
  kZero,           // MySQL's 0000-00-00 and dates with a month or day of zero
  kInfinity,       // PostgreSQL's infinity
  kMinusInfinity,  // PostgreSQL's -infinity
};

// A date: "2024-01-31", "2024-1-5", "20240131", "240131", "24-1-31" (two-digit years: 70..99 are
// 19xx, 00..69 are 20xx), any one punctuation character between the fields, "+12345-01-31",
// "-0044-03-15", "0044-03-15 BC" (MySQL 8.4 Reference Manual 11.1.3; PostgreSQL 15 manual 8.5;
// ISO 8601). Surrounding blanks are allowed.
TimeText ParseDate(std::string_view text, int64_t* days);

// A time or a duration in nanoseconds: "12:34:56.789", "12:34", "123456", "1 02:03:04" (days
// first),
// "-838:59:59", "24:00:00" (MySQL 8.4 Reference Manual 11.2.3). The value may lie outside of one
// day; the caller knows what it can hold. A trailing "Z" or "+hh:mm" is accepted and ignored.
// Digits behind the ninth of the fraction must be zero or `*inexact` is set; they are cut off.
TimeText ParseTime(std::string_view text, int64_t* nanos, bool* inexact);

struct ParsedTimestamp {
  int64_t days = 0;  // since 1970-01-01
  int64_t nanos_of_day = 0;
  bool has_zone = false;  // the text said "Z", "UTC" or an offset
  int32_t offset_seconds = 0;
  bool inexact = false;  // the fraction had non-zero digits behind the ninth
};

// A date, then optionally 'T' or blanks and a time of the day, then optionally a zone: "Z", "UTC",
// "+02", "+0200", "+02:00", "-03:30:15". "20240131123456" too.
TimeText ParseTimestamp(std::string_view text, ParsedTimestamp* parsed);

// Joins days and nanoseconds of the day into microseconds or nanoseconds since the epoch, minus the
// offset. False when it does not fit 64 bits. Microseconds are rounded down.
bool ToMicros(const ParsedTimestamp& parsed, int64_t* micros);
bool ToNanos(const ParsedTimestamp& parsed, int64_t* nanos);

// ISO 8601 text. Years outside of 0000..9999 get a sign. `precision` is the number of digits of the
// fraction (0..9); none and no point where it is 0.
void AppendDate(int64_t days, std::string* out);
void AppendTimeOfDay(int64_t nanos, int precision, std::string* out);
// `value` counts nanoseconds where `is_nanos`, else microseconds; `separator` stands between date
// and time.
enum class TimestampUnit : uint8_t { kMicros, kNanos };
void AppendTimestamp(int64_t value, TimestampUnit unit, int precision, char separator,
                     std::string* out);

// A time zone of the system's database, an offset ("+08:00"), or UTC. Cheap to copy.
class TimeZone {
 public:
  TimeZone();  // UTC
  // Accepts IANA names, "UTC", "GMT", "Z", "SYSTEM" and "local" (the process's zone), and offsets
  // "+hh:mm", "-hh:mm" (MySQL 8.4 Reference Manual 7.1.15). Errors: kInvalidConfig.
  static Result<TimeZone> Load(std::string_view name);

  const std::string& name() const;
  // Seconds to add to UTC for local time at this moment.
  int32_t OffsetAtUtc(int64_t utc_seconds) const;
  // The moment that a local clock shows as `local_seconds` (seconds since 1970-01-01 00:00 local).
  // In a gap: the moment that the clock would have shown without the jump; where the clock shows it
  // twice: the first one. Both are MySQL's and java.time's choices.
  int64_t ToUtc(int64_t local_seconds) const;

 private:
  struct Zone;
  std::shared_ptr<const Zone> zone_;  // null: UTC
};

// The same for values in microseconds or nanoseconds.
int64_t UtcToLocal(int64_t value, TimestampUnit unit, const TimeZone& zone);
int64_t LocalToUtc(int64_t value, TimestampUnit unit, const TimeZone& zone);

}  // namespace driftless
