#include "pipeline/sources/captured_tables.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace driftless {

Result<std::optional<TableSelector>> ReadCapturedTables(const OptionValues& values) {
  std::string selector;
  for (const std::string& entry : values.List("tables")) {
    selector += (selector.empty() ? "" : ",") + entry;
  }
  if (selector.empty()) return std::optional<TableSelector>();
  auto parsed = TableSelector::Parse(selector);
  if (!parsed) {
    const Location at = values.At("tables");
    return std::move(parsed.error()).At(at.line, at.column);
  }
  return std::optional(std::move(*parsed));
}

void CheckTableSelector(std::string_view key, const OptionValues& values, Problems* problems) {
  const std::optional<std::string> text = values.String(key);
  if (!text) return;
  const Result<TableSelector> selector = TableSelector::Parse(*text);
  if (selector) return;
  problems->AddError(values.At(key), fmt::format("\"{}\": {}", key, selector.error().message()),
                     selector.error().hint());
}

Result<TableSelector> ReadTableSelector(std::string_view key, const OptionValues& values) {
  Result<TableSelector> selector = TableSelector::Parse(values.String(key).value_or(""));
  if (selector) return selector;
  return std::move(selector).error().At(values.At(key).line, values.At(key).column);
}

}  // namespace driftless
