#include "schema/types/time.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <array>

#include "schema/base/letter_case.h"

namespace driftless {

// ---- calendar --------------------------------------------------------------------------------
// The arithmetic counts in eras of 400 years that begin on March 1, so that the leap day is the
// last day of a year.

namespace {
constexpr int64_t kDaysPerEra = 146097;
constexpr int64_t kDaysToEpoch = 719468;  // 0000-03-01 to 1970-01-01

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
// Without the multiple of b, which may lie below the least number.
int64_t FloorMod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }
}  // namespace

int64_t DaysFromCivil(const CivilDate& date) {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = FloorDiv(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t month_from_march = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kDaysToEpoch;
}

CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + kDaysToEpoch;
  const int64_t era = FloorDiv(shifted, kDaysPerEra);
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  CivilDate date;
  date.day = static_cast<int32_t>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  date.month =
      static_cast<int32_t>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  date.year = era * 400 + year_of_era + (date.month <= 2 ? 1 : 0);
  return date;
}

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int32_t DaysInMonth(int64_t year, int32_t month) {
  static constexpr std::array<int32_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<size_t>(month - 1)];
}

// ---- parsing ---------------------------------------------------------------------------------

namespace {

// Years beyond these do not fit Arrow's date32 (days in 32 bits).
constexpr int64_t kYearMax = 5'881'580;
constexpr int64_t kYearMin = -5'877'641;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsPunctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// A cursor over the text; all Take functions leave it alone when they return false.
struct Scanner {
  const char* at;
  const char* end;

