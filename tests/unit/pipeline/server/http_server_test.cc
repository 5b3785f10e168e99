#include "pipeline/server/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>

#include "pipeline/runtime/metrics.h"

namespace driftless {
namespace {

TEST(HttpServerTest, ServesMetricsAndHealth) {
  Metrics metrics;
  metrics.Table({"lake", {"", "shop", "orders"}})->AddChanges(41, 1000);
  metrics.ObservePhase("lake", "released", 0.004);
  std::atomic<bool> healthy{true};
  auto server = HttpServer::Start("127.0.0.1:0",
                                  {[&] { return metrics.Text(); }, [&] { return healthy.load(); },
                                   [] { return std::string("a line"); }});
  ASSERT_TRUE(server) << server.error().ToString();
  httplib::Client client("127.0.0.1", (*server)->port());
  const auto text = client.Get("/metrics");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->status, 200);
  EXPECT_THAT(text->body, ::testing::HasSubstr(
                              "driftless_changes_total{sink=\"lake\",table=\"shop.orders\"} 41"));
  EXPECT_THAT(text->body,
              ::testing::HasSubstr("driftless_schema_change_seconds_bucket{phase=\"released\""));
  EXPECT_EQ(client.Get("/healthz")->status, 200);
  healthy = false;
  const auto ill = client.Get("/healthz");
  EXPECT_EQ(ill->status, 503);
  EXPECT_EQ(ill->body, "a line\n");
  EXPECT_EQ(client.Get("/nothing")->status, 404);
}

TEST(HttpServerTest, ATakenPortIsAnErrorThatSaysWhatToDo) {
  const HttpServer::Handlers handlers{[] { return std::string(); }, [] { return true; },
                                      [] { return std::string(); }};
  auto first = HttpServer::Start("127.0.0.1:0", handlers);
  ASSERT_TRUE(first);
  const auto second = HttpServer::Start("127.0.0.1:" + std::to_string((*first)->port()), handlers);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().ToString(), ::testing::HasSubstr("http.address"));
  EXPECT_FALSE(HttpServer::Start("nonsense", handlers));
}

}  // namespace
}  // namespace driftless
