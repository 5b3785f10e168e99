#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/options/option.h"
#include "config/yaml/problems.h"
#include "schema/matrix/capability_matrix.h"

namespace driftless {

struct SinkPolicy;

// What configuration knows of one kind of source or sink. Data handed in by the caller, so that
// config/ depends on no sink; everything that it points to lives as long as the process.
struct CatalogEntry {
  std::string_view type;
  std::vector<std::string_view> aliases;
  std::string_view summary;
  std::span<const OptionSpec> options;
  const CapabilityMatrix* matrix = nullptr;  // sinks only
  bool can_run = true;                       // false: this build has only its matrix
  bool reads_tables_again = false;           // sources only: rows-without-events: resync
  // Checks that concern more than one option, or an option's text; may be null.
  void (*check)(const OptionValues& values, Problems* problems) = nullptr;
  // Sinks only: what the sink's own options change in its policy; may be null.
  void (*adapt_policy)(const OptionValues& values, SinkPolicy* policy) = nullptr;
};

// Every source and sink of the build (pipeline/cli/catalog.h makes it from the two lists).
struct ComponentCatalog {
  std::vector<CatalogEntry> sources;
  std::vector<CatalogEntry> sinks;

  // By type or alias, without letter case; null: unknown.
  const CatalogEntry* FindSource(std::string_view type) const;
  const CatalogEntry* FindSink(std::string_view type) const;
};

}  // namespace driftless
