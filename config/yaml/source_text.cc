#include "config/yaml/source_text.h"

#include <algorithm>
#include <cstdint>

namespace driftless {
namespace {

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

// Bytes of the UTF-8 sequence at the start of `text`, 0 where it is invalid (RFC 3629, section 4).
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    const bool control = first < 0x20 && first != '\t' && first != '\n' && first != '\r';
    return control || first == 0x7F ? 0 : 1;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
  if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

SourceText::SourceText(std::string_view text) {
  while (true) {
    const size_t end = text.find('\n');
    lines_.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

Location SourceText::At(int line, int byte_column) const {
  Location at{line + 1, 1};
  if (line < 0 || static_cast<size_t>(line) >= lines_.size()) return at;
  const std::string_view before =
      lines_[line].substr(0, static_cast<size_t>(std::max(byte_column, 0)));
  at.column += static_cast<int>(
      std::count_if(before.begin(), before.end(), [](char c) { return !IsContinuation(c); }));
  return at;
}

std::string_view SourceText::RestOfLine(Location at) const {
  if (at.line < 1 || static_cast<size_t>(at.line) > lines_.size()) return {};
  std::string_view rest = lines_[at.line - 1];
  for (int column = 1; column < at.column && !rest.empty(); ++column) {
    rest.remove_prefix(1);
    while (!rest.empty() && IsContinuation(rest.front())) rest.remove_prefix(1);
  }
  return rest;
}

std::optional<Location> SourceText::FirstIndentingTab(int last_line) const {
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (last_line > 0 && static_cast<int>(i) >= last_line) break;
    const size_t indent = lines_[i].find_first_not_of(" \t\r");
    if (indent == std::string_view::npos) continue;
    const size_t tab = lines_[i].substr(0, indent).find('\t');
    if (tab != std::string_view::npos) return At(static_cast<int>(i), static_cast<int>(tab));
  }
  return std::nullopt;
}

bool SourceText::QuoteCloses(Location at) const {
  std::string_view rest = RestOfLine(at);
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) return true;
  const char quote = rest.front();
  rest.remove_prefix(1);
  for (size_t line = static_cast<size_t>(at.line);; ++line) {
    for (size_t i = 0; i < rest.size(); ++i) {
      if (quote == '"' && rest[i] == '\\') {
        ++i;
      } else if (rest[i] == quote && quote == '\'' && i + 1 < rest.size() && rest[i + 1] == quote) {
        ++i;  // '' is a quote inside single quotes
      } else if (rest[i] == quote) {
        return true;
      }
    }
    if (line >= lines_.size()) return false;
    rest = lines_[line];
  }
}

std::optional<Location> SourceText::FirstInvalidCharacter() const {
  for (size_t i = 0; i < lines_.size(); ++i) {
    const std::string_view line = lines_[i];
    for (size_t offset = 0; offset < line.size();) {
      const size_t length = SequenceLength(line.substr(offset));
      if (length == 0) return At(static_cast<int>(i), static_cast<int>(offset));
      offset += length;
    }
  }
  return std::nullopt;
}

}  // namespace driftless
