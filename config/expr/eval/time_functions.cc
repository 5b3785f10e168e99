#include <limits>
#include <memory>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/time_nodes.h"
#include "config/expr/eval/time_pattern.h"

namespace driftless::flink {
namespace {

constexpr int64_t kMicrosPerMilli = 1000;
constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

// Micros of one unit of fixed length; 0 for months, quarters and years.
int64_t UnitMicros(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMilli: return kMicrosPerMilli;
    case TimeUnit::kSecond: return kMicrosPerSecond;
    case TimeUnit::kMinute: return kMicrosPerMinute;
    case TimeUnit::kHour: return kMicrosPerHour;
    case TimeUnit::kDay: return kMicrosPerDay;
    case TimeUnit::kWeek: return 7 * kMicrosPerDay;
    default: return 0;
  }
}
int64_t UnitMonths(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMonth: return 1;
    case TimeUnit::kQuarter: return 3;
    case TimeUnit::kYear: return 12;
    default: return 0;
  }
}

int64_t AddMonthsToDays(int64_t days, int64_t months) {
  const CivilDate date = CivilFromDays(days);
  const int64_t total = date.year * 12 + (date.month - 1) + months;
  CivilDate moved{FloorDiv(total, 12), static_cast<int32_t>(FloorMod(total, 12) + 1), date.day};
  moved.day = std::min(moved.day, DaysInMonth(moved.year, moved.month));
  return DaysFromCivil(moved);
}

// ---- fields
// --------------------------------------------------------------------------------------

int64_t Field(TimeUnit unit, int64_t micros) {
  const int64_t days = FloorDiv(micros, kMicrosPerDay);
  const int64_t of_day = micros - days * kMicrosPerDay;
  switch (unit) {
    case TimeUnit::kYear: return CivilFromDays(days).year;
    case TimeUnit::kQuarter: return (CivilFromDays(days).month - 1) / 3 + 1;
    case TimeUnit::kMonth: return CivilFromDays(days).month;
    case TimeUnit::kWeek: return IsoWeek(days);
    case TimeUnit::kDay: return CivilFromDays(days).day;
    case TimeUnit::kDayOfYear: return DayOfYear(days);
    case TimeUnit::kDayOfWeek: return DayOfWeek(days);
    case TimeUnit::kHour: return of_day / kMicrosPerHour;
    case TimeUnit::kMinute: return of_day / kMicrosPerMinute % 60;
    case TimeUnit::kSecond: return of_day / kMicrosPerSecond % 60;
    case TimeUnit::kMilli: return of_day / kMicrosPerMilli % 1000;
    case TimeUnit::kEpoch: return FloorDiv(micros, kMicrosPerSecond);
  }
  return 0;
}

template <TimeUnit kUnit>
void FieldOf(Call& c, int64_t row) {
  c.PutInt(row, Field(kUnit, c.Int(0, row)));
}
void Extract(Call& c, int64_t row) { c.PutInt(row, Field(*ParseTimeUnit(c.word), c.Int(0, row))); }

int64_t FloorTo(TimeUnit unit, int64_t micros) {
  const int64_t days = FloorDiv(micros, kMicrosPerDay);
  if (unit == TimeUnit::kWeek) return (days - (DayOfWeek(days) - 1)) * kMicrosPerDay;
  if (const int64_t step = UnitMicros(unit); step > 0) return FloorDiv(micros, step) * step;
  const CivilDate date = CivilFromDays(days);
  const auto months = static_cast<int32_t>(UnitMonths(unit));
  if (months == 0) return micros;
  return DaysFromCivil({date.year, (date.month - 1) / months * months + 1, 1}) * kMicrosPerDay;
}
template <bool kCeil>
void FloorOrCeil(Call& c, int64_t row) {
  const TimeUnit unit = *ParseTimeUnit(c.word);
  const int64_t micros = c.Int(0, row);
  int64_t floor = FloorTo(unit, micros);
  if (kCeil && floor != micros) {
    floor = UnitMonths(unit) > 0
                ? AddMonthsToDays(FloorDiv(floor, kMicrosPerDay), UnitMonths(unit)) * kMicrosPerDay
                : floor + UnitMicros(unit);
  }
  c.PutInt(row, floor);
}