  explicit Scanner(std::string_view text) : at(text.data()), end(text.data() + text.size()) {
    while (at < end && IsBlank(*at)) ++at;
    while (end > at && IsBlank(end[-1])) --end;
  }
  bool done() const { return at == end; }
  int DigitRun() const {
    int n = 0;
    while (at + n < end && IsDigit(at[n])) ++n;
    return n;
  }
  int64_t Digits(int count) {
    int64_t value = 0;
    for (int i = 0; i < count; ++i) value = value * 10 + (*at++ - '0');
    return value;
  }
  bool Take(char c) {
    if (at == end || *at != c) return false;
    ++at;
    return true;
  }
  bool TakeWord(std::string_view lower) {
    if (static_cast<size_t>(end - at) < lower.size()) return false;
    for (size_t i = 0; i < lower.size(); ++i) {
      if ((at[i] | 0x20) != lower[i]) return false;
    }
    at += lower.size();
    return true;
  }
  void SkipBlanks() {
    while (at < end && IsBlank(*at)) ++at;
  }
};

int64_t FullYear(int64_t year, int digits) {
  if (digits > 2) return year;
  return year >= 70 ? 1900 + year : 2000 + year;
}

TimeText CheckDate(const CivilDate& date, int64_t* days) {
  if (date.month > 12 || date.day > 31 || date.year > kYearMax || date.year < kYearMin) {
    return TimeText::kInvalid;
  }
  if (date.month == 0 || date.day == 0) return TimeText::kZero;
  if (date.day > DaysInMonth(date.year, date.month)) return TimeText::kInvalid;
  *days = DaysFromCivil(date);
  return TimeText::kOk;
}

TimeText TakeInfinity(Scanner* in) {
  Scanner word = *in;
  const bool minus = word.Take('-');
  if (!minus) word.Take('+');
  if (!word.TakeWord("infinity") || !word.done()) return TimeText::kInvalid;
  *in = word;
  return minus ? TimeText::kMinusInfinity : TimeText::kInfinity;
}

// The date part; stops behind it. `compact_time` tells that the run of digits goes on with a time
// ("20240131123456").
TimeText TakeDate(Scanner* in, int64_t* days, bool* compact_time) {
  *compact_time = false;
  CivilDate date;
  bool negative = false;
  const bool has_sign = in->at < in->end && (*in->at == '+' || *in->at == '-');
  if (has_sign) negative = *in->at++ == '-';
  const int run = in->DigitRun();
  if (run == 0) return TimeText::kInvalid;
  const char* behind = in->at + run;
  const bool separated = behind < in->end && IsPunctuation(*behind) && *behind != '.';
  if (!has_sign && !separated && (run == 6 || run == 8 || run == 12 || run == 14)) {
    const int year_digits = run == 8 || run == 14 ? 4 : 2;
    date.year = FullYear(in->Digits(year_digits), year_digits);
    date.month = static_cast<int32_t>(in->Digits(2));
    date.day = static_cast<int32_t>(in->Digits(2));
    *compact_time = run > 8;
    return CheckDate(date, days);
  }
  if (run > 7 || behind == in->end || !IsPunctuation(*behind)) return TimeText::kInvalid;
  date.year = FullYear(in->Digits(run), has_sign ? 4 : run);
  if (negative) date.year = -date.year;
  ++in->at;
  const int month_run = in->DigitRun();
  if (month_run < 1 || month_run > 2) return TimeText::kInvalid;
  date.month = static_cast<int32_t>(in->Digits(month_run));
  if (in->done() || !IsPunctuation(*in->at)) return TimeText::kInvalid;
  ++in->at;
  const int day_run = in->DigitRun();
  if (day_run < 1 || day_run > 2) return TimeText::kInvalid;
  date.day = static_cast<int32_t>(in->Digits(day_run));
  // PostgreSQL writes the era at the very end, behind a time too.
  if (in->end - in->at >= 3 && in->end[-3] == ' ' && (in->end[-2] | 0x20) == 'b' &&
      (in->end[-1] | 0x20) == 'c') {
    date.year = 1 - date.year;
    in->end -= 3;
  }
  return CheckDate(date, days);
}

bool TakeFraction(Scanner* in, int64_t* nanos, bool* inexact) {
  if (!in->Take('.') && !in->Take(',')) return true;
  int64_t value = 0;
  int digits = 0;
  while (in->at < in->end && IsDigit(*in->at)) {
    if (digits < 9) {
      value = value * 10 + (*in->at - '0');
    } else if (*in->at != '0') {
      *inexact = true;
    }
    ++digits;
    ++in->at;
  }
  for (int i = digits; i < 9; ++i) value *= 10;
  *nanos = value;
  return true;  // "12:34:56." is what MySQL accepts too
}

// "Z", "UTC", "GMT", "+02", "+0200", "+02:00", "-03:30:15"; false when something else stands there.
bool TakeZone(Scanner* in, bool* has_zone, int32_t* offset_seconds) {
  *has_zone = false;
  *offset_seconds = 0;
  in->SkipBlanks();
  if (in->done()) return true;
  *has_zone = true;
  if (in->TakeWord("utc") || in->TakeWord("gmt") || in->TakeWord("z")) return true;
  const bool minus = in->Take('-');
  if (!minus && !in->Take('+')) return false;
  const int run = in->DigitRun();
  if (run != 2 && run != 4 && run != 1) return false;
  int64_t seconds = in->Digits(run == 1 ? 1 : 2) * 3600;
  if (run == 4) {
    seconds += in->Digits(2) * 60;
  } else {
    for (const int unit : {60, 1}) {
      if (!in->Take(':')) break;
      if (in->DigitRun() != 2) return false;
      seconds += in->Digits(2) * unit;
    }
  }
  if (seconds > 24 * 3600) return false;
  *offset_seconds = static_cast<int32_t>(minus ? -seconds : seconds);
  return true;
}

// "hh:mm[:ss[.f]]" or "hhmm[ss][.f]" with two-digit fields inside the day.
TimeText TakeTimeOfDay(Scanner* in, int64_t* nanos, bool* inexact) {
  const int run = in->DigitRun();
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (run == 4 || run == 6) {
    hour = in->Digits(2);
    minute = in->Digits(2);
    if (run == 6) second = in->Digits(2);
  } else if (run == 1 || run == 2) {
    hour = in->Digits(run);
    for (int64_t* field : {&minute, &second}) {
      if (in->done() || !IsPunctuation(*in->at) || *in->at == '.' || *in->at == '+' ||
          *in->at == '-') {
        break;
      }
      ++in->at;
      const int field_run = in->DigitRun();
      if (field_run < 1 || field_run > 2) return TimeText::kInvalid;
      *field = in->Digits(field_run);
    }
  } else {
    return TimeText::kInvalid;
  }
  int64_t fraction = 0;
  if (!TakeFraction(in, &fraction, inexact)) return TimeText::kInvalid;
  const bool end_of_day = hour == 24 && minute == 0 && second == 0 && fraction == 0;
  // A leap second is read as the second behind it, as PostgreSQL does.
  if ((hour > 23 && !end_of_day) || minute > 59 || second > 60) return TimeText::kInvalid;
  *nanos = ((hour * 60 + minute) * 60 + second) * kNanosPerSecond + fraction;
  return TimeText::kOk;
}

}  // namespace

