#include "config/expr/eval/time_pattern.h"

#include <algorithm>
#include <array>

#include "schema/types/time.h"

namespace driftless::flink {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

void AppendNumber(int64_t value, int width, std::string* out) {
  if (value < 0) {
    *out += '-';
    value = -value;
  }
  const std::string digits = std::to_string(value);
  for (auto n = static_cast<int>(digits.size()); n < width; ++n) *out += '0';
  *out += digits;
}

bool IsNumeric(char letter, int width) {
  if (letter == 'a' || letter == 'E' || letter == 0) return false;
  return !((letter == 'M' || letter == 'L') && width >= 3);
}

bool TakeName(std::string_view* text, std::string_view name, int width) {
  if (width < 4) name = name.substr(0, 3);
  if (text->size() < name.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (((*text)[i] | 0x20) != (name[i] | 0x20)) return false;
  }
  text->remove_prefix(name.size());
  return true;
}

}  // namespace

int64_t DayOfWeek(int64_t days) { return ((days + 4) % 7 + 7) % 7 + 1; }
int64_t DayOfYear(int64_t days) {
  return days - DaysFromCivil({CivilFromDays(days).year, 1, 1}) + 1;
}
int64_t IsoWeek(int64_t days) {
  const int64_t monday_based = ((days + 3) % 7 + 7) % 7;  // 0 is Monday
  return (DayOfYear(days - monday_based + 3) - 1) / 7 + 1;
}

TimePattern::TimePattern(std::string_view pattern) {
  const auto literal = [this](std::string_view text) {
    if (pieces_.empty() || pieces_.back().letter != 0) pieces_.push_back({});
    pieces_.back().text += text;
  };
  for (size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      if (pattern.substr(i, 2) == "''") {
        literal("'");
        i += 2;
        continue;
      }
      for (++i; i < pattern.size(); ++i) {
        if (pattern[i] != '\'') {
          literal(pattern.substr(i, 1));
        } else if (pattern.substr(i, 2) == "''") {
          literal("'");
          ++i;
        } else {
          break;
        }
      }
      ++i;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      size_t end = i;
      while (end < pattern.size() && pattern[end] == c) ++end;
      ok_ = ok_ && std::string_view("yuMLdDHhkKmsSaE").find(c) != std::string_view::npos;
      pieces_.push_back({c, static_cast<int>(end - i), ""});
      i = end;
    } else {
      literal(pattern.substr(i, 1));
      ++i;
    }
  }
}

void TimePattern::Format(int64_t micros, std::string* out) const {
  const int64_t days = FloorDiv(micros, kMicrosPerDay);
  const int64_t of_day = micros - days * kMicrosPerDay;
  const CivilDate date = CivilFromDays(days);
  const int64_t seconds = of_day / kMicrosPerSecond;
  const int64_t hour = seconds / 3600;
  for (const Piece& piece : pieces_) {
    switch (piece.letter) {
      case 0: *out += piece.text; break;
      case 'y':
      case 'u':
        if (piece.width == 2) {
          AppendNumber(((date.year % 100) + 100) % 100, 2, out);
        } else {
          AppendNumber(date.year, piece.width, out);
        }
        break;
      case 'M':
      case 'L': {
        const std::string_view name = kMonths[static_cast<size_t>(date.month - 1)];
        if (piece.width < 3) {
          AppendNumber(date.month, piece.width, out);
        } else {
          *out += piece.width == 3 ? name.substr(0, 3) : name;
        }
        break;
      }
      case 'd': AppendNumber(date.day, piece.width, out); break;
      case 'D': AppendNumber(DayOfYear(days), piece.width, out); break;
      case 'H': AppendNumber(hour, piece.width, out); break;
      case 'k': AppendNumber(hour == 0 ? 24 : hour, piece.width, out); break;
      case 'K': AppendNumber(hour % 12, piece.width, out); break;
      case 'h': AppendNumber(hour % 12 == 0 ? 12 : hour % 12, piece.width, out); break;
      case 'm': AppendNumber(seconds / 60 % 60, piece.width, out); break;
      case 's': AppendNumber(seconds % 60, piece.width, out); break;
      case 'S': {
        std::string digits;
        AppendNumber(of_day % kMicrosPerSecond, 6, &digits);
        digits.append(9, '0');
        *out += digits.substr(0, static_cast<size_t>(std::min(piece.width, 9)));
        break;
      }
      case 'a': *out += hour < 12 ? "AM" : "PM"; break;
      case 'E': {
        const std::string_view name = kWeekdays[static_cast<size_t>(DayOfWeek(days) - 1)];
        *out += piece.width < 4 ? name.substr(0, 3) : name;
        break;
      }
      default: break;
    }
  }
}