// ---- differences
// ---------------------------------------------------------------------------------

int64_t MonthsBetween(int64_t from, int64_t to) {
  if (to < from) return -MonthsBetween(to, from);
  const CivilDate a = CivilFromDays(FloorDiv(from, kMicrosPerDay));
  const CivilDate b = CivilFromDays(FloorDiv(to, kMicrosPerDay));
  int64_t months = (b.year - a.year) * 12 + b.month - a.month;
  const int64_t reached = AddMonthsToDays(FloorDiv(from, kMicrosPerDay), months) * kMicrosPerDay +
                          FloorMod(from, kMicrosPerDay);
  return reached > to ? months - 1 : months;
}
void TimestampDiff(Call& c, int64_t row) {
  const TimeUnit unit = *ParseTimeUnit(c.word);
  const int64_t from = c.Int(0, row);
  const int64_t to = c.Int(1, row);
  const int64_t months = UnitMonths(unit);
  const int64_t value =
      months > 0 ? MonthsBetween(from, to) / months : (to - from) / UnitMicros(unit);
  if (value > std::numeric_limits<int32_t>::max() || value < std::numeric_limits<int32_t>::min()) {
    return c.PutNull(row);
  }
  c.PutInt(row, value);
}

// ---- text
// ----------------------------------------------------------------------------------------

constexpr std::string_view kDefaultPattern = "yyyy-MM-dd HH:mm:ss";

struct CachedPattern {
  std::string text;
  TimePattern pattern;
};
const TimePattern& PatternOf(Call& c, std::string_view text) {
  const auto* cached = static_cast<const CachedPattern*>(c.cache.get());
  if (cached == nullptr || cached->text != text) {
    c.cache = std::make_shared<CachedPattern>(CachedPattern{std::string(text), TimePattern(text)});
    cached = static_cast<const CachedPattern*>(c.cache.get());
  }
  return cached->pattern;
}
void AppendFormatted(Call& c, int64_t row, std::string_view pattern_text, int64_t micros) {
  const TimePattern& pattern = PatternOf(c, pattern_text);
  if (!pattern.ok()) return c.Fail(row, "the date pattern has letters that are not known");
  c.scratch.clear();
  pattern.Format(micros, &c.scratch);
  c.Append(c.scratch);
}

void DateFormat(Call& c, int64_t row) { AppendFormatted(c, row, c.Str(1, row), c.Int(0, row)); }

// Moments of a zone that stands among the arguments.
bool ZoneOf(Call& c, int64_t row, size_t arg, TimeZone* zone) {
  Result<TimeZone> loaded = TimeZone::Load(c.Str(arg, row));
  if (!loaded) {
    c.Fail(row, "there is no time zone of that name");
    return false;
  }
  *zone = *std::move(loaded);
  return true;
}
void DateFormatTz(Call& c, int64_t row) {
  TimeZone zone;
  if (!ZoneOf(c, row, c.args.size() - 1, &zone)) return;
  AppendFormatted(c, row, c.args.size() > 2 ? c.Str(1, row) : kDefaultPattern,
                  UtcToLocal(c.Int(0, row), TimestampUnit::kMicros, zone));
}

// A text by a pattern, or by the default one, which takes a date alone and a fraction too.
bool ParseBy(Call& c, std::string_view text, std::optional<std::string_view> pattern,
             int64_t* micros) {
  if (pattern) {
    const TimePattern& compiled = PatternOf(c, *pattern);
    return compiled.ok() && compiled.Parse(text, micros);
  }
  ParsedTimestamp parsed;
  return ParseTimestamp(text, &parsed) == TimeText::kOk && !parsed.has_zone &&
         ToMicros(parsed, micros);
}
std::optional<std::string_view> PatternArg(Call& c, int64_t row) {
  if (c.args.size() < 2) return std::nullopt;
  return c.Str(1, row);
}