TimeText ParseDate(std::string_view text, int64_t* days) {
  Scanner in(text);
  const TimeText infinity = TakeInfinity(&in);
  if (infinity != TimeText::kInvalid) return infinity;
  bool compact_time = false;
  const TimeText result = TakeDate(&in, days, &compact_time);
  if (result == TimeText::kInvalid || compact_time) return TimeText::kInvalid;
  return in.done() ? result : TimeText::kInvalid;
}

TimeText ParseTime(std::string_view text, int64_t* nanos, bool* inexact) {
  *inexact = false;
  Scanner in(text);
  const bool minus = in.Take('-');
  if (!minus) in.Take('+');
  int64_t day = 0;
  int run = in.DigitRun();
  if (run == 0 || run > 7) return TimeText::kInvalid;
  std::array<int64_t, 3> fields = {0, 0, 0};  // hours, minutes, seconds
  if (in.at + run < in.end && IsBlank(in.at[run])) {
    day = in.Digits(run);
    in.SkipBlanks();
    run = in.DigitRun();
    if (run < 1 || run > 2) return TimeText::kInvalid;
    if (in.at + run == in.end) return TimeText::kInvalid;  // "1 2": a bare number is no time
  }
  if (in.at + run < in.end && in.at[run] == ':') {
    fields[0] = in.Digits(run);
    for (const size_t i : {size_t{1}, size_t{2}}) {
      if (!in.Take(':')) break;
      const int field_run = in.DigitRun();
      if (field_run < 1 || field_run > 2) return TimeText::kInvalid;
      fields[i] = in.Digits(field_run);
    }
  } else {
    const int64_t number = in.Digits(run);  // hhmmss, right-aligned
    fields = {number / 10000, number / 100 % 100, number % 100};
  }
  int64_t fraction = 0;
  if (!TakeFraction(&in, &fraction, inexact)) return TimeText::kInvalid;
  bool has_zone = false;
  int32_t offset = 0;
  if (!TakeZone(&in, &has_zone, &offset) || !in.done()) return TimeText::kInvalid;
  if (fields[1] > 59 || fields[2] > 60 || day > 34 * 365) return TimeText::kInvalid;
  const int64_t seconds = ((day * 24 + fields[0]) * 60 + fields[1]) * 60 + fields[2];
  if (seconds > INT64_MAX / kNanosPerSecond - 1) return TimeText::kInvalid;
  *nanos = seconds * kNanosPerSecond + fraction;
  if (minus) *nanos = -*nanos;
  return TimeText::kOk;
}

TimeText ParseTimestamp(std::string_view text, ParsedTimestamp* parsed) {
  *parsed = ParsedTimestamp();
  Scanner in(text);
  const TimeText infinity = TakeInfinity(&in);
  if (infinity != TimeText::kInvalid) return infinity;
  bool compact_time = false;
  const TimeText date = TakeDate(&in, &parsed->days, &compact_time);
  if (date == TimeText::kInvalid) return date;
  bool time_follows = compact_time;
  if (!compact_time && !in.done()) {
    if (in.Take('T') || in.Take('t')) {
      time_follows = true;
    } else if (IsBlank(*in.at)) {
      in.SkipBlanks();
      time_follows = !in.done() && IsDigit(*in.at);
    }
  }
  if (time_follows) {
    if (TakeTimeOfDay(&in, &parsed->nanos_of_day, &parsed->inexact) != TimeText::kOk) {
      return TimeText::kInvalid;
    }
    if (!TakeZone(&in, &parsed->has_zone, &parsed->offset_seconds)) return TimeText::kInvalid;
  }
  return in.done() ? date : TimeText::kInvalid;
}

namespace {

bool Join(const ParsedTimestamp& parsed, int64_t units_per_second, int64_t* value) {
  const int64_t seconds = parsed.days * kSecondsPerDay - parsed.offset_seconds;
  const int64_t in_day = parsed.nanos_of_day / (kNanosPerSecond / units_per_second);
  int64_t scaled = 0;
  return !__builtin_mul_overflow(seconds, units_per_second, &scaled) &&
         !__builtin_add_overflow(scaled, in_day, value);
}

}  // namespace

bool ToMicros(const ParsedTimestamp& parsed, int64_t* micros) {
  return Join(parsed, kMicrosPerSecond, micros);
}

bool ToNanos(const ParsedTimestamp& parsed, int64_t* nanos) {
  return Join(parsed, kNanosPerSecond, nanos);
}

// ---- formatting ------------------------------------------------------------------------------

