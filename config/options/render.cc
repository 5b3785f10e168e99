#include "config/options/render.h"

#include <fmt/format.h>

#include <vector>

#include "schema/base/json_writer.h"

namespace driftless {
namespace {

constexpr std::string_view kMask = "'***'";
constexpr size_t kTextWidth = 96;

std::string_view TypeWord(OptionType type) {
  switch (type) {
    case OptionType::kString: return "text";
    case OptionType::kInt: return "number";
    case OptionType::kBool: return "true or false";
    case OptionType::kDuration: return "duration";
    case OptionType::kBytes: return "size";
    case OptionType::kEnum: return "word";
    case OptionType::kList: return "list or text";
    case OptionType::kMap: return "map";
    case OptionType::kSequence: return "list";
    case OptionType::kBlock: return "block";
  }
  return "";
}

std::string_view JsonTypeWord(OptionType type) {
  switch (type) {
    case OptionType::kString: return "string";
    case OptionType::kInt: return "int";
    case OptionType::kBool: return "bool";
    case OptionType::kDuration: return "duration";
    case OptionType::kBytes: return "bytes";
    case OptionType::kEnum: return "enum";
    case OptionType::kList: return "list";
    case OptionType::kMap: return "map";
    case OptionType::kSequence: return "sequence";
    case OptionType::kBlock: return "block";
  }
  return "";
}

std::string RangeText(const OptionSpec& spec) {
  const bool has_min = spec.min != INT64_MIN;
  const bool has_max = spec.max != INT64_MAX;
  std::string unit(spec.unit);
  if (spec.type == OptionType::kDuration) unit = "ms";
  if (spec.type == OptionType::kBytes) unit = "bytes";
  if (!unit.empty()) unit = " " + unit;
  if (has_min && has_max) return fmt::format("{} to {}{}", spec.min, spec.max, unit);
  if (has_min) return fmt::format("at least {}{}", spec.min, unit);
  if (has_max) return fmt::format("at most {}{}", spec.max, unit);
  return {};
}

// Whatever there is to say beyond the sentence.
std::vector<std::string> Notes(const OptionSpec& spec) {
  std::vector<std::string> notes;
  if (!spec.aliases.empty()) {
    notes.push_back(fmt::format("Also written {}.", fmt::join(spec.aliases, ", ")));
  }
  switch (spec.flink_cdc) {
    case FlinkCdc::kSame:
      if (!spec.flink_cdc_note.empty()) notes.emplace_back(spec.flink_cdc_note);
      break;
    case FlinkCdc::kRenamed:
    case FlinkCdc::kIgnored: notes.emplace_back(spec.flink_cdc_note); break;
    case FlinkCdc::kExtension: break;
  }
  if (spec.flink_cdc == FlinkCdc::kIgnored) return notes;
  switch (spec.change) {
    case OnChange::kHot:
    case OnChange::kRestart: break;
    case OnChange::kNewState: notes.emplace_back("A change needs a new state."); break;
    case OnChange::kIncompatible:
      notes.emplace_back("A change does not fit tables that exist.");
      break;
  }
  return notes;
}

std::string Wrap(std::string_view text, std::string_view indent) {
  std::string out(indent);
  size_t column = indent.size();
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (column > indent.size() && column + 1 + word.size() > kTextWidth) {
      out += fmt::format("\n{}", indent);
      column = indent.size();
    } else if (column > indent.size()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string EscapeCell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '*' || c == '<' || c == '[') out += '\\';
    out += c;
  }
  return out;
}

// A YAML scalar that reads back as the same text.
std::string Scalar(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  const bool plain = !text.empty() && text != "null" && text != "true" && text != "false" &&
                     text[0] != '-' && text.find_first_not_of(kPlain) == std::string_view::npos;
  if (plain || text.starts_with("${")) return std::string(text);
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

}  // namespace

std::string_view ToString(OnChange change) {
  switch (change) {
    case OnChange::kHot: return "hot";
    case OnChange::kRestart: return "restart";
    case OnChange::kNewState: return "new_state";
    case OnChange::kIncompatible: return "incompatible";
  }
  return "";
}

std::string_view ToString(FlinkCdc relation) {
  switch (relation) {
    case FlinkCdc::kSame: return "same";
    case FlinkCdc::kRenamed: return "renamed";
    case FlinkCdc::kIgnored: return "ignored";
    case FlinkCdc::kExtension: return "extension";
  }
  return "";
}

std::string TypeText(const OptionSpec& spec) {
  std::string text(TypeWord(spec.type));
  if (spec.type == OptionType::kEnum) {
    text = fmt::format("one of {}", fmt::join(spec.values, ", "));
  }
  const std::string range = RangeText(spec);
  if (!range.empty()) text += ", " + range;
  if (spec.secret) text += ", secret";
  return text;
}

std::string RenderOptionsText(std::span<const OptionSpec> specs) {
  std::string out;
  for (const OptionSpec& spec : specs) {
    out += fmt::format("  {}  ({}", spec.key, TypeText(spec));
    if (spec.required) out += ", required";
    if (!spec.default_value.empty()) out += fmt::format(", default {}", spec.default_value);
    out += ")\n";
    std::string sentence(spec.doc);
    for (const std::string& note : Notes(spec)) sentence += " " + note;
    out += Wrap(sentence, "      ");
  }
  return out;
}

std::string RenderOptionsMarkdown(std::span<const OptionSpec> specs) {
  std::string out = "| Option | Type | Default | Meaning |\n| --- | --- | --- | --- |\n";
  for (const OptionSpec& spec : specs) {
    const std::string standard = spec.required ? "required"
                                 : spec.default_value.empty()
                                     ? ""
                                     : fmt::format("`{}`", spec.default_value);
    std::string meaning(spec.doc);
    for (const std::string& note : Notes(spec)) meaning += " " + note;
    out += fmt::format("| `{}` | {} | {} | {} |\n", spec.key, EscapeCell(TypeText(spec)), standard,
                       EscapeCell(meaning));
  }
  return out;
}

void WriteOptionsJson(std::span<const OptionSpec> specs, JsonWriter* json) {
  json->BeginArray();
  for (const OptionSpec& spec : specs) {
    json->BeginObject().Key("key").String(spec.key).Key("type").String(JsonTypeWord(spec.type));
    if (!spec.default_value.empty()) json->Key("default").String(spec.default_value);
    json->Key("required").Bool(spec.required).Key("secret").Bool(spec.secret);
    json->Key("doc").String(spec.doc);
    for (const auto& [key, words] :
         {std::pair("aliases", &spec.aliases), std::pair("values", &spec.values)}) {
      if (words->empty()) continue;
      json->Key(key).BeginArray();
      for (std::string_view word : *words) json->String(word);
      json->EndArray();
    }
    if (spec.min != INT64_MIN) json->Key("min").Int(spec.min);
    if (spec.max != INT64_MAX) json->Key("max").Int(spec.max);
    if (!spec.unit.empty()) json->Key("unit").String(spec.unit);
    json->Key("flink_cdc").String(ToString(spec.flink_cdc));
    if (!spec.flink_cdc_note.empty()) json->Key("flink_cdc_note").String(spec.flink_cdc_note);
    json->Key("change").String(ToString(spec.change));
    json->EndObject();
  }
  json->EndArray();
}

std::string RenderValues(const OptionValues& values, int indent) {
  std::string out;
  for (const OptionSpec& spec : values.specs()) {
    const OptionValues::Value* value = values.Find(spec.key);
    if (value == nullptr || spec.type == OptionType::kBlock) continue;
    if (spec.key.ends_with(".*")) {
      for (const auto& [key, text] : value->entries) {
        out += fmt::format("{:{}}{}{}: {}\n", "", indent, spec.key.substr(0, spec.key.size() - 1),
                           key, spec.secret ? std::string(kMask) : Scalar(text));
      }
      continue;
    }
    std::string text;
    if (spec.secret) {
      text = kMask;
    } else if (!value->written.empty()) {
      text = Scalar(value->written);
    } else if (spec.type == OptionType::kSequence || !value->item_locations.empty()) {
      std::vector<std::string> items;
      for (const std::string& item : value->items) items.push_back(Scalar(item));
      text = fmt::format("[{}]", fmt::join(items, ", "));
    } else if (spec.type == OptionType::kMap && !value->entries.empty()) {
      std::vector<std::string> items;
      for (const auto& [key, item] : value->entries) {
        items.push_back(fmt::format("{}: {}", Scalar(key), Scalar(item)));
      }
      text = fmt::format("{{{}}}", fmt::join(items, ", "));
    } else {
      text = Scalar(value->text);
    }
    out += fmt::format("{:{}}{}{}: {}\n", "", indent, value->explicitly_set ? "" : "# ", spec.key,
                       text);
  }
  return out;
}

}  // namespace driftless