void ToDate(Call& c, int64_t row) {
  int64_t micros = 0;
  if (!ParseBy(c, c.Str(0, row), PatternArg(c, row), &micros)) return c.PutNull(row);
  c.PutDays(row, static_cast<int32_t>(FloorDiv(micros, kMicrosPerDay)));
}
void DateOf(Call& c, int64_t row) {
  c.PutDays(row, static_cast<int32_t>(FloorDiv(c.Int(0, row), kMicrosPerDay)));
}
void FailTimestamp(Call& c, int64_t row) {
  c.scratch = "'" + std::string(c.Str(0, row).substr(0, 60)) + "' is no timestamp of this pattern";
  c.Fail(row, c.scratch);
}
void ToTimestamp(Call& c, int64_t row) {
  int64_t micros = 0;
  if (!ParseBy(c, c.Str(0, row), PatternArg(c, row), &micros)) return FailTimestamp(c, row);
  c.PutInt(row, micros);
}
void ToTimestampLtzOfText(Call& c, int64_t row) {
  int64_t micros = 0;
  if (!ParseBy(c, c.Str(0, row), PatternArg(c, row), &micros)) return FailTimestamp(c, row);
  TimeZone zone;  // without one: UTC
  if (c.args.size() > 2 && !ZoneOf(c, row, 2, &zone)) return;
  c.PutInt(row, LocalToUtc(micros, TimestampUnit::kMicros, zone));
}
// Milliseconds; with a precision of 0 seconds.
void ToTimestampLtzOfNumber(Call& c, int64_t row) {
  const int64_t precision = c.args.size() > 1 ? c.Int(1, row) : 3;
  if (precision != 0 && precision != 3) {
    return c.Fail(row, "TO_TIMESTAMP_LTZ takes a precision of 0 or 3");
  }
  int64_t micros = 0;
  if (__builtin_mul_overflow(c.Int(0, row), precision == 0 ? kMicrosPerSecond : kMicrosPerMilli,
                             &micros)) {
    return c.PutNull(row);
  }
  c.PutInt(row, micros);
}

void FromUnixtime(Call& c, int64_t row) {
  int64_t micros = 0;
  if (__builtin_mul_overflow(c.Int(0, row), kMicrosPerSecond, &micros)) return c.PutNull(row);
  AppendFormatted(c, row, c.args.size() > 1 ? c.Str(1, row) : kDefaultPattern,
                  UtcToLocal(micros, TimestampUnit::kMicros, c.zone));
}
void UnixTimestampOfText(Call& c, int64_t row) {
  int64_t micros = 0;
  if (!ParseBy(c, c.Str(0, row), PatternArg(c, row), &micros)) {
    return c.PutInt(row, std::numeric_limits<int64_t>::min());
  }
  c.PutInt(row, FloorDiv(LocalToUtc(micros, TimestampUnit::kMicros, c.zone), kMicrosPerSecond));
}
void DateAdd(Call& c, int64_t row) {
  const int64_t days = FloorDiv(c.Int(0, row), kMicrosPerDay) + c.Int(1, row);
  c.scratch.clear();
  AppendDate(days, &c.scratch);
  c.Append(c.scratch);
}
void ConvertTz(Call& c, int64_t row) {
  int64_t micros = 0;
  TimeZone from;
  TimeZone to;
  if (!ParseBy(c, c.Str(0, row), std::nullopt, &micros)) return c.PutNull(row);
  if (!ZoneOf(c, row, 1, &from) || !ZoneOf(c, row, 2, &to)) return;
  micros = UtcToLocal(LocalToUtc(micros, TimestampUnit::kMicros, from), TimestampUnit::kMicros, to);
  AppendFormatted(c, row, kDefaultPattern, micros);
}

// ---- now
// -----------------------------------------------------------------------------------------

template <typename Value>
void Everywhere(Call& c, const EvalBatch& batch, Value value) {
  c.StartAllValid(batch.rows);
  Value* const out = c.out().data<Value>();
  std::fill(out, out + batch.rows, value);
  c.Finish();
}
int64_t LocalNow(const Call& c, const EvalBatch& batch) {
  return UtcToLocal(batch.now_micros, TimestampUnit::kMicros, c.zone);
}
void NowLoop(Call& c, const EvalBatch& batch) { Everywhere<int64_t>(c, batch, batch.now_micros); }
void LocalTimestampLoop(Call& c, const EvalBatch& batch) {
  Everywhere<int64_t>(c, batch, LocalNow(c, batch));
}
void CurrentDateLoop(Call& c, const EvalBatch& batch) {
  Everywhere(c, batch, static_cast<int32_t>(FloorDiv(LocalNow(c, batch), kMicrosPerDay)));
}
void CurrentTimeLoop(Call& c, const EvalBatch& batch) {
  const int64_t of_day = FloorMod(LocalNow(c, batch), kMicrosPerDay);
  Everywhere<int64_t>(c, batch, of_day / kMicrosPerSecond * kMicrosPerSecond);
}
void UnixTimestampLoop(Call& c, const EvalBatch& batch) {
  Everywhere<int64_t>(c, batch, FloorDiv(batch.now_micros, kMicrosPerSecond));
}

