#include "sinks/lake/compactor.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>

namespace driftless::lake {
namespace {

const TablePath kOrders{"", "shop", "orders"};
const TablePath kItems{"", "shop", "items"};

TEST(CompactorTest, CompactsEachWaitingTableOnce) {
  std::vector<TablePath> seen;
  std::latch started(1);
  std::promise<void> go;
  std::latch done(2);
  {
    Compactor compactor([&](const TablePath& table, const std::atomic<bool>&) {
      seen.push_back(table);
      if (seen.size() == 1) {
        started.count_down();
        go.get_future().wait();
      }
      done.count_down();
    });
    compactor.Enqueue(kOrders);
    started.wait();
    compactor.Enqueue(kItems);
    compactor.Enqueue(kItems);  // waits already
    go.set_value();
    done.wait();
  }
  EXPECT_EQ(seen, (std::vector<TablePath>{kOrders, kItems}));
}

TEST(CompactorTest, APauseStopsWhatRunsAndKeepsTheTableOut) {
  std::atomic<int> runs{0};
  std::latch started(1);
  std::latch items_done(1);
  Compactor compactor([&](const TablePath& table, const std::atomic<bool>& stop) {
    ++runs;
    if (table == kItems) {
      items_done.count_down();
      return;
    }
    started.count_down();
    while (!stop.load()) std::this_thread::yield();
  });
  compactor.Enqueue(kOrders);
  started.wait();
  {
    const Compactor::Pause pause(&compactor, kOrders);  // returns only because the run was stopped
    compactor.Enqueue(kOrders);
    compactor.Enqueue(kItems);
    items_done.wait();
    EXPECT_EQ(runs, 2);
  }
}

TEST(CompactorTest, PausingNothingIsAllowed) { const Compactor::Pause pause(nullptr, kOrders); }

}  // namespace
}  // namespace driftless::lake
