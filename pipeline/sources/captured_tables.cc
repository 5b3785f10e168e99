#include "pipeline/sources/captured_tables.h"

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

}  // namespace driftless
