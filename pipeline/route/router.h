#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/definition/pipeline_definition.h"

namespace driftless {

// Where the tables of the sources go at one sink. Worked out once per table and kept. Thread-safe;
// one lookup per batch or statement, not per row.
class Router {
 public:
  // The routes of the pipeline that are for this sink, in the file's order.
  static Router Make(const PipelineDefinition& definition, std::string_view sink);
  Router(std::vector<RouteDefinition> routes, RouteMode mode);

  // The sink tables of a source table: the targets of the routes that match (of the first one under
  // FIRST_MATCH), each once; the table itself where no route matches. The result stays valid as
  // long as the router. Errors: kInvalidConfig when a route makes no table name of it.
  Result<std::span<const TablePath>> Route(const TablePath& source) const;

  // A table that no route matched although there are routes: it went to the sink under its own
  // name, which may not be what the user meant.
  struct Unmatched {
    TablePath table;
    // The first route that would match if letter case did not count; it stands in this line.
    std::optional<int> similar_route_line;
  };
  // Tables seen so far that no route matched; empty where there are no routes at all.
  std::vector<Unmatched> UnmatchedTables() const;
  // Routes that no table seen so far has matched, by their line in the file.
  std::vector<int> IdleRouteLines() const;
  // Source tables seen so far that go to `sink_table`: the shards of a merged table.
  std::vector<TablePath> SourcesOf(const TablePath& sink_table) const;

 private:
  struct Entry {
    std::vector<TablePath> targets;
    std::vector<size_t> matched;  // indexes of routes
  };
  Result<Entry> Resolve(const TablePath& source) const;

  std::vector<RouteDefinition> routes_;
  RouteMode mode_;
  struct Cache {
    std::mutex mutex;
    std::map<TablePath, Entry> entries;  // nodes are stable: spans into them stay valid
  };
  std::shared_ptr<Cache> cache_;
};

}  // namespace driftless
