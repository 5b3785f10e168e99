#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "config/yaml/location.h"

namespace driftless {

// The text of a file by lines: turns byte columns into characters and looks at what stands where.
// The text outlives it.
class SourceText {
 public:
  explicit SourceText(std::string_view text);

  // From a 0-based line and a 0-based column in bytes.
  Location At(int line, int byte_column) const;
  // What follows `at` on its line.
  std::string_view RestOfLine(Location at) const;
  // The first line up to `last_line` (0: all) whose indentation holds a tab.
  std::optional<Location> FirstIndentingTab(int last_line) const;
  // Whether the quoted text that begins at `at` has its closing quote.
  bool QuoteCloses(Location at) const;
  // The first byte that is not UTF-8, or a control character that YAML forbids.
  std::optional<Location> FirstInvalidCharacter() const;

 private:
  std::vector<std::string_view> lines_;
};

}  // namespace driftless
