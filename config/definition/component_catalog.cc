#include "config/definition/component_catalog.h"

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

const CatalogEntry* Find(const std::vector<CatalogEntry>& entries, std::string_view type) {
  for (const CatalogEntry& entry : entries) {
    if (EqualsIgnoringCase(entry.type, type)) return &entry;
    for (std::string_view alias : entry.aliases) {
      if (EqualsIgnoringCase(alias, type)) return &entry;
    }
  }
  return nullptr;
}

}  // namespace

const CatalogEntry* ComponentCatalog::FindSource(std::string_view type) const {
  return Find(sources, type);
}
const CatalogEntry* ComponentCatalog::FindSink(std::string_view type) const {
  return Find(sinks, type);
}

}  // namespace driftless
