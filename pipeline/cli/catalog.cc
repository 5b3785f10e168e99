#include "pipeline/cli/catalog.h"

#include "pipeline/sources/source.h"
#include "sinks/api/component.h"

namespace driftless {

const ComponentCatalog& AllComponents() {
  static const ComponentCatalog* const kCatalog = [] {
    auto* catalog = new ComponentCatalog();
    for (const SourceComponent& source : AllSources()) {
      catalog->sources.push_back({.type = source.type,
                                  .aliases = source.aliases,
                                  .summary = source.summary,
                                  .options = source.options,
                                  .can_run = source.make_source != nullptr,
                                  .reads_tables_again = source.reads_tables_again,
                                  .check = source.check});
    }
    for (const SinkComponent& sink : AllSinks()) {
      catalog->sinks.push_back({.type = sink.type,
                                .aliases = sink.aliases,
                                .summary = sink.summary,
                                .options = sink.options,
                                .matrix = sink.matrix,
                                .can_run = sink.make_sink != nullptr,
                                .check = sink.check,
                                .adapt_policy = sink.adapt_policy});
    }
    return catalog;
  }();
  return *kCatalog;
}

}  // namespace driftless