bool TimePattern::Parse(std::string_view text, int64_t* micros) const {
  CivilDate date{1970, 1, 1};
  int64_t hour = 0, minute = 0, second = 0, fraction = 0, day_of_year = 0;
  int half = -1;  // of the day: 0 AM, 1 PM
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (piece.letter == 0) {
      if (!text.starts_with(piece.text)) return false;
      text.remove_prefix(piece.text.size());
      continue;
    }
    if (!IsNumeric(piece.letter, piece.width)) {
      bool found = false;
      if (piece.letter == 'a') {
        found = text.size() >= 2 && ((text[0] | 0x20) == 'a' || (text[0] | 0x20) == 'p') &&
                (text[1] | 0x20) == 'm';
        if (!found) return false;
        half = (text[0] | 0x20) == 'p' ? 1 : 0;
        text.remove_prefix(2);
      } else if (piece.letter == 'E') {
        for (const std::string_view name : kWeekdays) {
          if (!found) found = TakeName(&text, name, piece.width);
        }
      } else {
        for (size_t month = 0; month < kMonths.size() && !found; ++month) {
          found = TakeName(&text, kMonths[month], piece.width);
          if (found) date.month = static_cast<int32_t>(month + 1);
        }
      }
      if (!found) return false;
      continue;
    }
    // Digits; as many as the width where another number follows at once.
    const bool packed = i + 1 < pieces_.size() && pieces_[i + 1].letter != 0 &&
                        IsNumeric(pieces_[i + 1].letter, pieces_[i + 1].width);
    const bool fixed = packed || piece.letter == 'S';
    const size_t most = fixed
                            ? static_cast<size_t>(piece.width)
                            : std::max<size_t>(static_cast<size_t>(piece.width),
                                               piece.letter == 'y' || piece.letter == 'u' ? 9 : 2);
    size_t count = 0;
    int64_t value = 0;
    while (count < most && count < text.size() && text[count] >= '0' && text[count] <= '9') {
      value = value * 10 + (text[count++] - '0');
      if (count > 15) return false;
    }
    if (count == 0) return false;
    text.remove_prefix(count);
    switch (piece.letter) {
      case 'y':
      case 'u': date.year = piece.width == 2 && count <= 2 ? 2000 + value : value; break;
      case 'M':
      case 'L':
        if (value < 1 || value > 12) return false;
        date.month = static_cast<int32_t>(value);
        break;
      case 'd':
        if (value < 1 || value > 31) return false;
        date.day = static_cast<int32_t>(value);
        break;
      case 'D': day_of_year = value; break;
      case 'H': hour = value; break;
      case 'k': hour = value == 24 ? 0 : value; break;
      case 'K': hour = value; break;
      case 'h': hour = value == 12 ? 0 : value; break;
      case 'm': minute = value; break;
      case 's': second = value; break;
      case 'S':
        for (size_t digits = count; digits < 6; ++digits) value *= 10;
        for (size_t digits = count; digits > 6; --digits) value /= 10;
        fraction = value;
        break;
      default: return false;
    }
  }
  if (!text.empty()) return false;
  if (half == 1 && hour < 12) hour += 12;
  if (hour > 23 || minute > 59 || second > 59) return false;
  if (date.day > DaysInMonth(date.year, date.month)) return false;
  int64_t days = DaysFromCivil(date);
  if (day_of_year > 0) days = DaysFromCivil({date.year, 1, 1}) + day_of_year - 1;
  *micros =
      days * kMicrosPerDay + (hour * 3600 + minute * 60 + second) * kMicrosPerSecond + fraction;
  return true;
}

}  // namespace driftless::flink
