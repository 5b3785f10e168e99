#include "pipeline/sources/mysql/binlog/packed.h"

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "schema/types/time.h"

namespace driftless::mysql {
namespace {

constexpr int kDigitsPerGroup = 9;
constexpr int kBytesOf[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
constexpr uint32_t kPowers[] = {1,       10,        100,        1'000,       10'000,
                                100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
constexpr int64_t kMicrosOf[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};

// Goes over the groups of digits; `use` gets each with its number of digits.
template <typename Use>
bool EachGroup(const uint8_t* at, int precision, int scale, bool* negative, Use use) {
  *negative = (at[0] & 0x80) == 0;
  const uint8_t mask = *negative ? 0xff : 0;
  bool first = true;
  bool ok = true;
  const auto group = [&](int digits) {
    uint32_t value = 0;
    for (int i = 0; i < kBytesOf[digits]; ++i) {
      uint8_t byte = *at++;
      if (first) byte ^= 0x80;
      first = false;
      value = value << 8 | static_cast<uint8_t>(byte ^ mask);
    }
    ok = ok && value < kPowers[digits];
    use(value, digits);
  };
  const int whole = precision - scale;
  if (whole % kDigitsPerGroup != 0) group(whole % kDigitsPerGroup);
  for (int i = 0; i < whole / kDigitsPerGroup; ++i) group(kDigitsPerGroup);
  for (int i = 0; i < scale / kDigitsPerGroup; ++i) group(kDigitsPerGroup);
  if (scale % kDigitsPerGroup != 0) group(scale % kDigitsPerGroup);
  return ok;
}

bool IsDay(int64_t year, int month, int day) {
  return month >= 1 && month <= 12 && day >= 1 && day <= DaysInMonth(year, month);
}

// Microseconds of a stored fraction.
int64_t Fraction(const uint8_t* at, int digits) {
  switch (FractionBytes(digits)) {
    case 1: return at[0] * 10'000;
    case 2: return static_cast<int64_t>(LoadBig(at, 2)) * 100;
    case 3: return static_cast<int64_t>(LoadBig(at, 3));
    default: return 0;
  }
}

Stored ToMicros(const PackedMoment& moment, int64_t fraction, int64_t* micros) {
  *micros = 0;
  if (!IsDay(moment.year, moment.month, moment.day)) return Stored::kZeroDate;
  const int64_t days = DaysFromCivil({moment.year, moment.month, moment.day});
  const int64_t seconds = moment.hour * 3600 + moment.minute * 60 + moment.second;
  *micros = days * kMicrosPerDay + seconds * kMicrosPerSecond + fraction;
  return Stored::kMoment;
}

int64_t TimeMicros(int64_t hms, int64_t fraction) {
  const int64_t seconds = (hms >> 12 & 0x3ff) * 3600 + (hms >> 6 & 63) * 60 + (hms & 63);
  return seconds * kMicrosPerSecond + fraction;
}

}  // namespace

int PackedDecimalSize(int precision, int scale) {
  const int whole = precision - scale;
  return 4 * (whole / kDigitsPerGroup) + kBytesOf[whole % kDigitsPerGroup] +
         4 * (scale / kDigitsPerGroup) + kBytesOf[scale % kDigitsPerGroup];
}

bool ReadPackedDecimal(const uint8_t* at, int precision, int scale, Int128* value) {
  bool negative = false;
  bool ok = false;
  if (precision <= 18) {
    int64_t number = 0;
    ok = EachGroup(at, precision, scale, &negative, [&](uint32_t group, int digits) {
      number = static_cast<int64_t>(static_cast<uint64_t>(number) * kPowers[digits] + group);
    });
    *value = negative ? -number : number;
  } else {
    UInt128 number = 0;
    ok = EachGroup(at, precision, scale, &negative,
                   [&](uint32_t group, int digits) { number = number * kPowers[digits] + group; });
    *value = negative ? -static_cast<Int128>(number) : static_cast<Int128>(number);
  }
  return ok;
}

bool AppendPackedDecimal(const uint8_t* at, int precision, int scale, std::string* out) {
  char digits[80];
  int count = 0;
  bool negative = false;
  const bool ok = EachGroup(at, precision, scale, &negative, [&](uint32_t group, int size) {
    for (int i = size - 1; i >= 0; --i) {
      digits[count + i] = static_cast<char>('0' + group % 10);
      group /= 10;
    }
    count += size;
  });
  if (!ok) return false;
  const int whole = precision - scale;
  int begin = 0;
  while (begin < whole && digits[begin] == '0') ++begin;
  bool zero = begin == whole;
  for (int i = whole; i < count && zero; ++i) zero = digits[i] == '0';
  if (negative && !zero) *out += '-';
  if (begin == whole) {
    *out += '0';
  } else {
    out->append(digits + begin, static_cast<size_t>(whole - begin));
  }
  if (scale > 0) {
    *out += '.';
    out->append(digits + whole, static_cast<size_t>(scale));
  }
  return true;
}

Stored ReadDate(const uint8_t* at, int64_t* days) {
  const auto value = static_cast<int64_t>(LoadLittle(at, 3));
  const int64_t year = value >> 9;
  const int month = static_cast<int>(value >> 5 & 15);
  const int day = static_cast<int>(value & 31);
  *days = 0;
  if (!IsDay(year, month, day)) return Stored::kZeroDate;
  *days = DaysFromCivil({year, month, day});
  return Stored::kMoment;
}

PackedMoment Unpack(uint64_t packed) {
  PackedMoment moment;
  const uint64_t year_month = packed >> 22 & 0x1ffff;
  moment.year = static_cast<int64_t>(year_month / 13);
  moment.month = static_cast<int>(year_month % 13);
  moment.day = static_cast<int>(packed >> 17 & 31);
  moment.hour = static_cast<int>(packed >> 12 & 31);
  moment.minute = static_cast<int>(packed >> 6 & 63);
  moment.second = static_cast<int>(packed & 63);
  return moment;
}

Stored ReadDateTime(const uint8_t* at, int digits, int64_t* micros) {
  const uint64_t packed = LoadBig(at, 5) - 0x8000000000;
  return ToMicros(Unpack(packed), Fraction(at + 5, digits), micros);
}

Stored ReadTimestamp(const uint8_t* at, int digits, int64_t* micros) {
  const auto seconds = static_cast<int64_t>(LoadBig(at, 4));
  *micros = seconds * kMicrosPerSecond + Fraction(at + 4, digits);
  return *micros == 0 ? Stored::kZeroDate : Stored::kMoment;
}

int64_t ReadTime(const uint8_t* at, int digits) {
  // All bytes together are one number around zero, the fraction below the seconds.
  const int bytes = FractionBytes(digits);
  const int bits = 8 * bytes;
  const int64_t number = static_cast<int64_t>(LoadBig(at, 3 + bytes)) - (0x800000LL << bits);
  const int64_t absolute = number < 0 ? -number : number;
  int64_t fraction = absolute & ((1LL << bits) - 1);
  if (bytes == 1) fraction *= 10'000;
  if (bytes == 2) fraction *= 100;
  const int64_t micros = TimeMicros(absolute >> bits, fraction);
  return number < 0 ? -micros : micros;
}

Stored ReadOldDateTime(const uint8_t* at, int64_t* micros) {
  const uint64_t value = LoadLittle(at, 8);
  const uint64_t date = value / 1'000'000;
  const uint64_t time = value % 1'000'000;
  PackedMoment moment;
  *micros = 0;
  if (date > 99991231) return Stored::kZeroDate;
  moment.year = static_cast<int64_t>(date / 10'000);
  moment.month = static_cast<int>(date / 100 % 100);
  moment.day = static_cast<int>(date % 100);
  moment.hour = static_cast<int>(time / 10'000);
  moment.minute = static_cast<int>(time / 100 % 100);
  moment.second = static_cast<int>(time % 100);
  return ToMicros(moment, 0, micros);
}

int64_t ReadOldTime(const uint8_t* at) {
  auto value = static_cast<int32_t>(LoadLittle(at, 3) << 8) >> 8;
  const bool negative = value < 0;
  if (negative) value = -value;
  const int64_t seconds = value / 10'000 * 3600 + value / 100 % 100 * 60 + value % 100;
  return (negative ? -seconds : seconds) * kMicrosPerSecond;
}

int HiresDateTimeSize(int digits) {
  static constexpr int kSizes[] = {8, 6, 6, 7, 7, 7, 8};
  return kSizes[digits];
}
int HiresTimeSize(int digits) {
  static constexpr int kSizes[] = {3, 4, 4, 5, 5, 5, 6};
  return kSizes[digits];
}

Stored ReadHiresDateTime(const uint8_t* at, int digits, int64_t* micros) {
  uint64_t value =
      LoadBig(at, HiresDateTimeSize(digits)) * static_cast<uint64_t>(kMicrosOf[digits]);
  const auto fraction = static_cast<int64_t>(value % 1'000'000);
  value /= 1'000'000;
  PackedMoment moment;
  moment.second = static_cast<int>(value % 60);
  value /= 60;
  moment.minute = static_cast<int>(value % 60);
  value /= 60;
  moment.hour = static_cast<int>(value % 24);
  value /= 24;
  moment.day = static_cast<int>(value % 32);
  value /= 32;
  moment.month = static_cast<int>(value % 13);
  moment.year = static_cast<int64_t>(value / 13);
  *micros = 0;
  if (moment.year > 9999) return Stored::kZeroDate;
  return ToMicros(moment, fraction, micros);
}

int64_t ReadHiresTime(const uint8_t* at, int digits) {
  constexpr int64_t kZeroPoint = (838LL * 3600 + 59 * 60 + 59 + 1) * 1'000'000;
  const auto value = static_cast<int64_t>(LoadBig(at, HiresTimeSize(digits)));
  return (value - kZeroPoint / kMicrosOf[digits]) * kMicrosOf[digits];
}

}  // namespace driftless::mysql