namespace {

void AppendPadded(int64_t value, int width, std::string* out) {
  char digits[20];
  int n = 0;
  do {
    digits[n++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (int i = n; i < width; ++i) *out += '0';
  while (n > 0) *out += digits[--n];
}

}  // namespace

void AppendDate(int64_t days, std::string* out) {
  const CivilDate date = CivilFromDays(days);
  if (date.year < 0) {
    *out += '-';
    AppendPadded(-date.year, 4, out);
  } else {
    if (date.year > 9999) *out += '+';
    AppendPadded(date.year, 4, out);
  }
  *out += '-';
  AppendPadded(date.month, 2, out);
  *out += '-';
  AppendPadded(date.day, 2, out);
}

void AppendTimeOfDay(int64_t nanos, int precision, std::string* out) {
  if (nanos < 0) {
    *out += '-';
    nanos = -nanos;
  }
  const int64_t seconds = nanos / kNanosPerSecond;
  AppendPadded(seconds / 3600, 2, out);
  *out += ':';
  AppendPadded(seconds / 60 % 60, 2, out);
  *out += ':';
  AppendPadded(seconds % 60, 2, out);
  if (precision <= 0) return;
  *out += '.';
  int64_t fraction = nanos % kNanosPerSecond;
  for (int i = precision; i < 9; ++i) fraction /= 10;
  AppendPadded(fraction, precision, out);
}

void AppendTimestamp(int64_t value, TimestampUnit unit, int precision, char separator,
                     std::string* out) {
  const bool nanos = unit == TimestampUnit::kNanos;
  const int64_t per_day = nanos ? kNanosPerDay : kMicrosPerDay;
  AppendDate(FloorDiv(value, per_day), out);
  *out += separator;
  AppendTimeOfDay(FloorMod(value, per_day) * (nanos ? 1 : 1000), precision, out);
}

// ---- zones -----------------------------------------------------------------------------------

struct TimeZone::Zone {
  std::string name;
  absl::TimeZone zone;
};

TimeZone::TimeZone() = default;

const std::string& TimeZone::name() const {
  static const std::string utc = "UTC";
  return zone_ ? zone_->name : utc;
}

Result<TimeZone> TimeZone::Load(std::string_view name) {
  TimeZone result;
  const std::string lower = LowerCase(name);
  if (lower == "utc" || lower == "gmt" || lower == "z" || lower == "etc/utc") return result;
  auto zone = std::make_shared<Zone>();
  zone->name = name;
  if (lower == "system" || lower == "local") {
    zone->zone = absl::LocalTimeZone();
    result.zone_ = std::move(zone);
    return result;
  }
  if (!name.empty() && (name[0] == '+' || name[0] == '-')) {
    Scanner in(name);
    bool has_zone = false;
    int32_t offset = 0;
    if (TakeZone(&in, &has_zone, &offset) && in.done()) {
      zone->zone = absl::FixedTimeZone(offset);
      result.zone_ = std::move(zone);
      return result;
    }
  } else if (!name.empty() &&
             absl::LoadTimeZone(absl::string_view(name.data(), name.size()), &zone->zone)) {
    result.zone_ = std::move(zone);
    return result;
  }
  return MakeError(ErrorKind::kInvalidConfig, "\"" + std::string(name) + "\" is not a time zone")
      .Hint(
          "Write an IANA name such as Europe/Berlin, an offset such as +02:00, or UTC. IANA names"
          " need the system's time zone database (package tzdata).");
}

int32_t TimeZone::OffsetAtUtc(int64_t utc_seconds) const {
  if (!zone_) return 0;
  return zone_->zone.At(absl::FromUnixSeconds(utc_seconds)).offset;
}

int64_t TimeZone::ToUtc(int64_t local_seconds) const {
  if (!zone_) return local_seconds;
  const absl::CivilSecond civil = absl::CivilSecond(1970, 1, 1, 0, 0, 0) + local_seconds;
  return absl::ToUnixSeconds(zone_->zone.At(civil).pre);
}

int64_t UtcToLocal(int64_t value, TimestampUnit unit, const TimeZone& zone) {
  const int64_t per_second = unit == TimestampUnit::kNanos ? kNanosPerSecond : kMicrosPerSecond;
  return value + zone.OffsetAtUtc(FloorDiv(value, per_second)) * per_second;
}

int64_t LocalToUtc(int64_t value, TimestampUnit unit, const TimeZone& zone) {
  const int64_t per_second = unit == TimestampUnit::kNanos ? kNanosPerSecond : kMicrosPerSecond;
  const int64_t seconds = FloorDiv(value, per_second);
  return zone.ToUtc(seconds) * per_second + (value - seconds * per_second);
}

}  // namespace driftless
