#include "config/options/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

#include "config/options/suggest.h"
#include "schema/base/letter_case.h"

namespace driftless {
namespace {

using Value = OptionValues::Value;
using Values = std::map<std::string, Value, std::less<>>;

bool IsPrefixMap(const OptionSpec& spec) { return spec.key.ends_with(".*"); }

// "table.properties." of "table.properties.*".
std::string_view PrefixOf(const OptionSpec& spec) {
  return spec.key.substr(0, spec.key.size() - 1);
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string FormatLimit(const OptionSpec& spec, int64_t limit) {
  if (spec.type == OptionType::kDuration) return fmt::format("{} ms", limit);
  if (spec.type == OptionType::kBytes) return fmt::format("{} bytes", limit);
  return spec.unit.empty() ? fmt::format("{}", limit) : fmt::format("{} {}", limit, spec.unit);
}

Result<void> CheckRange(const OptionSpec& spec, int64_t value, std::string_view text) {
  if (value >= spec.min && value <= spec.max) return {};
  std::string wanted;
  if (spec.max == INT64_MAX) {
    wanted = fmt::format("at least {}", FormatLimit(spec, spec.min));
  } else if (spec.min == INT64_MIN) {
    wanted = fmt::format("at most {}", FormatLimit(spec, spec.max));
  } else {
    wanted =
        fmt::format("between {} and {}", FormatLimit(spec, spec.min), FormatLimit(spec, spec.max));
  }
  return MakeError(ErrorKind::kInvalidConfig,
                   fmt::format("\"{}\" is out of range; it must be {}", text, wanted));
}

Result<int64_t> ParseInt(std::string_view text) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return number;
  return MakeError(ErrorKind::kInvalidConfig, fmt::format("\"{}\" is not a whole number", text));
}

Result<void> CheckText(const OptionSpec& spec, std::string_view text) {
  const auto with_range = [&](Result<int64_t> parsed) -> Result<void> {
    if (!parsed) return std::move(parsed).error();
    return CheckRange(spec, *parsed, text);
  };
  switch (spec.type) {
    case OptionType::kInt: return with_range(ParseInt(text));
    case OptionType::kDuration: return with_range(ParseDurationMs(text));
    case OptionType::kBytes: return with_range(ParseByteSize(text));
    case OptionType::kBool: {
      Result<bool> parsed = ParseBool(text);
      if (!parsed) return std::move(parsed).error();
      return {};
    }
    case OptionType::kEnum: {
      for (std::string_view word : spec.values) {
        if (EqualsIgnoringCase(word, text)) return {};
      }
      return MakeError(ErrorKind::kInvalidConfig, fmt::format("unknown value \"{}\"", text))
          .Hint(Suggest(text, spec.values));
    }
    case OptionType::kMap:
      for (const std::string& item : SplitList(text)) {
        if (item.find(':') != std::string::npos) continue;
        return MakeError(ErrorKind::kInvalidConfig,
                         fmt::format("\"{}\" is not \"key:value\"", item))
            .Hint("Write \"k1:v1,k2:v2\", or a map on lines of its own.");
      }
      return {};
    case OptionType::kString:
    case OptionType::kList:
    case OptionType::kSequence:
    case OptionType::kBlock: return {};
  }
  return {};
}

// One spec with the group that declares it.
struct Known {
  const OptionSpec* spec;
  size_t group;
};

class BlockParser {
 public:
  BlockParser(std::string_view owner, std::initializer_list<std::span<const OptionSpec>> groups,
              Problems* problems)
      : owner_(owner), groups_(groups), values_(groups.size()), problems_(problems) {
    for (size_t group = 0; group < groups_.size(); ++group) {
      for (const OptionSpec& spec : groups_[group]) {
        if (IsPrefixMap(spec)) {
          prefixes_.push_back({&spec, group});
          continue;
        }
        keys_.emplace(spec.key, Known{&spec, group});
        for (std::string_view alias : spec.aliases) keys_.emplace(alias, Known{&spec, group});
      }
    }
  }

  std::vector<OptionValues> Run(const YamlNode& block) {
    if (block.is_map()) {
      for (const YamlNode::Entry& entry : block.entries) ParseEntry(entry);
    } else if (!block.is_null()) {
      problems_->AddError(
          block.at, fmt::format("{} must be a map of options, not {}", owner_, block.KindText()),
          "Write \"key: value\" lines below it, indented.");
    }
    std::vector<OptionValues> result;
    for (size_t group = 0; group < groups_.size(); ++group) {
      AddDefaults(group, block);
      result.emplace_back(groups_[group], std::move(values_[group]));
    }
    return result;
  }

