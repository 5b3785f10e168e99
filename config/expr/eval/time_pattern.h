#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driftless::flink {

// A pattern of java.time.format.DateTimeFormatter, as far as dates and times without zones go:
// y u M L d D H h k K m s S a E, 'quoted text', and signs that stand for themselves (its
// documentation, "Patterns for Formatting and Parsing").
class TimePattern {
 public:
  explicit TimePattern(std::string_view pattern);

  // False where a letter stands for something else (zones, eras).
  bool ok() const { return ok_; }
  // `micros`: local time since 1970-01-01.
  void Format(int64_t micros, std::string* out) const;
  // Fields that the pattern lacks are those of 1970-01-01 00:00. False where the text is another.
  bool Parse(std::string_view text, int64_t* micros) const;

 private:
  struct Piece {
    char letter = 0;  // 0: `text`
    int width = 0;
    std::string text;
  };
  bool ok_ = true;
  std::vector<Piece> pieces_;
};

// Seconds between 1970 and the week's Thursday decide: ISO 8601.
int64_t IsoWeek(int64_t days);
int64_t DayOfYear(int64_t days);
int64_t DayOfWeek(int64_t days);  // 1 is Sunday

}  // namespace driftless::flink
