#include "config/definition/selector.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>

#include "config/definition/regex.h"

namespace driftless {

struct TableSelector::Entry {
  std::vector<std::shared_ptr<const RE2>> parts;  // one to three
};

namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Splits at `separator`; an escaped separator stays, without its backslash.
std::vector<std::string> SplitUnescaped(std::string_view text, char separator) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == separator) {
      // "\," is a comma inside an entry, "\." the dot of a regular expression.
      pieces.back() += text[++i];
    } else if (text[i] == '\\' && i + 1 < text.size()) {
      pieces.back() += text[i++];
      pieces.back() += text[i];
    } else if (text[i] == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += text[i];
    }
  }
  return pieces;
}

bool HasRegex(std::string_view text) {
  return text.find_first_of("\\*+?[](){}|^$.") != std::string_view::npos;
}

}  // namespace

Result<TableSelector> TableSelector::Parse(std::string_view text) {
  TableSelector selector;
  selector.text_ = text;
  bool has_regex = false;
  for (const std::string& entry_text : SplitUnescaped(text, ',')) {
    const std::string_view trimmed = Trim(entry_text);
    if (trimmed.empty()) continue;
    auto entry = std::make_shared<Entry>();
    const std::vector<std::string> parts = SplitUnescaped(trimmed, '.');
    if (parts.size() > 3) {
      return MakeError(ErrorKind::kInvalidConfig,
                       fmt::format("\"{}\" has {} parts; a table has at most three", trimmed,
                                   parts.size()))
          .Hint(
              "A dot separates the parts; write \\. for the \"any character\" of a regular "
              "expression.");
    }
    for (const std::string& part : parts) {
      const std::string_view name = Trim(part);
      if (name.empty()) {
        return MakeError(ErrorKind::kInvalidConfig,
                         fmt::format("\"{}\" has an empty part", trimmed))
            .Hint("Write database.table; \\.* stands for every name.");
      }
      has_regex |= HasRegex(name);
      DRIFTLESS_ASSIGN_OR_RETURN(auto regex, CompileRegex(name, LetterCase::kInsensitive));
      entry->parts.push_back(std::move(regex));
    }
    selector.entries_.push_back(std::move(entry));
  }
  if (selector.entries_.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "no table is named")
        .Hint("Write database.table; \\.* stands for every name.");
  }
  selector.is_exact_ = !has_regex && selector.entries_.size() == 1;
  return selector;
}

bool TableSelector::Matches(const TablePath& table) const {
  const std::string* names[3];
  size_t count = 0;
  if (!table.catalog.empty()) names[count++] = &table.catalog;
  if (!table.database.empty() || count > 0) names[count++] = &table.database;
  names[count++] = &table.table;
  for (const auto& entry : entries_) {
    const auto& parts = entry->parts;
    const bool ignores_first = parts.size() == 3 && count == 2;
    if (parts.size() != count && !ignores_first) continue;
    const size_t skip = ignores_first ? 1 : 0;
    bool matches = true;
    for (size_t i = 0; i < count && matches; ++i) {
      matches = RE2::FullMatch(*names[i], *parts[i + skip]);
    }
    if (matches) return true;
  }
  return false;
}

}  // namespace driftless