 private:
  void ParseEntry(const YamlNode::Entry& entry) {
    if (const auto it = keys_.find(entry.key); it != keys_.end()) {
      ParseKnown(*it->second.spec, it->second.group, entry);
      return;
    }
    // The longest prefix that fits owns the key.
    const Known* owner = nullptr;
    for (const Known& known : prefixes_) {
      const std::string_view prefix = PrefixOf(*known.spec);
      const bool fits = (entry.key.size() > prefix.size() && entry.key.starts_with(prefix)) ||
                        (entry.value.is_map() && entry.key + "." == prefix);
      if (fits && (owner == nullptr || owner->spec->key.size() < known.spec->key.size())) {
        owner = &known;
      }
    }
    if (owner != nullptr) {
      ParsePrefixed(*owner->spec, owner->group, entry);
    } else {
      ReportUnknown(entry);
    }
  }

  void ReportUnknown(const YamlNode::Entry& entry) {
    std::vector<std::string_view> words;
    for (const auto& [key, known] : keys_) words.push_back(key);
    for (const Known& known : prefixes_) words.push_back(known.spec->key);
    std::string hint = Suggest(entry.key, words);
    for (std::string_view word : words) {
      if (!entry.value.is_map() || !word.starts_with(entry.key + ".")) continue;
      hint = fmt::format("Options are not nested: write \"{}: ...\" in one line.", word);
      break;
    }
    problems_->AddError(entry.at, fmt::format("unknown option \"{}\" of {}", entry.key, owner_),
                        std::move(hint));
  }

  void ParseKnown(const OptionSpec& spec, size_t group, const YamlNode::Entry& entry) {
    const auto [first, is_new] = first_key_.emplace(&spec, &entry);
    if (!is_new) {
      problems_->AddError(entry.at,
                          fmt::format("\"{}\" and \"{}\" (line {}) are the same option", entry.key,
                                      first->second->key, first->second->at.line),
                          "Keep one of the two.");
      return;
    }
    std::optional<Value> value = ReadValue(spec, entry);
    if (!value) return;
    value->explicitly_set = true;
    values_[group].insert_or_assign(std::string(spec.key), *std::move(value));
  }

  std::optional<Value> ReadValue(const OptionSpec& spec, const YamlNode::Entry& entry) {
    const YamlNode& node = entry.value;
    Value value;
    value.location = node.is_null() ? entry.at : node.at;
    switch (spec.type) {
      case OptionType::kBlock: return value;
      case OptionType::kSequence: return ReadSequence(entry, std::move(value));
      case OptionType::kList:
        if (node.is_sequence()) return ReadSequence(entry, std::move(value));
        break;
      case OptionType::kMap:
        if (node.is_map()) {
          if (!ReadEntries(entry.key, node, "", &value)) return std::nullopt;
          return value;
        }
        break;
      default: break;
    }
    if (node.is_sequence() || node.is_map()) {
      problems_->AddError(
          entry.at, fmt::format("\"{}\" takes one value, not {}", entry.key, node.KindText()));
      return std::nullopt;
    }
    // `drop.skip: null` is a word here; an option with nothing behind it is a mistake.
    if (node.is_null() && !(spec.type == OptionType::kEnum && !node.text.empty())) {
      problems_->AddError(entry.at, fmt::format("\"{}\" has no value", entry.key),
                          "Write one, or remove the line; '' is the empty text.");
      return std::nullopt;
    }
    return ReadText(spec, entry, std::move(value));
  }

  std::optional<Value> ReadText(const OptionSpec& spec, const YamlNode::Entry& entry, Value value) {
    value.text = entry.value.text;
    value.written = entry.value.written;
    const Result<void> checked = CheckOptionText(spec, value.text);
    if (!checked) {
      problems_->AddError(value.location,
                          fmt::format("\"{}\": {}", entry.key, checked.error().message()),
                          checked.error().hint());
      return std::nullopt;
    }
    if (spec.type == OptionType::kList) value.items = SplitList(value.text);
    if (spec.type == OptionType::kMap) {
      for (const std::string& item : SplitList(value.text)) {
        const size_t colon = item.find(':');
        value.entries[std::string(Trim(item.substr(0, colon)))] = Trim(item.substr(colon + 1));
      }
    }
    return value;
  }

