#include <simdjson.h>

#include <memory>
#include <optional>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/json_value.h"
#include "config/expr/eval/nodes.h"
#include "schema/types/value_text.h"

namespace driftless::flink {
namespace {

using Element = simdjson::dom::element;

simdjson::dom::parser& ParserOf(Call& c) {
  if (c.cache == nullptr) c.cache = std::make_shared<simdjson::dom::parser>();
  return *static_cast<simdjson::dom::parser*>(c.cache.get());
}

std::optional<Element> Parse(Call& c, std::string_view text) {
  Element element;
  if (ParserOf(c).parse(text.data(), text.size()).get(element) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  return element;
}

bool IsScalar(const Element& element) { return !element.is_array() && !element.is_object(); }

void AppendElement(Call& c, const Element& element) {
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return c.Append(text);
  c.Append(simdjson::minify(element));
}

// "$.a[0]['b']", with "lax " or "strict " in front; missing: none.
std::optional<Element> AtPath(Element element, std::string_view path) {
  for (const std::string_view mode : {"lax ", "strict "}) {
    if (path.starts_with(mode)) path.remove_prefix(mode.size());
  }
  if (!path.starts_with('$')) return std::nullopt;
  path.remove_prefix(1);
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
      const size_t end = std::min(path.find_first_of(".["), path.size());
      if (element.at_key(path.substr(0, end)).get(element) != simdjson::SUCCESS) {
        return std::nullopt;
      }
      path.remove_prefix(end);
      continue;
    }
    const size_t end = path.find(']');
    if (path[0] != '[' || end == std::string_view::npos || end < 2) return std::nullopt;
    std::string_view inside = path.substr(1, end - 1);
    path.remove_prefix(end + 1);
    if (inside[0] == '\'' || inside[0] == '"') {
      inside = inside.substr(1, inside.size() - 2);
      if (element.at_key(inside).get(element) != simdjson::SUCCESS) return std::nullopt;
      continue;
    }
    size_t index = 0;
    for (const char digit : inside) {
      if (digit < '0' || digit > '9') return std::nullopt;
      index = index * 10 + static_cast<size_t>(digit - '0');
    }
    if (element.at(index).get(element) != simdjson::SUCCESS) return std::nullopt;
  }
  return element;
}

std::optional<Element> Look(Call& c, int64_t row) {
  const std::optional<Element> document = Parse(c, c.Str(0, row));
  return document ? AtPath(*document, c.Str(1, row)) : std::nullopt;
}

void JsonValue(Call& c, int64_t row) {
  const std::optional<Element> found = Look(c, row);
  if (!found || !IsScalar(*found) || found->is_null()) return c.PutNull(row);
  AppendElement(c, *found);
}
void JsonQuery(Call& c, int64_t row) {
  const std::optional<Element> found = Look(c, row);
  if (!found || IsScalar(*found)) return c.PutNull(row);
  c.Append(simdjson::minify(*found));
}
void JsonExists(Call& c, int64_t row) { c.PutBool(row, Look(c, row).has_value()); }
void IsJson(Call& c, int64_t row) {
  c.PutBool(row, !c.args[0]->IsNull(row) && Parse(c, c.Str(0, row)).has_value());
}

// Empty text is NULL, as Flink CDC has it.
template <bool kTry>
void ParseJson(Call& c, int64_t row) {
  const std::string_view text = c.Str(0, row);
  if (text.empty()) return c.PutNull(row);
  const std::optional<Element> document = Parse(c, text);
  if (document) return c.Append(simdjson::minify(*document));
  if (kTry) return c.PutNull(row);
  c.Fail(row, "PARSE_JSON: the text is no JSON document");
}

void JsonString(Call& c, int64_t row) {
  c.scratch.clear();
  AppendJson(c.args[0]->type, c.args[0]->view, c.args[0]->At(row), {}, &c.scratch);
  c.Append(c.scratch);
}

void VariantKey(Call& c, int64_t row) {
  const std::optional<Element> document = Parse(c, c.Str(0, row));
  Element found;
  if (!document || document->at_key(c.Str(1, row)).get(found) != simdjson::SUCCESS) {
    return c.PutNull(row);
  }
  c.Append(simdjson::minify(found));
}
void VariantIndex(Call& c, int64_t row) {
  const std::optional<Element> document = Parse(c, c.Str(0, row));
  const int64_t index = c.Int(1, row);  // from 1 on
  Element found;
  if (!document || index < 1 ||
      document->at(static_cast<size_t>(index - 1)).get(found) != simdjson::SUCCESS) {
    return c.PutNull(row);
  }
  c.Append(simdjson::minify(found));
}

}  // namespace

void VariantText(Call& c, int64_t row) {
  const std::optional<Element> document = Parse(c, c.Str(0, row));
  if (!document || document->is_null()) return c.PutNull(row);
  AppendElement(c, *document);
}

std::span<const FunctionForm> JsonForms() {
  static constexpr FunctionForm kForms[] = {
      {"JSON_VALUE", "ss", 's', kTextLoop<JsonValue>},
      {"JSON_QUERY", "ss", 's', kTextLoop<JsonQuery>},
      {"JSON_EXISTS", "ss", 'b', kFixedLoop<JsonExists>},
      {"IS_JSON", "s", 'b', LooseLoop<IsJson, false>},
      {"JSON_STRING", "*", 's', kTextLoop<JsonString>},
      {"PARSE_JSON", "s", 'v', kTextLoop<ParseJson<false>>},
      {"PARSE_JSON", "sb", 'v', kTextLoop<ParseJson<false>>},
      {"TRY_PARSE_JSON", "s", 'v', kTextLoop<ParseJson<true>>},
      {"TRY_PARSE_JSON", "sb", 'v', kTextLoop<ParseJson<true>>},
      {"VARIANT[]", "*s", 'v', kTextLoop<VariantKey>},
      {"VARIANT[]", "*l", 'v', kTextLoop<VariantIndex>},
  };
  return kForms;
}

}  // namespace driftless::flink