// ---- intervals
// -----------------------------------------------------------------------------------

// DATE, TIME, TIMESTAMP plus months and micros, in the value's own units.
class IntervalNode : public Node {
 public:
  IntervalNode(NodePtr value, Interval interval)
      : Node(value->type), interval_(interval), amount_arg_(false) {
    args.push_back(std::move(value));
  }
  // args: value, how many times the interval.
  IntervalNode(NodePtr value, NodePtr amount, Interval interval)
      : Node(value->type.WithNullability(value->type.nullable() || amount->type.nullable())),
        interval_(interval),
        amount_arg_(true) {
    args = {std::move(value), std::move(amount)};
  }

 protected:
  void Run(const EvalBatch& batch) override {
    Begin(batch.rows);
    const bool is_date = type.kind() == TypeKind::kDate;
    for (int64_t row = 0; row < batch.rows; ++row) {
      if (OutIsNull(row)) continue;
      Interval interval = interval_;
      if (amount_arg_) {
        const auto times = args[1]->Fixed<int64_t>(row);
        if (__builtin_mul_overflow(interval.months, times, &interval.months) ||
            __builtin_mul_overflow(interval.micros, times, &interval.micros)) {
          out_.SetNull(row);
          continue;
        }
      }
      if (is_date) {
        int64_t days = args[0]->Fixed<int32_t>(row);
        if (interval.months != 0) days = AddMonthsToDays(days, interval.months);
        out_.data<int32_t>()[row] = static_cast<int32_t>(days + interval.micros / kMicrosPerDay);
      } else {
        out_.data<int64_t>()[row] = Moved(args[0]->Fixed<int64_t>(row), interval);
      }
    }
    End();
  }

 private:
  int64_t Moved(int64_t value, const Interval& interval) const {
    const int64_t per_micro = type.IsNanos() ? 1000 : 1;
    const int64_t per_day = kMicrosPerDay * per_micro;
    if (type.kind() == TypeKind::kTime) {
      return FloorMod(value + interval.micros * per_micro, per_day);
    }
    if (interval.months != 0) {
      const int64_t days = FloorDiv(value, per_day);
      value = AddMonthsToDays(days, interval.months) * per_day + (value - days * per_day);
    }
    return value + interval.micros * per_micro;
  }

  Interval interval_;
  bool amount_arg_;
};

}  // namespace

std::optional<TimeUnit> ParseTimeUnit(std::string_view word) {
  if (word.starts_with("SQL_TSI_")) word.remove_prefix(8);
  struct Word {
    std::string_view word;
    TimeUnit unit;
  };
  static constexpr Word kWords[] = {
      {"MILLISECOND", TimeUnit::kMilli}, {"SECOND", TimeUnit::kSecond},
      {"MINUTE", TimeUnit::kMinute},     {"HOUR", TimeUnit::kHour},
      {"DAY", TimeUnit::kDay},           {"DAYOFMONTH", TimeUnit::kDay},
      {"WEEK", TimeUnit::kWeek},         {"MONTH", TimeUnit::kMonth},
      {"QUARTER", TimeUnit::kQuarter},   {"YEAR", TimeUnit::kYear},
      {"DOY", TimeUnit::kDayOfYear},     {"DAYOFYEAR", TimeUnit::kDayOfYear},
      {"DOW", TimeUnit::kDayOfWeek},     {"DAYOFWEEK", TimeUnit::kDayOfWeek},
      {"EPOCH", TimeUnit::kEpoch}};
  for (const Word& known : kWords) {
    if (known.word == word) return known.unit;
  }
  return std::nullopt;
}

Interval IntervalOf(TimeUnit unit) { return {UnitMonths(unit), UnitMicros(unit)}; }

