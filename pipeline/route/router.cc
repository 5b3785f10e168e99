#include "pipeline/route/router.h"

#include <algorithm>

namespace driftless {

Router Router::Make(const PipelineDefinition& definition, std::string_view sink) {
  std::vector<RouteDefinition> routes;
  for (const RouteDefinition& route : definition.routes) {
    if (route.IsFor(sink)) routes.push_back(route);
  }
  return Router(std::move(routes), definition.options.route_mode);
}

Router::Router(std::vector<RouteDefinition> routes, RouteMode mode)
    : routes_(std::move(routes)), mode_(mode), cache_(std::make_shared<Cache>()) {}

Result<Router::Entry> Router::Resolve(const TablePath& source) const {
  Entry entry;
  for (size_t i = 0; i < routes_.size(); ++i) {
    Result<std::optional<TablePath>> target = routes_[i].pattern.Apply(source);
    if (!target) {
      return std::move(target).error().Context("route in line " +
                                               std::to_string(routes_[i].at.line));
    }
    if (!*target) continue;
    entry.matched.push_back(i);
    // Two routes to one sink table must not write every row twice.
    const bool is_new =
        std::find(entry.targets.begin(), entry.targets.end(), **target) == entry.targets.end();
    if (is_new) entry.targets.push_back(**std::move(target));
    if (mode_ == RouteMode::kFirstMatch) break;
  }
  if (entry.targets.empty()) entry.targets.push_back(source);
  return entry;
}

Result<std::span<const TablePath>> Router::Route(const TablePath& source) const {
  const std::lock_guard lock(cache_->mutex);
  auto it = cache_->entries.find(source);
  if (it == cache_->entries.end()) {
    DRIFTLESS_ASSIGN_OR_RETURN(Entry entry, Resolve(source));
    it = cache_->entries.emplace(source, std::move(entry)).first;
  }
  return std::span<const TablePath>(it->second.targets);
}

std::vector<Router::Unmatched> Router::UnmatchedTables() const {
  std::vector<Unmatched> unmatched;
  if (routes_.empty()) return unmatched;
  const std::lock_guard lock(cache_->mutex);
  for (const auto& [table, entry] : cache_->entries) {
    if (!entry.matched.empty()) continue;
    Unmatched found{table, std::nullopt};
    for (const RouteDefinition& route : routes_) {
      if (!route.pattern.MatchesIgnoringCase(table)) continue;
      found.similar_route_line = route.at.line;
      break;
    }
    unmatched.push_back(std::move(found));
  }
  return unmatched;
}

std::vector<int> Router::IdleRouteLines() const {
  std::vector<bool> used(routes_.size(), false);
  {
    const std::lock_guard lock(cache_->mutex);
    for (const auto& [table, entry] : cache_->entries) {
      for (size_t index : entry.matched) used[index] = true;
    }
  }
  std::vector<int> lines;
  for (size_t i = 0; i < routes_.size(); ++i) {
    if (!used[i]) lines.push_back(routes_[i].at.line);
  }
  return lines;
}

std::vector<TablePath> Router::SourcesOf(const TablePath& sink_table) const {
  std::vector<TablePath> sources;
  const std::lock_guard lock(cache_->mutex);
  for (const auto& [table, entry] : cache_->entries) {
    const bool goes_there =
        std::find(entry.targets.begin(), entry.targets.end(), sink_table) != entry.targets.end();
    if (goes_there) sources.push_back(table);
  }
  return sources;
}

}  // namespace driftless
