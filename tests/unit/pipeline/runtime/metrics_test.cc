#include "pipeline/runtime/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/pipeline/runtime/harness.h"

namespace driftless {
namespace {

using ::testing::HasSubstr;

const TablePath kOrders = ShopTable("orders");

TEST(MetricsTest, ARunLeavesItsFigures) {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3).AddColumn("orders", "b").Rows("orders", 2);
  Harness harness(script.Script());
  ExpectFinished(harness.RunToEnd());
  const std::string text = harness.metrics_->Text();
  for (const char* line :
       {"driftless_changes_total{sink=\"lake\",table=\"shop.orders\"} 5",
        "driftless_checkpoint_seconds_count{sink=\"lake\"} 1",
        "driftless_checkpoints_total{result=\"committed\",sink=\"lake\"} 1",
        "driftless_schema_change_seconds_count{phase=\"released\",sink=\"lake\"} 2",
        "driftless_queue_bytes{queue=\"inlet\",sink=\"lake\"} 0",
        "driftless_queue_bytes{queue=\"writers\",sink=\"lake\"} 0",
        "driftless_sink_stopped{sink=\"lake\"} 0", "driftless_holds 0"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  // The script's changes were made in 1970.
  for (const char* lag : {"driftless_lag_seconds{stream=\"script\"} ",
                          "driftless_sink_lag_seconds{sink=\"lake\"} "}) {
    const size_t at = text.find(lag);
    ASSERT_NE(at, std::string::npos) << lag << text;
    EXPECT_GT(std::stod(text.substr(at + std::string(lag).size())), 1e9) << lag;
  }
}

TEST(MetricsTest, DivergencesAreCountedPerTableAndFallAgain) {
  ScriptBuilder script;
  script.Create("orders").Rows("orders", 3);
  Harness harness(script.Script());
  ExpectFinished(harness.RunToEnd());
  const SinkTableKey key{"lake", kOrders};
  const std::string line = "driftless_divergences{sink=\"lake\",table=\"shop.orders\"} ";
  const auto change = [&](const std::function<Result<void>(StateTransaction&)>& write) {
    auto state = StateStore::Open(harness.folder_.path(), "test", *SystemClock());
    ASSERT_TRUE(state);
    ASSERT_TRUE((*state)->Transact(write));
  };
  change([&](StateTransaction& t) -> Result<void> {
    Divergence divergence;
    divergence.sink = key;
    divergence.column = 7;
    DRIFTLESS_TRY(t.PutDivergence(divergence));
    divergence.column = 8;
    return t.PutDivergence(divergence);
  });
  ExpectFinished(harness.RunToEnd());
  EXPECT_THAT(harness.metrics_->Text(), HasSubstr(line + "2"));
  change([&](StateTransaction& t) { return t.EndDivergences(key, 7, std::nullopt, "test", 1); });
  ExpectFinished(harness.RunToEnd());
  EXPECT_THAT(harness.metrics_->Text(), HasSubstr(line + "1"));
}

}  // namespace
}  // namespace driftless