NodePtr MakeAddInterval(NodePtr value, const Interval& interval) {
  return std::make_shared<IntervalNode>(std::move(value), interval);
}
NodePtr MakeAddInterval(NodePtr value, NodePtr amount, const Interval& interval) {
  return std::make_shared<IntervalNode>(std::move(value), std::move(amount), interval);
}

std::span<const FunctionForm> TimeForms() {
  static constexpr FunctionForm kForms[] = {
      {"EXTRACT", "wt", 'l', kFixedLoop<Extract>},
      {"YEAR", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kYear>>},
      {"QUARTER", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kQuarter>>},
      {"MONTH", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kMonth>>},
      {"WEEK", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kWeek>>},
      {"DAYOFYEAR", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kDayOfYear>>},
      {"DAYOFMONTH", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kDay>>},
      {"DAYOFWEEK", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kDayOfWeek>>},
      {"HOUR", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kHour>>},
      {"MINUTE", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kMinute>>},
      {"SECOND", "t", 'l', kFixedLoop<FieldOf<TimeUnit::kSecond>>},
      {"FLOOR", "tw", 't', kFixedLoop<FloorOrCeil<false>>},
      {"CEIL", "tw", 't', kFixedLoop<FloorOrCeil<true>>},
      {"TIMESTAMPDIFF", "wtt", 'l', kFixedLoop<TimestampDiff>},
      {"TIMESTAMP_DIFF", "wtt", 'l', kFixedLoop<TimestampDiff>},
      {"DATE_FORMAT", "ts", 's', kTextLoop<DateFormat>},
      {"DATE_FORMAT_TZ", "zs", 's', kTextLoop<DateFormatTz>},
      {"DATE_FORMAT_TZ", "zss", 's', kTextLoop<DateFormatTz>},
      {"TO_DATE", "s", 'D', kFixedLoop<ToDate>},
      {"TO_DATE", "ss", 'D', kFixedLoop<ToDate>},
      {"TO_DATE", "t", 'D', kFixedLoop<DateOf>},
      {"TO_TIMESTAMP", "s", 't', kFixedLoop<ToTimestamp>},
      {"TO_TIMESTAMP", "ss", 't', kFixedLoop<ToTimestamp>},
      {"TO_TIMESTAMP_LTZ", "l", 'z', kFixedLoop<ToTimestampLtzOfNumber>},
      {"TO_TIMESTAMP_LTZ", "ll", 'z', kFixedLoop<ToTimestampLtzOfNumber>},
      {"TO_TIMESTAMP_LTZ", "s", 'z', kFixedLoop<ToTimestampLtzOfText>},
      {"TO_TIMESTAMP_LTZ", "ss", 'z', kFixedLoop<ToTimestampLtzOfText>},
      {"TO_TIMESTAMP_LTZ", "sss", 'z', kFixedLoop<ToTimestampLtzOfText>},
      {"FROM_UNIXTIME", "l", 's', kTextLoop<FromUnixtime>},
      {"FROM_UNIXTIME", "ls", 's', kTextLoop<FromUnixtime>},
      {"UNIX_TIMESTAMP", "", 'l', UnixTimestampLoop, false},
      {"UNIX_TIMESTAMP", "s", 'l', kFixedLoop<UnixTimestampOfText>},
      {"UNIX_TIMESTAMP", "ss", 'l', kFixedLoop<UnixTimestampOfText>},
      {"DATE_ADD", "tl", 's', kTextLoop<DateAdd>},
      {"CONVERT_TZ", "sss", 's', kTextLoop<ConvertTz>},
      {"CURRENT_DATE", "", 'D', CurrentDateLoop, false},
      {"CURRENT_TIME", "", 'T', CurrentTimeLoop, false},
      {"LOCALTIME", "", 'T', CurrentTimeLoop, false},
      {"LOCALTIMESTAMP", "", 't', LocalTimestampLoop, false},
      {"CURRENT_TIMESTAMP", "", 'z', NowLoop, false},
      {"CURRENT_ROW_TIMESTAMP", "", 'z', NowLoop, false},
      {"PROCTIME", "", 'z', NowLoop, false},
      {"NOW", "", 'z', NowLoop, false},
  };
  return kForms;
}

}  // namespace driftless::flink
