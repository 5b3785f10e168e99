#include "pipeline/route/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace driftless {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RouteDefinition MakeRoute(std::string source, std::string sink, int line, std::string symbol = "") {
  RouteDefinition route;
  route.source_table = source;
  route.sink_table = sink;
  route.replace_symbol = symbol;
  route.at.line = line;
  Result<RoutePattern> pattern = RoutePattern::Parse(source, sink, symbol);
  EXPECT_TRUE(pattern.has_value());
  route.pattern = *std::move(pattern);
  return route;
}

TablePath Path(std::string text) { return *ParseTablePath(text); }

std::vector<std::string> Targets(const Router& router, std::string source) {
  std::vector<std::string> names;
  const Result<std::span<const TablePath>> targets = router.Route(Path(source));
  if (!targets) return {targets.error().ToString()};
  for (const TablePath& path : *targets) names.push_back(path.ToString());
  return names;
}

TEST(Router, KeepsTheNameWhereNothingMatches) {
  const Router router({}, RouteMode::kAllMatch);
  EXPECT_THAT(Targets(router, "a.b"), ElementsAre("a.b"));
  EXPECT_THAT(router.UnmatchedTables(), IsEmpty()) << "without routes nothing is unmatched";
}

TEST(Router, GoesToEveryTargetOnce) {
  const Router router({MakeRoute("db.\\.*", "ods.<>", 3, "<>"), MakeRoute("db.t", "dwh.t", 4),
                       MakeRoute("db.(\\.*)", "ods.$1", 5)},
                      RouteMode::kAllMatch);
  EXPECT_THAT(Targets(router, "db.t"), ElementsAre("ods.t", "dwh.t"));
  EXPECT_THAT(Targets(router, "db.t"), ElementsAre("ods.t", "dwh.t")) << "from the cache";
  EXPECT_THAT(Targets(router, "db.u"), ElementsAre("ods.u"));
}

TEST(Router, StopsAtTheFirstMatchWhenAsked) {
  const Router router({MakeRoute("db.t", "a.t", 1), MakeRoute("db.\\.*", "b.all", 2)},
                      RouteMode::kFirstMatch);
  EXPECT_THAT(Targets(router, "db.t"), ElementsAre("a.t"));
  EXPECT_THAT(Targets(router, "db.u"), ElementsAre("b.all"));
}

TEST(Router, ReportsWhatIsSilentElsewhere) {
  const Router router(
      {MakeRoute("shop.orders_\\.*", "ods.orders", 7), MakeRoute("shop.never", "ods.never", 9)},
      RouteMode::kAllMatch);
  Targets(router, "shop.orders_1");
  Targets(router, "shop.orders_2");
  Targets(router, "Shop.Orders_3");
  Targets(router, "other.t");
  const std::vector<Router::Unmatched> unmatched = router.UnmatchedTables();
  ASSERT_EQ(unmatched.size(), 2u);
  EXPECT_EQ(unmatched[0].table.ToString(), "Shop.Orders_3");
  EXPECT_EQ(unmatched[0].similar_route_line, 7);
  EXPECT_EQ(unmatched[1].table.ToString(), "other.t");
  EXPECT_EQ(unmatched[1].similar_route_line, std::nullopt);
  EXPECT_THAT(router.IdleRouteLines(), ElementsAre(9));
  EXPECT_THAT(router.SourcesOf(Path("ods.orders")),
              ElementsAre(Path("shop.orders_1"), Path("shop.orders_2")));
}

TEST(Router, NamesTheRouteThatMakesNoTableName) {
  const Router router({MakeRoute("(\\.*)", "a.b.$1", 12)}, RouteMode::kAllMatch);
  EXPECT_THAT(Targets(router, "db.t"), ElementsAre(testing::StartsWith(
                                           "route in line 12: what sink-table \"a.b.$1\" makes of "
                                           "source table db.t is not a table name")));
}

TEST(Router, TakesOnlyTheRoutesOfItsSink) {
  PipelineDefinition definition;
  definition.routes = {MakeRoute("db.t", "a.t", 1), MakeRoute("db.t", "b.t", 2)};
  definition.routes[1].sinks = {"lake"};
  EXPECT_THAT(Targets(Router::Make(definition, "lake"), "db.t"), ElementsAre("a.t", "b.t"));
  EXPECT_THAT(Targets(Router::Make(definition, "other"), "db.t"), ElementsAre("a.t"));
}

}  // namespace
}  // namespace driftless
