#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "pipeline/sources/kafka/statement_mark.h"
#include "schema/events/point.h"

namespace driftless {

// What a position of a partition keeps to go on.
struct KafkaResume {
  uint64_t statements = 0;  // without a mark that are behind it
  uint64_t records = 0;     // of the topic of statements that were taken
  int64_t next_offset = -1;
  StatementMark last;  // with a mark
  RecentStatements recent;

  std::string ToText() const {
    std::string text = std::to_string(statements) + " " + std::to_string(records) + " " +
                       std::to_string(next_offset);
    if (last.run != 0) text += " " + last.ToText() + " " + recent.ToText();
    return text;
  }
  int64_t NextOffset(const Point& point) const {
    return next_offset >= 0 ? next_offset : static_cast<int64_t>(point.offset) + 1;
  }
  static KafkaResume Parse(std::string_view text) {
    KafkaResume resume;
    const char* at = text.data();
    const char* end = at + text.size();
    const auto number = [&](auto* value) {
      while (at < end && *at == ' ') ++at;
      at = std::from_chars(at, end, *value).ptr;
    };
    number(&resume.statements);
    number(&resume.records);
    if (at < end) number(&resume.next_offset);
    if (at < end) ++at;
    const std::string_view rest(at, static_cast<size_t>(end - at));
    if (const auto mark = StatementMark::Parse(rest)) {
      resume.last = *mark;
      const size_t space = rest.find(' ');
      if (space != std::string_view::npos) {
        resume.recent = RecentStatements::Parse(rest.substr(space + 1));
      }
    }
    return resume;
  }
};

}  // namespace driftless