  std::optional<Value> ReadSequence(const YamlNode::Entry& entry, Value value) {
    if (!entry.value.is_sequence()) {
      problems_->AddError(
          value.location,
          fmt::format("\"{}\" must be a list, not {}", entry.key, entry.value.KindText()),
          entry.value.is_scalar()
              ? fmt::format("Write [{}].", fmt::join(SplitList(entry.value.PrintableText()), ", "))
              : "Write [] for an empty list.");
      return std::nullopt;
    }
    for (const YamlNode& item : entry.value.items) {
      if (!item.is_scalar()) {
        problems_->AddError(item.at, fmt::format("an item of \"{}\" must be a value, not {}",
                                                 entry.key, item.KindText()));
        return std::nullopt;
      }
      value.items.push_back(item.text);
      value.item_locations.push_back(item.at);
    }
    return value;
  }

  bool ReadEntries(std::string_view key, const YamlNode& map, const std::string& prefix,
                   Value* value) {
    bool good = true;
    for (const YamlNode::Entry& entry : map.entries) {
      if (entry.value.is_map()) {
        good &= ReadEntries(key, entry.value, prefix + entry.key + ".", value);
      } else if (entry.value.is_scalar()) {
        value->entries[prefix + entry.key] = entry.value.text;
      } else {
        problems_->AddError(entry.at, fmt::format("\"{}\" in \"{}\" takes one value, not {}",
                                                  entry.key, key, entry.value.KindText()));
        good = false;
      }
    }
    return good;
  }

  void ParsePrefixed(const OptionSpec& spec, size_t group, const YamlNode::Entry& entry) {
    const std::string_view prefix = PrefixOf(spec);
    Value& value = values_[group][std::string(spec.key)];
    if (!value.explicitly_set) value.location = entry.at;
    value.explicitly_set = true;
    if (entry.value.is_map()) {
      const bool whole = entry.key + "." == prefix;
      ReadEntries(entry.key, entry.value, whole ? "" : entry.key.substr(prefix.size()) + ".",
                  &value);
    } else if (entry.value.is_scalar()) {
      value.entries[entry.key.substr(prefix.size())] = entry.value.text;
    } else {
      problems_->AddError(entry.at, fmt::format("\"{}\" takes one value, not {}", entry.key,
                                                entry.value.KindText()));
    }
  }

  void AddDefaults(size_t group, const YamlNode& block) {
    for (const OptionSpec& spec : groups_[group]) {
      if (values_[group].contains(spec.key) || first_key_.contains(&spec)) continue;
      if (!spec.default_value.empty()) {
        Value value;
        value.text = spec.default_value;
        if (spec.type == OptionType::kList || spec.type == OptionType::kSequence) {
          value.items = SplitList(spec.default_value);
        }
        values_[group].emplace(spec.key, std::move(value));
      } else if (spec.required) {
        problems_->AddError(block.at, fmt::format("{} needs the option \"{}\"", owner_, spec.key),
                            std::string(spec.doc));
      }
    }
  }

  std::string_view owner_;
  std::vector<std::span<const OptionSpec>> groups_;
  std::vector<Values> values_;
  std::map<std::string_view, Known> keys_;
  std::vector<Known> prefixes_;
  std::map<const OptionSpec*, const YamlNode::Entry*> first_key_;
  Problems* problems_;
};

}  // namespace

Result<void> CheckOptionText(const OptionSpec& spec, std::string_view text) {
  Result<void> checked = CheckText(spec, text);
  if (checked || !spec.secret) return checked;
  return MakeError(ErrorKind::kInvalidConfig, "the secret has not the form that it should have");
}

std::vector<OptionValues> ParseOptions(const YamlNode& block, std::string_view owner,
                                       std::initializer_list<std::span<const OptionSpec>> groups,
                                       Problems* problems) {
  return BlockParser(owner, groups, problems).Run(block);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '\'') {
        items.back() += text[++i];
      } else {
        quoted = !quoted;
      }
    } else if (!quoted && (c == ',' || c == ';')) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  std::vector<std::string> result;
  for (const std::string& item : items) {
    const std::string_view trimmed = Trim(item);
    if (!trimmed.empty()) result.emplace_back(trimmed);
  }
  return result;
}

}  // namespace driftless
